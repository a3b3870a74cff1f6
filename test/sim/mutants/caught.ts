/**
 * That the oracle catches mutants: each of a share of them, by a seed of those that `npm test`
 * runs. What the store itself says of a damaged log does not count: the oracle must see it.
 */
import { describe, expect, test } from 'vitest';
import { drawPlan } from '../draw-plan.ts';
import { run } from '../run.ts';
import { MUTANTS } from './list.ts';

/** Of `npm test`. */
const SEEDS = 800;
const MS_MAX = 900_000;
/** Rules that are the store's word, or the harness's own trouble. */
const NO_ORACLE = new Set(['integrity', 'harness', 'liveness', 'oracle']);

/** Declares the tests of one share of the mutants. @param share from 0 to `shares` − 1 */
export function testMutants(share: number, shares: number): void {
  describe(`mutants, share ${share + 1} of ${shares}`, () => {
    const shown = MUTANTS.filter(({ rare }) => rare === undefined);
    const mine = shown.filter((_, index) => index % shares === share);
    test.each(mine)(
      'the oracle catches $name',
      async ({ name, hint }) => {
        const all = Array.from({ length: SEEDS }, (_, index) => index + 1);
        const seeds = hint === undefined ? all : [hint, ...all];
        expect(await firstCaught(name, seeds)).not.toBeNull();
      },
      MS_MAX,
    );
  });
}

/** The first seed that shows a mutant, with what the oracle said; null when none does. */
async function firstCaught(mutant: string, seeds: readonly number[]): Promise<string | null> {
  for (const seed of seeds) {
    const { violations } = await run(drawPlan(seed), { mutant });
    const told = violations.find(({ rule }) => !NO_ORACLE.has(rule));
    if (told !== undefined) return `seed ${seed}: ${told.rule}: ${told.detail}`;
  }
  return null;
}
