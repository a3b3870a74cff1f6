/**
 * From the runs of the checkpoint that is built on to those of the plan: what is kept, what is
 * merged, and of which slots the entries are read. The same for runs and for record runs.
 *
 * WHY IT ALWAYS FITS. Let a checkpoint at S be built on one at R < S. Each run of R's plan lies
 * wholly inside one run of S's, so it is kept or merged into a longer one, and never split:
 * - If the bases differ, S's base ends beyond R: else it would have been R's base too. All runs of
 *   R lie in the base of S. Record runs have one base for ever.
 * - With one base, both count from the same A. R's base is S's. R's head starts where S's does, and
 *   ends at A or, where R does, before it.
 * - Full runs and units are cut at multiples of their own lengths, all powers of one factor: any
 *   two lie apart or one in the other. Suppose that S has a run strictly inside a full run O of R.
 *   Then no run of S holds O, so the one that holds O's first sequence lies in O, starts where O
 *   does and is shorter. But O ends at or before R, hence before S: the cut for S could have taken
 *   O at that place, and it takes the longest.
 * - R's tail lies in one unit, and starts with it. As long as S is in that unit, S's tail starts
 *   there too and is longer; else the unit is complete and lies in a full run of S.
 * So the slots beyond R are the right end of the runs that pass R, and nothing is read twice.
 */
import { assert } from '../bucketstore/base/assert.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import { type Interval, intervalText, isSameInterval } from './interval.ts';

/** The checkpoint that is built on: its runs, or its record runs. */
export interface BuiltRuns<Run extends Interval> {
  /** Its sequence. */
  readonly sequence: Sequence;
  /** Contiguous, ascending, up to `sequence`. None: a life that started with nothing. */
  readonly runs: readonly Run[];
}

/**
 * How a run of the plan comes about. `kept`: it is `run`, object for object. `merged`: the newest
 * entry of each path from `runs`, oldest run first, and from the slots of `slots`, newer than all
 * of them; `slots` is null when it needs none, and its ends may lie inside a slot. With no run and
 * no slots it is a run without entries.
 */
export type RunStep<Run extends Interval> =
  | { readonly kind: 'kept'; readonly run: Run }
  | {
      readonly kind: 'merged';
      readonly interval: Interval;
      readonly runs: readonly Run[];
      readonly slots: Interval | null;
    };

/**
 * One step for each run of `plan`, in its order. Every run that was built is in exactly one of
 * them, and so is every sequence beyond the checkpoint that is built on.
 * @param plan of the same world at a later sequence, or the same
 * @throws InvariantError when the runs are not those of an older plan of the same world
 */
export function planSteps<Run extends Interval>(
  built: BuiltRuns<Run>,
  plan: readonly Interval[],
): readonly RunStep<Run>[] {
  let taken = 0;
  const steps = plan.map((interval) => {
    const from = taken;
    while (isWithin(built.runs[taken], interval.through)) taken += 1;
    return stepOf(built, built.runs.slice(from, taken), interval);
  });
  assert(
    taken === built.runs.length,
    () => `${built.runs.length - taken} runs at ${built.sequence} lie beyond the plan`,
  );
  return steps;
}

function isWithin(run: Interval | undefined, through: Sequence): boolean {
  return run !== undefined && run.through <= through;
}

function stepOf<Run extends Interval>(
  built: BuiltRuns<Run>,
  runs: readonly Run[],
  interval: Interval,
): RunStep<Run> {
  if (built.runs.length > 0) assertCovered(built.sequence, runs, interval);
  const [only] = runs;
  if (only !== undefined && isSameInterval(only, interval)) {
    return { kind: 'kept', run: only };
  }
  return { kind: 'merged', interval, runs, slots: slotsOf(built.sequence, interval) };
}

/** What of `interval` lies beyond the checkpoint that is built on. */
function slotsOf(builtTo: Sequence, { after, through }: Interval): Interval | null {
  if (through <= builtTo) return null;
  return { after: after < builtTo ? builtTo : after, through };
}

/** That the runs join, from the interval's start to its end or to that of what was built. */
function assertCovered(builtTo: Sequence, runs: readonly Interval[], interval: Interval): void {
  let reached = interval.after;
  for (const run of runs) {
    const at = reached;
    assert(
      run.after === at,
      () => `run ${intervalText(run)} does not start at ${at} in ${intervalText(interval)}`,
    );
    reached = run.through;
  }
  const isBeyond = runs.length === 0 && interval.after >= builtTo;
  assert(
    isBeyond || reached === Math.min(interval.through, builtTo),
    () => `the runs at ${builtTo} reach ${reached} in ${intervalText(interval)}`,
  );
}
