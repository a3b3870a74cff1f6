/** Writes of one store: what is written, when it was answered, and what was acknowledged. */
import { isBlobError } from '../blob/index.ts';
import { isStoreError, type World } from '../bucketstore/index.ts';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import { Acknowledged } from './acknowledged.ts';
import type { Period } from './load.ts';
import type { Machine } from './machine.ts';
import { Samples } from './measure.ts';
import type { Overload } from './overload.ts';

/** What a loop waits behind a failure, ms: else it would keep everybody else from their turn. */
export const REFUSED_PAUSE_MS = 1;

/** Failures by code, over all writers of a run. */
export class Failures {
  readonly #byCode = new Map<string, number>();

  note(error: unknown): void {
    const known = isStoreError(error) || isBlobError(error);
    // Anything else is a fault of this program, and a figure beside it would be worth nothing.
    if (!known) throw error;
    this.#byCode.set(error.code, (this.#byCode.get(error.code) ?? 0) + 1);
  }

  get byCode(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#byCode].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

export interface TrafficParts {
  readonly machine: Machine;
  readonly world: World;
  /** Keys come from it. */
  readonly keys: SeededRandom;
  readonly failures: Failures;
  /** Knows how long a write may take. */
  readonly overload: Overload;
  readonly documents: number;
  readonly bodyBytes: number;
  /** Whether whoever writes sends the next write when this one is answered. */
  readonly loops: boolean;
}

export class Traffic {
  /** Of the writes that were acknowledged in the measured time. */
  readonly samples: Samples = new Samples();
  /** Operations of every acknowledged write, also of those that are not measured. */
  readonly acknowledged: Acknowledged = new Acknowledged();
  /** The newest acknowledged version of each document. */
  readonly versions: Map<string, number> = new Map();
  readonly #parts: TrafficParts;
  /** Makes every body another one, in this run and against earlier ones. */
  readonly #mark: string;
  #written = 0;

  constructor(parts: TrafficParts) {
    this.#parts = parts;
    this.#mark = parts.machine.random.uuid();
  }

  /** One write, measured from when it was due; notes what became of it. */
  async write(period: Period, dueMs: number): Promise<void> {
    const { keys, documents } = this.#parts;
    await this.writeTo(documentPath(keys.integer(documents)), period, dueMs);
  }

  async writeTo(
    path: string,
    { startMs, endMs, measuredMs }: Period,
    dueMs: number,
  ): Promise<void> {
    const { world, machine, failures, overload } = this.#parts;
    const { clock } = machine;
    const body = this.#body();
    const calledMs = clock.monotonic();
    try {
      const { deadlineMs } = overload;
      const result = await world.publish({ path, expected: 'any', body }, { deadlineMs });
      const nowMs = clock.monotonic();
      overload.acknowledged({ dueMs, calledMs, answeredMs: nowMs });
      this.acknowledged.add(result.op);
      const { version } = result.document;
      if (version > (this.versions.get(path) ?? 0)) this.versions.set(path, version);
      if (nowMs < measuredMs || nowMs >= endMs || dueMs < startMs) return;
      this.samples.add(nowMs - measuredMs, nowMs - dueMs);
    } catch (error) {
      overload.failed(error, { dueMs, calledMs, answeredMs: clock.monotonic() });
      failures.note(error);
      if (this.#parts.loops) await clock.sleep(REFUSED_PAUSE_MS);
    }
  }

  #body(): string {
    const mark = `${this.#mark} ${this.#written++} `;
    return mark + 'x'.repeat(Math.max(this.#parts.bodyBytes - mark.length, 0));
  }
}

/** The name of the document of that number. */
export function documentPath(index: number): string {
  return `/spike/${index}.md`;
}
