/**
 * Goal: a world of the old store is read and verified on a real S3 server as in memory, and an old
 * replica's commits with it.
 * Method: a world of every kind of document on the server that `BUCKETSTORE_TEST_S3` names, through
 * the decorators that a location has; a replica of the old store beside it. Registers nothing but a
 * note when it is not set.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BlobStore, createCounter, decorateBucket } from '../../blob/index.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import { openWorld, statSchema1, verifySchema1 } from '../../bucketstore/index.ts';
import { OldWorld } from '../schema1/old-world.ts';
import { OldReplica } from '../schema1/replica.ts';
import { failureOf } from '../support/outcome.ts';
import { makeBucket, openRgw, type RgwServer, rgwServer } from '../support/rgw.ts';

const server = rgwServer();
const DOCUMENTS = 257;

if (server !== undefined) suite(server);
// A file without a test would fail.
else test.skipIf(server === undefined)('needs a server (BUCKETSTORE_TEST_S3)', () => {});

function suite(rgw: RgwServer): void {
  const world = new OldWorld({ seed: 5, documents: DOCUMENTS });
  const counter = createCounter();
  let bucket: BlobStore;

  beforeAll(async () => {
    const driver = openRgw(rgw, { bucket: await makeBucket(rgw), prefix: systemRandom.uuid() });
    const lanes = { commit: createLimit(8), read: createLimit(16), bulk: createLimit(32) };
    const parts = { timing: systemClock, chance: systemRandom, lanes, observer: counter };
    bucket = decorateBucket(driver, { kind: 's3', model: false }, parts);
    await world.writeTo(bucket);
  }, 300_000);

  afterAll(() => bucket.close());

  test('is found as it is in memory, to the last blob', { timeout: 120_000 }, async () => {
    const memory = createMemoryBucket({ timing: systemClock });
    await world.writeTo(memory);
    for (const deep of [false, true]) {
      const expected = await verifySchema1('memory:', { deep, components: { bucket: memory } });
      expect(expected).toMatchObject({ documents: DOCUMENTS, problems: [] });
      expect(await verifySchema1('s3:', { deep, components: { bucket } })).toEqual(expected);
    }
    const facts = await statSchema1('memory:', { components: { bucket: memory } });
    expect(await statSchema1('s3:', { components: { bucket } })).toEqual(facts);
  });

  test('is left alone by a store that is opened there', async () => {
    counter.reset();
    const opening = openWorld('s3:', { create: true, components: { bucket } });
    expect(await failureOf(opening)).toMatchObject({
      code: 'UNSUPPORTED_FORMAT',
      details: { schema: 1 },
    });
    const { get, ...others } = counter.snapshot().requests;
    expect(get).toBeGreaterThanOrEqual(1);
    expect(others).toEqual({ create: 0, replace: 0, head: 0, list: 0, delete: 0 });
  });

  test('stays right while an old replica writes to it', { timeout: 120_000 }, async () => {
    const { worldId, sequence } = world;
    const options = { worldId, timing: systemClock, chance: systemRandom };
    const replica = await OldReplica.open(bucket, options);
    const [report] = await Promise.all([
      verifySchema1('s3:', { components: { bucket } }),
      replica.publish('/new/a.md', '# A\n').then(() => replica.archive('/new/a.md')),
    ]);
    expect(report.problems).toEqual([]);
    expect([sequence, sequence + 1, sequence + 2]).toContain(report.sequence);
    expect(await verifySchema1('s3:', { deep: true, components: { bucket } })).toMatchObject({
      sequence: sequence + 2,
      documents: DOCUMENTS + 1,
      problems: [],
    });
  });
}
