/**
 * Goal: no bytes make a decoder do anything but accept its own encoding or refuse; nothing else is
 * thrown, nothing hangs.
 * Method: damage from one fixed seed; `test/real/log-fuzz.test.ts` goes on with others.
 */
import { test } from 'vitest';
import { fuzzCheckpoints, fuzzMarkers, fuzzSlots } from './fuzz.ts';

test('a damaged slot is refused, or is another valid slot', () => {
  fuzzSlots(1, 800);
});

test('a damaged marker is refused, or of another format', () => {
  fuzzMarkers(1, 1000);
});

test('a damaged checkpoint record is refused, or is another valid one', () => {
  fuzzCheckpoints(1, 400);
});
