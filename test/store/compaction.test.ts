/**
 * Goal: a world with checkpoints is the world without them, for the store that made them and for
 * one that opens it: every document, version, body and listing, and what is written afterwards.
 * Method: real stores on one bucket in memory; `compact()` between writes; then everything is taken
 * away that may be.
 */
import { describe, expect, test } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import {
  CHECKPOINTS_PREFIX,
  LOG_PREFIX,
  slotKey,
  WORLD_PREFIX,
} from '../../bucketstore/log/names.ts';
import { decodeSlot } from '../../bucketstore/log/slot.ts';
import { withGates } from '../support/gated-bucket.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { until } from '../support/until.ts';
import { WorldBench } from '../support/world-bench.ts';
import { contents, scribble } from './scribble.ts';

describe('a world with checkpoints', () => {
  test.each([1, 2])(
    'reads as before in the store that made them and in any other (%i)',
    async (seed) => {
      const bench = new WorldBench(seed);
      const random = new SeededRandom(seed);
      const settings = { bodyCacheBytes: 0 };
      const first = await bench.open({ settings });
      for (const writes of [1100, 120, 10]) {
        await scribble(bench, first, random, writes);
        const before = await contents(bench, first);
        const { written } = await bench.run(first.compact());
        expect(written).toBe(1);
        expect(await contents(bench, first)).toEqual(before);
        const other = await bench.open({ settings });
        expect(await contents(bench, other)).toEqual(before);
        await scribble(bench, other, random, 20);
        expect(await contents(bench, other)).toEqual(await contents(bench, first));
      }
      expect(await bench.run(first.compact())).toMatchObject({ written: 1 });
      expect(await bench.run(first.compact())).toMatchObject({ written: 0 });
      // The log alone says everything (I3).
      const before = await contents(bench, first);
      for (const key of await bench.keys(WORLD_PREFIX)) {
        const kept = key.endsWith('head.json') || /\/(log|blobs)\//.test(key);
        if (!kept) await bench.bucket.delete(key);
      }
      expect(await contents(bench, await bench.open({ settings }))).toEqual(before);
    },
  );

  test('goes on when a slot that is packed already is removed while it is read', async () => {
    const bench = new WorldBench(4);
    const random = new SeededRandom(4);
    const gated = withGates(bench.bucket);
    const world = await bench.open({ bucket: gated.store });
    await scribble(bench, world, random, 2400);
    await bench.run(world.compact());
    await scribble(bench, world, random, 2200);
    const before = await contents(bench, world);
    const slots = await bench.slots();
    expect(slots.at(-1)?.last).toBeGreaterThan(2048);
    const packed = slotKey(slots.findLast(({ last }) => last <= 1024)?.first ?? sequence(0));
    const held = gated.hold(
      'request',
      ({ operation, key }) => operation === 'get' && key === packed,
    );
    const compacting = world.compact();
    await until(() => held.waiting === 1);
    await bench.bucket.delete(packed);
    await held.open();
    expect(await bench.run(compacting)).toMatchObject({ written: 1 });
    expect(await contents(bench, await bench.open())).toEqual(before);
  });

  test('is opened, read and written without the slots whose versions are all packed', async () => {
    const bench = new WorldBench(3);
    const settings = { bodyCacheBytes: 0 };
    const world = await bench.open({ settings });
    const random = new SeededRandom(3);
    await scribble(bench, world, random, 2000);
    await bench.run(world.compact());
    await scribble(bench, world, random, 10);
    const before = await contents(bench, world);
    let gone = 0;
    for (const key of await bench.keys(LOG_PREFIX)) {
      if (decodeSlot(key, await bench.bytes(key)).slot.last > 1024) continue;
      await bench.bucket.delete(key);
      gone += 1;
    }
    expect(gone).toBeGreaterThan(5);
    const other = await bench.open({ settings });
    expect(await contents(bench, other)).toEqual(before);
    await scribble(bench, other, random, 600);
    const after = await contents(bench, other);
    expect(await bench.run(other.compact())).toMatchObject({ written: 1 });
    expect(await contents(bench, await bench.open({ settings }))).toEqual(after);
    // Without the checkpoint there is no such world: it was what told the deleted slots.
    for (const key of await bench.keys(CHECKPOINTS_PREFIX)) await bench.bucket.delete(key);
    await expect(bench.open({ settings })).rejects.toMatchObject({ code: 'INTEGRITY' });
  });
});

test('slots are read again only for what a checkpoint packs', async () => {
  const bench = new WorldBench(4);
  const gated = withGates(bench.bucket);
  const world = await bench.open({ bucket: gated.store, settings: { batchMax: 1 } });
  const random = new SeededRandom(4);
  /** Slots that are read for a checkpoint, and that are behind the one before. */
  const compacted = async (): Promise<readonly [read: number, behind: number]> => {
    const before = (await bench.slots()).length;
    await scribble(bench, world, random, 30);
    gated.calls.length = 0;
    await bench.run(world.compact());
    const slots = gated.calls.filter(({ operation, key }) => {
      return operation === 'get' && key.startsWith(LOG_PREFIX);
    });
    return [slots.length, (await bench.slots()).length - before];
  };
  await scribble(bench, world, random, 300);
  await bench.run(world.compact());
  for (let i = 0; i < 3; i++) {
    const [read, behind] = await compacted();
    expect(behind).toBeGreaterThan(10);
    expect(read).toBe(behind);
  }
});
