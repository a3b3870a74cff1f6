/**
 * Which units are packed, and which packs are packed again: functions of the log alone (I4).
 *
 * UNITS end at multiples of the unit. The first begins after the start of the life, wherever in a
 * unit that is, and ends with the next multiple. A unit is complete at S when it ends at or before
 * S; complete units are packed, all of their inlined versions, and nothing of the others is. A unit
 * without any has no pack and counts as packed. `packedThrough` is the end of the last packed unit,
 * or the start while there is none.
 *
 * REPACKING. When a base is built, the packs at or before its position of which less than half is
 * still readable there are written again with what is, each maximal row of neighbours as one. What
 * a row writes is less than what it drops, and nothing is dropped twice: all repacking of a world
 * together writes less than packing did. After it no more than half of what an old pack held is
 * dead, counted at the last base.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import { FORMAT_SIZES, type Interval, type PlanSizes } from './interval.ts';

/**
 * `packedThrough` of a checkpoint at `through` that could pack every complete unit: the last
 * multiple of the unit, or the start of the life when that lies beyond.
 */
export function packedThroughAt(
  start: Sequence,
  through: Sequence,
  sizes: Pick<PlanSizes, 'unit'> = FORMAT_SIZES,
): Sequence {
  assert(start <= through, () => `the life starts at ${start}, beyond ${through}`);
  const end = through - (through % sizes.unit);
  return end > start ? sequence(end) : start;
}

/**
 * The units to pack, ascending: complete at `through` and not packed. They may be packed one by
 * one; `packedThrough` is then the end of each in turn, and stays there when one cannot be.
 * @param packedThrough of the checkpoint that is built on; the start of the life if it is that
 */
export function unitsToPack(
  packedThrough: Sequence,
  through: Sequence,
  sizes: Pick<PlanSizes, 'unit'> = FORMAT_SIZES,
): readonly Interval[] {
  const last = packedThroughAt(packedThrough, through, sizes);
  const units: Interval[] = [];
  for (let after = packedThrough; after < last; ) {
    const end = sequence(after - (after % sizes.unit) + sizes.unit);
    units.push({ after, through: end });
    after = end;
  }
  return units;
}

/** How much of a pack is still of use. */
export interface PackUse {
  /** The first sequence of the pack. */
  readonly first: Sequence;
  /** Its last. */
  readonly last: Sequence;
  /** Bytes of the stored versions in it; its directory is not counted. */
  readonly bytes: number;
  /** Of these, the bytes of versions that are retained at the base position. */
  readonly readableBytes: number;
}

/**
 * The rows of packs that are written again when the base at `base` is built: each maximal row of
 * neighbours at or before it that have all less than half of their bytes readable; often of one.
 * Packs are neighbours when no other lies between them, whatever sequences do. A row may have
 * nothing readable and then leaves no pack.
 *
 * What is repacked at a base depends on what was at the base before. A compactor that passes
 * several asks for each in turn, with the packs that the one before left and the units up to it
 * packed; else it writes other packs than one that stopped at each.
 * @param packs of all units up to `base`, ascending; later ones may follow and are left alone
 */
export function repackRows<Pack extends PackUse>(
  packs: readonly Pack[],
  base: Sequence,
): readonly (readonly Pack[])[] {
  const rows: Pack[][] = [];
  let row: Pack[] | null = null;
  let end = 0;
  for (const pack of packs) {
    assertPack(pack, end);
    end = pack.last;
    if (pack.first > base) break;
    assert(pack.last <= base, () => `a pack of ${pack.first} to ${pack.last} across ${base}`);
    if (pack.readableBytes * 2 >= pack.bytes) {
      row = null;
      continue;
    }
    if (row === null) {
      row = [];
      rows.push(row);
    }
    row.push(pack);
  }
  return rows;
}

function assertPack({ first, last, bytes, readableBytes }: PackUse, end: number): void {
  assert(end < first && first <= last, () => `a pack of ${first} to ${last} behind ${end}`);
  assert(
    0 <= readableBytes && readableBytes <= bytes && bytes > 0,
    () => `${readableBytes} of ${bytes} bytes readable in the pack of ${first} to ${last}`,
  );
}
