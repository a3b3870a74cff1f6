/**
 * Goal: a bucket that stalls, cuts, lies in its lists or lacks a permission costs an error at a
 * bounded time; never stale data as current, a shorter log, or a hang.
 * Method: buckets with one fault between a store and a sound bucket, under virtual time.
 */
import { describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import type { BlobOperation } from '../../blob/errors.ts';
import type { World } from '../../bucketstore/index.ts';
import { type Rule, withFaults } from '../support/faulty-bucket.ts';
import { type Lie, withLie } from '../support/lying-bucket.ts';
import { failureOf } from '../support/outcome.ts';
import { withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';

const isSlot = (key: string): boolean => key.includes('/log/');
const isBlob = (key: string): boolean => key.includes('/blobs/');
const LARGE = 'x'.repeat(20_000);

const write = (world: World, path: string, body = path) =>
  world.publish({ path, expected: 'any', body });

/** A world with a slot, a staged body, and more slots behind. */
async function filled(): Promise<WorldBench> {
  const bench = new WorldBench();
  const world = await bench.open();
  await bench.run(write(world, '/small.md'));
  await bench.run(write(world, '/large.md', LARGE));
  for (let i = 0; i < 6; i++) await bench.run(write(world, `/more/${i}.md`));
  await bench.run(world.close());
  return bench;
}

async function readAll(bench: WorldBench, world: World): Promise<void> {
  expect((await bench.run(world.view().get('/large.md'))).body).toHaveLength(LARGE.length);
  expect((await bench.run(world.view().get('/small.md'))).body).toHaveLength('/small.md'.length);
  expect(await bench.run(world.view().listEntries('/more'))).toHaveLength(6);
}

describe('B06 a body that stalls or is cut', () => {
  const where: readonly (readonly [string, BlobOperation, (key: string) => boolean])[] = [
    ['a slot', 'get', isSlot],
    ['a blob', 'get', isBlob],
    ['a listing', 'list', isSlot],
    ['the marker', 'get', (key) => key.endsWith('head.json')],
  ];
  const settings = { bodyCacheBytes: 0 };

  test.each(where)(
    '%s: once, the read is repeated inside its deadline',
    async (_, operation, key) => {
      const bench = await filled();
      const fault = { kind: 'fail', code: 'timeout' } as const;
      const faulty = withFaults(bench.bucket, [{ operation, key, fault }], { timing: bench.clock });
      const world = await bench.open({ bucket: faulty.store, settings });
      await readAll(bench, world);
      expect(faulty.hits()).toEqual([1]);
    },
  );

  test.each(where)(
    '%s: for ever, ends as UNAVAILABLE and nothing hangs',
    async (_, operation, key) => {
      const bench = await filled();
      const stalling = withStalls(bench.bucket);
      stalling.stall({ mode: 'never-answers', operation, key, times: 1000 });
      const startedAt = bench.clock.monotonic();
      const reading = bench
        .open({ bucket: stalling.store, settings })
        .then((world) => readAll(bench, world));
      expect(await failureOf(reading)).toMatchObject({ code: 'UNAVAILABLE' });
      expect(bench.clock.monotonic() - startedAt).toBeLessThanOrEqual(20_000);
      // Reads ahead of the one that failed end at the same moment.
      await bench.clock.advance(0);
      expect(bench.clock.sleeping).toBe(0);
    },
  );

  test.each(where.filter(([, operation]) => operation === 'get'))(
    '%s: short by a byte is an integrity error, never an object',
    async (_, operation, key) => {
      const bench = await filled();
      const short: Rule = { operation, key, fault: { kind: 'short', missing: 1 }, times: 1000 };
      const faulty = withFaults(bench.bucket, [short], { timing: bench.clock });
      const reading = bench
        .open({ bucket: faulty.store, settings })
        .then((world) => readAll(bench, world));
      expect(await failureOf(reading)).toMatchObject({ code: 'INTEGRITY' });
    },
  );
});

/** A bucket whose pages hold two keys. */
function smallPages(store: BlobStore): BlobStore {
  return {
    ...withFaults(store, [], { timing: new WorldBench().clock }).store,
    list: (query, options) => store.list({ ...query, limit: Math.min(2, query.limit) }, options),
  };
}

describe('B18 lists that lie', () => {
  const lies: readonly Lie[] = [
    'skips-first-of-page-two',
    'ignores-after',
    'includes-after',
    'empty-page-with-more',
    'keys-out-of-order',
    'late-list',
  ];
  test.each(lies)('%s: a cold start finds the same tip', async (lie) => {
    const bench = await filled();
    const honest = await bench.open({ bucket: smallPages(bench.bucket) });
    const expected = await bench.run(honest.stat());
    expect(expected.sequence).toBe(9);
    const lying = smallPages(withLie(bench.bucket, lie));
    const world = await bench.open({ bucket: lying, create: false });
    expect((await bench.run(world.stat())).sequence).toBe(expected.sequence);
    await readAll(bench, world);
    await bench.run(write(world, '/next.md'));
    expect((await bench.run((await bench.open()).stat())).sequence).toBe(10);
  });

  test('a hole in the log is never its end, wherever it is', async () => {
    const bench = await filled();
    const keys = await bench.keys('_demarkus/v1/log/');
    for (const key of keys.slice(0, -1)) {
      const bytes = await bench.bytes(key);
      await bench.bucket.delete(key);
      const error = await failureOf(bench.open());
      expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
      await bench.put(key, bytes);
    }
  });
});

describe('B31 forbidden is never absent', () => {
  const forbid = (operation: BlobOperation, key: (key: string) => boolean): Rule => ({
    operation,
    key,
    fault: { kind: 'fail', code: 'forbidden' },
    times: 1_000_000,
  });

  test('on the look at the next name: reads fail, none is served as current', async () => {
    const bench = await filled();
    const faulty = withFaults(bench.bucket, [forbid('head', isSlot)], { timing: bench.clock });
    const world = await bench.open({ bucket: faulty.store });
    await bench.clock.advance(1_001);
    const reads: readonly (() => Promise<unknown>)[] = [
      () => world.view().get('/small.md'),
      () => world.view().listEntries('/'),
      () => world.view().isDir('/'),
    ];
    for (const read of reads) {
      expect(await failureOf(bench.run(read()))).toMatchObject({ code: 'LOCATION' });
    }
  });

  test('with read-only credentials: reads work, writes are told for good, no loop', async () => {
    const bench = await filled();
    const rule = forbid('create', () => true);
    const faulty = withFaults(bench.bucket, [rule], { timing: bench.clock });
    const world = await bench.open({ bucket: faulty.store });
    await readAll(bench, world);
    for (const body of ['small', LARGE]) {
      const error = await failureOf(bench.run(write(world, '/new.md', body)));
      expect(error).toMatchObject({ code: 'LOCATION', outcome: 'not committed' });
    }
    expect(faulty.hits()).toEqual([2]);
    await bench.clock.advance(3_600_000);
    expect(faulty.hits()).toEqual([2]);
    expect((await bench.run(world.stat())).sequence).toBe(9);
  });

  test.each<[string, BlobOperation, (key: string) => boolean]>([
    ['read of log/', 'get', isSlot],
    ['list', 'list', () => true],
    ['read of the marker', 'get', (key) => key.endsWith('head.json')],
  ])('no %s: the store does not open', async (_, operation, key) => {
    const bench = await filled();
    const before = await bench.keys();
    const faulty = withFaults(bench.bucket, [forbid(operation, key)], { timing: bench.clock });
    const error = await failureOf(bench.open({ bucket: faulty.store }));
    expect(error).toMatchObject({ code: 'LOCATION' });
    expect(await bench.keys()).toEqual(before);
  });
});
