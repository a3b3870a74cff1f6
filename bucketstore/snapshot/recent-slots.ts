/**
 * The newest slots of a replay, which tell of recent operations: a log without a checkpoint may be
 * long, and all its slots at once would be the whole log in memory (I17).
 */

/** More entries than operations are kept of. */
export const RECENT_ENTRIES_MAX: number = 128 * 1024;

interface Entered {
  readonly slot: { readonly entries: { readonly length: number } };
}

export class RecentSlots<S extends Entered> {
  readonly #max: number;
  #slots: S[] = [];
  /** Those before it are let go. */
  #from = 0;
  #entries = 0;

  /** @param max entries that are enough: the slots kept hold as many, and no slot more than that */
  constructor(max: number = RECENT_ENTRIES_MAX) {
    this.#max = max;
  }

  /** Slots held now. */
  get size(): number {
    return this.#slots.length;
  }

  add(entered: S): void {
    this.#slots.push(entered);
    this.#entries += entered.slot.entries.length;
    for (;;) {
      const oldest = this.#slots[this.#from]?.slot.entries.length ?? this.#entries;
      if (this.#entries - oldest < this.#max) break;
      this.#entries -= oldest;
      this.#from += 1;
    }
    // Not one by one: moving all the others for each would cost the square of the log.
    if (this.#from > 1024 && this.#from * 2 > this.#slots.length) this.#compact();
  }

  /** In order; from now on nothing else is held. */
  take(): readonly S[] {
    this.#compact();
    return this.#slots;
  }

  #compact(): void {
    this.#slots = this.#slots.slice(this.#from);
    this.#from = 0;
  }
}
