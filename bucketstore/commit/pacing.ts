/** How many members a batch may have: no timer, only what the last batches were like. */
import { SLOT_ENTRIES_MAX } from '../log/records.ts';

const BATCH_LIMIT_MIN = 16;

/** Doubles while batches fill and requests still wait, and falls back when they do not. */
export class BatchLimit {
  readonly #max: number;
  #limit: number;

  /** @param max entries a slot may get, 1 to 256 */
  constructor(max: number = SLOT_ENTRIES_MAX) {
    this.#max = max;
    this.#limit = Math.min(BATCH_LIMIT_MIN, max);
  }

  get now(): number {
    return this.#limit;
  }

  /** Notes a batch of `members` that left `waiting` behind; `full` of bytes, it says nothing. */
  note(members: number, waiting: number, full: boolean): void {
    if (full && members < this.#limit) return;
    if (members >= this.#limit && waiting > 0) {
      this.#limit = Math.min(this.#limit * 2, this.#max);
    } else if (members < this.#limit) {
      this.#limit = Math.min(BATCH_LIMIT_MIN, this.#max);
    }
  }
}

/** How long a store that was seen in a slot counts as a rival, ms. */
const RIVAL_MS = 3_000;
/** Wait after a win when the next batch is already full, ms at most. */
const FULL_WAIT_MS = 30;
/** Part of the wait that is chance, so that stores do not march in step. */
const SPREAD = 0.25;
/** No wait is longer, ms: a slow create must not idle the store. */
const WAIT_MS_MAX = 1_000;
/** Weight of the newest create in the running mean. */
const NEWEST = 0.125;

/**
 * How long a store waits after it won a name, so that the others get theirs: a winner begins its
 * next create one read ahead of the losers, and would go on winning. A store alone in its world
 * never waits.
 *
 * The rule and its figures are modelled: up to 30 ms when the next batch is full anyway, which
 * costs the least throughput; else one create for each rival, which halves the slowest answers.
 */
export class Fairness {
  /** Monotonic time when each other store was last seen; kept no longer than it counts. */
  readonly #rivals = new Map<string, number>();
  readonly #storeId: string;
  /** Running mean of this store's own creates, ms. */
  #createMs = 0;

  constructor(storeId: string) {
    this.#storeId = storeId;
  }

  /** Stores that are remembered now (I17). */
  get rivals(): number {
    return this.#rivals.size;
  }

  /** Notes whose slot has entered the served state. */
  saw(storeId: string, now: number): void {
    if (storeId !== this.#storeId) this.#rivals.set(storeId, now);
    this.#forget(now);
  }

  /** Notes how long a create of this store took, ms. */
  took(createMs: number): void {
    this.#createMs += (createMs - this.#createMs) * (this.#createMs === 0 ? 1 : NEWEST);
  }

  /** What to wait after a win, ms. @param chance uniform in [0, 1) */
  waitMs(now: number, nextIsFull: boolean, chance: number): number {
    this.#forget(now);
    const rivals = this.#rivals.size;
    if (rivals === 0) return 0;
    if (nextIsFull) return chance * FULL_WAIT_MS;
    const turns = rivals * this.#createMs * (1 - SPREAD + 2 * SPREAD * chance);
    return Math.min(turns, WAIT_MS_MAX);
  }

  #forget(now: number): void {
    for (const [storeId, at] of this.#rivals) {
      if (now - at > RIVAL_MS) this.#rivals.delete(storeId);
    }
  }
}
