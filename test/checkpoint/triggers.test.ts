/**
 * Goal: a checkpoint is due exactly when the rule says so, and what lies behind the newest one is
 * counted whatever number of slots that is, in bounded memory (I17).
 * Method: every combination of amounts and ages at and beside the bounds, against the rule written
 * as a list; random slots and checkpoints against a plain sum.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { EnteredSlot } from '../../bucketstore/snapshot/load.ts';
import { MARKS_MAX, SlotsBehind } from '../../checkpoint/slots-behind.ts';
import { type Behind, dueOf } from '../../checkpoint/triggers.ts';
import { hashOf, uuidOf, write } from '../log/values.ts';

const MIB = 1024 * 1024;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** When each trigger that holds fires, by the words of the rule. */
function rule({
  slots,
  bytes,
  mutations,
  sinceMs,
}: Behind): readonly (readonly [string, number])[] {
  const fires: (readonly [string, number])[] = [];
  if (slots >= 1024 || bytes >= 32 * MIB) fires.push(['full', Number.NEGATIVE_INFINITY]);
  if (mutations >= 512) fires.push(['many', sinceMs + MINUTE]);
  if (mutations >= 1) fires.push(['any', sinceMs + HOUR]);
  return fires;
}

describe('`dueOf()`', () => {
  const amounts: Omit<Behind, 'sinceMs'>[] = [];
  for (const mutations of [1, 2, 511, 512, 513, 1023, 1024, 100_000]) {
    for (const slots of [1, 2, 511, 512, 1023, 1024, 1025, 5_000]) {
      for (const bytes of [1, 32 * MIB - 1, 32 * MIB, 32 * MIB + 1]) {
        if (slots <= mutations) amounts.push({ slots, bytes, mutations });
      }
    }
  }
  const ages = [MINUTE, HOUR].flatMap((ms) => [ms - 1, ms, ms + 1]);

  test.each([0, 1_234_567])('is what the rule says at and beside every bound (from %i)', (from) => {
    const seen = new Set<string>();
    for (const amount of amounts) {
      for (const age of [0, 1, ...ages, 30 * HOUR]) {
        const behind = { ...amount, sinceMs: from };
        const fires = rule(behind).toSorted(([, one], [, other]) => one - other);
        const [trigger, at] = fires[0] ?? [];
        const due = dueOf(behind, from + age);
        expect(due?.trigger, JSON.stringify(behind)).toBe(trigger);
        expect(due?.inMs).toBe(Math.max(0, (at ?? 0) - (from + age)));
        seen.add(`${trigger} ${due?.inMs === 0}`);
      }
    }
    expect(seen.size).toBe(5);
  });

  test('is nothing while no mutation is behind, however long', () => {
    for (const now of [0, HOUR, 1e12]) {
      expect(dueOf({ slots: 0, bytes: 0, mutations: 0, sinceMs: 0 }, now)).toBeNull();
    }
  });

  test('lets the others of a world wait the longer, the longer the trigger took', () => {
    const waits = [1, 512, 1024].map((n) => {
      return dueOf({ slots: n, bytes: n, mutations: n, sinceMs: 0 }, HOUR)?.waitMs ?? 0;
    });
    expect(waits).toEqual([300_000, 15_000, 5_000]);
  });
});

/** A slot that ends at a sequence. */
function slot(last: number, count: number, size: number): EnteredSlot {
  const first = last - count + 1;
  const entries = Array.from({ length: count }, (_, i) => write(first + i));
  return { slot: { first, last, entries }, hash: hashOf(last), size } as unknown as EnteredSlot;
}

function control(last: number): EnteredSlot {
  const entry = { kind: 'unpin', op: uuidOf(last), id: uuidOf(1) };
  const at = sequence(last);
  return {
    slot: { first: at, last: at, entries: [entry] },
    hash: '',
    size: 9,
  } as unknown as EnteredSlot;
}

describe('what is behind', () => {
  const anyStep = fc.record({
    count: fc.integer({ min: 0, max: 5 }),
    size: fc.integer({ min: 1, max: 1000 }),
    afterMs: fc.nat(100),
    /** How far behind the tip a checkpoint is known, or none. */
    checkpoint: fc.option(fc.nat(12), { freq: 3 }),
  });

  test('is the sum of the slots with mutations beyond the newest checkpoint', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 80 }), (steps) => {
        const counted = new SlotsBehind();
        const slots: { last: number; behind: Behind }[] = [];
        let [tip, now, known] = [1, 0, 0];
        for (const { count, size, afterMs, checkpoint } of steps) {
          now += afterMs;
          tip += Math.max(1, count);
          counted.note(count === 0 ? control(tip) : slot(tip, count, size), now);
          const behind = { slots: 1, bytes: size, mutations: count, sinceMs: now };
          if (count > 0) slots.push({ last: tip, behind });
          if (checkpoint !== null) {
            counted.checkpoint(tip - checkpoint);
            known = Math.max(known, tip - checkpoint);
          }
          const left = slots.filter(({ last }) => last > known).map((one) => one.behind);
          const sum = (of: (one: Behind) => number) => left.reduce((all, one) => all + of(one), 0);
          expect(counted.known).toBe(known);
          expect(counted.now).toMatchObject({
            slots: sum((one) => one.slots),
            bytes: sum((one) => one.bytes),
            mutations: sum((one) => one.mutations),
          });
          if (left.length > 0) expect(counted.now.sinceMs).toBe(left[0]?.sinceMs);
        }
      }),
      { numRuns: 300, seed: 11 },
    );
  });

  test('is counted in a bounded number of marks, however many slots', () => {
    const counted = new SlotsBehind();
    const slots = 40 * MARKS_MAX;
    let most = 0;
    for (let n = 1; n <= slots; n++) {
      counted.note(slot(n + 1, 1, 10), n);
      most = Math.max(most, counted.marks);
    }
    expect(most).toBeLessThan(MARKS_MAX);
    expect(counted.now).toEqual({ slots, bytes: 10 * slots, mutations: slots, sinceMs: 1 });
    // What is in one mark with later slots still counts, until these are in a checkpoint too.
    const at = slots / 2 + 1;
    counted.checkpoint(at);
    const { slots: left } = counted.now;
    expect(left).toBeGreaterThanOrEqual(slots + 1 - at);
    expect(left).toBeLessThanOrEqual(slots + 1 - at + slots / (MARKS_MAX / 4));
    counted.checkpoint(slots + 1);
    expect(counted.now.mutations).toBe(0);
    expect(counted.marks).toBe(0);
  });

  test('leaves out the slots of a load that lie before its checkpoint', () => {
    const counted = new SlotsBehind();
    counted.checkpoint(10);
    for (const last of [4, 8, 10, 12]) counted.note(slot(last, 2, 100), 5);
    expect(counted.now).toEqual({ slots: 1, bytes: 100, mutations: 2, sinceMs: 5 });
  });
});
