/**
 * Goal: arrivals come at their rate whatever becomes of them, and are due when they were due;
 * loops wait for their answers.
 * Method: acts that take a known time, or stall, under a clock that is moved by hand.
 */
import { describe, expect, it } from 'vitest';
import { arrive, loop, measuredSeconds, type Period, periodFrom } from '../../spike/load.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

function periodOf(clock: ManualClock, seconds: number, stop = new AbortController()): Period {
  return periodFrom({ clock, signal: stop.signal }, seconds, 0);
}

describe('arrive()', () => {
  it('has exponential gaps of the rate, and ends when all are answered', async () => {
    const clock = new ManualClock();
    const due: number[] = [];
    let answered = 0;
    const period = periodOf(clock, 100);
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
    const period = periodOf(clock, 10);
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
    const period = periodOf(clock, 1);
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

describe('a period that is interrupted', () => {
  it('ends either load once what was begun is answered, and is as long as it was', async () => {
    for (const kind of ['arrive', 'loop'] as const) {
      const clock = new ManualClock();
      const stop = new AbortController();
      const period = periodFrom({ clock, signal: stop.signal }, 100, 1);
      let [begun, answered] = [0, 0];
      const act = async (): Promise<void> => {
        begun++;
        await clock.sleep(700);
        answered++;
      };
      clock.after(3_500, () => stop.abort());
      const random = new SeededRandom(5);
      if (kind === 'arrive') await clock.run(arrive(clock, random, 50, period, act));
      else await clock.run(loop(clock, 2, period, act));
      const nowMs = clock.monotonic();
      expect(nowMs).toBeGreaterThanOrEqual(3_500);
      expect(nowMs).toBeLessThanOrEqual(4_200);
      expect(answered).toBe(begun);
      expect(begun).toBeGreaterThan(9);
      expect(measuredSeconds(period, nowMs)).toBeCloseTo(nowMs / 1000 - 1, 3);
      expect(clock.sleeping).toBe(0);
    }
  });

  it('is a number of whole ms, wherever it began', () => {
    const clock = new ManualClock();
    clock.shiftMonotonic(1_000_000.123_456_7);
    const period = periodFrom({ clock, signal: new AbortController().signal }, 35, 5);
    expect(measuredSeconds(period, clock.monotonic())).toBe(30);
  });

  it('does not wait for an arrival that is far off', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const period = periodOf(clock, 1_000_000, stop);
    clock.after(10, () => stop.abort());
    let begun = 0;
    const act = async (): Promise<void> => {
      begun++;
    };
    await clock.run(arrive(clock, new SeededRandom(6), 0.001, period, act));
    expect({ begun, nowMs: clock.monotonic() }).toEqual({ begun: 0, nowMs: 10 });
  });
});
