/** What the tests of the simulated bucket share: one of everything, connected. */
import type { BlobStore } from '../../blob/blob.ts';
import { decorate } from '../../blob/decorate.ts';
import type { BlobError } from '../../blob/errors.ts';
import { type Effect, SimBucket } from './bucket.ts';
import { connect } from './client.ts';
import { Coverage } from './coverage.ts';
import { CALM_PROFILE, type FaultProfile, Faults } from './faults.ts';
import { SimProcess } from './process.ts';
import { SimRandom } from './random.ts';
import { Timeline } from './time.ts';

/** How far the clock of a bench's server is from the right time. */
export const SERVER_OFFSET_MS = 90_250;

export const LOG = '_demarkus/v1/log/';
export const SLOT: string = `${LOG}0000000000000002.slot`;
export const BODY: Uint8Array = new TextEncoder().encode('twelve bytes');

/** A bucket, one process of the name `a`, and its connection under the faults of a profile. */
export class Bench {
  readonly timeline: Timeline = new Timeline();
  readonly coverage: Coverage = new Coverage();
  readonly random: SimRandom;
  readonly bucket: SimBucket;
  readonly faults: Faults;
  readonly process: SimProcess;
  readonly store: BlobStore;
  readonly effects: Effect[] = [];

  constructor(profile: Partial<FaultProfile> = {}, seed = 1, createDoesNotCheck = false) {
    const { timeline, coverage } = this;
    this.random = new SimRandom(seed);
    this.bucket = new SimBucket({
      timeline,
      serverOffsetMs: SERVER_OFFSET_MS,
      createDoesNotCheck,
    });
    this.bucket.onEffect((effect) => this.effects.push(effect));
    this.faults = new Faults({ ...CALM_PROFILE, ...profile });
    this.process = new SimProcess({ timeline, coverage, id: 'a' });
    this.store = this.connect(this.process);
  }

  connect(process: SimProcess): BlobStore {
    return connect(this.timeline, this.bucket, process, this.faults, this.random, this.coverage);
  }

  /** Lets time pass until it is settled, and no longer. */
  async settle<T>(work: Promise<T>): Promise<T | BlobError> {
    let settled: T | BlobError | undefined;
    work.then(
      (value) => (settled = value),
      (error) => (settled = error),
    );
    if (!(await this.timeline.run(() => settled !== undefined))) throw new Error('never settled');
    return settled as T | BlobError;
  }

  counters(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.coverage.entries());
  }
}

/** A store whose time moves while any of its calls is open. */
export function driven(bench: Bench): BlobStore {
  let open = 0;
  let running = false;
  const drive = async (): Promise<void> => {
    if (running) return;
    running = true;
    await bench.timeline.run(() => open === 0);
    running = false;
    if (open > 0) await drive();
  };
  return decorate(bench.store, async (_call, send) => {
    open += 1;
    void drive();
    try {
      return await send();
    } finally {
      open -= 1;
    }
  });
}
