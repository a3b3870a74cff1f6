/** Samples of latency: exact percentiles, and what each second was like. */

/** One second of a run. */
export interface Second {
  /** From the start of the measured time, 0 first. */
  readonly second: number;
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** One bar of a distribution. */
export interface Bar {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

const ROOM_MIN = 1_024;

/** Latencies with the time of their answer. 16 bytes for each, nothing is thrown away. */
export class Samples {
  #atMs = new Float64Array(ROOM_MIN);
  #latencyMs = new Float64Array(ROOM_MIN);
  #count = 0;
  #sorted: Float64Array | null = null;

  get count(): number {
    return this.#count;
  }

  /** @param atMs when the answer came, from the start of the measured time */
  add(atMs: number, latencyMs: number): void {
    if (this.#count === this.#atMs.length) {
      this.#atMs = grown(this.#atMs);
      this.#latencyMs = grown(this.#latencyMs);
    }
    this.#atMs[this.#count] = atMs;
    this.#latencyMs[this.#count] = latencyMs;
    this.#count++;
    this.#sorted = null;
  }

  /** The samples of both. */
  static merge(all: readonly Samples[]): Samples {
    const merged = new Samples();
    for (const samples of all) {
      for (let i = 0; i < samples.#count; i++) {
        merged.add(samples.#atMs[i] ?? 0, samples.#latencyMs[i] ?? 0);
      }
    }
    return merged;
  }

  /** The latency that this share of the samples does not exceed, ms; NaN without a sample. */
  percentile(share: number): number {
    return percentile(this.#inOrder(), share);
  }

  /** Every second from 0 to the last that has a sample, empty ones included. */
  perSecond(): readonly Second[] {
    const groups = new Map<number, number[]>();
    let last = -1;
    for (let i = 0; i < this.#count; i++) {
      const second = Math.floor((this.#atMs[i] ?? 0) / 1000);
      const group = groups.get(second) ?? [];
      group.push(this.#latencyMs[i] ?? 0);
      groups.set(second, group);
      last = Math.max(last, second);
    }
    return Array.from({ length: last + 1 }, (_, second) => {
      const sorted = Float64Array.from(groups.get(second) ?? []).sort();
      const at = (share: number): number => percentile(sorted, share);
      return { second, count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
    });
  }

  /** Bars of equal width up to the 99.9th percentile; the last holds all above it too. */
  bars(count: number): readonly Bar[] {
    const sorted = this.#inOrder();
    if (sorted.length === 0) return [];
    const least = sorted[0] ?? 0;
    const widthMs = Math.max((percentile(sorted, 0.999) - least) / count, 0.001);
    const counts = new Float64Array(count);
    for (const latencyMs of sorted) {
      const index = Math.min(Math.floor((latencyMs - least) / widthMs), count - 1);
      counts[index] = (counts[index] ?? 0) + 1;
    }
    return Array.from(counts, (inBar, index) => {
      const fromMs = least + index * widthMs;
      return { fromMs, toMs: fromMs + widthMs, count: inBar };
    });
  }

  #inOrder(): Float64Array {
    this.#sorted ??= this.#latencyMs.slice(0, this.#count).sort();
    return this.#sorted;
  }
}

/** By nearest rank: a value that occurred, never one in between. NaN for none. */
function percentile(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  // A product like 0.07 * 100 lies a hair above its whole number.
  const rank = Math.ceil(share * sorted.length - 1e-9);
  return sorted[Math.min(Math.max(rank, 1), sorted.length) - 1] ?? Number.NaN;
}

function grown(array: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(array.length * 2);
  larger.set(array);
  return larger;
}
