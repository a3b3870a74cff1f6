/** The S3 driver on a fault server, closed after each test. */
import { S3Client } from '@aws-sdk/client-s3';
import type { BlobStore } from '../../blob/blob.ts';
import { createS3Bucket, type S3BucketOptions } from '../../blob/s3.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { type FaultServer, startFaultServer } from './fault-server.ts';

export const CREDENTIALS = { accessKeyId: 'key', secretAccessKey: 'secret' };
/** How long a body may stall in these tests, ms. */
const IDLE_BODY_MS = 200;

const opened: { close(): Promise<void> }[] = [];

/** For `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const each of opened.splice(0).toReversed()) await each.close();
}

export async function faultServer(): Promise<FaultServer> {
  const server = await startFaultServer();
  opened.push(server);
  return server;
}

/** The driver as `createS3Bucket` makes it, undecorated. */
export function openS3(server: FaultServer, options: Partial<S3BucketOptions> = {}): BlobStore {
  const store = createS3Bucket({
    bucket: 'bucket',
    endpoint: server.url,
    credentials: CREDENTIALS,
    idleBodyMs: IDLE_BODY_MS,
    timing: systemClock,
    ...options,
  });
  opened.push(store);
  return store;
}

/** A client as callers make one: with the retries that the SDK has by default. */
export function retryingClient(server: FaultServer): S3Client {
  const client = new S3Client({
    endpoint: server.url,
    credentials: CREDENTIALS,
    region: 'us-east-1',
    forcePathStyle: true,
  });
  opened.push({ close: async () => client.destroy() });
  return client;
}
