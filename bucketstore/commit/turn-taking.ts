/** Waits for this store's turn to create a slot, reading the log meanwhile. */
import type { Clock } from '../base/clock.ts';
import type { Follower } from '../snapshot/follower.ts';
import { isBroken, type WriteOutcome } from './slot-writer.ts';
import type { Turns } from './turns.ts';

export interface TurnTakingParts {
  readonly clock: Clock;
  readonly follower: Follower;
  readonly turns: Turns;
  /** Aborts when the store ends. */
  readonly ended: AbortSignal;
}

/** Slots found one after another before a list is worth its price. */
const READS_BEFORE_LIST = 2;

export class TurnTaking {
  readonly #parts: TurnTakingParts;
  /** Slots found one after another by reading name by name. */
  #found = 0;

  constructor(parts: TurnTakingParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the next name may be created, or when nothing waits for it any more. About
   * three reads in the time of a create, and none when it is this store's turn anyway. A read that
   * fails ends the wait: the create will say it better.
   * @throws StoreError `INTEGRITY` or `SEALED` when the log is broken
   */
  async come(waits: () => boolean): Promise<void> {
    const { clock, turns, ended } = this.#parts;
    while (!ended.aborted && waits()) {
      const move = turns.next(clock.monotonic());
      if (move.kind === 'create') return;
      if (move.ms > 0) await clock.sleep(move.ms, { signal: ended }).catch(() => undefined);
      if (!(await this.#read())) return;
    }
  }

  /** Notes what became of a create. */
  wrote(written: WriteOutcome): void {
    const { clock, turns } = this.#parts;
    if (written.outcome !== 'won' && written.outcome !== 'lost') return;
    if (written.createMs !== null) turns.created(written.createMs);
    if (written.outcome === 'lost') turns.lost(clock.monotonic());
  }

  /** Reads on. @returns false when that failed */
  async #read(): Promise<boolean> {
    const { clock, follower, turns, ended } = this.#parts;
    try {
      if (this.#found >= READS_BEFORE_LIST) {
        this.#found = 0;
        await follower.catchUp(ended);
        return true;
      }
      const startedAt = clock.monotonic();
      const missing = await follower.readNext(ended);
      const now = clock.monotonic();
      turns.read(now - startedAt);
      if (missing) turns.sawNone(now);
      this.#found = missing ? 0 : this.#found + 1;
      return true;
    } catch (error) {
      if (isBroken(error)) throw error;
      return false;
    }
  }
}
