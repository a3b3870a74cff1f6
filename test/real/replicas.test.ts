/**
 * Goal: separate processes that write one world at once lose nothing, and each sees the other's
 * acknowledged writes at its next read.
 * Method: three stores in processes of their own, on a directory and on a real S3 server;
 * afterwards the oracle's reader, which shares no code with the store, reads the bucket.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createFileBucket } from '../../blob/file.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import { isStoreError, type PublishRequest, type WriteResult } from '../../bucketstore/index.ts';
import type { ContractStore } from '../contract/index.ts';
import { readWorld } from '../oracle/world.ts';
import { temporaryDirectories } from '../support/file-buckets.ts';
import { makeBucket, openRgw, rgwServer } from '../support/rgw.ts';
import { startStore } from './store-process.ts';

const STORES = 3;
const WRITERS = 8;
const WRITES = 200;

const directories = await temporaryDirectories();
afterAll(directories.remove);

interface Place {
  readonly bucket: BlobStore;
  readonly location: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Acknowledged {
  readonly path: string;
  readonly version: number;
  readonly body: string;
}

function replicas(open: () => Promise<Place>): void {
  test('a write that one store acknowledged is in the next read of another', async () => {
    const { bucket, location, env } = await open();
    const first = await startStore(location, {}, env);
    const second = await startStore(location, {}, env);
    for (let version = 1; version <= 20; version++) {
      const [writer, reader] = version % 2 === 0 ? [first, second] : [second, first];
      const body = `version ${version}\n`;
      await writer.publish({ path: '/shared.md', expected: version - 1, body });
      const read = await reader.view().get('/shared.md');
      expect([read.version, Buffer.from(read.body).toString()]).toEqual([version, body]);
    }
    await Promise.all([first.close(), second.close()]);
    await bucket.close();
  });

  test(`${WRITERS} writers × ${WRITES} writes on ${STORES} stores lose nothing`, async () => {
    const { bucket, location, env } = await open();
    const first = await startStore(location, {}, env);
    const rest = Array.from({ length: STORES - 1 }, () => startStore(location, {}, env));
    const stores = [first, ...(await Promise.all(rest))];
    const writers = Array.from({ length: WRITERS }, (_, writer) => {
      return write(stores[writer % STORES] ?? first, writer);
    });
    const acknowledged = (await Promise.all(writers)).flat();
    await Promise.all(stores.map((store) => store.close()));
    expect(acknowledged).toHaveLength(WRITERS * WRITES);
    await expectAll(bucket, acknowledged);
    await bucket.close();
  });
}

/** Writes half to documents of its own, half blindly to documents that all writers share. */
async function write(store: ContractStore, writer: number): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = [];
  for (let index = 0; index < WRITES; index++) {
    const path = index % 2 === 0 ? `/own/${writer}/${index}.md` : `/shared/${index % 5}.md`;
    const body = `writer ${writer}, write ${index}\n`;
    const { document } = await publishUntilAnswered(store, { path, expected: 'any', body });
    acknowledged.push({ path, version: document.version, body });
  }
  return acknowledged;
}

/**
 * What a client does: sends a request again under its operation while it is told *unknown*, or that
 * the store is busy. On a slow machine a name may be lost for longer than a request waits.
 */
async function publishUntilAnswered(
  store: ContractStore,
  request: PublishRequest,
): Promise<WriteResult> {
  const op = systemRandom.uuid();
  for (;;) {
    try {
      return await store.publish(request, { op });
    } catch (error) {
      const code = isStoreError(error) ? error.code : '';
      if (code !== 'UNKNOWN_OUTCOME' && code !== 'OVERLOADED') throw error;
      console.info(`${code}: sent again`);
    }
  }
}

async function expectAll(bucket: BlobStore, acknowledged: readonly Acknowledged[]): Promise<void> {
  const { documents } = await readWorld(bucket);
  const lost = acknowledged.filter(({ path, version, body }) => {
    const stored = documents.get(path)?.versions.get(version);
    return stored === undefined || Buffer.from(stored.body ?? []).toString() !== body;
  });
  expect(lost).toEqual([]);
  const distinct = new Set(acknowledged.map(({ path, version }) => `${path} ${version}`));
  expect(distinct.size).toBe(acknowledged.length);
  const versions = [...documents.values()].map((document) => document.versions.size);
  expect(versions.reduce((sum, size) => sum + size, 0)).toBe(acknowledged.length);
}

describe('on a directory', () => {
  replicas(async () => {
    const directory = await directories.fresh();
    const bucket = createFileBucket({ directory, timing: systemClock, chance: systemRandom });
    return { bucket, location: `file:${directory}`, env: {} };
  });
});

const server = rgwServer();
if (server !== undefined) {
  const { endpoint, credentials } = server;
  const env = {
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_REGION: 'us-east-1',
  };
  describe('on a real S3 server', () => {
    replicas(async () => {
      const name = await makeBucket(server);
      const prefix = systemRandom.uuid();
      const bucket = openRgw(server, { bucket: name, prefix });
      return { bucket, location: `s3://${name}/${prefix}?endpoint=${endpoint}`, env };
    });
  });
}
