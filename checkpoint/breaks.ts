/**
 * Breaks in long work that goes entry by entry: by how much was done, not by the clock, so that
 * runs repeat.
 */
import type { Turn } from '../bucketstore/base/in-turns.ts';

/** Of bytes, merged in a millisecond or two. */
const BYTES = 131_072;
/** What an entry costs beside its bytes, as bytes. */
const ENTRY = 256;

export class Breaks {
  readonly #turn: Turn;
  readonly #signal: AbortSignal | undefined;
  #left = BYTES;

  constructor(turn: Turn, signal?: AbortSignal) {
    this.#turn = turn;
    this.#signal = signal;
  }

  /**
   * An entry of so many bytes has been dealt with; whether a break is due: a promise for each entry
   * would cost more than the entry.
   */
  isDue(bytes: number): boolean {
    this.#left -= bytes + ENTRY;
    return this.#left <= 0;
  }

  /** @throws the signal's reason */
  async take(): Promise<void> {
    this.#left = BYTES;
    await this.#turn();
    this.#signal?.throwIfAborted();
  }
}
