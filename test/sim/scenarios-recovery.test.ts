/**
 * Goal: what a store leaves behind, or fails at, after its create never erases a commit and is
 * never told as "not written".
 * Method: crashes at single waits and reads that fail, on a bucket that notes every replace.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Fate } from './faults.ts';
import { nth, type Order, Scenario } from './scenario.ts';
import type { WaitKind } from './wait.ts';

const MINUTE = 60_000;
const ROOT = join(import.meta.dirname, '../..');
const LOST_ANSWER: Partial<Fate> = { told: 'reset', fault: 'lost answer' };
const LOST_READ: Partial<Fate> = { told: 'reset', fault: 'other' };

/** What was put over an object, whatever its condition. */
function overwritten(scenario: Scenario): readonly string[] {
  const { effects } = scenario;
  const created = new Set<string>();
  return effects.flatMap(({ operation, outcome, key }) => {
    const again = outcome === 'created' && created.has(key);
    if (outcome === 'created') created.add(key);
    return operation === 'replace' || again ? [key] : [];
  });
}

describe('B24: recovery erases nobody’s commit', () => {
  test.each<[string, WaitKind, boolean]>([
    ['before its blob is there', 'create blob request', false],
    ['between its blob and its slot', 'create blob answer', false],
    ['between its slot and its answer', 'create slot answer', true],
  ])('a store that dies %s leaves nothing or exactly the slot', async (_, wait, stored) => {
    const scenario = await Scenario.begin({ stores: 2, inlineBytes: 0 });
    const [first] = scenario.stores;
    await scenario.publish(0, ['/before.md']);
    scenario.life(0).process.when(wait, () => first?.crash(1_000, null));
    scenario.send(0, ['/dying.md']);
    await scenario.until(() => first?.process.crashed === true);
    await scenario.until(100);
    expect(scenario.version('/dying.md')).toBe(stored ? 1 : 0);
    const [next] = await scenario.publish(1, ['/after.md']);
    const sequence = stored ? 4 : 3;
    expect(next).toMatchObject({ kind: 'taken', taken: [{ version: 1, sequence }] });
    await scenario.until(() => first?.life !== null);
    const [again] = await scenario.publish(0, ['/again.md']);
    expect(again).toMatchObject({ kind: 'taken', taken: [{ sequence: sequence + 1 }] });
    expect(overwritten(scenario)).toEqual([]);
    expect(scenario.violations()).toEqual([]);
  });

  test('nothing in the store replaces an object', () => {
    const folders = ['bucketstore', 'checkpoint', 'feed', 'migrate', 'sections'];
    // A folder without a file is none in a fresh clone.
    const files = folders.flatMap((folder) => {
      if (!existsSync(join(ROOT, folder))) return [];
      const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
      return names.filter((name) => name.endsWith('.ts')).map((name) => join(folder, name));
    });
    const writers = files.filter((file) => {
      return /\b(bucket|store|blobs?)\.replace\(/.test(readFileSync(join(ROOT, file), 'utf8'));
    });
    expect(files.length).toBeGreaterThan(50);
    expect(writers).toEqual([]);
  });
});

describe('B25: a failure after the commit point is never told as "not written"', () => {
  const ELEVEN = '/log/000000000000000b.slot';
  const TWELVE = '/log/000000000000000c.slot';
  const reads = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

  /** Two stores at 10; the second has taken 11, and the first does not know. */
  async function atEleven(order: Order): Promise<Scenario> {
    let begun = false;
    const scenario = await Scenario.begin({
      stores: 2,
      order: (operation, key) => (begun ? order(operation, key) : null),
    });
    const paths = Array.from({ length: 9 }, (_, index) => `/d/${index}.md`);
    await scenario.publish(0, paths);
    const [outcome] = await scenario.publish(1, ['/second.md']);
    expect(outcome).toMatchObject({ kind: 'taken', taken: [{ sequence: 11 }] });
    begun = true;
    return scenario;
  }

  test('the winner before it cannot be read for a while: it is acknowledged at 12', async () => {
    const scenario = await atEleven(nth('get', ELEVEN, reads(6), LOST_READ));
    const sent = scenario.send(0, ['/first.md'], undefined, 60_000);
    const outcome = await scenario.settle(sent.answered);
    expect(outcome).toMatchObject({ kind: 'taken', taken: [{ version: 1, sequence: 12 }] });
    const again = await scenario.settle(scenario.send(0, ['/first.md'], sent.op).answered);
    expect(again).toEqual(outcome);
    expect(scenario.violations()).toEqual([]);
  });

  test('its own slot cannot be read: *unknown*, and a repeat gets the first answer', async () => {
    let lost = false;
    let unread = 60;
    const scenario = await atEleven((operation, key) => {
      if (!key.includes(TWELVE)) return null;
      if (operation === 'get' && lost && unread-- > 0) return LOST_READ;
      if (operation !== 'create' || lost) return null;
      lost = true;
      return LOST_ANSWER;
    });
    const sent = scenario.send(0, ['/first.md'], undefined, 3_000);
    const outcome = await scenario.settle(sent.answered);
    expect(outcome.kind).toBe('unknown');
    expect(scenario.version('/first.md')).toBe(1);
    const other = scenario.send(1, ['/first.md'], sent.op, MINUTE);
    const own = scenario.send(0, ['/first.md'], sent.op, MINUTE);
    const answers = await scenario.settle(Promise.all([other.answered, own.answered]));
    const first = { kind: 'taken', taken: [{ version: 1, sequence: 12 }] };
    expect(answers).toMatchObject([first, first]);
    expect(scenario.version('/first.md')).toBe(1);
    expect(scenario.violations()).toEqual([]);
  });
});
