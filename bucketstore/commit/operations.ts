/**
 * The recent operations of a world, so that a request that is sent again gets its first answer.
 * Rebuilt from slots at a cold start, as far as they are there.
 */
import type { Clock } from '../base/clock.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { isMutation } from '../log/entry-rules.ts';
import type { Slot } from '../log/records.ts';

/** Where an operation's entry is. */
export interface OperationPlace {
  /** The slot that holds it. */
  readonly slot: Sequence;
  readonly sequence: Sequence;
}

interface Kept extends OperationPlace {
  /** Monotonic time when it was noted, ms. */
  readonly at: number;
}

/** Kept: the last 65,536 entries or those of 15 minutes, whichever is more, within 16 MiB. */
export const OPERATIONS_MIN = 65_536;
export const OPERATIONS_MS: number = 15 * 60 * 1000;
/** Allowance for one operation: its text, its place and its share of the table. */
const ENTRY_BYTES = 200;
export const OPERATIONS_MAX: number = Math.floor((16 * 1024 * 1024) / ENTRY_BYTES);

export class Operations {
  readonly #clock: Clock;
  /** In the order of the log, which is the order of noting. */
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Notes the operations of a slot that has entered the served state. */
  note(slot: Slot): void {
    const at = this.#clock.monotonic();
    for (const [index, entry] of slot.entries.entries()) {
      if (!isMutation(entry) || this.#kept.has(entry.op)) continue;
      this.#kept.set(entry.op, { slot: slot.first, sequence: sequence(slot.first + index), at });
    }
    this.#trim(at);
  }

  find(op: string): OperationPlace | undefined {
    return this.#kept.get(op);
  }

  #trim(now: number): void {
    for (const [op, { at }] of this.#kept) {
      const beyond = this.#kept.size > OPERATIONS_MAX;
      const old = this.#kept.size > OPERATIONS_MIN && now - at > OPERATIONS_MS;
      if (!beyond && !old) return;
      this.#kept.delete(op);
    }
  }
}
