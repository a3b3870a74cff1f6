/** How long recent requests took: the basis of when a request is slow enough to be hedged. */

/** Successes that are remembered. */
export const WINDOW_SAMPLES = 256;
/** Successes after which the delay is worked out again. */
export const WINDOW_STEP = 32;
const DELAY_MS_DEFAULT = 100;
const DELAY_MS_MIN = 25;
const DELAY_MS_MAX = 1_000;

/** The 95th percentile of the last 256 durations, worked out every 32, between 25 ms and 1 s. */
export class LatencyWindow {
  readonly #samples = new Float64Array(WINDOW_SAMPLES);
  #added = 0;
  #delayMs = DELAY_MS_DEFAULT;

  /** How long to wait before a hedge, ms; 100 before there are samples. */
  get delayMs(): number {
    return this.#delayMs;
  }

  /** Remembers the duration of a success, in ms, in the place of the oldest. */
  add(durationMs: number): void {
    this.#samples[this.#added % WINDOW_SAMPLES] = durationMs;
    this.#added++;
    if (this.#added % WINDOW_STEP !== 0) return;
    const sorted = this.#samples.slice(0, Math.min(this.#added, WINDOW_SAMPLES)).sort();
    const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? DELAY_MS_DEFAULT;
    this.#delayMs = Math.min(DELAY_MS_MAX, Math.max(DELAY_MS_MIN, p95));
  }
}
