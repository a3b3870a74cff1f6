/** Exact reads of a store, beside writes or alone. */
import type { World } from '../bucketstore/index.ts';
import type { SeededRandom } from '../test/support/seeded-random.ts';
import { loop, type Period } from './load.ts';
import type { Machine } from './machine.ts';
import { Samples } from './measure.ts';
import { documentPath, type Failures } from './traffic.ts';

export interface ReaderParts {
  readonly machine: Machine;
  readonly world: World;
  readonly keys: SeededRandom;
  readonly failures: Failures;
  readonly documents: number;
  /** The newest acknowledged version of each document, kept up by who writes. */
  readonly versions: ReadonlyMap<string, number>;
}

/** Reads documents that are known to be there, each in a view of its own. */
export class Readers {
  readonly samples: Samples = new Samples();
  #answered = 0;
  #stale = 0;
  readonly #parts: ReaderParts;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /** Reads that were answered, measured or not. */
  get answered(): number {
    return this.#answered;
  }

  /** Reads that did not show a version that was acknowledged before they began. */
  get stale(): number {
    return this.#stale;
  }

  /** `depth` readers, each of which reads again when it is answered. */
  read(depth: number, period: Period): Promise<void> {
    return loop(this.#parts.machine.clock, depth, period, (nowMs) => this.#one(period, nowMs));
  }

  async #one({ measuredMs, endMs }: Period, beganMs: number): Promise<void> {
    const { machine, world, keys, failures, documents, versions } = this.#parts;
    const path = documentPath(keys.integer(documents));
    const acknowledged = versions.get(path);
    // Not written yet: give way, so that who writes gets on.
    if (acknowledged === undefined) return machine.clock.sleep(1);
    try {
      await using view = world.view();
      const { version } = await view.get(path);
      this.#answered++;
      if (version < acknowledged) this.#stale++;
      const nowMs = machine.clock.monotonic();
      if (nowMs >= measuredMs && nowMs < endMs) {
        this.samples.add(nowMs - measuredMs, nowMs - beganMs);
      }
      // What is answered from memory must not keep everybody else from their turn.
      if (nowMs === beganMs) await machine.clock.sleep(0);
    } catch (error) {
      failures.note(error);
      await machine.clock.sleep(1);
    }
  }
}
