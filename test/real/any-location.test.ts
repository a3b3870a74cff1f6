/**
 * Goal: the bucket contract, unchanged, on whatever location a person has: a real bucket, Google's
 * storage testbench, an S3 server.
 * Method: opens BUCKETSTORE_TEST_LOCATION (default: a fresh directory) the way programs do, but
 * without hedging, which may answer a create with an ambiguous error; each case has a prefix of its
 * own and removes it. BUCKETSTORE_TEST_SCALE, in (0, 1], shrinks the counts; default 0.2.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, test } from 'vitest';
import { type BlobStore, KEY_BYTES_MAX } from '../../blob/blob.ts';
import { formatLocation, type Location, parseLocation } from '../../blob/location.ts';
import { openBucket } from '../../blob/open.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import { blobContract } from '../contract/blob.ts';

const given = process.env['BUCKETSTORE_TEST_LOCATION'];
const scale = Number(process.env['BUCKETSTORE_TEST_SCALE'] ?? '0.2');
const directory = given === undefined ? await mkdtemp(join(tmpdir(), 'bucketstore-')) : null;
const location = parseLocation(given ?? `file:${directory}`);
const place = within(location);
const prefixBytes = 'prefix' in place ? Buffer.byteLength(`${place.prefix}/`) : 0;

afterAll(async () => {
  if (directory !== null) await rm(directory, { recursive: true, force: true });
});

/** A place below the location that nobody else uses. */
function within(base: Location): Location {
  const name = `contract-${randomUUID()}`;
  switch (base.kind) {
    case 'file':
      return { ...base, path: join(base.path, name) };
    case 'memory':
      return { ...base, name };
    case 'gcs':
    case 's3':
      return { ...base, prefix: base.prefix === '' ? name : `${base.prefix}/${name}` };
    default:
      return base satisfies never;
  }
}

async function clear(store: BlobStore): Promise<void> {
  for (let more = true; more; ) {
    const page = await store.list({ prefix: '', limit: 1000 });
    await Promise.all(page.objects.map(({ key }) => store.delete(key, { deadlineMs: 60_000 })));
    more = page.more;
  }
  await store.close();
}

describe(`the bucket contract on ${formatLocation(location)}`, () => {
  const lanes = { commit: createLimit(64), read: createLimit(64), bulk: createLimit(64) };
  const options = { timing: systemClock, chance: systemRandom, lanes, hedge: false };
  blobContract({
    test,
    scale,
    // The generation of S3 is a hash of the content; a prefix takes its share of a key's length.
    supports: { uniqueGenerations: location.kind !== 's3', keyBytes: KEY_BYTES_MAX - prefixBytes },
    factory: async () => {
      const store = await openBucket(within(location), { ...options, createDirectory: true });
      return { store, cleanup: () => clear(store) };
    },
  });
});
