/** A machine in virtual time, every look at which costs the same. */
import type { Machine } from '../../spike/machine.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

/** What a test may have a hand in. */
export type Around = Partial<Pick<Machine, 'random' | 'signal' | 'progress'>>;

/**
 * Takes 7 µs whenever its CPU is looked at, a megabyte more whenever its memory is, and 3,000 bytes
 * whenever what it has a use for is.
 */
export function machineOf(clock: ManualClock, around: Around = {}): Machine {
  let cpu = 0;
  let rss = 0;
  let held = 0;
  return {
    clock,
    random: new SeededRandom(11),
    cpuMicros: () => {
      cpu += 7;
      return cpu;
    },
    rssBytes: () => {
      rss += 1_000_000;
      return rss;
    },
    heldBytes: () => {
      held += 3_000;
      return held;
    },
    watchLoop: () => ({ stop: () => null }),
    signal: new AbortController().signal,
    progress: () => undefined,
    description: { cpu: 'virtual', cores: 1, node: 'v0' },
    ...around,
  };
}
