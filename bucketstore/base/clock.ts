/** Time as an injected thing: the only file of the library that reads a clock or sets a timer. */
import { onAbort } from './abortable.ts';

export interface AfterOptions {
  /** Whether a program that has nothing else to do waits for it. Default true. */
  readonly holdsProcess?: boolean | undefined;
}

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
  /**
   * Runs `act` after `ms`; the function that it answers keeps it from running and leaves no timer.
   * Without it `sleep` is used, which costs an abort signal for each request and bucket call.
   */
  after?(ms: number, act: () => void, options?: AfterOptions): () => void;
  /**
   * Resolves when everything else that is due has had its turn: for work that would hold the thread
   * for long. Without it such work goes on at once.
   */
  turn?(): Promise<void>;
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
  after(ms, act, { holdsProcess = true } = {}) {
    const timer = setTimeout(act, ms);
    if (!holdsProcess) timer.unref();
    return () => clearTimeout(timer);
  },
  turn: () => new Promise((resolve) => setImmediate(resolve)),
};

/** A reason of our own: without one, each abort would build an exception with a stack. */
const STOPPED = 'stopped';

/** Runs `act` after `ms`. Answers the function that keeps it from that, and leaves no timer. */
export function after(
  clock: Clock,
  ms: number,
  act: () => void,
  options?: AfterOptions,
): () => void {
  if (clock.after !== undefined) return clock.after(ms, act, options);
  const timer = new AbortController();
  clock.sleep(ms, { signal: timer.signal }).then(act, () => undefined);
  return () => timer.abort(STOPPED);
}
