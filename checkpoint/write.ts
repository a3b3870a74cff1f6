/**
 * Writes one checkpoint: everything it names first, the root, and the record last, so that a
 * compactor that dies at any moment costs only its replay.
 */
import { integrityError } from '../bucketstore/base/errors.ts';
import type { Turn } from '../bucketstore/base/in-turns.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import { sliceInlined } from '../bucketstore/log/bodies.ts';
import { encodeCheckpointRecord } from '../bucketstore/log/checkpoint-record.ts';
import type { ReadSlot } from '../bucketstore/log/log.ts';
import { checkpointKey, slotKey } from '../bucketstore/log/names.ts';
import type { CheckpointRecord } from '../bucketstore/log/records.ts';
import { recordOf } from '../bucketstore/snapshot/checkpoint-state.ts';
import type { RunMerger } from './merger.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { ObjectReader } from './objects.ts';
import { type PackRef, packKey } from './pack.ts';
import { PackCutter } from './pack-cutter.ts';
import { packedThroughAt } from './packing.ts';
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
  /** Slots at or before the checkpoint below that hold what is not packed yet, ascending. */
  readonly unpacked: readonly ReadSlot[];
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
  { below, slots, unpacked, epoch, signal }: CheckpointInput,
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
  const packedThrough = packedThroughAt(before, through);
  const packer = { writer, epoch, signal };
  const packs = [
    ...(below.root?.packs ?? []),
    ...(await pack(packer, [...unpacked, ...slots], { after: before, through: packedThrough })),
  ];
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

interface Packer {
  readonly writer: ObjectWriter;
  readonly epoch: number;
  readonly signal: AbortSignal | undefined;
}

/** The inlined versions of complete units, in packs. */
async function pack(
  { writer, epoch, signal }: Packer,
  slots: readonly ReadSlot[],
  { after, through }: { readonly after: Sequence; readonly through: Sequence },
): Promise<PackRef[]> {
  const cutter = new PackCutter(epoch, 'unit');
  const packs: PackRef[] = [];
  const put = async (pack: ReturnType<PackCutter['finish']>): Promise<void> => {
    if (pack === null) return;
    await writer.put(packKey(pack.ref), pack.bytes, { signal });
    packs.push(pack.ref);
  };
  for (const { slot, bytes } of slots) {
    for (const inlined of slot.inlined) {
      const { sequence, hash: storedHash } = inlined;
      if (sequence <= after || sequence > through) continue;
      const version = { sequence, storedHash, bytes: sliceInlined(bytes, inlined) };
      await put(cutter.add(slotKey(slot.first), version));
    }
  }
  await put(cutter.finish());
  return packs;
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
