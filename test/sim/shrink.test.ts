/**
 * Goal: of a plan that breaks a rule little is left, and that still breaks it.
 * Method: a bucket whose creates overwrite; made-up rules over plans, which run nothing.
 */
import { describe, expect, test } from 'vitest';
import { drawPlan } from './draw-plan.ts';
import type { Violation } from './history.ts';
import type { Plan } from './plan.ts';
import { run } from './run.ts';
import { type PlanRunner, shrink } from './shrink.ts';

const BROKEN: readonly Violation[] = [{ rule: 'made up', detail: 'broken' }];

describe('`shrink()`', () => {
  test('leaves a tenth of a plan on a bucket whose creates overwrite', async () => {
    const plan = drawPlan(2);
    const runPlan = async (one: Plan): Promise<readonly Violation[]> => {
      return (await run(one, { createDoesNotCheck: true })).violations;
    };
    const shrunk = await shrink(plan, 'I1', runPlan, 150);
    expect(shrunk?.violation.rule).toBe('I1');
    expect(shrunk?.runs).toBeLessThanOrEqual(150);
    expect(shrunk?.plan.events.length).toBeLessThan(plan.events.length / 10);
    expect(await runPlan(shrunk?.plan ?? plan)).toContainEqual(shrunk?.violation);
  });

  test('leaves exactly the events that are needed', async () => {
    const plan = drawPlan(6);
    const needed = plan.events.filter((_, index) => index % 60 === 7);
    const shrunk = await shrink(plan, 'made up', async ({ events }) => {
      const times = new Set(events.map(({ at }) => at));
      return needed.every(({ at }) => times.has(at)) ? BROKEN : [];
    });
    expect(shrunk?.plan.events.map(({ at }) => at)).toEqual(needed.map(({ at }) => at));
    expect(shrunk?.plan).toMatchObject({ calm: true, acknowledged: 0 });
  });

  test('leaves out stores, and what it keeps is still of the store it was of', async () => {
    const plan = drawPlan(3);
    expect(plan.stores).toHaveLength(3);
    const last = plan.stores[2];
    const shrunk = await shrink(plan, 'made up', async ({ events, stores }) => {
      return events.some(({ store }) => stores[store] === last) ? BROKEN : [];
    });
    expect(shrunk?.plan.stores).toEqual([last]);
    expect(shrunk?.plan.events.map(({ store }) => store)).toEqual([0]);
  });

  test('makes groups and views as small as they can be', async () => {
    const plan = drawPlan(3);
    const wide = (one: Plan): boolean => {
      const kinds = one.events.map(({ kind }) => kind);
      return kinds.includes('write') && kinds.includes('view');
    };
    const shrunk = await shrink(plan, 'made up', async (one) => (wide(one) ? BROKEN : []));
    const sizes = shrunk?.plan.events.map((event) => {
      if (event.kind === 'write') return event.mutations.length;
      return event.kind === 'view' ? event.reads.length : null;
    });
    expect(sizes).toEqual([1, 1]);
  });

  test('keeps to its bound of runs, and to the rule', async () => {
    let runs = 0;
    const many: PlanRunner = async ({ events }) => {
      runs += 1;
      return events.length > 100 ? BROKEN : [];
    };
    const shrunk = await shrink(drawPlan(3), 'made up', many, 12);
    expect(runs).toBe(12);
    expect(shrunk?.runs).toBe(12);
    const other = await shrink(drawPlan(3), 'another', async () => BROKEN);
    expect(other).toBeNull();
  });
});
