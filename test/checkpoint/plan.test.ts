/**
 * Goal: the runs of a checkpoint are those of the rule, and those of an older checkpoint always
 * fit into them.
 * Method: small units and factors, each start within a unit, each sequence up to a limit; pairs of
 * checkpoints, all of them or far apart; the format's own sizes at chosen places. What is expected
 * is computed in another way: from the digits of the number of units.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { basePositionsThrough } from '../../checkpoint/base-positions.ts';
import {
  type Interval,
  intervalText,
  isSameInterval,
  multipleFrom,
  type PlanSizes,
} from '../../checkpoint/interval.ts';
import { planRecords, planRuns } from '../../checkpoint/plan.ts';
import { planSteps, type RunStep } from '../../checkpoint/run-steps.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const UNITS = [2, 3, 4, 5, 6, 7, 8];
const SIZES: readonly PlanSizes[] = UNITS.flatMap((unit) =>
  UNITS.map((factor) => ({ unit, factor, baseUnitsMin: 1 })),
);
const LAST = sequence(Number.MAX_SAFE_INTEGER);

/** A base at each place within a unit, for each of the sizes. */
const CASES = SIZES.flatMap((sizes) =>
  Array.from({ length: sizes.unit }, (_, place) => ({
    sizes,
    base: sequence(sizes.unit + place),
  })),
);

/** Ends of the runs beyond the base, from the digits of the number of whole units. */
function expectedEnds(base: number, through: number, { unit, factor }: PlanSizes): number[] {
  const counted = base + ((unit - (base % unit)) % unit);
  if (through <= counted) return through > base ? [through] : [];
  const ends = counted > base ? [counted] : [];
  const digits = Math.floor((through - counted) / unit).toString(factor);
  let end = counted;
  [...digits].forEach((digit, index) => {
    const length = unit * factor ** (digits.length - 1 - index);
    for (let i = 0; i < Number(digit); i++) {
      end += length;
      ends.push(end);
    }
  });
  if (end < through) ends.push(through);
  return ends;
}

/** What is wrong with `plan` as the one of a base and a sequence, or null. */
function planProblem(
  plan: readonly Interval[],
  base: Sequence,
  through: Sequence,
  sizes: PlanSizes,
) {
  const ends = [base, ...expectedEnds(base, through, sizes)];
  const wrong = plan.findIndex(
    (run, i) => run.after !== (plan[i - 1]?.through ?? 0) || run.through !== ends[i],
  );
  if (wrong < 0 && plan.length === ends.length) return null;
  return `${JSON.stringify({ base, through, ...sizes })}: ${JSON.stringify(plan)}`;
}

/** What is wrong with a step towards `interval` from the runs of a checkpoint, or null. */
function stepProblem(
  step: RunStep<Interval> | undefined,
  interval: Interval,
  built: { readonly sequence: Sequence; readonly runs: readonly Interval[] },
): string | null {
  const inside = built.runs.filter(
    ({ after, through }) => interval.after <= after && through <= interval.through,
  );
  const overlaps = built.runs.filter(
    ({ after, through }) => interval.after < through && after < interval.through,
  );
  if (inside.length !== overlaps.length) return 'a run straddles an end';
  if (step === undefined) return 'no step';
  const same = inside.find(
    ({ after, through }) => after === interval.after && through === interval.through,
  );
  if (step.kind === 'kept') return step.run === same ? null : 'kept another run';
  if (same !== undefined) return 'did not keep its run';
  if (step.runs.some((run, i) => run !== inside[i])) return 'merges other runs';
  const parts = step.slots === null ? step.runs : [...step.runs, step.slots];
  if (step.slots !== null && step.slots.after < built.sequence) return 'reads an old slot';
  const joined = parts.every((part, i) => part.after === (parts[i - 1]?.through ?? interval.after));
  return joined && parts.at(-1)?.through === interval.through ? null : 'parts do not join';
}

/** What is wrong with building `plan` on the runs of a checkpoint, or null. */
function buildProblem(
  built: { readonly sequence: Sequence; readonly runs: readonly Interval[] },
  plan: readonly Interval[],
): string | null {
  const steps = planSteps(built, plan);
  for (const [index, interval] of plan.entries()) {
    const problem = stepProblem(steps[index], interval, built);
    if (problem === null) continue;
    return `${problem}: ${JSON.stringify({ built, interval, step: steps[index] })}`;
  }
  return steps.length === plan.length ? null : 'more steps than runs';
}

const lengths = (plan: readonly Interval[]): number[] =>
  plan.map(({ after, through }) => through - after);

describe('the runs of a checkpoint', () => {
  test('are those of the rule, wherever base and checkpoint end', () => {
    const problems: string[] = [];
    for (const { sizes, base } of CASES) {
      for (let beyond = 0; beyond <= 2_000; beyond++) {
        const through = sequence(base + beyond);
        const problem = planProblem(planRuns({ base, through }, sizes), base, through, sizes);
        if (problem !== null) problems.push(problem);
      }
    }
    expect(problems.slice(0, 3)).toEqual([]);
  });

  test('are as few as the digits of the number of units say', () => {
    for (const { sizes, base } of CASES) {
      const { unit, factor } = sizes;
      for (let digits = 1; unit * factor ** digits < 5_000; digits++) {
        // One short of the next length, and a tail as long as can be.
        const most = multipleFrom(base, unit) + unit * factor ** digits - 1;
        const runs = planRuns({ base, through: sequence(most) }, sizes);
        expect(runs.length).toBe((factor - 1) * digits + (base % unit === 0 ? 2 : 3));
      }
    }
  });

  test('have only the base when the checkpoint is at its end', () => {
    for (const base of [1, 5, 1024, 1025].map(sequence)) {
      expect(planRuns({ base, through: base })).toEqual([{ after: 0, through: base }]);
    }
  });

  test('follow the sizes of the format', () => {
    expect(lengths(planRuns({ base: sequence(1), through: sequence(1_000) }))).toEqual([1, 999]);
    expect(lengths(planRuns({ base: sequence(1), through: sequence(1_024) }))).toEqual([1, 1_023]);
    expect(lengths(planRuns({ base: sequence(2_048), through: sequence(13_313) }))).toEqual([
      2_048, 8_192, 1_024, 1_024, 1_024, 1,
    ]);
    expect(lengths(planRuns({ base: sequence(1_030), through: sequence(10_241) }))).toEqual([
      1_030, 1_018, 8_192, 1,
    ]);
  });

  test('end at the last sequence there can be', () => {
    const through = LAST;
    for (const base of [1, 2 ** 52, LAST - 1_500, LAST - 1].map(sequence)) {
      const runs = planRuns({ base, through });
      expect(runs.at(-1)?.through).toBe(LAST);
      expect(runs.length).toBeLessThan(110);
    }
  });

  test('cannot end before their base', () => {
    const run = () => planRuns({ base: sequence(9), through: sequence(8) });
    expect(run).toThrow(InvariantError);
  });

  test.each([
    { documents: 1_000_000, full: 20 },
    { documents: 10_000_000, full: 28 },
  ])('are at most $full full ones over a base of $documents documents', ({ documents, full }) => {
    const base = sequence(1_024);
    const next = base + Math.ceil(documents / 2 / 1_024) * 1_024;
    let most = 0;
    for (let through: number = base; through < next; through += 1_024) {
      most = Math.max(most, planRuns({ base, through: sequence(through) }).length - 1);
    }
    expect(most).toBe(full);
  });
});

describe('record runs', () => {
  test('are cut like runs, from the start of the life', () => {
    const start = sequence(5);
    for (const through of [5, 6, 1_024, 1_025, 123_456].map(sequence)) {
      const [base, ...runs] = planRuns({ base: start, through });
      expect(planRecords({ start, startHasRoot: false, through })).toEqual(runs);
      expect(planRecords({ start, startHasRoot: true, through })).toEqual([base, ...runs]);
    }
  });

  test('of 10 million sequences', () => {
    const of = { start: sequence(1), startHasRoot: false, through: sequence(10_000_001) };
    const unit = 1_024;
    expect(lengths(planRecords(of))).toEqual([
      1_023,
      ...[4_096 * unit, 4_096 * unit, 512 * unit, 512 * unit, 512 * unit],
      ...[8 * unit, 8 * unit, 8 * unit, 8 * unit, unit, unit, unit, unit],
      641,
    ]);
  });

  test('are at most 32 for 10 million sequences', () => {
    const start = sequence(1_000_000);
    let most = 0;
    let longest = 0;
    // The number is the same within a unit, but for the tail: 1 beyond its start there is one.
    const first = start + (1_024 - (start % 1_024)) + 1;
    for (let through = first; through <= start + 10_000_000; through += 1_024) {
      const runs = planRecords({ start, startHasRoot: true, through: sequence(through) });
      most = Math.max(most, runs.length);
      longest = Math.max(longest, through);
    }
    expect([most, start + 10_000_000 - longest < 1_024]).toEqual([32, true]);
  });
});

describe('the runs of an older checkpoint', () => {
  test('fit into those of each later one over the same base', () => {
    const problems: string[] = [];
    for (const { sizes, base } of CASES) {
      const { unit, factor } = sizes;
      if (unit > 4) continue;
      const checkpoints = Array.from({ length: 3 * unit * factor }, (_, beyond) => {
        const through = sequence(base + beyond);
        return { sequence: through, runs: planRuns({ base, through }, sizes) };
      });
      for (const [index, built] of checkpoints.entries()) {
        for (const { runs } of checkpoints.slice(index)) {
          const problem = buildProblem(built, runs);
          if (problem !== null) problems.push(problem);
        }
      }
    }
    expect(problems.slice(0, 3)).toEqual([]);
  });

  test('fit into those of one far beyond, and into those of the next sequence', () => {
    const problems: string[] = [];
    const random = new SeededRandom(8);
    for (const { sizes, base } of CASES) {
      let built = { sequence: base, runs: planRuns({ base, through: base }, sizes) };
      while (built.sequence < base + 5_000) {
        const step = Math.ceil(2 ** (random.number() * 9));
        for (const beyond of [1, step]) {
          const through = sequence(built.sequence + beyond);
          const runs = planRuns({ base, through }, sizes);
          const problem = buildProblem(built, runs);
          if (problem !== null) problems.push(problem);
          if (beyond === step) built = { sequence: through, runs };
        }
      }
    }
    expect(problems.slice(0, 3)).toEqual([]);
  });

  test.each([
    { name: 'each sequence creates a document', of: (at: number) => at },
    { name: 'no sequence does', of: () => 30 },
    { name: 'some do', of: (at: number) => 7 + Math.floor(at / 3) },
  ])('fit when the base moves: $name', ({ of }) => {
    const problems: string[] = [];
    const bases = new Set<number>();
    for (const { sizes, base: start } of CASES) {
      if (sizes.unit > 4 || sizes.factor > 4) continue;
      const from = { position: start, documents: of(start) };
      const checkpoints = Array.from({ length: 110 }, (_, beyond) => {
        const through = sequence(start + beyond);
        const base = basePositionsThrough(from, through, of, sizes).at(-1)?.position ?? start;
        bases.add(base);
        return { sequence: through, runs: planRuns({ base, through }, sizes) };
      });
      for (const [index, built] of checkpoints.entries()) {
        for (const { runs } of checkpoints.slice(index)) {
          const problem = buildProblem(built, runs);
          if (problem !== null) problems.push(problem);
        }
      }
    }
    expect(problems.slice(0, 3)).toEqual([]);
    expect(bases.size).toBeGreaterThan(10);
  });

  test('fit with the sizes of the format', () => {
    const random = new SeededRandom(3);
    const from = { position: sequence(700), documents: 50_000 };
    const start: Interval = { after: 0, through: from.position };
    let built = { sequence: from.position, runs: [start] as readonly Interval[] };
    let last = from;
    const moved: number[] = [];
    while (last.position < 2_000_000) {
      const through = sequence(built.sequence + Math.ceil(2 ** (random.number() * 15)));
      const passed = basePositionsThrough(last, through, (to) => 50_000 + Math.floor(to / 2));
      last = passed.at(-1) ?? last;
      if (passed.length > 0) moved.push(last.position);
      const runs = planRuns({ base: last.position, through });
      expect(buildProblem(built, runs)).toBeNull();
      built = { sequence: through, runs };
    }
    expect(moved.length).toBeGreaterThan(5);
  });

  test('are each written once for a length, and less than a unit is written again', () => {
    const random = new SeededRandom(4);
    const problems: string[] = [];
    for (const { sizes, base } of CASES) {
      let built = { sequence: base, runs: planRuns({ base, through: base }, sizes) };
      const written = new Set<string>();
      while (built.sequence < base + 3_000) {
        const through = sequence(built.sequence + Math.ceil(2 ** (random.number() * 6)));
        const runs = planRuns({ base, through }, sizes);
        let again = 0;
        for (const step of planSteps(built, runs)) {
          if (step.kind === 'kept') continue;
          const { after, through: end } = step.interval;
          const isFull = after % sizes.unit === 0 && (end - after) % sizes.unit === 0;
          if (!isFull) again += Math.max(0, built.sequence - after);
          else if (written.has(`${after} ${end}`)) problems.push(`(${after}, ${end}] twice`);
          else written.add(`${after} ${end}`);
        }
        if (again >= sizes.unit) problems.push(`${again} again at ${through}`);
        built = { sequence: through, runs };
      }
      const cut = [...written].map((text) => text.split(' ').map(Number));
      if (lengthsOverlap(cut)) problems.push(`a length twice at ${base}`);
    }
    expect(problems.slice(0, 3)).toEqual([]);
  });
});

/** Whether two intervals of one length share a sequence. */
function lengthsOverlap(intervals: readonly (readonly number[])[]): boolean {
  const ends = new Map<number, number>();
  return intervals
    .toSorted(([one = 0], [other = 0]) => one - other)
    .some(([after = 0, through = 0]) => {
      const end = ends.get(through - after) ?? 0;
      ends.set(through - after, through);
      return after < end;
    });
}

const run = (after: number, through: number): Interval => ({
  after: after === 0 ? 0 : sequence(after),
  through: sequence(through),
});

describe('intervals', () => {
  test('are the same when both ends are', () => {
    const others = [run(4, 9), run(4, 8), run(5, 9), run(0, 9)];
    expect(others.map((other) => isSameInterval(run(4, 9), other))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test('are named half open', () => {
    expect(intervalText(run(0, 9))).toBe('(0, 9]');
  });
});

describe('`planSteps()`', () => {
  const built = (at: number, ...runs: Interval[]) => ({ sequence: sequence(at), runs });

  test('makes an empty base of a life that started with nothing', () => {
    expect(planSteps(built(1), [run(0, 1), run(1, 9)])).toEqual([
      { kind: 'merged', interval: run(0, 1), runs: [], slots: null },
      { kind: 'merged', interval: run(1, 9), runs: [], slots: run(1, 9) },
    ]);
    expect(planSteps(built(1), [run(0, 9)])).toEqual([
      { kind: 'merged', interval: run(0, 9), runs: [], slots: run(1, 9) },
    ]);
  });

  test('hands on the runs it was given, and cuts the slots where they end', () => {
    const runs = [run(0, 4), run(4, 8), run(8, 10), run(10, 11)];
    expect(planSteps(built(11, ...runs), [run(0, 4), run(4, 12), run(12, 13)])).toEqual([
      { kind: 'kept', run: runs[0] },
      { kind: 'merged', interval: run(4, 12), runs: runs.slice(1), slots: run(11, 12) },
      { kind: 'merged', interval: run(12, 13), runs: [], slots: run(12, 13) },
    ]);
    expect(planSteps(built(11, ...runs), [run(0, 4), run(4, 11)])[1]).toEqual({
      kind: 'merged',
      interval: run(4, 11),
      runs: runs.slice(1),
      slots: null,
    });
  });

  test.each([
    { what: 'straddles the end of one', at: 6, runs: [run(0, 6)], plan: [run(0, 4), run(4, 8)] },
    { what: 'straddles its start', at: 8, runs: [run(0, 4), run(5, 8)], plan: [run(0, 8)] },
    { what: 'overlaps another', at: 8, runs: [run(0, 4), run(3, 8)], plan: [run(0, 8)] },
    { what: 'is missing at the start', at: 8, runs: [run(4, 8)], plan: [run(0, 8)] },
    { what: 'is missing at the end', at: 8, runs: [run(0, 4)], plan: [run(0, 8)] },
    { what: 'is missing, all of a run', at: 8, runs: [run(0, 4)], plan: [run(0, 4), run(4, 9)] },
    { what: 'ends beyond its checkpoint', at: 6, runs: [run(0, 8)], plan: [run(0, 8)] },
    { what: 'starts beyond it', at: 4, runs: [run(0, 4), run(4, 8)], plan: [run(0, 4), run(4, 8)] },
    { what: 'ends beyond the plan', at: 8, runs: [run(0, 4), run(4, 8)], plan: [run(0, 4)] },
  ])('throws when a run $what', ({ at, runs, plan }) => {
    expect(() => planSteps(built(at, ...runs), plan)).toThrow(InvariantError);
  });
});
