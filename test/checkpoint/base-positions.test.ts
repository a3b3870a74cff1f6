/**
 * Goal: bases end where the rule says, from wherever the walk sets out, and cost what they may.
 * Method: the format's sizes at chosen places; small sizes exhaustively, against a search for the
 * least position that the rule allows.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { basePositionsThrough, nextBasePosition } from '../../checkpoint/base-positions.ts';

const at = (position: number, documents: number) => ({
  position: sequence(position),
  documents,
});

const SIZES = [2, 3, 4, 5, 6, 7, 8].flatMap((unit) =>
  [1, 2, 3].map((baseUnitsMin) => ({ unit, factor: 2, baseUnitsMin })),
);

describe('the next base', () => {
  test.each([
    { position: 1, documents: 0, next: 17 * 1_024 },
    { position: 1_023, documents: 0, next: 17 * 1_024 },
    { position: 1_024, documents: 0, next: 17 * 1_024 },
    { position: 1_025, documents: 0, next: 18 * 1_024 },
    { position: 1_024, documents: 32_769, next: 17 * 1_024 },
    { position: 1_024, documents: 32_770, next: 18 * 1_024 },
    { position: 1_024, documents: 1_000_000, next: 490 * 1_024 },
  ])('of $documents documents at $position ends at $next', ({ position, documents, next }) => {
    expect(nextBasePosition(at(position, documents))).toBe(next);
  });

  test('ends at the least position that the rule allows, and costs three entries for each', () => {
    const problems: unknown[] = [];
    for (const sizes of SIZES) {
      for (let position = 1; position <= 24; position++) {
        for (let documents = 0; documents <= 80; documents++) {
          const { unit, baseUnitsMin } = sizes;
          const next = nextBasePosition(at(position, documents), sizes);
          let least = position + 1;
          const isAllowed = () =>
            least % unit === 0 &&
            least - position >= baseUnitsMin * unit &&
            2 * (least - position) >= documents - (documents % 2);
          while (!isAllowed()) least += 1;
          const step = next - position;
          if (next !== least || documents + step > 3 * step + 1) {
            problems.push({ sizes, position, documents, next, least });
          }
        }
      }
    }
    expect(problems.slice(0, 3)).toEqual([]);
  });

  test('has to be a sequence', () => {
    const position = Number.MAX_SAFE_INTEGER - 17 * 1_024;
    expect(nextBasePosition(at(position, 0))).toBeGreaterThan(position);
    expect(() => nextBasePosition(at(position + 16 * 1_024, 0))).toThrow(RangeError);
  });

  test.each([-1, 0.5, Number.NaN])('throws for %d documents', (documents) => {
    expect(() => nextBasePosition(at(1, documents))).toThrow(InvariantError);
  });
});

describe('the bases up to a sequence', () => {
  const growths = [
    { name: 'all create', of: (position: number) => position },
    { name: 'none does', of: () => 40 },
    { name: 'some do', of: (position: number) => Math.floor((position * 2) / 3) },
  ];

  test.each(growths)('are all that are due, from wherever the walk sets out: $name', ({ of }) => {
    const problems: unknown[] = [];
    for (const sizes of SIZES) {
      for (let start = 1; start <= sizes.unit + 1; start++) {
        const due = [at(start, of(start))];
        for (let through = start; through <= start + 150; through++) {
          const last = due.at(-1) ?? at(start, of(start));
          // No walk but one step at a time: a base is due where the one before says.
          if (nextBasePosition(last, sizes) === through) due.push(at(through, of(through)));
          for (const [index, from] of due.entries()) {
            const found = basePositionsThrough(from, sequence(through), of, sizes);
            const expected = due.slice(index + 1);
            if (JSON.stringify(found) !== JSON.stringify(expected)) {
              problems.push({ sizes, from, through, found, expected });
            }
          }
        }
      }
    }
    expect(problems.slice(0, 3)).toEqual([]);
  });

  test('ask for the documents of each once, in order, and of nothing else', () => {
    const asked: number[] = [];
    const passed = basePositionsThrough(at(1, 0), sequence(100_000), (position) => {
      asked.push(position);
      return position - 1;
    });
    expect(passed.map(({ position }) => position / 1_024)).toEqual([17, 33, 50, 75]);
    expect(asked).toEqual(passed.map(({ position }) => position));
    expect(passed.map(({ documents }) => documents)).toEqual(asked.map((position) => position - 1));
  });

  test('include one at the sequence itself, and none before it is reached', () => {
    const through = (last: number) => basePositionsThrough(at(1, 0), sequence(last), () => 0);
    expect(through(17 * 1_024 - 1)).toEqual([]);
    expect(through(17 * 1_024)).toEqual([at(17 * 1_024, 0)]);
  });

  test('throw when the walk would go back', () => {
    const walk = () => basePositionsThrough(at(9, 0), sequence(8), () => 0);
    expect(walk).toThrow(InvariantError);
  });
});
