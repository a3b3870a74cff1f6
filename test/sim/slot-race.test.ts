/**
 * Goal: the rule for turns gives every store its share, soon, whatever the bucket is like.
 * Method: the model of stores that race, in virtual time, with the real rule.
 */
import { describe, expect, test } from 'vitest';
import { C_MS, type Load, race } from './slot-race.ts';

const SATURATED: Load = { clients: 200 };

function times(count: number, load: Load): readonly Load[] {
  return Array.from({ length: count }, () => load);
}

/** Where in its time a request takes effect, and how long judging anew takes. */
const BUCKETS = [
  { effect: 0.5, cpuMs: 0 },
  { effect: 0.5, cpuMs: 10 },
  { effect: 0.7, cpuMs: 5 },
];

describe.each(BUCKETS)('a bucket of $effect, $cpuMs ms to judge anew', (bucket) => {
  test('three saturated stores share the world', () => {
    const { stores } = race({
      ...bucket,
      loads: times(3, SATURATED),
      batchMax: 32,
      seconds: 25,
    });
    const total = stores.reduce((sum, { writes }) => sum + writes, 0);
    for (const { writes, longestMs } of stores) {
      expect(writes / total).toBeGreaterThan(0.25);
      expect(writes / total).toBeLessThan(0.42);
      expect(longestMs).toBeLessThan(1_000);
    }
  });

  test('three stores of 60 writes/s: p50 at most 4 c, p99 at most 9 c', () => {
    const loads = times(3, { perSecond: 60 });
    for (const { p50Ms, p99Ms } of race({ ...bucket, loads, batchMax: 256, seconds: 60 }).stores) {
      expect(p50Ms).toBeLessThanOrEqual(4 * C_MS);
      expect(p99Ms).toBeLessThanOrEqual(9 * C_MS);
    }
  });

  test('who writes now and then beside a busy store gets in', () => {
    const loads = [{ perSecond: 150 }, { perSecond: 1 }, { perSecond: 1 }];
    const { stores } = race({ ...bucket, loads, batchMax: 256, seconds: 60 });
    for (const { writes, p50Ms, p99Ms } of stores) {
      expect(writes).toBeGreaterThan(30);
      expect(p50Ms).toBeLessThan(15 * C_MS);
      expect(p99Ms).toBeLessThan(8_000);
    }
  });
});

test('turns cost little: three saturated stores write nearly as much as one', () => {
  const options = { batchMax: 32, seconds: 25 };
  const alone = race({ ...options, loads: [SATURATED] });
  const three = race({ ...options, loads: times(3, SATURATED) });
  expect(alone.reads / alone.creates).toBeLessThan(0.05);
  expect(three.writesPerSecond).toBeGreaterThan(0.8 * alone.writesPerSecond);
  expect(three.lost / three.creates).toBeLessThan(0.1);
});
