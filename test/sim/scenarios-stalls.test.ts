/**
 * Goal: B22, a slot name that was collected and is free again costs nobody a write and shows nobody
 * a write that never was.
 * Method: a store is stopped, or its request is, just before the create of a name; another goes
 * on, writes a checkpoint, raises the floor and removes the slots below it after the grace.
 */
import { describe, expect, test } from 'vitest';
import { DEADLINE_MS_MAX } from '../../bucketstore/options.ts';
import { isStoreFailure } from './answers.ts';
import { nth, Scenario } from './scenario.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NAME = '_demarkus/v1/log/0000000000000065.slot';
/** The longest that a store allows. */
const DEADLINE_MS = DEADLINE_MS_MAX;
const STALLED = '/stalled.md';

/** Both stores at 100; the next name is the one that the stall is about. */
async function atHundred(options: Partial<Parameters<typeof Scenario.begin>[0]> = {}) {
  const scenario = await Scenario.begin({ stores: 2, ...options });
  await scenario.publish(
    0,
    Array.from({ length: 99 }, (_, index) => `/d/${index}.md`),
  );
  expect(scenario.scene.ghost.tip).toBe(100);
  return scenario;
}

/** What the store that goes on does meanwhile. */
async function goOn(scenario: Scenario): Promise<void> {
  await scenario.publish(1, ['/on/a.md']);
  // Enough for a unit to be complete.
  await scenario.publish(1, ['/on/b.md', '/on/c.md', '/on/d.md', '/on/e.md']);
  await scenario.collect(1);
}

const PAUSES = [
  ['a suspended machine that neither clock shows', true, true],
  ['a suspended machine that the wall clock shows', 'monotonic', true],
  ['a stopped process whose request waits with it', false, true],
  ['a stalled event loop', false, false],
] as const;

describe.each(PAUSES)('B22: %s', (_, hidden, frozen) => {
  async function stall(ms: number) {
    const scenario = await atHundred();
    const { process } = scenario.life(0);
    const begun = scenario.scene.timeline.now;
    const sent = scenario.send(0, [STALLED], undefined, DEADLINE_MS);
    if (frozen) {
      process.when('create slot request', () => process.pause(ms, hidden, frozen));
      // Until it is under way.
      await scenario.until(() => process.paused);
    } else {
      process.pause(ms, hidden, frozen);
    }
    return { scenario, sent, begun };
  }

  test.each([1_000, 2 * MINUTE])('of %i ms: its write is committed elsewhere', async (ms) => {
    const { scenario, sent } = await stall(ms);
    await goOn(scenario);
    expect(sent.outcome?.kind).toBe('taken');
    expect(scenario.version(STALLED)).toBe(1);
    expect(scenario.scene.ghost.strays).toBe(0);
    expect(scenario.violations()).toEqual([]);
  });

  test('of 2 h: it takes the name that is free again, and acknowledges nothing', async () => {
    const { scenario, sent, begun } = await stall(2 * HOUR);
    await goOn(scenario);
    expect(scenario.scene.timeline.now - begun).toBeLessThan(2 * HOUR);
    expect(scenario.scene.bucket.peek(NAME)).toBeNull();
    await scenario.until(() => sent.outcome !== null);
    // What waited in its buffers is on its way.
    await scenario.until(1_000);
    expect(scenario.scene.ghost.strays).toBe(1);
    expect(sent.outcome?.kind).toBe('unknown');
    expect(scenario.version(STALLED)).toBe(0);
    expect(scenario.violations()).toEqual([]);
    await seenByNobody(scenario);
  });
});

/** No reader, no cold start, and no collector takes the stray for a slot. */
async function seenByNobody(scenario: Scenario): Promise<void> {
  scenario.stores[0]?.crash(100, null);
  await scenario.until(10_000);
  for (const store of [0, 1]) {
    const read = scenario.life(store).world.view().versions(STALLED);
    let code = '';
    void read.then(
      () => (code = 'found'),
      (error: unknown) => (code = isStoreFailure(error) ? error.code : String(error)),
    );
    await scenario.until(() => code !== '');
    expect(code).toBe('NOT_FOUND');
  }
  expect(scenario.scene.bucket.peek(NAME)).not.toBeNull();
  await scenario.collect(1);
  expect(scenario.scene.bucket.peek(NAME)).toBeNull();
  expect(scenario.violations()).toEqual([]);
}

describe('B22: a request that is late while its store is awake', () => {
  test.each([
    ['1 s on its way', { requestMs: 1_000 }, 0],
    ['2 min on its way', { requestMs: 2 * MINUTE }, 0],
    ['2 h on its way', { requestMs: 2 * HOUR }, 1],
    ['applied 10 min late', { told: 'reset', effect: 'late', lateMs: 10 * MINUTE }, 0],
    ['applied 2 h late', { told: 'reset', effect: 'late', lateMs: 2 * HOUR }, 1],
  ] as const)('%s: its write is committed once, elsewhere', async (_, fate, strays) => {
    const scenario = await atHundred({ order: nth('create', NAME, [1], fate) });
    const sent = scenario.send(0, [STALLED], undefined, DEADLINE_MS);
    await scenario.until(1);
    await goOn(scenario);
    await scenario.until(2 * HOUR);
    const outcome = sent.outcome;
    expect(outcome).toMatchObject({ kind: 'taken', taken: [{ version: 1 }] });
    expect(scenario.version(STALLED)).toBe(1);
    expect(scenario.scene.ghost.strays).toBe(strays);
    expect(scenario.violations()).toEqual([]);
  });
});
