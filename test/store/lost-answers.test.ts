/**
 * Goal: a write whose answer was lost, refused wrongly or never given is acknowledged once and is
 * in the log once; nobody is told a conflict that was none.
 * Method: the faults of the scenarios on one store's bucket, under virtual time; then the log
 * itself.
 */
import { describe, expect, test } from 'vitest';
import type { World } from '../../bucketstore/index.ts';
import {
  conflict,
  type Fault,
  lostAnswer,
  type Rule,
  withFaults,
} from '../support/faulty-bucket.ts';
import { failureOf } from '../support/outcome.ts';
import { withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';

const isSlot = (key: string): boolean => key.includes('/log/');
const isBlob = (key: string): boolean => key.includes('/blobs/');

async function faulty(rules: readonly Rule[]) {
  const bench = new WorldBench();
  await bench.open();
  const bucket = withFaults(bench.bucket, rules, { timing: bench.clock });
  return { bench, bucket, world: await bench.open({ bucket: bucket.store }) };
}

const setup = (world: World, path = '/guides/setup.md') =>
  world.publish({ path, expected: 'absent', body: '# Setup\n\nv1\n' });

const onSlot = (fault: Fault, times = 1): Rule => ({
  operation: 'create',
  key: isSlot,
  fault,
  times,
});

describe('B01 a create that was stored', () => {
  const refused: Fault = { kind: 'exists', stored: true };
  const unread: Rule = {
    operation: 'get',
    key: isSlot,
    fault: { kind: 'fail', code: 'unavailable' },
    // The first is the cold start's.
    skip: 1,
    times: 5,
  };
  test.each<[string, readonly Rule[], readonly number[]]>([
    ['(a) and is answered "exists" by a library that repeated it', [onSlot(refused)], [1]],
    ['(a) and whose answer was lost', [onSlot(lostAnswer)], [1]],
    ['(b) and whose answer was lost twice', [onSlot(lostAnswer, 2), unread], [2, 5]],
  ])('%s is one version in one slot', async (_, rules, hits) => {
    const { bench, bucket, world } = await faulty(rules);
    const result = await bench.run(setup(world));
    expect(bucket.hits()).toEqual(hits);
    expect(result).toMatchObject({ committed: true, sequence: 2, document: { version: 1 } });
    expect(await bench.slots()).toHaveLength(1);
    await bench.run(world.publish({ path: '/next.md', expected: 'absent', body: 'x' }));
    expect((await bench.slots()).map(({ first }) => first)).toEqual([2, 3]);
  });

  test.each<[string, Fault]>([
    ['answered "exists"', refused],
    ['lost', lostAnswer],
  ])('(c) as a blob, %s, is as good as created', async (_, fault) => {
    const { bench, bucket, world } = await faulty([{ operation: 'create', key: isBlob, fault }]);
    const body = 'x'.repeat(20_000);
    const result = await bench.run(world.publish({ path: '/a.md', expected: 'absent', body }));
    expect(bucket.hits()).toEqual([1]);
    expect(result.document.version).toBe(1);
    expect(await bench.keys('_demarkus/v1/blobs/')).toHaveLength(1);
    const other = await bench.open();
    expect((await bench.run(other.view().get('/a.md'))).body).toHaveLength(20_000);
  });

  test('(c) a blob name that holds other bytes is no success', async () => {
    const { bench, world } = await faulty([]);
    const body = 'x'.repeat(20_000);
    const writing = world.publish({ path: '/a.md', expected: 'absent', body });
    const { document } = await bench.run(writing);
    const twin = new WorldBench();
    const other = await twin.open();
    const key = `_demarkus/v1/blobs/00000001/${document.etag}`;
    await twin.put(key, 'other bytes');
    const wrong = other.publish({ path: '/a.md', expected: 'absent', body });
    const error = await failureOf(twin.run(wrong));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
    expect(await twin.slots()).toEqual([]);
  });

  test('(e) with a batch of 16 writers is 16 acknowledgements from one slot', async () => {
    const { bench, bucket, world } = await faulty([onSlot(lostAnswer)]);
    const paths = Array.from({ length: 16 }, (_, i) => `/w/${i}.md`);
    const results = await bench.run(Promise.all(paths.map((path) => setup(world, path))));
    expect(bucket.hits()).toEqual([1]);
    expect(results.map(({ document }) => document.version)).toEqual(paths.map(() => 1));
    expect(results.map(({ sequence }) => sequence)).toEqual(paths.map((_, i) => i + 2));
    expect(await bench.slots()).toHaveLength(1);
  });
});

test('B02 409 is neither lost nor fatal: 64 writes, 64 documents at version 1', async () => {
  const bench = new WorldBench();
  await bench.open();
  let creates = 0;
  const often: Rule = {
    ...onSlot(conflict(false), 1000),
    when: () => ++creates % 5 === 0,
  };
  const stores = await Promise.all(
    [[often, onSlot(conflict(true))], [often]].map(async (rules) => {
      const bucket = withFaults(bench.bucket, rules, { timing: bench.clock });
      return { bucket, world: await bench.open({ bucket: bucket.store }) };
    }),
  );
  const writers = Array.from({ length: 8 }, async (_, w) => {
    const world = stores[w % 2]?.world;
    for (let i = w * 8; world && i < w * 8 + 8; i++) {
      const path = `/load/${String(i).padStart(2, '0')}.md`;
      expect((await setup(world, path)).document.version).toBe(1);
    }
  });
  await bench.run(Promise.all(writers));
  expect(stores[0]?.bucket.hits()[1]).toBe(1);
  expect(stores[0]?.bucket.hits()[0]).toBeGreaterThan(0);
  const entries = (await bench.slots()).flatMap((slot) => slot.entries);
  expect(entries).toHaveLength(64);
  expect(new Set(entries.map((entry) => ('path' in entry ? entry.path : ''))).size).toBe(64);
  const cold = await bench.open();
  expect(await bench.run(cold.view().listEntries('/load'))).toHaveLength(64);
});

describe('B07 a create that is never answered', () => {
  test.each(['never-answers', 'stored-unanswered'] as const)(
    '(%s) holds 40 writers for a bounded time, and none of their outcomes is lost',
    async (mode) => {
      const bench = new WorldBench();
      await bench.open();
      const stalling = withStalls(bench.bucket);
      const world = await bench.open({ bucket: stalling.store });
      const idle = await bench.open();
      stalling.stall({ mode, key: isSlot });
      const startedAt = bench.clock.monotonic();
      const paths = Array.from({ length: 40 }, (_, i) => `/w/${i}.md`);
      const results = await bench.run(Promise.all(paths.map((path) => setup(world, path))));
      expect(bench.clock.monotonic() - startedAt).toBeLessThan(10_000);
      expect(results.every(({ document }) => document.version === 1)).toBe(true);
      // The dead create reaches the bucket after all.
      await stalling.release();
      expect(await bench.run(idle.view().listEntries('/w', { limit: 1 }))).toHaveLength(1);
      const slots = await bench.slots();
      expect(slots.flatMap(({ entries }) => entries)).toHaveLength(40);
      const next = await bench.run(setup(idle, '/idle.md'));
      expect(next.sequence).toBe(42);
      await bench.run(world.close());
      expect(bench.clock.sleeping).toBe(0);
    },
  );
});

test('B17 a name refused and not there: bounded attempts, no gap, a clear report', async () => {
  const taken: Rule = onSlot({ kind: 'exists' }, 1_000_000);
  const { bench, bucket, world } = await faulty([taken]);
  const startedAt = bench.clock.monotonic();
  const errors = await bench.run(
    Promise.all([failureOf(setup(world, '/a.md')), failureOf(setup(world, '/b.md'))]),
  );
  expect(bench.clock.monotonic() - startedAt).toBe(10_000);
  for (const error of errors) {
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME', details: { after: 1 } });
    const words = String(error);
    expect(words).toContain('_demarkus/v1/log/0000000000000002.slot');
    expect(words).toMatch(/refused: the name exists.*finds nothing/);
  }
  const attempts = bucket.hits()[0] ?? 0;
  expect(attempts).toBeGreaterThan(1);
  await bench.clock.advance(600_000);
  const later = (bucket.hits()[0] ?? 0) - attempts;
  expect(later, 'no tight loop in ten minutes').toBeLessThan(300);
  expect(later, 'and it has not given up').toBeGreaterThan(0);
  const late = await failureOf(bench.run(setup(world, '/c.md')));
  expect(late).toMatchObject({ outcome: 'not committed' });
  expect(await bench.keys('_demarkus/v1/log/'), 'no other name was taken').toEqual([]);
  await bench.run(world.close({ drainMs: 1 }));
});
