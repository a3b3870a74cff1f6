/**
 * Goal: a world that is written to once a second costs few checkpoints and few bytes.
 * Method: some of an hour of it in virtual time, scaled to a month; the whole month is a program
 * (`trickle-month.ts`).
 */
import { expect, test } from 'vitest';
import { trickle } from './trickle.ts';

const MONTH = 30 * 86_400;

test('a write a second costs at most 6,000 checkpoints a month, of few bytes', async () => {
  const seconds = 2_200;
  const told = await trickle({ seconds, documents: 500 });
  expect(told.checkpoints).toBeGreaterThan(3);
  expect((told.checkpoints / seconds) * MONTH).toBeLessThan(6_000);
  expect(told.derivedBytes / told.slotBytes).toBeLessThan(5);
  expect(told.slotBytes / seconds).toBeGreaterThan(1_000);
});
