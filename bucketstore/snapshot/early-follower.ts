/**
 * Keeps an early state current until the whole state is in memory: the same looks, under the same
 * rule of sightings, as the follower's. What it cannot tell for sure it does not tell at all, from
 * then on: then only the whole state answers.
 */
import type { CallOptions } from '../../blob/index.ts';
import { abortable } from '../base/abortable.ts';
import type { Turn } from '../base/in-turns.ts';
import { sequence } from '../base/sequence.ts';
import { type Moment, mostElapsed } from '../log/sighting.ts';
import { type EarlyLoaded, type EarlyLoadParts, isDoubt, readBehind } from './early-load.ts';
import type { EarlyState } from './early-state.ts';
import { SharedLook } from './shared-look.ts';

export type EarlyFollowerParts = Pick<EarlyLoadParts, 'log' | 'sightings'>;

/** How long a look-up may take, ms. */
const LOOK_MS = 10_000;
/** A tip not seen for so long is looked up itself too, ms: as the follower does. */
const TIP_SEEN_MS = 10_000;

export class EarlyFollower {
  readonly #parts: EarlyFollowerParts;
  readonly #believed: Promise<boolean>;
  readonly #looks = new SharedLook(() => this.#orEnd(() => this.#look()));
  readonly #reads = new Set<Promise<unknown>>();
  #state: EarlyState;
  #tipSeen: Moment;
  #isOver = false;

  constructor(parts: EarlyFollowerParts, { state, believed }: EarlyLoaded) {
    this.#parts = parts;
    this.#state = state;
    this.#believed = believed;
    this.#tipSeen = parts.sightings.moment();
  }

  /** Whether nothing is told any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Tells nothing from now on. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * The state after every commit that was acknowledged before this call, on any replica; null when
   * only the whole state tells it. One `head` of the next name, shared with readers that asked
   * before it began; one more, of the newest slot, when that was not seen for 10 s; one list, and
   * one `get` for each slot, when there are new ones.
   * @throws StoreError `UNAVAILABLE`, `LOCATION`; the signal's reason when it aborts
   */
  async atTip({ signal }: Pick<CallOptions, 'signal'> = {}): Promise<EarlyState | null> {
    if (this.#isOver) return null;
    await abortable(this.#looks.next(), signal);
    return this.#isOver ? null : this.#state;
  }

  /** Begins to read what the checkpoint has of a document, for whoever asks for it next. */
  warm(path: string): void {
    this.#state.base.document(path, {}).catch(() => undefined);
  }

  /** A read that is under way: `quiet` waits for it. */
  async reading<T>(read: Promise<T>): Promise<T> {
    this.#reads.add(read);
    try {
      return await read;
    } finally {
      this.#reads.delete(read);
    }
  }

  /**
   * Resolves when no read is under way.
   * @param turn lets whoever asked for one ask for the next
   */
  async quiet(turn: Turn): Promise<void> {
    while (this.#reads.size > 0) {
      await Promise.allSettled(this.#reads);
      await turn();
    }
  }

  async #orEnd(look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (error) {
      if (!isDoubt(error)) throw error;
      this.end();
    }
  }

  async #look(): Promise<void> {
    const { log, sightings } = this.#parts;
    const { tip, slots } = this.#state;
    const began = sightings.moment();
    const newest = this.#isTipUnseen() ? slots.at(-1)?.slot.first : undefined;
    const options = { deadlineMs: LOOK_MS };
    const [believed, answer, seen] = await Promise.all([
      this.#believed,
      log.exists(sequence(tip.sequence + 1), options),
      newest === undefined ? null : log.exists(newest, options),
    ]);
    if (!believed || !sightings.bears(answer.date)) return this.end();
    if (seen?.found === false) return this.end();
    if (seen !== null) this.#tipSeen = began;
    if (answer.found) return this.#readOn();
    sightings.note(tip.sequence, began, answer.date);
  }

  /** A list that begins after the reader asked has all that was there when it asked. */
  async #readOn(): Promise<void> {
    const { sightings } = this.#parts;
    const { tip } = this.#state;
    const began = sightings.moment();
    const behind = await readBehind(this.#parts, tip.sequence, {});
    if (behind === null || !sightings.bears(behind.date)) return this.end();
    this.#state = this.#state.after(behind.slots);
    sightings.pass(tip.sequence, this.#state.tip.sequence);
    this.#tipSeen = began;
  }

  #isTipUnseen(): boolean {
    return mostElapsed(this.#tipSeen, this.#parts.sightings.moment()) > TIP_SEEN_MS;
  }
}
