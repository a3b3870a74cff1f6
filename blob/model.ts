/**
 * Latency model: makes a `memory:` or `file:` location as slow, and as strict about one name, as a
 * real bucket (`model:` locations, `--model gcs`). Stands right above the driver, below the
 * observer.
 *
 * | request | `gcs` takes |
 * |---|---|
 * | create, replace | (c + size / 50 MB/s) × (1 + (creates in the last second / 1000)²) |
 * | get | 20 ms plus size / 50 MB/s |
 * | head, delete | 12 ms |
 * | list | 25 ms |
 *
 * where c is lognormal with a median of 40 ms and a 99th percentile of 50 ms.
 *
 * A second mutation of one name within a second is refused with 429, whether or not the name is
 * taken, and as with the real service the caller cannot tell what it did: `throttled`, ambiguous. A
 * request takes effect halfway through its time, so an abort may come before or after it.
 */
import type { BlobStore, Chance, Timing } from './blob.ts';
import { type Call, type CallResult, decorate, type Send } from './decorate.ts';
import { BlobError, isWrite } from './errors.ts';
import { abortedError } from './signal.ts';
import { checkSignal } from './validate.ts';

/** Names of the models. */
export type LatencyModelName = 'gcs';

export interface LatencyModelOptions {
  readonly timing: Timing;
  readonly chance: Chance;
  readonly model: LatencyModelName;
}

interface LatencyModel {
  readonly createMedianMs: number;
  readonly createP99Ms: number;
  readonly bytesPerMs: number;
  /** Creates a second at which a create takes twice its time. */
  readonly createsPerSecond: number;
  readonly getMs: number;
  readonly metadataMs: number;
  readonly listMs: number;
  /** One mutation per name in this time. */
  readonly mutationMs: number;
}

const MODELS: Readonly<Record<LatencyModelName, LatencyModel>> = {
  gcs: {
    createMedianMs: 40,
    createP99Ms: 50,
    bytesPerMs: 50_000,
    createsPerSecond: 1_000,
    getMs: 20,
    metadataMs: 12,
    listMs: 25,
    mutationMs: 1_000,
  },
};

/** The 99th percentile of the standard normal distribution. */
const Z99 = 2.326_347_874;
/** Names that are remembered for the limit of mutations; beyond it the oldest are let go. */
export const NAMES_MAX = 16_384;

/**
 * `store` with the latencies and the per-name limit of `model`. Adds `throttled` to writes. Memory:
 * the names mutated within the last second, at most 16,384, and ten numbers for the rate of
 * creates.
 */
export function withLatencyModel(store: BlobStore, options: LatencyModelOptions): BlobStore {
  const { timing, chance } = options;
  const model = MODELS[options.model];
  const rate = new Rate(timing);
  const names = new MutationLimit(timing, model.mutationMs);
  const beforeMs = (call: Call): number => {
    switch (call.operation) {
      case 'create':
      case 'replace': {
        const load = (rate.add() / model.createsPerSecond) ** 2;
        const idleMs = lognormal(chance, model.createMedianMs, model.createP99Ms);
        return (idleMs + call.bytesOut / model.bytesPerMs) * (1 + load);
      }
      case 'get':
        return model.getMs;
      case 'head':
      case 'delete':
        return model.metadataMs;
      case 'list':
        return model.listMs;
      default:
        call.operation satisfies never;
        return 0;
    }
  };
  return decorate(store, async <T extends CallResult>(call: Call, send: Send<T>): Promise<T> => {
    const { operation, key } = call;
    checkSignal(operation, key, call.options.signal);
    const halfMs = beforeMs(call) / 2;
    await wait(timing, call, halfMs, false);
    if (isWrite(operation) && !names.admit(key)) {
      await wait(timing, call, halfMs, false);
      const message = 'more than one mutation of this name in a second';
      throw new BlobError({ code: 'throttled', operation, key, message, ambiguous: true });
    }
    const result = await send();
    const bodyBytes = 'bytes' in result ? result.bytes.length : 0;
    await wait(timing, call, halfMs + bodyBytes / model.bytesPerMs, true);
    return result;
  });
}

async function wait(timing: Timing, call: Call, ms: number, sent: boolean): Promise<void> {
  const { signal } = call.options;
  try {
    await timing.sleep(ms, { signal });
  } catch {
    throw abortedError(call.operation, call.key, signal?.reason, sent);
  }
}

/** By Box and Muller; `1 − u` keeps the logarithm finite. */
function lognormal(chance: Chance, median: number, p99: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - chance.number()));
  const normal = radius * Math.cos(2 * Math.PI * chance.number());
  return median * (p99 / median) ** (normal / Z99);
}

const SLICE_MS = 100;
const SLICES = 10;

/** Creates in the last second, in slices of 100 ms: the same memory at any rate. */
class Rate {
  readonly #timing: Timing;
  readonly #slices = new Float64Array(SLICES);
  #slice = 0;

  constructor(timing: Timing) {
    this.#timing = timing;
    this.#slice = this.#now();
  }

  /** Counts one and answers how many began within the last second, this one included. */
  add(): number {
    const now = this.#now();
    const passed = Math.min(SLICES, now - this.#slice);
    for (let i = 1; i <= passed; i++) this.#slices[(now - passed + i) % SLICES] = 0;
    this.#slice = now;
    this.#slices[now % SLICES] = (this.#slices[now % SLICES] ?? 0) + 1;
    return this.#slices.reduce((sum, n) => sum + n, 0);
  }

  #now(): number {
    return Math.floor(this.#timing.monotonic() / SLICE_MS);
  }
}

/**
 * When each name was last mutated; the map is in the order of these times, so the front expires
 * first.
 */
class MutationLimit {
  readonly #timing: Timing;
  readonly #intervalMs: number;
  readonly #lastMs = new Map<string, number>();

  constructor(timing: Timing, intervalMs: number) {
    this.#timing = timing;
    this.#intervalMs = intervalMs;
  }

  /** Whether the name may be mutated now; a refusal does not push the next chance back. */
  admit(key: string): boolean {
    const nowMs = this.#timing.monotonic();
    for (const [name, lastMs] of this.#lastMs) {
      if (nowMs - lastMs < this.#intervalMs && this.#lastMs.size < NAMES_MAX) break;
      this.#lastMs.delete(name);
    }
    if (this.#lastMs.has(key)) return false;
    this.#lastMs.set(key, nowMs);
    return true;
  }
}
