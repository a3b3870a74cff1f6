/** Writes of one store: what is written, when it was answered, and what was acknowledged. */
import { isBlobError } from '../blob/index.ts';
import { isStoreError, type World } from '../bucketstore/index.ts';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import type { Period } from './load.ts';
import type { Machine } from './machine.ts';
import { Samples } from './measure.ts';

/** A write is waited for longer than a store would by default: a long answer is a figure too. */
const DEADLINE_MS = 60_000;
const REFUSED_PAUSE_MS = 1;

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
  readonly documents: number;
  readonly bodyBytes: number;
}

export class Traffic {
  /** Of the writes that were acknowledged in the measured time. */
  readonly samples: Samples = new Samples();
  /** Operations of every acknowledged write, also of those that are not measured. */
  readonly acknowledged: string[] = [];
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
    const { world, machine, failures } = this.#parts;
    const body = this.#body();
    try {
      const options = { deadlineMs: DEADLINE_MS };
      const result = await world.publish({ path, expected: 'any', body }, options);
      const nowMs = machine.clock.monotonic();
      this.acknowledged.push(result.op);
      const { version } = result.document;
      if (version > (this.versions.get(path) ?? 0)) this.versions.set(path, version);
      if (nowMs < measuredMs || nowMs >= endMs || dueMs < startMs) return;
      this.samples.add(nowMs - measuredMs, nowMs - dueMs);
    } catch (error) {
      failures.note(error);
      // A writer that is refused at once must not keep everybody else from their turn.
      await machine.clock.sleep(REFUSED_PAUSE_MS);
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
