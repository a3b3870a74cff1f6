/**
 * Goal: a pause shows when it shows on any clock, and a wait counts only as far as all clocks show
 * it (I18). Method: the pure functions on chosen readings.
 */
import { describe, expect, test } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import {
  FENCE_MS,
  GRACE_MS,
  isFresh,
  laterSighting,
  leastElapsed,
  type Moment,
  mostElapsed,
  type Sighting,
} from '../../bucketstore/log/sighting.ts';

const moment = (wall: number, monotonic: number, date: number | null): Moment => {
  return { wall, monotonic, date };
};
const sighting = (tip: number, at: Moment): Sighting => ({ tip: sequence(tip), at });
const BEGAN = moment(1_000_000, 50, 9_000_000);
const later = (wall: number, monotonic: number, date: number): Moment => {
  return moment(1_000_000 + wall, 50 + monotonic, 9_000_000 + date);
};

describe('elapsed', () => {
  test.each([
    ['the wall clock', later(30, 20, 10), 30, 10],
    ['the monotonic clock', later(10, 30, 20), 30, 10],
    ['the service', later(20, 10, 30), 30, 10],
    ['a wall clock that was set back', later(-500, 20, 10), 20, -500],
    ['a service whose clock went back', later(20, 10, -7), 20, -7],
  ])('most and least, when the one that differs is %s', (_, now, most, least) => {
    expect([mostElapsed(BEGAN, now), leastElapsed(BEGAN, now)]).toEqual([most, least]);
  });

  test('a date that is missing on either side says nothing', () => {
    const far = later(10, 20, 1_000_000);
    for (const [from, to] of [
      [{ ...BEGAN, date: null }, far],
      [BEGAN, { ...far, date: null }],
    ] as const) {
      expect([mostElapsed(from, to), leastElapsed(from, to)]).toEqual([20, 10]);
    }
  });
});

describe('isFresh()', () => {
  test.each([
    ['wall', (ms: number) => later(ms, 0, 0)],
    ['monotonic', (ms: number) => later(0, ms, 0)],
    ['date', (ms: number) => later(0, 0, ms)],
  ])('is true up to the fence and false beyond it, by %s alone', (_, at) => {
    const seen = sighting(5, BEGAN);
    expect(isFresh(seen, at(FENCE_MS))).toBe(true);
    expect(isFresh(seen, at(FENCE_MS + 1))).toBe(false);
  });

  test('the constants of the format', () => {
    expect([FENCE_MS, GRACE_MS]).toEqual([5 * 60_000, 60 * 60_000]);
  });
});

describe('laterSighting()', () => {
  test('takes the higher tip, whenever it was seen', () => {
    const old = sighting(6, moment(1, 1, null));
    const young = sighting(5, moment(9, 9, null));
    expect(laterSighting(old, young)).toBe(old);
    expect(laterSighting(young, old)).toBe(old);
  });

  test('takes the later moment of one tip, by the monotonic clock', () => {
    const first = sighting(5, moment(900, 1, 900));
    const second = sighting(5, moment(100, 2, 100));
    expect(laterSighting(first, second)).toBe(second);
    expect(laterSighting(second, first)).toBe(second);
  });
});
