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
