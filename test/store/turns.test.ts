/**
 * Goal: stores that write at the same time take turns, one that is alone is not slowed, and one
 * that nobody knows gets in.
 * Method: what a store has seen in the log is put in by hand, and the next move is asked for.
 */
import { describe, expect, test } from 'vitest';
import { Turns } from '../../bucketstore/commit/turns.ts';

const CREATE_MS = 40;
const READ_MS = 20;
const CREATE = { kind: 'create' };

/** A store whose creates take 40 ms and whose reads take 20; half of every chance. */
function storeAt(now: number): Turns {
  const turns = new Turns('me', () => 0.5, now);
  turns.created(CREATE_MS);
  turns.read(READ_MS);
  return turns;
}

/** Slots of these stores, so far apart, the last one at `now`; each was met as it came. */
function seen(turns: Turns, stores: readonly string[], now: number, everyMs = 50): void {
  for (const [index, store] of stores.entries()) {
    const at = now - (stores.length - 1 - index) * everyMs;
    turns.sawNone(at - 1);
    turns.saw(store, at);
  }
}

describe('alone', () => {
  test('YieldAfterWin: alone a store creates at once, after every win', () => {
    const turns = storeAt(0);
    for (let now = 0; now <= 240; now += 40) {
      expect(turns.next(now)).toEqual(CREATE);
      turns.saw('me', now + 40);
    }
  });

  test('it leaves a name free after 250 ms, reads once, and goes on; then more rarely', () => {
    const turns = storeAt(0);
    const pauses: number[] = [];
    let now = 0;
    while (now < 20_000) {
      const move = turns.next(now);
      if (move.kind === 'read') {
        pauses.push(now);
        // c / 4 and two reads, of which the last one ends with the pause.
        expect(move.ms).toBe(CREATE_MS / 4 + 2 * READ_MS - READ_MS);
        now += move.ms + READ_MS;
        turns.sawNone(now);
        expect(turns.next(now)).toEqual(CREATE);
      }
      now += CREATE_MS;
      turns.saw('me', now);
    }
    const gaps = pauses.slice(1).map((at, index) => at - (pauses[index] ?? 0));
    expect(pauses[0]).toBeLessThanOrEqual(250 + 2 * CREATE_MS);
    for (const [index, gap] of gaps.entries()) {
      const every = Math.min(500 * 2 ** index, 4_000);
      expect(gap).toBeGreaterThan(every);
      expect(gap).toBeLessThan(every + 5 * CREATE_MS);
    }
    expect(gaps.length).toBeGreaterThan(5);
  });

  test('a store that is idle now and then leaves names free anyway, and never pauses', () => {
    const turns = storeAt(0);
    for (let now = 0; now < 10_000; now += 200) {
      expect(turns.next(now)).toEqual(CREATE);
      turns.saw('me', now + CREATE_MS);
    }
  });
});

describe('among others', () => {
  test('who won longest ago creates as soon as it meets a slot', () => {
    const turns = storeAt(0);
    seen(turns, ['me', 'a', 'b'], 1_000);
    expect(turns.next(1_000)).toEqual(CREATE);
  });

  test.each([
    { stores: ['a', 'b', 'me'], before: 2 },
    { stores: ['a', 'me', 'b'], before: 1 },
  ])(
    'YieldAfterWin: after $stores it leaves $before others their turn, and reads meanwhile',
    ({ stores, before }) => {
      const turns = storeAt(0);
      seen(turns, stores, 200);
      const turnMs = before * (1.5 * CREATE_MS + 2 * READ_MS);
      let now = 200;
      let reads = 0;
      for (let move = turns.next(now); move.kind === 'read'; move = turns.next(now)) {
        expect(now).toBeLessThan(200 + turnMs);
        now += move.ms + READ_MS;
        reads += 1;
        turns.sawNone(now);
      }
      expect(now).toBeGreaterThanOrEqual(200 + turnMs);
      expect(reads).toBeGreaterThan(turnMs / CREATE_MS);
    },
  );

  test('a store that lets three turns pass is waited for no longer', () => {
    const turns = storeAt(0);
    seen(turns, ['gone', 'a', 'me', 'a', 'me', 'a', 'me'], 200, 30);
    expect(turns.next(200).kind).toBe('read');
    seen(turns, ['a'], 230);
    expect(turns.next(230)).toEqual(CREATE);
  });

  test('YieldAfterWin: a store not seen for 3 s is no rival any more', () => {
    const turns = storeAt(0);
    seen(turns, ['a', 'me'], 100);
    expect(turns.next(100).kind).toBe('read');
    seen(turns, ['me'], 3_200);
    expect(turns.rivals).toBe(0);
    expect(turns.next(3_200)).toEqual(CREATE);
  });

  test('after a loss it reads on until a name is missing', () => {
    const turns = storeAt(0);
    seen(turns, ['me', 'a'], 200);
    turns.lost(200);
    expect(turns.next(200).kind).toBe('read');
    turns.saw('b', 220);
    expect(turns.next(220).kind).toBe('read');
    turns.sawNone(240);
    expect(turns.next(240)).toEqual(CREATE);
  });

  test('a newcomer among stores that alternate waits to meet a slot as it comes', () => {
    const turns = storeAt(0);
    for (const [now, store] of [
      [100, 'a'],
      [150, 'b'],
      [200, 'a'],
    ] as const)
      turns.saw(store, now);
    turns.lost(200);
    turns.sawNone(220);
    expect(turns.next(220).kind).toBe('read');
    turns.saw('b', 240);
    expect(turns.next(240)).toEqual(CREATE);
  });

  test('a newcomer beside one store alone tries when the name is missing: for a pause', () => {
    const turns = storeAt(0);
    for (const now of [100, 140, 180]) turns.saw('a', now);
    turns.lost(180);
    expect(turns.next(180).kind).toBe('read');
    turns.sawNone(200);
    expect(turns.next(200)).toEqual(CREATE);
  });

  test('reads begin no closer than a third of a create', () => {
    const turns = storeAt(0);
    seen(turns, ['a', 'b', 'me'], 200);
    expect(turns.next(200)).toEqual({ kind: 'read', ms: 0 });
    turns.sawNone(201);
    const move = turns.next(201);
    expect(move.kind === 'read' && move.ms).toBeCloseTo(CREATE_MS / 3 - 1, 9);
  });
});
