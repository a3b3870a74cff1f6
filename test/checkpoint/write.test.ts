/**
 * Goal: a checkpoint that was written and loaded is the state that a replay from the start makes
 * (I3), control state included; compactors that race write the same bytes (I4); and what a
 * compactor that died has left harms nobody.
 * Method: random logs of several units, checkpoints at random slot ends, each built on the one
 * before or from the start; loaded by the real loader, every question to both states.
 */
import { describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import type { Sequence } from '../../bucketstore/base/sequence.ts';
import type { CheckpointRecord } from '../../bucketstore/log/records.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { InTurnsMerger } from '../../checkpoint/in-turns-merger.ts';
import { CheckpointLoader } from '../../checkpoint/load.ts';
import { ObjectWriter } from '../../checkpoint/object-writer.ts';
import { ObjectReader } from '../../checkpoint/objects.ts';
import { lifeStart } from '../../checkpoint/root.ts';
import type { CheckpointBelow } from '../../checkpoint/step.ts';
import { writeCheckpoint } from '../../checkpoint/write.ts';
import { hashOf } from '../log/values.ts';
import { LogWriter } from '../support/log-writer.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

interface Made {
  readonly record: CheckpointRecord;
  readonly below: CheckpointBelow;
}

class Bench {
  readonly clock: ManualClock = new ManualClock();
  readonly log: LogWriter;
  readonly bucket: BlobStore;
  readonly random: SeededRandom;

  constructor(seed: number, paths = 300) {
    this.random = new SeededRandom(seed);
    this.log = new LogWriter(this.random.derive('log'), { batch: 200, paths });
    this.bucket = createMemoryBucket({ timing: this.clock, name: 'memory:write' });
  }

  start(): CheckpointBelow {
    const snapshot = this.log.stateAt(this.log.marker.start.sequence);
    return { snapshot, root: null, swept: { plan: null, pruned: 0, retained: 0 } };
  }

  /** A checkpoint at a slot end, and it as what another builds on. */
  async write(below: CheckpointBelow, through: Sequence, bucket = this.bucket): Promise<Made> {
    const { clock, random, log } = this;
    const reader = new ObjectReader({ bucket });
    const writer = new ObjectWriter({ bucket, clock, random });
    const merger = new InTurnsMerger(async () => undefined);
    const life = lifeStart(log.marker.start);
    const at = below.snapshot.tip.sequence;
    const packed = below.root?.packedThrough ?? life.sequence;
    const slots = log.slots.filter(({ slot }) => slot.first > at && slot.last <= through);
    const readUnit = async () =>
      log.slots.filter(({ slot }) => slot.last > packed && slot.last <= at);
    const onStopped = async (_: unknown, error: unknown): Promise<void> => {
      throw error;
    };
    const { epoch } = log.state.control;
    const writing = writeCheckpoint(
      { reader, writer, merger, life, turn: async () => undefined },
      { below, slots, readUnit, onStopped, epoch },
    );
    const record = await clock.run(writing);
    const loader = new CheckpointLoader({ bucket, start: log.marker.start });
    const snapshot = await clock.run(loader.load(record));
    const root = await clock.run(reader.root(record.root, life));
    return { record, below: { snapshot, root, swept: record.swept } };
  }

  /** Slot ends, ascending: random ones, and the last. */
  ends(count: number): Sequence[] {
    const ends = new Set(this.log.slots.map(({ slot }) => slot.last));
    const all = [...ends];
    const chosen = Array.from({ length: count }, () => this.random.pick(all));
    const last = all.at(-1);
    return [...new Set(last === undefined ? chosen : [...chosen, last])].sort((a, b) => a - b);
  }
}

async function expectSame(bench: Bench, loaded: Snapshot, replayed: Snapshot): Promise<void> {
  expect(loaded.tip).toEqual(replayed.tip);
  expect(loaded.control).toEqual(replayed.control);
  expect(loaded.documentCount).toBe(replayed.documentCount);
  for (const [path, { version, first, archived, bodyHash }] of replayed.changed()) {
    expect(loaded.head(path)).toMatchObject({ version, first, archived, bodyHash });
    expect(await bench.clock.run(Promise.resolve(loaded.document(path)))).toEqual(
      await replayed.document(path),
    );
    expect(await bench.clock.run(loaded.versions(path))).toEqual(await replayed.versions(path));
  }
  for (const directory of ['/', '/d1', '/d3', '/d3/x']) {
    expect(loaded.list(directory)).toEqual(replayed.list(directory));
  }
  for (let body = 0; body < 50; body++) {
    expect(loaded.lookupHash(hashOf(body))).toBe(replayed.lookupHash(hashOf(body)));
  }
}

describe('`writeCheckpoint()`', () => {
  test.each([1, 2, 3])(
    'makes the state of a replay, one checkpoint on another (log %i)',
    async (seed) => {
      const bench = new Bench(seed);
      bench.log.writeTo(6_000 + seed * 700);
      let below = bench.start();
      for (const end of bench.ends(6)) {
        const made = await bench.write(below, end);
        await expectSame(bench, made.below.snapshot, bench.log.stateAt(end));
        expect(made.record.swept.retained).toBe(await retained(bench.log.stateAt(end)));
        below = made.below;
      }
    },
  );

  test('is the same by any way: racing compactors write the same bytes', async () => {
    const bench = new Bench(9);
    bench.log.writeTo(5_000);
    const other = createMemoryBucket({ timing: bench.clock, name: 'memory:other' });
    const [middle, end] = bench.ends(1);
    if (middle === undefined || end === undefined) throw new Error('a log of one slot');
    const one = await bench.write((await bench.write(bench.start(), middle)).below, end);
    const again = await bench.write(
      (await bench.write(bench.start(), middle, other)).below,
      end,
      other,
    );
    expect(again.record).toEqual(one.record);
    const direct = await bench.write(bench.start(), end);
    expect(direct.record).toEqual(one.record);
  });
});

async function retained(state: Snapshot): Promise<number> {
  let count = 0;
  for (const [path] of state.changed()) count += (await state.versions(path)).length;
  return count;
}
