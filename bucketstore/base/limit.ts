/** Bounded concurrency with cancellation. */
import pLimit from 'p-limit';
import { onAbort } from './abortable.ts';

/** Runs tasks, at most a fixed number at a time, in the order they were asked for. */
export interface Limit {
  /**
   * Runs `task` when there is room; a signal that aborts while it waits rejects with the reason.
   */
  run<T>(
    task: () => Promise<T>,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<T>;
  /** Whether a task that is handed in now runs at once: nothing waits then. */
  readonly hasRoom: boolean;
  /** Tasks that wait for room. */
  readonly waiting: number;
  /** Tasks that run. */
  readonly running: number;
}

/** @param concurrency how many tasks may run at once, ≥ 1 */
export function createLimit(concurrency: number): Limit {
  const limit = pLimit(concurrency);
  return {
    run(task, { signal } = {}) {
      if (signal === undefined) return limit(task);
      signal.throwIfAborted();
      return new Promise((resolve, reject) => {
        let started = false;
        // A waiting task that is aborted answers at once; its turn, when it comes, is passed on.
        const forget = onAbort(signal, () => {
          if (!started) reject(signal.reason);
        });
        limit(async () => {
          started = true;
          forget();
          signal.throwIfAborted();
          return task();
        }).then(resolve, reject);
      });
    },
    get hasRoom() {
      // The room that one leaves is taken at once by the next that waits, so none is overtaken.
      return limit.activeCount < concurrency;
    },
    get waiting() {
      return limit.pendingCount;
    },
    get running() {
      return limit.activeCount;
    },
  };
}
