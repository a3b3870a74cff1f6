/**
 * Goal: lost, doubled and odd answers of a bucket cost nobody a write, and double none.
 * Method: hand-made fates for single calls on the simulated bucket, and the whole oracle.
 */
import { describe, expect, test } from 'vitest';
import type { Fate } from './faults.ts';
import type { WriteOutcome } from './history.ts';
import { nth, orders, Scenario } from './scenario.ts';

const SECOND = '/log/0000000000000002.slot';
/** The server has it, and whoever sent it is told that the connection broke. */
const LOST_ANSWER: Partial<Fate> = { told: 'reset', fault: 'lost answer' };
const LOST_READ: Partial<Fate> = { told: 'reset', fault: 'other' };
/** A client library sent it twice, and only the second answer comes through. */
const SENT_TWICE: Partial<Fate> = { twinMs: 1, requestMs: 40 };

const FIRST_TWELVE = Array.from({ length: 12 }, (_, index) => index + 1);

function taken(outcomes: readonly WriteOutcome[]): readonly (readonly [number, number | null])[] {
  return outcomes.flatMap((outcome) => {
    if (outcome.kind !== 'taken') throw new Error(JSON.stringify(outcome));
    return outcome.taken.map(({ version, sequence }) => [version, sequence] as const);
  });
}

describe('B01: a create whose answer is lost is then told "exists"', () => {
  test.each([
    ['the library repeats it by itself', nth('create', SECOND, [1], SENT_TWICE)],
    [
      'two answers in a row are lost',
      orders(
        nth('create', SECOND, [1, 2], LOST_ANSWER),
        nth('get', SECOND, FIRST_TWELVE, LOST_READ),
      ),
    ],
  ])('%s: one acknowledgement, version 1, one slot', async (_, order) => {
    const scenario = await Scenario.begin({ stores: 1, order });
    expect(taken(await scenario.publish(0, ['/guides/setup.md']))).toEqual([[1, 2]]);
    expect(scenario.scene.ghost.slots.map(({ first }) => first)).toEqual([2]);
    expect(scenario.violations()).toEqual([]);
  });

  test('of a blob: the bytes at its name are what was meant', async () => {
    const order = nth('create', '/blobs/', [1], SENT_TWICE);
    const scenario = await Scenario.begin({ stores: 1, inlineBytes: 0, order });
    expect(taken(await scenario.publish(0, ['/guides/setup.md']))).toEqual([[1, 2]]);
    expect(scenario.scene.ghost.blobs).toHaveLength(1);
    expect(scenario.violations()).toEqual([]);
  });

  test('of a slot with the requests of 16 writers: all are acknowledged, once', async () => {
    const order = nth('create', SECOND, [1], SENT_TWICE);
    const scenario = await Scenario.begin({ stores: 1, order });
    const paths = Array.from({ length: 16 }, (_, index) => `/guides/${index}.md`);
    const expected = paths.map((_, index) => [1, 2 + index]);
    expect(taken(await scenario.publish(0, paths))).toEqual(expected);
    expect(scenario.scene.ghost.slots.map(({ first, last }) => [first, last])).toEqual([[2, 17]]);
    expect(scenario.violations()).toEqual([]);
  });
});

test('B02: a 409 is neither a loss nor an end: 64 writes, 64 documents at version 1', async () => {
  let creates = 0;
  const scenario = await Scenario.begin({
    stores: 2,
    order: (operation, key) => {
      if (operation !== 'create' || !key.includes('/log/')) return null;
      creates += 1;
      if (creates === 1) return { told: '409', fault: 'other', requestMs: 1 };
      return creates % 5 === 0 ? { told: '409', fault: 'other', effect: 'never' } : null;
    },
  });
  const paths = Array.from({ length: 64 }, (_, index) => {
    return `/load/${String(index).padStart(2, '0')}.md`;
  });
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    const outcomes: WriteOutcome[] = [];
    for (const path of paths.filter((__, index) => index % 8 === writer)) {
      outcomes.push(await scenario.send(writer % 2, [path]).answered);
    }
    return outcomes;
  });
  const outcomes = (await scenario.settle(Promise.all(writers))).flat();
  expect(taken(outcomes).map(([version]) => version)).toEqual(paths.map(() => 1));
  expect(paths.map((path) => scenario.version(path))).toEqual(paths.map(() => 1));
  expect(scenario.scene.coverage.get('409')).toBeGreaterThan(3);
  expect(scenario.scene.coverage.get('ambiguous create: stored')).toBe(1);
  expect(scenario.violations()).toEqual([]);
});

describe('B03: 429 for racing creates of one name', () => {
  test.each([
    { stores: 3, clients: 1, ms: 60_000, deadlineMs: 10_000 },
    { stores: 3, clients: 4, ms: 10_000, deadlineMs: 10_000 },
    { stores: 32, clients: 1, ms: 1_000, deadlineMs: 60_000 },
  ])(
    '$stores stores under load: no write is lost, doubled or refused',
    async ({ stores, clients, ms, deadlineMs }) => {
      const scenario = await Scenario.begin({
        stores,
        order: (operation, key) => {
          return operation === 'create' && key.includes('/log/') ? { throttled: true } : null;
        },
      });
      const { timeline, coverage } = scenario.scene;
      const work = Array.from({ length: clients * stores }, async (_, client) => {
        const outcomes: WriteOutcome[] = [];
        const store = client % stores;
        while (timeline.now < ms) {
          const path = `/load/${client}-${outcomes.length}.md`;
          outcomes.push(await scenario.send(store, [path], undefined, deadlineMs).answered);
        }
        return outcomes;
      });
      const outcomes = (await scenario.settle(Promise.all(work))).flat();
      expect(taken(outcomes).every(([version]) => version === 1)).toBe(true);
      expect(scenario.scene.ghost.tip).toBe(1 + outcomes.length);
      expect(coverage.get('429')).toBeGreaterThan(stores);
      expect(scenario.violations()).toEqual([]);
    },
  );
});
