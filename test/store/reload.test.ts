/**
 * Goal: what a store makes of a state that it loads: a world that it cannot load is refused, what
 * lies before the checkpoint keeps no world from opening and can be read, and nobody in an old slot
 * counts as present.
 * Method: stores that open, or load anew, over a log with a checkpoint in it, under virtual time;
 * the objects of checkpoints are held by the test.
 */
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../bucketstore/base/diagnostics.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { verifyWorld, type World } from '../../bucketstore/index.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import {
  CHECKPOINTS_PREFIX,
  LOG_PREFIX,
  MARKER_KEY,
  slotKey,
} from '../../bucketstore/log/names.ts';
import { FENCE_MS } from '../../bucketstore/log/sighting.ts';
import { rootKey } from '../../checkpoint/root.ts';
import { CheckpointShelf } from '../support/checkpoint-shelf.ts';
import { unavailable, withFaults } from '../support/faulty-bucket.ts';
import { withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

const OP = '11111111-2222-4333-8444-555555555555';

async function scene() {
  const bench = new WorldBench();
  const shelf = new CheckpointShelf(bench);
  const writer = await bench.store({ checkpoints: shelf });
  return { bench, shelf, writer };
}

const put = (world: World, path: string, op?: string) =>
  world.publish({ path, expected: 'any', body: path }, op === undefined ? {} : { op });
const tipOf = ({ parts }: BenchStore): number => parts.follower.snapshot.tip.sequence;

async function writes(bench: WorldBench, { world }: BenchStore, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await bench.run(put(world, `/${bench.random.uuid()}.md`));
}

test('a world whose start, a checkpoint, is gone is never opened as an empty one', async () => {
  const { bench, writer } = await scene();
  const { worldId, incarnationId } = writer.parts.follower.snapshot.identity;
  const root = { epoch: 1, hash: 'a'.repeat(64) };
  const start = { sequence: sequence(9), documents: 3, epoch: 1, root };
  await bench.put(MARKER_KEY, encodeMarker({ ...genesisMarker(worldId, incarnationId), start }));
  const gone = { code: 'INTEGRITY', details: { object: rootKey(root) } };
  expect(await failureOf(bench.open())).toMatchObject(gone);
  const { bucket, clock, random } = bench;
  const verified = verifyWorld('memory:bench', { components: { bucket, clock, random } });
  const { problems } = await bench.run(verified);
  expect(problems.map(({ object }) => object)).toEqual([rootKey(root)]);
});

test('a store does not wait for others that it only met in the slots that it loaded', async () => {
  const { bench, writer } = await scene();
  await writes(bench, writer, 3);
  const fault = { kind: 'delay', beforeMs: 100 } as const;
  const rules = [{ operation: 'create', fault, times: 100 }] as const;
  const slow = withFaults(bench.bucket, rules, { timing: bench.clock }).store;
  const store = await bench.store({ bucket: slow });
  const began = bench.clock.monotonic();
  await writes(bench, store, 2);
  expect(bench.clock.monotonic() - began).toBe(200);
  // One that it meets while it is there has its turn.
  await writes(bench, writer, 1);
  await bench.run(store.world.stat());
  const later = bench.clock.monotonic();
  await writes(bench, store, 2);
  expect(bench.clock.monotonic() - later).toBeGreaterThan(200);
});

test.each(['advance', 'checkTip'] as const)(
  '%s() that waits for a reload ends with its signal',
  async (what) => {
    const { bench, shelf, writer } = await scene();
    const gated = withGates(bench.bucket);
    const { parts } = await bench.store({ bucket: gated.store, checkpoints: shelf });
    await writes(bench, writer, 3);
    const { parts: slept } = await bench.store({ bucket: gated.store, checkpoints: shelf });
    await writes(bench, writer, 1);
    await shelf.checkpoint(writer);
    bench.clock.shiftMonotonic(FENCE_MS + 1);
    const marker = gated.hold('request', ({ key }) => key === MARKER_KEY);
    const { follower } = what === 'advance' ? parts : slept;
    const controller = new AbortController();
    const work = follower[what](controller.signal);
    work.catch(() => undefined);
    await drain();
    expect(marker.waiting).toBe(1);
    const reason = new RangeError('left');
    controller.abort(reason);
    expect(await failureOf(bench.run(work))).toBe(reason);
    await marker.open();
    await bench.run(follower.atTip());
    expect(follower.snapshot.tip.sequence).toBe(tipOf(writer));
  },
);

describe('a slot before the checkpoint', () => {
  test('that is damaged keeps no world from opening, and is warned of', async () => {
    const { bench, shelf, writer } = await scene();
    await writes(bench, writer, 3);
    await bench.run(put(writer.world, '/known.md', OP));
    await shelf.checkpoint(writer);
    await writes(bench, writer, 1);
    const key = slotKey(sequence(3));
    await bench.put(key, 'no slot');
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => warned.push(fields) };
    const store = await bench.store({ checkpoints: shelf, logger });
    expect(tipOf(store)).toBe(tipOf(writer));
    expect(warned).toMatchObject([{ object: key }]);
    // Behind it the row is whole: this operation is known.
    expect((await bench.run(put(store.world, '/known.md', OP))).sequence).toBe(5);
    expect(tipOf(store)).toBe(tipOf(writer));
  });

  test('whose neighbour is a foreign object opens too', async () => {
    const { bench, shelf, writer } = await scene();
    await writes(bench, writer, 3);
    await shelf.checkpoint(writer);
    await bench.put(`${slotKey(sequence(3))}.copy`, 'foreign');
    const warned: unknown[] = [];
    const logger = { ...silentLogger, warn: (fields: object) => warned.push(fields) };
    const store = await bench.store({ checkpoints: shelf, logger });
    expect(tipOf(store)).toBe(tipOf(writer));
    expect(warned).toMatchObject([{ object: LOG_PREFIX }]);
  });

  test.each(['get', 'list'] as const)(
    'that a %s does not answer for is never skipped',
    async (operation) => {
      const { bench, shelf, writer } = await scene();
      await bench.run(put(writer.world, '/known.md', OP));
      await writes(bench, writer, 3);
      await shelf.checkpoint(writer);
      const name = operation === 'get' ? slotKey(sequence(3)) : LOG_PREFIX;
      // The first list is the one behind the checkpoint.
      const skip = operation === 'get' ? 0 : 1;
      const key = (one: string): boolean => one === name;
      const rules = [{ operation, key, fault: unavailable(), skip, times: 99 }] as const;
      const bucket = withFaults(bench.bucket, rules, { timing: bench.clock }).store;
      const opening = bench.open({ bucket, checkpoints: shelf });
      expect(await failureOf(opening)).toMatchObject({ code: 'UNAVAILABLE' });
    },
  );

  test('is not waited for by an opening that is given up', async () => {
    const { bench, shelf, writer } = await scene();
    await writes(bench, writer, 3);
    await shelf.checkpoint(writer);
    const gated = withGates(bench.bucket);
    const held = gated.hold('answer', ({ operation, key }) => {
      return operation === 'get' && key === slotKey(sequence(3));
    });
    const controller = new AbortController();
    const { signal } = controller;
    const opening = bench.opening({ bucket: gated.store, checkpoints: shelf, signal });
    opening.catch(() => undefined);
    await drain();
    expect(held.waiting).toBe(1);
    const reason = new RangeError('left');
    controller.abort(reason);
    await bench.put(slotKey(sequence(3)), 'no slot');
    await held.open();
    expect(await failureOf(bench.run(opening))).toBe(reason);
  });

  /** A group of three entries, 2 to 4, before a checkpoint, and a store that loaded that. */
  async function grouped() {
    const { bench, shelf, writer } = await scene();
    const requests = ['/a.md', '/b.md', '/c.md'].map((path) => {
      return { kind: 'publish', path, expected: 'absent', body: path } as const;
    });
    await bench.run(writer.world.commit(requests, { op: OP }));
    await writes(bench, writer, 2);
    await shelf.checkpoint(writer);
    const gated = withGates(bench.bucket);
    const { world } = await bench.store({ bucket: gated.store, checkpoints: shelf });
    gated.calls.length = 0;
    return { bench, world, gated };
  }

  test.each([2, 3, 4, 5])('can be read from any of its entries on: %i', async (from) => {
    const { bench, world, gated } = await grouped();
    const read = async (): Promise<readonly number[]> => {
      const found: number[] = [];
      for await (const entry of world.entries(from)) found.push(entry.sequence);
      return found;
    };
    expect(await bench.run(read())).toEqual([2, 3, 4, 5, 6].filter((at) => at >= from));
    expect(gated.calls.filter(({ operation }) => operation === 'list')).toHaveLength(1);
  });

  test('operation() finds one there, and names an `after` that no slot follows', async () => {
    const { bench, world } = await grouped();
    const unknown = '99999999-2222-4333-8444-555555555555';
    expect(await bench.run(world.operation(OP, 1))).toHaveLength(3);
    expect(await bench.run(world.operation(unknown, 1))).toBeNull();
    for (const after of [2, 3]) {
      expect(await failureOf(bench.run(world.operation(unknown, after)))).toBeInstanceOf(
        RangeError,
      );
    }
    expect(await bench.run(world.operation(unknown, 4))).toBeNull();
  });

  test.each([2, 5])('that is missing, %i, is named when its entries are asked for', async (at) => {
    const { bench, world } = await grouped();
    const key = slotKey(sequence(at));
    await bench.bucket.delete(key);
    const error = await failureOf(bench.run(world.entries(at).next()));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
  });
});

describe('a pause that the monotonic clock does not show', () => {
  test('ages a confirmation: a list looks again', async () => {
    const { bench, writer } = await scene();
    const { world } = await bench.store();
    await writes(bench, writer, 2);
    expect(await bench.run(world.view().listEntries('/'))).toHaveLength(0);
    bench.clock.shiftWall(1_001);
    expect(await bench.run(world.view().listEntries('/'))).toHaveLength(2);
  });

  test('has the newest slot looked up', async () => {
    const { bench, writer } = await scene();
    await writes(bench, writer, 2);
    const gated = withGates(bench.bucket);
    const { world } = await bench.store({ bucket: gated.store });
    gated.calls.length = 0;
    bench.clock.shiftWall(10_001);
    await bench.run(world.stat());
    const keys = gated.calls.map(({ operation, key }) => `${operation} ${key}`);
    expect(keys).toContain(`head ${slotKey(sequence(3))}`);
  });
});

test('a load is as old as its first request, not as that one’s answer', async () => {
  const { bench, shelf, writer } = await scene();
  await writes(bench, writer, 3);
  await shelf.checkpoint(writer);
  await writes(bench, writer, 2);
  const gated = withGates(bench.bucket);
  let met = 0;
  const held = gated.hold('answer', ({ operation, key }) => {
    return operation === 'list' && key === CHECKPOINTS_PREFIX && ++met === 1;
  });
  const opening = bench.opening({ bucket: gated.store, checkpoints: shelf });
  await drain();
  expect(held.waiting).toBe(1);
  const newer = await shelf.checkpoint(writer);
  bench.clock.shiftMonotonic(FENCE_MS + 1);
  shelf.loads.length = 0;
  await held.open();
  await bench.run(opening);
  expect(newer.sequence).toBe(tipOf(writer));
  expect(shelf.loads, 'begun again').toHaveLength(2);
});
