/** Emulators and drivers for tests, closed after each test. */
import { Storage } from '@google-cloud/storage';
import type { BlobStore } from '../../../blob/blob.ts';
import { createGcsBucket, type GcsBucketOptions } from '../../../blob/gcs.ts';
import { systemClock } from '../../../bucketstore/base/clock.ts';
import { type Emulator, type EmulatorOptions, startGcsEmulator } from './emulator.ts';

/** The only bucket of the emulators of `emulate`. */
export const BUCKET = 'test-bucket';

const opened: { close(): Promise<void> }[] = [];

/** For `afterEach`. */
export async function closeAll(): Promise<void> {
  for (const each of opened.splice(0).toReversed()) await each.close();
}

export async function emulate(options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  const emulator = await startGcsEmulator({ bucket: BUCKET, now: systemClock.now, ...options });
  opened.push(emulator);
  return emulator;
}

/** The driver on a server, with the real client. */
export function openGcs(
  { endpoint }: { readonly endpoint: string },
  options: Partial<GcsBucketOptions> = {},
): BlobStore {
  const store = createGcsBucket({
    bucket: BUCKET,
    apiEndpoint: endpoint,
    timing: systemClock,
    ...options,
  });
  opened.push(store);
  return store;
}

/** The real client with a token that needs no token service. */
export function clientWithToken(endpoint: string, token: string): Storage {
  const authClient = new Storage().authClient.fromJSON({
    type: 'authorized_user',
    client_id: 'test',
    client_secret: 'test',
    refresh_token: 'test',
  });
  authClient.setCredentials({ access_token: token, expiry_date: systemClock.now() + 3_600_000 });
  return new Storage({ apiEndpoint: endpoint, useAuthWithCustomEndpoint: true, authClient });
}
