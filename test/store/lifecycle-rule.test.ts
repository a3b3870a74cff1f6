/**
 * Goal: B29, a rule of the bucket that deletes what is old costs a world nothing that is served,
 * and never makes a new world in the place of an old one.
 * Method: a world with two checkpoints, a month between them; a month later what is older goes, all
 * of it or a part; then a store opens and writes.
 */
import { describe, expect, test } from 'vitest';
import type { World } from '../../bucketstore/index.ts';
import { LOG_PREFIX, MARKER_KEY, WORLD_PREFIX } from '../../bucketstore/log/names.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';
import { contents, objectsOf, scribble } from './scribble.ts';

const DAY_MS = 86_400_000;

interface Aged {
  readonly bench: WorldBench;
  /** Keys of what is older than a month. */
  readonly old: readonly string[];
  /** What can be read of it. */
  readonly before: unknown;
}

async function aged(): Promise<Aged> {
  const bench = new WorldBench(29);
  const random = new SeededRandom(29);
  const settings = { bodyCacheBytes: 0 };
  const first = await bench.open({ settings });
  await scribble(bench, first, random, 1_100);
  await bench.run(first.compact());
  await bench.run(first.close());
  const old = [...(await objectsOf(bench)).keys()];
  await bench.clock.advance(31 * DAY_MS);
  const second = await bench.open({ settings });
  await scribble(bench, second, random, 40);
  await bench.run(second.compact());
  await scribble(bench, second, random, 5);
  const before = await contents(bench, second);
  await bench.run(second.close());
  return { bench, old, before };
}

const write = (world: World): Promise<unknown> => {
  return world.publish({ path: '/after.md', expected: 'any', body: 'after' });
};

describe('B29: what is older than a month is deleted', () => {
  async function expectNoNewWorld(bench: WorldBench, object: string): Promise<void> {
    const left = await objectsOf(bench);
    for (const create of [false, true]) {
      const error = await failureOf(bench.open({ create }));
      expect(error).toMatchObject({ code: 'INTEGRITY', details: { object } });
    }
    expect(await objectsOf(bench)).toEqual(left);
  }

  test.each([
    ['all of it', () => true],
    ['the marker alone', (key: string) => key === MARKER_KEY],
    ['the marker and the log', (key: string) => key === MARKER_KEY || key.startsWith(LOG_PREFIX)],
  ])('%s: the world has lost its marker, and no other begins', async (_, goes) => {
    const { bench, old } = await aged();
    for (const key of old.filter(goes)) await bench.bucket.delete(key);
    await expectNoNewWorld(bench, MARKER_KEY);
  });

  test('all of it but the marker: refused, naming the first slot that is missing', async () => {
    const { bench, old } = await aged();
    for (const key of old) if (key !== MARKER_KEY) await bench.bucket.delete(key);
    const [first = ''] = old.filter((key) => key.startsWith(LOG_PREFIX));
    await expectNoNewWorld(bench, first);
  });

  test('the log alone: nothing wrong is served, and what is missing is named', async () => {
    const { bench, old } = await aged();
    const slots = old.filter((key) => key.startsWith(LOG_PREFIX));
    for (const key of slots) await bench.bucket.delete(key);
    // The newest checkpoint says what there is; what it has not packed is gone.
    const world = await bench.open({ settings: { bodyCacheBytes: 0 } });
    const error = await failureOf(contents(bench, world));
    expect(error).toMatchObject({ code: 'INTEGRITY' });
    expect((error as { details: { object: string } }).details.object).toContain(LOG_PREFIX);
  });

  test('checkpoints alone: the log says everything, and the next checkpoint is whole', async () => {
    const { bench, old, before } = await aged();
    const derived = /\/(checkpoints|roots|index|packs|history)\//;
    const gone = old.filter((key) => derived.test(key));
    for (const key of gone) await bench.bucket.delete(key);
    expect(gone.length).toBeGreaterThan(5);
    const world = await bench.open({ settings: { bodyCacheBytes: 0 } });
    expect(await contents(bench, world)).toEqual(before);
    await bench.run(write(world));
    const { newest, written } = await bench.run(world.compact());
    expect(written).toBe(1);
    const after = await contents(bench, world);
    const other = await bench.store({ settings: { bodyCacheBytes: 0 } });
    expect(other.parts.follower.snapshot.base.sequence).toBe(newest?.sequence);
    expect(await contents(bench, other.world)).toEqual(after);
  });
});

test('objects of a world lie below one prefix, which a rule must leave alone', async () => {
  const { bench } = await aged();
  expect((await bench.keys()).every((key) => key.startsWith(WORLD_PREFIX))).toBe(true);
});
