/**
 * Goal: a load gives the state of now from the newest checkpoint that may be used, whatever is
 * wrong with the others and whatever happens meanwhile; damage is told by the name of its object.
 * Method: a log of one-entry slots with records between; each is read by `load()` itself, and by
 * stores that open or that slept. The objects of checkpoints are held by the test.
 */
import { describe, expect, test } from 'vitest';
import type { Logger } from '../../bucketstore/base/diagnostics.ts';
import { silentLogger } from '../../bucketstore/base/diagnostics.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import type { World } from '../../bucketstore/index.ts';
import { type CheckpointPlace, Checkpoints } from '../../bucketstore/log/checkpoints.ts';
import { Log } from '../../bucketstore/log/log.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import {
  CHECKPOINTS_PREFIX,
  checkpointKey,
  LOG_PREFIX,
  MARKER_KEY,
  slotKey,
} from '../../bucketstore/log/names.ts';
import { FENCE_MS } from '../../bucketstore/log/sighting.ts';
import { Sightings } from '../../bucketstore/log/sightings.ts';
import { type Loaded, type LoadParts, load } from '../../bucketstore/snapshot/load.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { CheckpointShelf } from '../support/checkpoint-shelf.ts';
import { type GatedBucket, withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

interface Scene {
  readonly bench: WorldBench;
  readonly shelf: CheckpointShelf;
  readonly writer: BenchStore;
  /** What loads talk to. */
  readonly gated: GatedBucket;
  readonly warnings: string[];
  /** Writes `count` slots of one entry, the first of which is named; gives their operations. */
  write(count: number): Promise<readonly string[]>;
  checkpoint(): Promise<CheckpointPlace>;
  load(change?: Partial<LoadParts>, known?: Sequence): Promise<Loaded>;
}

async function scene(seed = 1): Promise<Scene> {
  const bench = new WorldBench(seed);
  const shelf = new CheckpointShelf(bench);
  const writer = await bench.store({ checkpoints: shelf });
  const gated = withGates(bench.bucket);
  const warnings: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    warn: (fields) => warnings.push(String(fields['object'])),
  };
  const origin = writer.parts.follower.snapshot;
  return {
    bench,
    shelf,
    writer,
    gated,
    warnings,
    async write(count) {
      const ops: string[] = [];
      for (let i = 0; i < count; i++) {
        const result = await bench.run(publish(writer.world, `/${i}.md`, bench.random.uuid()));
        ops.push(result.op);
      }
      return ops;
    },
    checkpoint: () => shelf.checkpoint(writer),
    load(change = {}, known) {
      const { clock } = bench;
      const checkpoints = new Checkpoints(gated.store);
      const sightings = new Sightings({ clock, checkpoints });
      const moment = (date?: number) => sightings.moment(date);
      const log = new Log(gated.store, moment);
      const start = async (): Promise<Snapshot> => origin;
      const parts = { clock, logger, moment, log, checkpoints, start, source: shelf };
      return load({ ...parts, ...change }, { known });
    },
  };
}

const publish = (world: World, path: string, op: string, body = op) =>
  world.publish({ path, expected: 'any', body }, { op });
const keyOf = (place: CheckpointPlace): string => checkpointKey(place.sequence, place.epoch);
const tipOf = ({ parts }: BenchStore): number => parts.follower.snapshot.tip.sequence;
const slotsOf = ({ slots }: Loaded): readonly number[] => slots.map(({ slot }) => slot.first);

describe('the checkpoint that is chosen', () => {
  test('is the newest, and the slots behind it make the state of now', async () => {
    const { bench, shelf, writer, write, checkpoint, load } = await scene();
    await write(3);
    await checkpoint();
    await write(3);
    const newest = await checkpoint();
    await write(2);
    const loaded = await bench.run(load());
    expect(shelf.loads).toEqual([keyOf(newest)]);
    const { tip, control, documentCount } = writer.parts.follower.snapshot;
    expect(loaded.snapshot).toMatchObject({ tip, control, documentCount });
    expect(loaded.missing.tip).toBe(tip.sequence);
    expect(slotsOf(loaded)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('is the next older one, with a warning, when the newest does not verify', async () => {
    const { bench, shelf, writer, warnings, write, checkpoint, load } = await scene();
    await write(2);
    const older = await checkpoint();
    await write(2);
    const bad = await checkpoint();
    await write(2);
    shelf.spoil(bad);
    const { snapshot } = await bench.run(load());
    expect(shelf.loads).toEqual([keyOf(bad), keyOf(older)]);
    expect(warnings).toEqual([keyOf(bad)]);
    expect(snapshot.tip).toEqual(writer.parts.follower.snapshot.tip);
  });

  test.each(['damaged', 'of another world'])('is none that is %s', async (how) => {
    const { bench, shelf, writer, warnings, write, checkpoint, load } = await scene();
    await write(2);
    const key = keyOf(await checkpoint());
    const other = await scene(2);
    await other.write(2);
    const foreign = await other.bench.bytes(keyOf(await other.checkpoint()));
    await bench.put(key, how === 'damaged' ? 'not a record' : foreign);
    const { snapshot } = await bench.run(load());
    expect(snapshot.tip.sequence).toBe(tipOf(writer));
    expect([shelf.loads, warnings]).toEqual([[], [key]]);
  });

  test('is the start when there is no source, or no record that can be used', async () => {
    const { bench, shelf, writer, warnings, write, checkpoint, load } = await scene();
    await write(2);
    const bad = await checkpoint();
    await write(2);
    const { tip } = writer.parts.follower.snapshot;
    expect((await bench.run(load({ source: null }))).snapshot.tip).toEqual(tip);
    expect(shelf.loads).toEqual([]);
    shelf.spoil(bad);
    const loaded = await bench.run(load());
    expect(loaded.snapshot.tip).toEqual(tip);
    expect([slotsOf(loaded), warnings]).toEqual([[2, 3, 4, 5], [keyOf(bad)]]);
  });

  test('is no record at or below the start: those are of an earlier life', async () => {
    const { bench, shelf, writer, write, checkpoint, load } = await scene();
    await write(2);
    await checkpoint();
    await write(2);
    await checkpoint();
    const begins = writer.parts.follower.snapshot;
    await write(2);
    const start = async (): Promise<Snapshot> => begins;
    const { snapshot } = await bench.run(load({ start }));
    expect(shelf.loads).toEqual([]);
    expect(snapshot.tip.sequence).toBe(tipOf(writer));
    const above = await checkpoint();
    await bench.run(load({ start }));
    expect(shelf.loads).toEqual([keyOf(above)]);
  });

  test('is none that the latest barrier does not name, and one of such is tried once', async () => {
    const { bench, shelf, writer, warnings, write, checkpoint, load } = await scene();
    await write(2);
    const named = await checkpoint();
    await write(2);
    await checkpoint();
    await write(2);
    const dead = await checkpoint();
    await shelf.sweep(writer, [named]);
    await write(2);
    const { snapshot } = await bench.run(load());
    expect(shelf.loads).toEqual([keyOf(dead), keyOf(named)]);
    expect(snapshot.tip).toEqual(writer.parts.follower.snapshot.tip);
    expect(warnings).toEqual([]);
    // One of the new epoch counts again.
    const young = await checkpoint();
    shelf.loads.length = 0;
    await bench.run(load());
    expect(shelf.loads).toEqual([keyOf(young)]);
  });
});

describe('a world that moves on while it is loaded', () => {
  const isRecordList = ({ operation, key }: { operation: string; key: string }): boolean =>
    operation === 'list' && key === CHECKPOINTS_PREFIX;

  /** Holds the last look at the records, after the log was read. */
  async function late() {
    const all = await scene();
    const { bench, gated, write, checkpoint, load } = all;
    await write(3);
    await checkpoint();
    let lists = 0;
    const held = gated.hold('request', (call) => isRecordList(call) && ++lists === 3);
    const loading = load();
    loading.catch(() => undefined);
    await drain();
    expect([held.waiting, bench.clock.sleeping]).toEqual([1, 0]);
    return { ...all, held, loading };
  }

  test('starts again when a checkpoint is beyond the tip that it found', async () => {
    const { bench, shelf, writer, write, checkpoint, held, loading } = await late();
    await write(2);
    const beyond = await checkpoint();
    shelf.loads.length = 0;
    await held.open();
    const { snapshot } = await bench.run(loading);
    expect(shelf.loads).toEqual([keyOf(beyond)]);
    expect(snapshot.tip.sequence).toBe(tipOf(writer));
  });

  test('goes on when the newer checkpoint is of what it has read', async () => {
    const { bench, shelf, checkpoint, write, load, gated, writer } = await scene();
    await write(3);
    await checkpoint();
    await write(2);
    let lists = 0;
    const held = gated.hold('request', (call) => isRecordList(call) && ++lists === 3);
    const loading = load();
    await drain();
    await checkpoint();
    shelf.loads.length = 0;
    await held.open();
    expect((await bench.run(loading)).snapshot.tip.sequence).toBe(tipOf(writer));
    expect(shelf.loads).toEqual([]);
  });

  test('starts again when that took longer than the fence', async () => {
    const { bench, shelf, checkpoint, write, load, gated } = await scene();
    await write(3);
    await checkpoint();
    await write(2);
    let lists = 0;
    const held = gated.hold('request', (call) => isRecordList(call) && ++lists === 3);
    const loading = load();
    await drain();
    const newer = await checkpoint();
    shelf.loads.length = 0;
    bench.clock.shiftMonotonic(FENCE_MS + 1);
    await held.open();
    await bench.run(loading);
    expect(shelf.loads).toEqual([keyOf(newer)]);
  });

  test('starts again when slots are collected under its hands', async () => {
    const { bench, shelf, writer, gated, write, checkpoint, load } = await scene();
    await write(6);
    const held = gated.hold('request', ({ key }) => key === slotKey(sequence(4)));
    const loading = load();
    await drain();
    expect(held.waiting).toBe(1);
    const { sequence: at } = await checkpoint();
    await shelf.collect(writer, at + 1);
    await held.open();
    const { snapshot } = await bench.run(loading);
    expect(snapshot.tip.sequence).toBe(tipOf(writer));
    expect(snapshot.control.floor.at).toBe(at + 1);
  });

  test('gives up, and says that it may be tried again, when it never stands still', async () => {
    const { bench, gated, write, checkpoint, load, writer } = await scene();
    await write(1);
    let looks = 0;
    class Restless extends Checkpoints {
      override async newest(options: object) {
        looks++;
        const listed = await super.newest(options);
        if (looks % 2 === 1) return listed;
        const place = { sequence: sequence(1000 + looks), epoch: 1 };
        return { ...listed, place };
      }
    }
    await checkpoint();
    const loading = load({ checkpoints: new Restless(gated.store) });
    expect(await failureOf(bench.run(loading))).toMatchObject({ code: 'UNAVAILABLE' });
    expect(looks).toBe(80);
    expect(tipOf(writer)).toBe(2);
  });
});

describe('damage', () => {
  test('a log that ends before a checkpoint names the checkpoint', async () => {
    const { bench, shelf, write, checkpoint, load } = await scene();
    await write(4);
    const place = await checkpoint();
    await bench.bucket.delete(slotKey(sequence(5)));
    shelf.spoil(place);
    const error = await failureOf(bench.run(load()));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: keyOf(place) } });
  });

  test('a hole names the slot that is missing', async () => {
    const { bench, write, checkpoint, load } = await scene();
    await write(1);
    await checkpoint();
    await write(4);
    const key = slotKey(sequence(4));
    await bench.bucket.delete(key);
    const error = await failureOf(bench.run(load()));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
  });

  test('a hole before the checkpoint harms nothing', async () => {
    const { bench, writer, write, checkpoint, load } = await scene();
    await write(4);
    await checkpoint();
    await bench.bucket.delete(slotKey(sequence(3)));
    const loaded = await bench.run(load());
    expect(loaded.snapshot.tip.sequence).toBe(tipOf(writer));
    expect(slotsOf(loaded)).toEqual([4, 5]);
  });

  /** A store that slept while a checkpoint went beyond its tip, so that it loads anew. */
  async function sleeper(all: Scene): Promise<BenchStore> {
    const { bench, shelf, write, checkpoint } = all;
    await write(2);
    const store = await bench.store({ checkpoints: shelf });
    await write(2);
    await checkpoint();
    bench.clock.shiftMonotonic(FENCE_MS + 1);
    return store;
  }

  test.each([
    ['another incarnation lives there', 'SEALED'],
    ['the marker is gone', 'INTEGRITY'],
  ])('%s: %s, and the store takes no more writes', async (what, code) => {
    const all = await scene();
    const { bench, writer } = all;
    const { world } = await sleeper(all);
    const incarnation = bench.random.uuid();
    const object = MARKER_KEY;
    const details = code === 'SEALED' ? { successor: incarnation } : { object };
    if (code === 'SEALED') {
      await bench.put(object, encodeMarker(genesisMarker(writer.world.worldId, incarnation)));
    } else {
      await bench.bucket.delete(object);
    }
    const slots = (await bench.slots()).length;
    const write = () => failureOf(bench.run(publish(world, '/a.md', bench.random.uuid())));
    expect(await failureOf(bench.run(world.stat())), what).toMatchObject({ code, details });
    const refused = await write();
    expect(refused).toMatchObject({ code, details });
    expect(String(refused)).toMatch(/not committed/);
    expect(await write()).toMatchObject({ code, details });
    expect(await bench.slots()).toHaveLength(slots);
  });
});

describe('operations of slots that lie before the checkpoint', () => {
  test('are known: a repeat gets its first answer and commits nothing', async () => {
    const { bench, shelf, write, checkpoint } = await scene();
    const [first = '', , last = ''] = await write(3);
    await checkpoint();
    const slots = (await bench.slots()).length;
    const { world } = await bench.store({ checkpoints: shelf });
    expect((await bench.run(publish(world, '/0.md', first))).sequence).toBe(2);
    expect((await bench.run(publish(world, '/2.md', last))).sequence).toBe(4);
    expect(await bench.slots()).toHaveLength(slots);
  });

  test('are not read again by a store that knows them', async () => {
    const { bench, gated, write, checkpoint, load } = await scene();
    await write(5);
    await checkpoint();
    await write(1);
    expect(slotsOf(await bench.run(load({}, sequence(4))))).toEqual([5, 6, 7]);
    gated.calls.length = 0;
    expect(slotsOf(await bench.run(load({}, sequence(6))))).toEqual([7]);
    const lists = gated.calls.filter(({ key }) => key === LOG_PREFIX);
    expect(lists, 'only the one behind the checkpoint').toHaveLength(1);
  });

  test('are not read below the floor, where a stray may have a name', async () => {
    const { bench, shelf, writer, write, checkpoint, load } = await scene();
    await write(3);
    const stray = await bench.bytes(slotKey(sequence(2)));
    await checkpoint();
    await shelf.collect(writer, 5);
    await bench.put(slotKey(sequence(2)), stray);
    await checkpoint();
    expect(slotsOf(await bench.run(load()))).toEqual([5]);
  });

  test('a broken row is trusted from its break on, not at all when its end is wrong', async () => {
    const { bench, write, checkpoint, load } = await scene();
    await write(5);
    await checkpoint();
    const other = await scene(2);
    await other.write(5);
    // A slot of the same name and of another log.
    const foreign = await other.bench.bytes(slotKey(sequence(4)));
    const own = await bench.bytes(slotKey(sequence(4)));
    await bench.put(slotKey(sequence(4)), foreign);
    expect(slotsOf(await bench.run(load()))).toEqual([5, 6]);
    await bench.put(slotKey(sequence(4)), own);
    await bench.put(slotKey(sequence(6)), await other.bench.bytes(slotKey(sequence(6))));
    expect(slotsOf(await bench.run(load()))).toEqual([]);
  });
});

test('what a load costs', async () => {
  const { bench, gated, write, checkpoint, load } = await scene();
  await write(3);
  const place = await checkpoint();
  await write(2);
  await bench.run(load());
  const told = gated.calls.map(({ operation, key }) => `${operation} ${key}`);
  const slot = (at: number): string => `get ${slotKey(sequence(at))}`;
  const records = `list ${CHECKPOINTS_PREFIX}`;
  // Three slots before the checkpoint; two behind it, and the name that is missing.
  const gets = [2, 3, 4, 5, 6, 7].map(slot);
  expect([...told].sort()).toEqual(
    [
      ...gets,
      ...[records, records, records],
      `get ${keyOf(place)}`,
      // Behind the checkpoint, and before it.
      ...[`list ${LOG_PREFIX}`, `list ${LOG_PREFIX}`],
    ].sort(),
  );
});
