/**
 * Goal: a seed is all that a run depends on, and the simulation can fail.
 * Method: whole traces compared line by line; a bucket whose creates overwrite.
 */
import { expect, test } from 'vitest';
import { drawPlan } from './draw-plan.ts';
import { run, type Verdict } from './run.ts';

interface Traced extends Verdict {
  readonly lines: readonly string[];
}

async function traced(seed: number): Promise<Traced> {
  const lines: string[] = [];
  const verdict = await run(drawPlan(seed), { tracer: (line) => lines.push(line) });
  return { ...verdict, lines };
}

test.each([3, 11])('seed %i gives the same trace again, line by line', async (seed) => {
  const first = await traced(seed);
  const second = await traced(seed);
  expect(first.lines.length).toBeGreaterThan(1_000);
  expect(second.lines).toEqual(first.lines);
  expect(second.fingerprint).toBe(first.fingerprint);
  expect(second.coverage.entries()).toEqual(first.coverage.entries());
});

test('the trace does not depend on whether somebody reads it, nor on the runs before', async () => {
  const { fingerprint } = await traced(4);
  await run(drawPlan(5));
  expect((await run(drawPlan(4))).fingerprint).toBe(fingerprint);
});

test('two seeds give two traces', async () => {
  const [one, two] = [await traced(1), await traced(2)];
  expect(one.fingerprint).not.toBe(two.fingerprint);
  expect(one.lines).not.toEqual(two.lines);
});

test('a bucket whose creates overwrite is caught', async () => {
  const { violations } = await run(drawPlan(2), { createDoesNotCheck: true });
  expect(violations.map(({ rule }) => rule)).toContain('I1');
});
