/**
 * A bucket whose calls wait at two gates, before they take effect and before their answer arrives,
 * until a schedule lets one pass. The schedule is driven by bytes or by a seed, so that a test
 * runner can search interleavings and replay the one that failed.
 */
import type { BlobStore, Chance } from '../../blob/blob.ts';
import { type Call, decorate } from '../../blob/decorate.ts';
import { drain, type ManualClock } from './manual-clock.ts';

/** A call that waits at a gate. */
export interface Waiting {
  readonly call: Call;
  readonly gate: 'request' | 'answer';
}

export interface ScheduleOptions {
  /**
   * Each byte decides one choice; when they are used up the oldest goes first. Or a seeded chance.
   */
  readonly source: Uint8Array | Chance;
  /** Moved to its next sleeper when no call waits. */
  readonly clock?: ManualClock;
}

/** Decides which waiting call goes on. Shared by the stores that a test interleaves. */
export class Schedule {
  readonly #source: Uint8Array | Chance;
  readonly #clock: ManualClock | undefined;
  readonly #waiting: (Waiting & { readonly pass: () => void })[] = [];
  #used = 0;

  constructor({ source, clock }: ScheduleOptions) {
    this.#source = source;
    this.#clock = clock;
  }

  /** Calls that wait, oldest first. */
  get waiting(): readonly Waiting[] {
    return this.#waiting;
  }

  /** Waits until the schedule lets the call pass. */
  enter(call: Call, gate: Waiting['gate']): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ call, gate, pass: resolve });
    });
  }

  /** Lets one call pass, or time if none waits; false when there is neither. */
  async step(): Promise<boolean> {
    await drain();
    const [chosen] = this.#waiting.splice(this.#choose(this.#waiting.length), 1);
    if (chosen === undefined) return (await this.#clock?.fireNext()) ?? false;
    chosen.pass();
    await drain();
    return true;
  }

  /** Steps until `work` settles. @throws Error when it waits for something else */
  async run<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    work.then(settle, settle);
    await drain();
    while (!settled) {
      const moved = await this.step();
      if (!moved && !settled) throw new Error('waits for neither a call nor a sleep');
    }
    return work;
  }

  #choose(count: number): number {
    if (count < 2) return 0;
    if (!(this.#source instanceof Uint8Array)) return Math.floor(this.#source.number() * count);
    return (this.#source[this.#used++] ?? 0) % count;
  }
}

/** `store` whose calls pass the gates of `schedule`. Several stores may share one schedule. */
export function withSchedule(store: BlobStore, schedule: Schedule): BlobStore {
  return decorate(store, async (call, send) => {
    await schedule.enter(call, 'request');
    // The answer waits whether it is a result or an error.
    const answer = send();
    const settled = (): undefined => undefined;
    await answer.then(settled, settled);
    await schedule.enter(call, 'answer');
    return answer;
  });
}
