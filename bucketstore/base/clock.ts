/** Time as an injected thing: the only file of the library that reads a clock or sets a timer. */
import { onAbort } from './abortable.ts';

export interface SleepOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Wall time, monotonic time and waiting. Durations are measured on one clock (I18). */
export interface Clock {
  /** Wall clock, ms since the epoch. May jump. */
  now(): number;
  /**
   * Monotonic clock, ms from an arbitrary start. Never goes back; may stand still in a paused
   * machine.
   */
  monotonic(): number;
  /**
   * Resolves after `ms`; rejects with the signal's reason when it aborts first, leaving no timer.
   */
  sleep(ms: number, options?: SleepOptions): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, { signal } = {}) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      let forget = (): void => undefined;
      const timer = setTimeout(() => {
        forget();
        resolve();
      }, ms);
      if (signal === undefined) return;
      forget = onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  },
};
