/**
 * Writes one checkpoint: everything it names first, the root, and the record last, so that a
 * compactor that dies at any moment costs only its replay.
 */
import { integrityError } from '../bucketstore/base/errors.ts';
import type { Turn } from '../bucketstore/base/in-turns.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import { encodeCheckpointRecord } from '../bucketstore/log/checkpoint-record.ts';
import type { ReadSlot } from '../bucketstore/log/log.ts';
import { checkpointKey } from '../bucketstore/log/names.ts';
import type { CheckpointRecord } from '../bucketstore/log/records.ts';
import { recordOf } from '../bucketstore/snapshot/checkpoint-state.ts';
import type { RunMerger } from './merger.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { ObjectReader } from './objects.ts';
import { packKey } from './pack.ts';
import { packUnits, type UnitPackerParts } from './pack-units.ts';
import { encodeRoot, type LifeStart, rootKey } from './root.ts';
import { type CheckpointBelow, takeStep } from './step.ts';
import { changedAt, type NamedObject, RunWriter } from './write-runs.ts';

export interface CheckpointWriterParts {
  readonly reader: ObjectReader;
  readonly writer: ObjectWriter;
  readonly merger: RunMerger;
  readonly life: LifeStart;
  /** Taken every few milliseconds. */
  readonly turn: Turn;
}

export interface CheckpointInput {
  readonly below: CheckpointBelow;
  /**
   * From the checkpoint below on, contiguous; at least one. The last one ends the new checkpoint.
   */
  readonly slots: readonly ReadSlot[];
  /** The slots at or before the checkpoint below that hold something of a unit, ascending. */
  readonly readUnit: UnitPackerParts['readUnit'];
  /** As `packUnits` has it: the checkpoint is written nevertheless. */
  readonly onStopped: UnitPackerParts['onStopped'];
  /** Of the tip when the compactor began: everything is written in it. */
  readonly epoch: number;
  readonly signal?: AbortSignal | undefined;
}

/** Heads at once. */
const HEADS = 16;

/**
 * Writes the checkpoint at the end of `slots`, but for its record.
 * One `create` for each new object, one `get` for each table that is merged and each manifest, one
 * `head` for each object that the checkpoint names.
 * @returns the record, to be created by `checkpointKey`
 * @throws StoreError `INTEGRITY` naming what is damaged or gone; `UNAVAILABLE`, `LOCATION`
 */
export async function writeCheckpoint(
  { life, ...parts }: CheckpointWriterParts,
  { below, slots, epoch, signal, ...packing }: CheckpointInput,
): Promise<CheckpointRecord> {
  const { writer, turn } = parts;
  const step = await takeStep(life, below, slots, turn);
  const written = new RunWriter({ ...parts, epoch, signal });
  const runs = [];
  for (const one of step.runs) runs.push(await written.run(one, changedAt(step.intake.runs, one)));
  const records = [];
  for (const one of step.records) {
    records.push(await written.records(one, changedAt(step.intake.records, one)));
  }
  const { sequence: through } = step.tip;
  const before = below.root?.packedThrough ?? life.sequence;
  const packed = await packUnits({ writer, epoch, signal, ...packing }, before, slots);
  const packs = [...(below.root?.packs ?? []), ...packed.packs];
  const { packedThrough } = packed;
  const root = { sequence: through, packedThrough, base: step.base, runs, records, packs };
  const encoded = encodeRoot(root, epoch, life);
  await writer.put(rootKey(encoded.ref), encoded.bytes, { signal });
  const kept = packs.map((ref) => ({ key: packKey(ref), size: ref.bytes }));
  await assertThere(writer, [...written.named, ...kept], signal);
  const { identity } = below.snapshot;
  return recordOf(identity, step.tip, step.control, step.documents, encoded.ref, step.swept);
}

/** The key and the bytes of a record. */
export function recordObject(record: CheckpointRecord): { key: string; bytes: Uint8Array } {
  const key = checkpointKey(record.sequence, record.root.epoch);
  return { key, bytes: encodeCheckpointRecord(record) };
}

/** A checkpoint names nothing that is not there: a kept object may have been lost. */
async function assertThere(
  writer: ObjectWriter,
  named: readonly NamedObject[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const look = async ({ key, size }: NamedObject) => {
    return { key, size, there: await writer.isThere(key, size, { signal }) };
  };
  for await (const { key, size, there } of readAhead(named, HEADS, look)) {
    if (!there)
      throw integrityError(key, `not there with its ${size} bytes; a checkpoint needs it`);
  }
}
