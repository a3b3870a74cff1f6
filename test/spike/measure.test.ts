/**
 * Goal: a percentile is a latency that occurred, exactly the one of its rank; a second, a bar, a
 * price and a count of refusals hold what belongs to them.
 * Method: samples whose ranks can be counted by hand, handed in out of order.
 */
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../bucketstore/index.ts';
import { Acknowledged } from '../../spike/acknowledged.ts';
import { Samples } from '../../spike/measure.ts';
import { Overload } from '../../spike/overload.ts';
import { costPerMillion } from '../../spike/prices.ts';
import { countLost } from '../../spike/read-back.ts';
import { SeededRandom } from '../support/seeded-random.ts';

/** 1 to `count` ms, in any order, one each ms. */
function oneTo(count: number): Samples {
  const random = new SeededRandom(1);
  const values = Array.from({ length: count }, (_, index) => index + 1);
  const samples = new Samples();
  for (let at = 0; values.length > 0; at++) {
    const [value = 0] = values.splice(random.integer(values.length), 1);
    samples.add(at, value);
  }
  return samples;
}

describe('percentile()', () => {
  it.each([
    [100, 0.07, 7],
    [100, 0.5, 50],
    [100, 0.99, 99],
    [100, 0.999, 100],
    [3_000, 0.999, 2_997],
    [3_000, 1, 3_000],
    [4, 0.5, 2],
    [1, 0.5, 1],
    [1, 0, 1],
  ])('of 1 to %d at %d is %d', (count, share, expected) => {
    expect(oneTo(count).percentile(share)).toBe(expected);
  });

  it('of nothing is no number', () => {
    expect(new Samples().percentile(0.5)).toBeNaN();
  });

  it('sees a sample that came after the last look', () => {
    const samples = oneTo(3);
    expect(samples.percentile(1)).toBe(3);
    samples.add(0, 10);
    expect(samples.percentile(1)).toBe(10);
  });
});

describe('Samples', () => {
  it('lists every second up to the last, empty ones too', () => {
    const samples = new Samples();
    for (const [at, ms] of [
      [2_100, 9],
      [0, 1],
      [999.9, 3],
    ] as const)
      samples.add(at, ms);
    expect(samples.perSecond()).toEqual([
      { second: 0, count: 2, p50Ms: 1, p99Ms: 3, maxMs: 3 },
      { second: 1, count: 0, p50Ms: Number.NaN, p99Ms: Number.NaN, maxMs: Number.NaN },
      { second: 2, count: 1, p50Ms: 9, p99Ms: 9, maxMs: 9 },
    ]);
  });

  it('merges without losing one', () => {
    const merged = Samples.merge([oneTo(1_500), oneTo(2_500)]);
    expect(merged.count).toBe(4_000);
    expect(merged.percentile(1)).toBe(2_500);
    expect(merged.percentile(0.5)).toBe(1_000);
  });

  it('has each sample in one bar, what is beyond the last in the last', () => {
    const samples = oneTo(999);
    samples.add(0, 100_000);
    const bars = samples.bars(10);
    expect(bars).toHaveLength(10);
    expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
    expect(bars[0]).toMatchObject({ fromMs: 1, count: 100 });
    expect(bars[9]?.count).toBe(101);
  });
});

describe('costPerMillion()', () => {
  it('charges creates and lists as writes, gets and heads as reads, deletes not at all', () => {
    const requests = { create: 100, replace: 50, get: 30, head: 20, list: 50, delete: 900 };
    const usd = (200 * 0.005 + 50 * 0.0004) * 1_000;
    expect(costPerMillion(requests, 1_000)?.s3).toBeCloseTo(usd / 1_000, 9);
    expect(costPerMillion(requests, 0)).toBeNull();
  });
});

describe('countLost()', () => {
  it('counts an acknowledged operation that is missing or there twice', () => {
    const ops = new Map([
      ['once', [1]],
      ['twice', [2, 3]],
      ['unasked', [4]],
    ]);
    expect(countLost({ ops }, ['once', 'twice', 'missing'])).toBe(2);
    expect(countLost({ ops }, ['once'])).toBe(0);
  });
});

describe('Acknowledged', () => {
  it('gives back every operation, in order, however many there are', () => {
    const random = new SeededRandom(8);
    const ops = Array.from({ length: 2_500 }, () => random.uuid());
    const acknowledged = new Acknowledged();
    for (const op of ops) acknowledged.add(op);
    expect(acknowledged.count).toBe(2_500);
    expect([...acknowledged]).toEqual(ops);
  });
});

describe('Overload', () => {
  const times = (tookMs: number) => ({ dueMs: 95, calledMs: 100, answeredMs: 100 + tookMs });
  const overloaded = new StoreError('OVERLOADED', 'not committed');

  it('tells a refusal at once from one at the deadline', () => {
    const overload = new Overload(1_000);
    overload.failed(overloaded, times(3));
    overload.failed(overloaded, times(999.5));
    overload.failed(new StoreError('UNKNOWN_OUTCOME', 'unknown'), times(1_004));
    overload.failed(new StoreError('CONFLICT', 'not committed'), times(2));
    expect(overload).toMatchObject({ overdue: 2, lateAcknowledged: 0, longestMs: 1_004 });
    // From arrival, which was 5 ms before the call.
    expect(overload.refused.count).toBe(1);
    expect(overload.refused.percentile(1)).toBe(8);
  });

  it('counts what was acknowledged after its deadline', () => {
    const overload = new Overload(1_000);
    overload.acknowledged(times(1_000));
    overload.acknowledged(times(1_001));
    expect(overload).toMatchObject({ overdue: 0, lateAcknowledged: 1, longestMs: 1_001 });
  });
});
