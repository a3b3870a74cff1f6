/**
 * Packs the units that a step completes, one by one. A unit of which a slot cannot be read, or
 * whose versions are not what the log says, ends it: what is packed then ends before the unit, and
 * the next checkpoint tries again.
 */
import { isStoreError } from '../bucketstore/base/errors.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import { sliceInlined } from '../bucketstore/log/bodies.ts';
import type { ReadSlot } from '../bucketstore/log/log.ts';
import { LOG_PREFIX, slotKey } from '../bucketstore/log/names.ts';
import type { Interval } from './interval.ts';
import type { ObjectWriter } from './object-writer.ts';
import { type EncodedPack, type PackRef, packKey } from './pack.ts';
import { PackCutter } from './pack-cutter.ts';
import { unitsToPack } from './packing.ts';

export interface UnitPackerParts {
  readonly writer: ObjectWriter;
  /** That packs are written in. */
  readonly epoch: number;
  readonly signal: AbortSignal | undefined;
  /** The slots at or before the checkpoint below that hold something of a unit, ascending. */
  readonly readUnit: (unit: Interval) => Promise<readonly ReadSlot[]>;
  /** Told what ended the packing before a unit. @throws whatever is to end the step */
  readonly onStopped: (unit: Interval, error: unknown) => Promise<void>;
}

export interface PackedUnits {
  /** The new ones, ascending. */
  readonly packs: readonly PackRef[];
  readonly packedThrough: Sequence;
}

/**
 * Packs what is complete at the end of a step. One `create` for each pack, and what `readUnit`
 * takes for units that begin before the step.
 * @param after what is packed already
 * @param slots of the step
 * @throws StoreError `INTEGRITY` when a pack's name has other bytes; `UNAVAILABLE`, `LOCATION`
 */
export async function packUnits(
  { readUnit, onStopped, ...parts }: UnitPackerParts,
  after: Sequence,
  slots: readonly ReadSlot[],
): Promise<PackedUnits> {
  const packs: PackRef[] = [];
  let packedThrough = after;
  const [begin, end] = [slots[0]?.slot.first ?? after, slots.at(-1)?.slot.last ?? after];
  const cutter = new PackCutter(parts.epoch, 'unit');
  for (const unit of unitsToPack(after, end)) {
    try {
      const behind = unit.after + 1 < begin ? await readUnit(unit) : [];
      const packed = await packUnit(parts, cutter, unit, [...behind, ...within(slots, unit)]);
      packs.push(...packed);
    } catch (error) {
      if (!isDamagedSlot(error)) throw error;
      await onStopped(unit, error);
      break;
    }
    packedThrough = unit.through;
  }
  return { packs, packedThrough };
}

function within(slots: readonly ReadSlot[], { after, through }: Interval): readonly ReadSlot[] {
  return slots.filter(({ slot }) => slot.last > after && slot.first <= through);
}

async function packUnit(
  { writer, signal }: Pick<UnitPackerParts, 'writer' | 'signal'>,
  cutter: PackCutter,
  { after, through }: Interval,
  slots: readonly ReadSlot[],
): Promise<PackRef[]> {
  const packs: PackRef[] = [];
  const put = async (pack: EncodedPack | null): Promise<void> => {
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

function isDamagedSlot(error: unknown): boolean {
  if (!isStoreError(error) || error.code !== 'INTEGRITY') return false;
  return error.details.object?.startsWith(LOG_PREFIX) === true;
}
