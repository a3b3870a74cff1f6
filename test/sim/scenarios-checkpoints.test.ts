/**
 * Goal: lost answers, stalled bodies and slow reads of a checkpoint's objects cost no checkpoint,
 * no writer's time and no world; what piles up without checkpoints is worked off across restarts.
 * Method: hand-made fates for single calls on the simulated bucket, and the whole oracle.
 */
import { describe, expect, test } from 'vitest';
import { integrityError } from '../../bucketstore/base/errors.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import { compact } from './compaction.ts';
import { Damage } from './damage.ts';
import type { Fate } from './faults.ts';
import { nth, type Order, orders, Scenario } from './scenario.ts';

const LOST_ANSWER: Partial<Fate> = { told: 'reset', fault: 'lost answer' };
const LOST_READ: Partial<Fate> = { told: 'reset', fault: 'other' };
const SENT_TWICE: Partial<Fate> = { twinMs: 1, requestMs: 40 };
const FIRST_TWELVE = Array.from({ length: 12 }, (_, index) => index + 1);
const FOLDERS = ['/checkpoints/', '/roots/', '.run', '.seg', '.rec', '/history/', '/packs/'];

/** A world of 24 entries, with every kind of object when it is compacted. */
async function filled(order?: Order): Promise<Scenario> {
  const scenario = await Scenario.begin({ stores: 1, ...(order === undefined ? {} : { order }) });
  for (let round = 0; round < 8; round++) {
    await scenario.publish(0, ['/a.md', `/b/${round}.md`, '/c.md']);
  }
  return scenario;
}

function created(scenario: Scenario, part: string): readonly string[] {
  return scenario.effects.flatMap(({ key, outcome }) => {
    return outcome === 'created' && key.includes(part) ? [key] : [];
  });
}

describe('B01 (d): a create of a checkpoint’s object whose answer is lost', () => {
  test.each(FOLDERS)('of %s: it is one, it is ours, and the checkpoint is made', async (folder) => {
    for (const order of [
      nth('create', folder, [1], SENT_TWICE),
      orders(
        nth('create', folder, [1, 2], LOST_ANSWER),
        nth('get', folder, FIRST_TWELVE, LOST_READ),
      ),
    ]) {
      const scenario = await filled(order);
      await scenario.compact(0);
      expect(created(scenario, folder).length).toBeGreaterThan(0);
      expect(created(scenario, '/checkpoints/')).toHaveLength(1);
      expect(scenario.scene.checkpoints.found.size).toBe(1);
      expect(scenario.violations()).toEqual([]);
    }
  });

  test.each(FOLDERS.slice(1))('of %s: other bytes at its name are no success', async (folder) => {
    const before = await filled();
    await before.compact(0);
    const [key = ''] = created(before, folder);
    const scenario = await filled();
    scenario.scene.bucket.damage(key, new Uint8Array(10));
    const compacted = scenario.compact(0);
    await expect(compacted).rejects.toMatchObject({ code: 'INTEGRITY', details: { object: key } });
    expect(created(scenario, '/checkpoints/')).toEqual([]);
    expect(scenario.violations()).toEqual([]);
    // Nobody who writes feels it.
    const [outcome] = await scenario.publish(0, ['/after.md']);
    expect(outcome?.kind).toBe('taken');
  });
});

describe('an object of a checkpoint that was lost for a while', () => {
  test('explains what tells of it, and not for ever', async () => {
    const scenario = await filled();
    await scenario.compact(0);
    await scenario.publish(0, ['/later.md']);
    await scenario.compact(0);
    const { process } = scenario.life(0);
    const damage = new Damage({ ...scenario.scene, keep: 2 });
    const [, root = ''] = created(scenario, '/roots/');
    const error = integrityError(root, 'missing');
    expect(damage.explains(error, process)).toBe(false);
    const at = scenario.scene.timeline.now;
    damage.strike({ at, kind: 'damage', store: 0, what: 'root', how: 'removed', ms: 100_000 });
    expect(damage.explains(error, process)).toBe(true);
    expect(damage.explains(integrityError(`${root}x`, 'missing'), process)).toBe(false);
    process.pause(200_000, false);
    await scenario.until(200_001);
    // Asleep when it was put right.
    expect(damage.explains(error, process)).toBe(true);
    await scenario.until(70_000);
    expect(damage.explains(error, process)).toBe(false);
  });
});

describe('B05: reads in bulk', () => {
  const SLOW_MS = 1_000;
  test('of a compaction are bounded, and no writer of the same store waits for them', async () => {
    const begun: number[] = [];
    /** Slots up to here are read for the compaction alone. */
    let tip = '';
    const isBulk = (key: string): boolean => {
      return key.includes('/log/') ? key <= tip : /\/(index|roots|packs)\//.test(key);
    };
    const scenario = await Scenario.begin({
      stores: 1,
      order: (operation, key) => {
        if (tip === '' || operation !== 'get' || !isBulk(key)) return null;
        begun.push(scenario.scene.timeline.now);
        return { requestMs: SLOW_MS, answerMs: 1 };
      },
    });
    for (let round = 0; round < 38; round++) await scenario.publish(0, [`/many/${round}.md`]);
    tip = slotKey(sequence(scenario.scene.ghost.tip));
    let done = false;
    const compacted = compact(scenario.scene, scenario.life(0)).then(() => {
      done = true;
    });
    const { timeline } = scenario.scene;
    let slowest = 0;
    for (let round = 0; !done; round++) {
      const from = timeline.now;
      await scenario.publish(0, [`/beside/${round}.md`]);
      slowest = Math.max(slowest, timeline.now - from);
    }
    await compacted;
    expect(begun.length).toBeGreaterThan(38);
    // The bulk lane has 32 places.
    const most = begun.map(
      (at) => begun.filter((other) => other > at - SLOW_MS && other <= at).length,
    );
    expect(Math.max(...most)).toBeLessThanOrEqual(32);
    expect(slowest).toBeLessThan(SLOW_MS);
    expect(scenario.violations()).toEqual([]);
  });
});

describe('B06: a body of a checkpoint that stalls or is cut', () => {
  const kinds = ['/checkpoints/', '/roots/', '.run', '.seg'];
  test.each(
    kinds.flatMap(
      (kind) =>
        [
          [kind, 'silence'],
          [kind, 'short read'],
        ] as const,
    ),
  )(
    '%s, %s: the read is made again, and the world opens from the checkpoint',
    async (kind, how) => {
      let reads = 0;
      let opening = false;
      const scenario = await filled((operation, key) => {
        if (!opening || operation !== 'get' || !key.includes(kind)) return null;
        reads += 1;
        return reads === 1 ? { told: how, fault: 'other' } : null;
      });
      await scenario.compact(0);
      opening = true;
      const [store] = scenario.stores;
      const { timeline, coverage } = scenario.scene;
      store?.crash(100, null);
      const from = timeline.now;
      await scenario.until(() => store?.life !== null);
      expect(timeline.now - from).toBeLessThan(20_000);
      expect(reads).toBeGreaterThan(1);
      expect(coverage.get('opens from a checkpoint')).toBe(1);
      expect(coverage.get('bad checkpoint passed over')).toBe(0);
      expect(await scenario.settle(scenario.life(0).world.view().get('/a.md'))).toMatchObject({
        version: 8,
      });
      expect(scenario.violations()).toEqual([]);
    },
  );
});

test('B68: what is behind the last checkpoint is worked off across restarts', async () => {
  let blocked = true;
  const refused: Partial<Fate> = { told: '503', fault: 'other', effect: 'never' };
  const scenario = await Scenario.begin({
    stores: 1,
    compact: true,
    order: (operation, key) => {
      return blocked && operation === 'create' && key.includes('/roots/') ? refused : null;
    },
  });
  const { ghost, checkpoints } = scenario.scene;
  for (let round = 0; round < 170; round++) await scenario.publish(0, [`/d/${round % 30}.md`]);
  expect(checkpoints.found.size).toBe(0);
  blocked = false;
  const [store] = scenario.stores;
  const replayed: number[] = [];
  for (let start = 0; start < 3; start++) {
    const known = checkpoints.found.size;
    store?.crash(100, null);
    await scenario.until(() => store?.life !== null);
    const { tip, base } = scenario.life(0).parts.follower.snapshot;
    replayed.push(tip.sequence - base.sequence);
    // It dies as soon as one more is there.
    await scenario.until(() => checkpoints.found.size > known);
  }
  expect(ghost.tip).toBe(171);
  // Each start finds less to replay than the one before, whatever became of that.
  expect(replayed[0]).toBe(171);
  expect(replayed[1]).toBeLessThan(replayed[0] ?? 0);
  expect(replayed[2]).toBeLessThan(replayed[1] ?? 0);
  await scenario.until(60_000);
  expect(checkpoints.newest?.sequence).toBe(171);
  expect(scenario.violations()).toEqual([]);
});

test('a slot known of late, behind a rest and another’s slot, costs nobody a write', async () => {
  const held = slotKey(sequence(26));
  const order = nth('create', held, [1], { answerMs: 9_000 });
  const scenario = await Scenario.begin({ stores: 2, order });
  for (let round = 0; round < 8; round++) {
    await scenario.publish(0, ['/a.md', `/b/${round}.md`, '/c.md']);
  }
  expect(scenario.scene.ghost.tip).toBe(25);
  await scenario.compact(1);
  const late = scenario.send(0, ['/late.md']);
  await scenario.until(() => scenario.scene.ghost.tip === 26);
  // Built ahead of the answer, on a document that the other store changes meanwhile.
  const ahead = scenario.send(0, ['/a.md'], undefined, undefined, ' ahead');
  await scenario.publish(1, ['/a.md']);
  const compacted = compact(scenario.scene, scenario.life(0));
  const { follower } = scenario.life(0).parts;
  await scenario.until(() => follower.snapshot.base.sequence === 25);
  expect(follower.snapshot.tip.sequence).toBe(27);
  expect(late.outcome).toBeNull();
  const outcomes = await scenario.settle(Promise.all([late.answered, ahead.answered]));
  expect(outcomes.map(({ kind }) => kind)).toEqual(['taken', 'taken']);
  await scenario.settle(compacted);
  const [after] = await scenario.publish(0, ['/after.md']);
  expect(after?.kind).toBe('taken');
  expect(scenario.violations()).toEqual([]);
});
