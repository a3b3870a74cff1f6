/**
 * Goal: fates are drawn as their profile says, and the draws of a call never depend on the profile,
 * so that a plan that was made smaller, or a fault that was switched off, leaves the rest in place.
 * Method: many draws from fixed seeds; shares with wide bounds, bounds of delays exactly.
 */
import { describe, expect, it } from 'vitest';
import type { BlobOperation } from '../../blob/errors.ts';
import { CALM_PROFILE, drawProfile, type Fate, Faults } from './faults.ts';
import { SimRandom } from './random.ts';

const OPERATIONS: readonly BlobOperation[] = ['create', 'replace', 'get', 'head', 'list', 'delete'];

function fates(faults: Faults, operation: BlobOperation, count = 20_000): readonly Fate[] {
  const random = new SimRandom(11);
  return Array.from({ length: count }, () => faults.fateOf(operation, random));
}

function share<T>(items: readonly T[], has: (item: T) => boolean): number {
  return items.filter(has).length / items.length;
}

describe('fateOf()', () => {
  it('draws the same count of numbers under every profile and for every operation', () => {
    const stormy = new Faults(drawProfile(new SimRandom(2)));
    const next = [...OPERATIONS, ...OPERATIONS].map((operation, i) => {
      const random = new SimRandom(9);
      const faults = i < OPERATIONS.length ? stormy : new Faults(CALM_PROFILE);
      for (let call = 0; call < 100; call++) faults.fateOf(operation, random);
      return random.bits();
    });
    expect(new Set(next).size).toBe(1);
  });

  it('delays most calls by 5 to 60 ms, some by seconds, few by up to 20 s', () => {
    const delays = fates(new Faults(CALM_PROFILE), 'get').map(({ requestMs }) => requestMs);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(5);
    expect(Math.max(...delays)).toBeLessThan(20_000);
    expect(share(delays, (ms) => ms <= 60)).toBeCloseTo(0.93, 1);
    expect(share(delays, (ms) => ms > 60 && ms < 5_000)).toBeCloseTo(0.06, 1);
    const slow = share(delays, (ms) => ms >= 5_000);
    expect(slow).toBeGreaterThan(0.005);
    expect(slow).toBeLessThan(0.02);
  });

  it('has each fault as often as its profile says', () => {
    const profile = {
      ...CALM_PROFILE,
      answerLost: 0.2,
      conflict: 0.1,
      landsLate: 0.3,
      doubled: 0.1,
    };
    const drawn = fates(new Faults(profile), 'create');
    expect(share(drawn, ({ fault }) => fault === 'lost answer')).toBeCloseTo(0.2, 1);
    expect(share(drawn, ({ told }) => told === '409')).toBeCloseTo(0.1, 1);
    expect(share(drawn, ({ twinMs }) => twinMs !== null)).toBeCloseTo(0.1, 1);
    const late = drawn.filter(({ effect }) => effect === 'late').map(({ lateMs }) => lateMs);
    expect(late.length / drawn.length).toBeCloseTo(0.3, 1);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(100);
    expect(share(late, (ms) => ms < 1_000)).toBeCloseTo(0.3, 1);
    expect(Math.max(...late)).toBeLessThan(3 * 3_600_000);
    expect(share(late, (ms) => ms <= 30_000)).toBeCloseTo(0.88, 1);
    expect(share(late, (ms) => ms > 600_000)).toBeGreaterThan(0.02);
  });

  it('never delays the effect of a read, nor sends anything but a create twice', () => {
    const always = { ...CALM_PROFILE, landsLate: 0.5, doubled: 0.5, conflict: 0 };
    for (const operation of OPERATIONS) {
      const drawn = fates(new Faults(always), operation, 200);
      const write = operation === 'create' || operation === 'replace' || operation === 'delete';
      expect(drawn.some(({ effect }) => effect === 'late')).toBe(write);
      expect(drawn.some(({ twinMs }) => twinMs !== null)).toBe(operation === 'create');
    }
  });

  it('leaves nothing but short delays once it is calm', () => {
    const faults = new Faults({ ...CALM_PROFILE, requestLost: 0.5, stall: 0.5 });
    faults.calm();
    for (const fate of fates(faults, 'create', 2_000)) {
      expect(fate).toMatchObject({ fault: null, told: null, effect: 'now', twinMs: null });
      expect(fate.throttled).toBe(false);
      expect(Math.max(fate.requestMs, fate.answerMs)).toBeLessThanOrEqual(60);
    }
  });
});

describe('drawProfile()', () => {
  it('gives probabilities whose sum leaves room for calls that go well', () => {
    const sums = Array.from({ length: 500 }, (_, seed) => {
      const { nameThrottle, ...faults } = drawProfile(new SimRandom(seed));
      expect(nameThrottle).toBeLessThanOrEqual(0.9);
      return Object.values(faults).reduce((sum, probability) => sum + probability, 0);
    });
    expect(Math.max(...sums)).toBeLessThan(0.5);
    expect(Math.min(...sums)).toBeLessThan(0.05);
    expect(sums.reduce((sum, each) => sum + each, 0) / sums.length).toBeGreaterThan(0.05);
  });
});
