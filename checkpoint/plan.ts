/**
 * Which runs a checkpoint consists of: a function of its sequence and its base alone (I4).
 *
 * RULE. A checkpoint at S whose base ends at B (`base-positions.ts`) consists of
 * - the *base*, from the beginning up to B;
 * - when B is no multiple of the unit, the *head*, from B up to A, the next multiple, or up to S if
 *   that is less; else A = B;
 * - *full* runs of unit·factor^k sequences: the rest, cut from the left, each as long as it can be
 *   that starts at a multiple of its own length, counted from A;
 * - the *tail*, what then remains: shorter than a unit.
 * The version records of a checkpoint are cut by the same rule, but always with the start of the
 * life in place of B: records are never merged into the base. The records before the start, of a
 * life that started with any, are a run of their own.
 *
 * GROWTH. The full runs over n units are the digits of n in base `factor`, the highest first: d
 * runs for a digit d. So there are at most factor − 1 of each length, and at most
 * (factor − 1)·m + 3 runs when n < factor^m. With the sizes of the format:
 * - bases follow each other after max(16, documents / 2048) units and a fraction, so a world of up
 *   to a million documents has at most 20 full runs, of ten million at most 28;
 * - the records are in at most 32 runs for the first 10 million sequences: up to 29 full ones, and
 *   base, head and tail.
 * Runs only ever merge into longer ones (`run-steps.ts`). So an entry that has been read from its
 * slot is written again at most once for each length, which are m for n < factor^m, and with a base
 * (three entries for a sequence at most). What is written more often is the head or the tail,
 * whichever still grows: less than a unit for each checkpoint.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import { FORMAT_SIZES, type Interval, multipleFrom, type PlanSizes } from './interval.ts';

/** The two sequences that decide about the runs of a checkpoint. */
export interface RunPlanOf {
  /** Where the base ends: the last base position at or before `through`. */
  readonly base: Sequence;
  /** The sequence of the checkpoint. */
  readonly through: Sequence;
}

/**
 * What the runs of a checkpoint cover: contiguous, ascending, up to `through`. The first is the
 * base, also in a world that started with nothing.
 */
export function planRuns(of: RunPlanOf, sizes: PlanSizes = FORMAT_SIZES): readonly Interval[] {
  return [{ after: 0, through: of.base }, ...beyond(of.base, of.through, sizes)];
}

/** What decides about the record runs of a checkpoint. */
export interface RecordPlanOf {
  /** Where the life began. */
  readonly start: Sequence;
  /** Whether the life began with a root, whose records are then a run of their own. */
  readonly startHasRoot: boolean;
  /** The sequence of the checkpoint. */
  readonly through: Sequence;
}

/** What the record runs of a checkpoint cover: contiguous, ascending, up to `through`. */
export function planRecords(
  of: RecordPlanOf,
  sizes: PlanSizes = FORMAT_SIZES,
): readonly Interval[] {
  const runs = beyond(of.start, of.through, sizes);
  return of.startHasRoot ? [{ after: 0, through: of.start }, ...runs] : runs;
}

/** Head, full runs and tail of (base, through]. */
function beyond(base: Sequence, through: Sequence, sizes: PlanSizes): readonly Interval[] {
  assert(base <= through, () => `a base at ${base} beyond the checkpoint at ${through}`);
  const counted = multipleFrom(base, sizes.unit);
  const runs: Interval[] = [];
  let after = base;
  while (after < through) {
    const left = through - after;
    const length = after < counted ? Math.min(counted - after, left) : longest(left, sizes);
    const end = sequence(after + length);
    runs.push({ after, through: end });
    after = end;
  }
  return runs;
}

/**
 * The length of the next run when `left` is not yet cut. It starts at a multiple of that: what was
 * cut before it, counted from A, are runs of this length and of longer ones.
 */
function longest(left: number, { unit, factor }: PlanSizes): number {
  if (left < unit) return left;
  let length = unit;
  while (length * factor <= left) length *= factor;
  return length;
}
