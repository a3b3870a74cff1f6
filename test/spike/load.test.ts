/**
 * Goal: arrivals come at their rate whatever becomes of them, and are due when they were due;
 * loops wait for their answers.
 * Method: acts that take a known time, or stall, under a clock that is moved by hand.
 */
import { describe, expect, it } from 'vitest';
import { arrive, loop, periodFrom } from '../../spike/load.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

describe('arrive()', () => {
  it('has exponential gaps of the rate, and ends when all are answered', async () => {
    const clock = new ManualClock();
    const due: number[] = [];
    let answered = 0;
    const period = periodFrom(clock, 100, 0);
    const act = async (dueMs: number): Promise<void> => {
      due.push(dueMs);
      await clock.sleep(5_000);
      answered++;
    };
    await clock.run(arrive(clock, new SeededRandom(3), 50, period, act));
    // 5,000 expected, with a deviation of 71.
    expect(due.length).toBeGreaterThan(4_700);
    expect(due.length).toBeLessThan(5_300);
    expect(answered).toBe(due.length);
    const gaps = due.slice(1).map((at, index) => at - (due[index] ?? 0));
    const aboveMean = gaps.filter((gap) => gap > 20).length / gaps.length;
    expect(aboveMean).toBeCloseTo(Math.exp(-1), 1);
  });

  it('counts a stall of the process: what it missed was due during it', async () => {
    const clock = new ManualClock();
    const late: number[] = [];
    const period = periodFrom(clock, 10, 0);
    const act = async (dueMs: number): Promise<void> => {
      if (late.length === 20) clock.shiftMonotonic(2_000);
      late.push(clock.monotonic() - dueMs);
    };
    await clock.run(arrive(clock, new SeededRandom(4), 100, period, act));
    expect(Math.max(...late.slice(0, 20))).toBeCloseTo(0, 6);
    expect(late.filter((ms) => ms > 1).length).toBeGreaterThan(150);
    expect(Math.max(...late)).toBeCloseTo(2_000, 6);
    expect(late.at(-1)).toBeCloseTo(0, 6);
  });
});

describe('loop()', () => {
  it('has so many open at once, and begins none after the end', async () => {
    const clock = new ManualClock();
    const period = periodFrom(clock, 1, 0);
    let open = 0;
    let most = 0;
    let begun = 0;
    await clock.run(
      loop(clock, 3, period, async () => {
        begun++;
        most = Math.max(most, ++open);
        await clock.sleep(300);
        open--;
      }),
    );
    expect({ most, begun, open }).toEqual({ most: 3, begun: 12, open: 0 });
  });
});
