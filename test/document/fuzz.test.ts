/**
 * Goal: no bytes make a decoder of documents do anything but accept, refuse by name, or find
 * nothing. Method: damage from one fixed seed; `test/real/log-fuzz.test.ts` goes on with others.
 */
import { test } from 'vitest';
import { fuzzFrontMatter, fuzzStored } from './fuzz.ts';

test('a damaged stored version is refused, or is another valid one', () => {
  fuzzStored(1, 2000);
});

test('damaged front matter is read or left, and never throws', () => {
  fuzzFrontMatter(1, 1000);
});
