/**
 * Where the base of a checkpoint ends: a function of the log alone (I4).
 *
 * RULE. The first base ends where the life began, at `start.sequence`. The one after a base at B
 * that holds d documents ends at the least multiple of the unit that is
 * ≥ B + max(16 units, d div 2). So every base but the first ends on a multiple of the unit. The
 * documents of a base are the entries of its run: paths that have had a version, archived or not.
 *
 * GROWTH. Let s be the sequences between two bases. Half of the older one's documents are at most
 * s, and a sequence creates one document at most, so the newer one has at most 3·s + 1 entries:
 * however large the world is, its bases cost at most three entries for a sequence, and one more for
 * a base. The other way round the runs beyond the base stay few (`plan.ts`), since a world of d
 * documents is less than a unit past max(16 units, d div 2) sequences when the next base is due.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import { FORMAT_SIZES, multipleFrom, type PlanSizes } from './interval.ts';

/** A base as a root names it. */
export interface BasePosition {
  /** The last sequence that the base covers. */
  readonly position: Sequence;
  /** Entries of its run: the documents at that sequence, archived ones included. */
  readonly documents: number;
}

/**
 * Where the base after `base` ends.
 * @throws RangeError when that lies beyond the last sequence there can be
 */
export function nextBasePosition(base: BasePosition, sizes: PlanSizes = FORMAT_SIZES): Sequence {
  const { position, documents } = base;
  assert(
    Number.isSafeInteger(documents) && documents >= 0,
    () => `${documents} documents at ${position}`,
  );
  const step = Math.max(sizes.baseUnitsMin * sizes.unit, Math.floor(documents / 2));
  return sequence(multipleFrom(position + step, sizes.unit));
}

/**
 * The bases that end after `from` and at or before `through`, ascending; the last of them, or else
 * `from`, is the base of a checkpoint at `through`. It does not matter from which earlier base the
 * walk sets out.
 * @param documentsAt how many documents there are at a sequence, archived ones included. Asked
 *   once for each base that is passed, in ascending order, so that it may count on as it goes:
 *   entry by entry, since a base may end inside a slot.
 * @throws RangeError as `nextBasePosition()`
 */
export function basePositionsThrough(
  from: BasePosition,
  through: Sequence,
  documentsAt: (position: Sequence) => number,
  sizes: PlanSizes = FORMAT_SIZES,
): readonly BasePosition[] {
  assert(from.position <= through, () => `a base at ${from.position}, asked up to ${through}`);
  const passed: BasePosition[] = [];
  let base = from;
  for (;;) {
    const position = nextBasePosition(base, sizes);
    if (position > through) return passed;
    base = { position, documents: documentsAt(position) };
    passed.push(base);
  }
}
