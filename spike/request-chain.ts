/** How many requests had to wait for each other: what a far bucket costs, whatever runs beside. */
import type { Observer, RequestEvent } from '../blob/index.ts';
import type { Clock } from '../bucketstore/index.ts';

/**
 * The longest chain of requests each of which began when the one before had ended. Requests that
 * run beside each other count as one. Holds a number for each link.
 */
export class RequestChain implements Observer {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** When the first chain of so many links (and one) ended, monotonic ms; ascending. */
  readonly #endedMs: number[] = [];

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Links of the longest chain so far. */
  get length(): number {
    return this.#endedMs.length;
  }

  observe({ durationMs }: RequestEvent): void {
    const endedMs = this.#clock.monotonic();
    const beganMs = endedMs - durationMs;
    // Requests are told of as they end, so every chain that this one continues is known.
    let before = this.#endedMs.length;
    while (before > 0 && (this.#endedMs[before - 1] ?? 0) > beganMs) before--;
    // A chain of as many links that ended sooner stays.
    if (before === this.#endedMs.length) this.#endedMs.push(endedMs);
  }
}
