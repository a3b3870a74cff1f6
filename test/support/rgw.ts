/**
 * The S3 server that the environment names, `bash .ci/ceph.sh start` or another:
 *
 * - `BUCKETSTORE_TEST_S3` its URL, `BUCKETSTORE_TEST_S3_B` a second gateway of the same cluster;
 * - `BUCKETSTORE_TEST_S3_KEY`, `BUCKETSTORE_TEST_S3_SECRET` credentials that may make buckets.
 */
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { BlobStore } from '../../blob/blob.ts';
import { createS3Bucket, type S3BucketOptions } from '../../blob/s3.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';

export interface RgwServer {
  readonly endpoint: string;
  /** Undefined when there is one gateway only. */
  readonly endpointB: string | undefined;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Undefined, with a printed message, when the environment names none. */
export function rgwServer(): RgwServer | undefined {
  const { env } = process;
  const endpoint = env['BUCKETSTORE_TEST_S3'];
  if (endpoint === undefined || endpoint === '') {
    console.log('BUCKETSTORE_TEST_S3 is not set: tests on a real S3 server are left out.');
    console.log('For one: eval "$(bash .ci/ceph.sh start)"');
    return undefined;
  }
  return {
    endpoint,
    endpointB: env['BUCKETSTORE_TEST_S3_B'] || undefined,
    credentials: {
      accessKeyId: env['BUCKETSTORE_TEST_S3_KEY'] ?? 'ciaccesskey',
      secretAccessKey: env['BUCKETSTORE_TEST_S3_SECRET'] ?? 'cisecretkey',
    },
  };
}

/** A new bucket, warmed up: the first write to a cluster makes its data pool and takes seconds. */
export async function makeBucket(server: RgwServer): Promise<string> {
  const { endpoint, credentials } = server;
  const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true });
  const bucket = `test-${systemRandom.uuid()}`;
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  } finally {
    client.destroy();
  }
  for (const gateway of [endpoint, server.endpointB ?? endpoint]) {
    const store = openRgw(server, { bucket, endpoint: gateway });
    await store.create(`warm/${systemRandom.uuid()}`, new Uint8Array(1), { deadlineMs: 60_000 });
    await store.close();
  }
  return bucket;
}

/** The driver on the server's first gateway, without decorators. */
export function openRgw(
  server: RgwServer,
  options: Partial<S3BucketOptions> & { readonly bucket: string },
): BlobStore {
  const { endpoint, credentials } = server;
  return createS3Bucket({ endpoint, credentials, timing: systemClock, ...options });
}
