/**
 * Compaction in the background of a store: makes a checkpoint when one is due, or rests on the one
 * that another store made meanwhile. Nothing depends on it but how much a store that opens the
 * world reads, and how much this one holds in memory; so whatever fails is told and tried again,
 * and no caller of the store ever meets it.
 */
import { after, type Clock } from '../bucketstore/base/clock.ts';
import { type Logger, publish } from '../bucketstore/base/diagnostics.ts';
import { isStoreError, StoreError } from '../bucketstore/base/errors.ts';
import type { Random } from '../bucketstore/base/random.ts';
import type { EnteredSlot } from '../bucketstore/snapshot/load.ts';
import type { Compactor } from './compactor.ts';
import { SlotsBehind } from './slots-behind.ts';
import { type Due, dueOf, type Trigger } from './triggers.ts';

export interface BackgroundParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** The random ID of this store. */
  readonly storeId: string;
  /** Whether it makes checkpoints. Else it rests on those of others only. */
  readonly writes: boolean;
}

/** What the background asks of a compactor. */
type Compacts = Pick<Compactor, 'adopt' | 'compact'>;

/** When an attempt that came to nothing is followed by another: doubled each time, ms. */
const AGAIN_MS = 5_000;
export const AGAIN_MS_MAX = 300_000;

export class Background {
  readonly #parts: BackgroundParts;
  readonly #behind = new SlotsBehind();
  readonly #ended = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Sleeps, for the reason of a trigger; null: until there is one. */
  #pausing: { readonly trigger: Trigger | null; readonly wake: () => void } | null = null;
  /** The wait behind a trigger: drawn once. */
  #wait: { readonly trigger: Trigger; readonly untilMs: number } | null = null;
  /** Attempts in a row that came to nothing. */
  #vain = 0;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(parts: BackgroundParts) {
    this.#parts = parts;
  }

  /** Marks that it holds of slots (I17). */
  get marks(): number {
    return this.#behind.marks;
  }

  /** Begins. What was noted before counts from when it was noted. */
  start(compactor: Compacts): void {
    this.#running = this.#run(compactor).catch((err: unknown) => {
      this.#parts.logger.error({ err }, 'compaction in the background has ended');
    });
  }

  /** Notes a slot that entered the served state; in order, each once. */
  note(read: EnteredSlot): void {
    this.#behind.note(read, this.#parts.clock.monotonic());
    const pausing = this.#pausing;
    if (pausing !== null && pausing.trigger !== (this.#due()?.trigger ?? null)) pausing.wake();
  }

  /** A checkpoint that counts is known, whoever made it. */
  checkpoint(at: number): void {
    this.#behind.checkpoint(at);
  }

  /** Ends it, with what is under way. Idempotent. */
  async close(): Promise<void> {
    this.#ended.abort(new StoreError('CLOSED', 'the store is closed'));
    this.#pausing?.wake();
    await this.#running;
  }

  async #run(compactor: Compacts): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const ms = this.#restMs();
      if (ms > 0) await this.#pause(ms);
      else if (!(await this.#attempt(compactor))) return;
    }
  }

  #due(): Due | null {
    return dueOf(this.#behind.now, this.#parts.clock.monotonic());
  }

  /** How long nothing is to be done; endless while nothing is behind. */
  #restMs(): number {
    const due = this.#due();
    if (due === null || due.inMs > 0) {
      this.#wait = null;
      return due?.inMs ?? Number.POSITIVE_INFINITY;
    }
    const { clock, random } = this.#parts;
    const now = clock.monotonic();
    const { trigger, waitMs } = due;
    if (this.#wait?.trigger !== trigger) {
      const before = this.#wait?.untilMs ?? Number.POSITIVE_INFINITY;
      const untilMs = Math.min(before, now + random.number() * waitMs);
      this.#wait = { trigger, untilMs };
    }
    return Math.max(this.#wait.untilMs, this.#notBeforeMs) - now;
  }

  /** Until the time has passed, another trigger is there, or it ends. */
  async #pause(ms: number): Promise<void> {
    const trigger = this.#due()?.trigger ?? null;
    let stop = (): void => undefined;
    await new Promise<void>((resolve) => {
      this.#pausing = { trigger, wake: resolve };
      // Nobody's program is kept from ending by what is only worth doing while it runs.
      if (ms < Number.POSITIVE_INFINITY) {
        stop = after(this.#parts.clock, ms, resolve, { holdsProcess: false });
      }
    });
    this.#pausing = null;
    stop();
  }

  /** @returns whether to go on */
  async #attempt(compactor: Compacts): Promise<boolean> {
    const { clock, logger } = this.#parts;
    const { signal } = this.#ended;
    const { known } = this.#behind;
    const startedMs = clock.monotonic();
    this.#wait = null;
    let written = 0;
    let failure: unknown = null;
    try {
      // Another store may have been quicker.
      await compactor.adopt(known, { signal });
      if (this.#parts.writes && this.#due()?.inMs === 0) {
        ({ written } = await compactor.compact({ signal }));
      }
    } catch (error) {
      if (signal.aborted) return false;
      failure = error;
    }
    const newest = this.#behind.known;
    const durationMs = clock.monotonic() - startedMs;
    const code = failure === null ? null : codeOf(failure);
    const store = this.#parts.storeId;
    publish('bucketstore:checkpoint', () => ({ store, newest, written, durationMs, code }));
    if (code === 'SEALED') {
      logger.info({ err: failure }, 'compaction in the background ends with the world here');
      return false;
    }
    const againMs = this.#again(failure === null && newest > known);
    if (failure !== null) logger.warn({ err: failure, againMs }, 'no checkpoint was made');
    return true;
  }

  /** @returns how long the next attempt waits at least, ms */
  #again(came: boolean): number {
    this.#vain = came ? 0 : this.#vain + 1;
    if (came) return 0;
    const { clock, random } = this.#parts;
    const ceiling = Math.min(AGAIN_MS_MAX, AGAIN_MS * 2 ** (this.#vain - 1));
    const ms = ceiling * (0.5 + random.number() / 2);
    this.#notBeforeMs = clock.monotonic() + ms;
    return ms;
  }
}

function codeOf(error: unknown): string {
  return isStoreError(error) ? error.code : 'unknown';
}
