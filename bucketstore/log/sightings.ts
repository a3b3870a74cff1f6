/**
 * The rule of sightings: the one place that says whether an answer about a slot's name is believed,
 * for commits and reads alike. One for each store.
 */
import type { CallOptions } from '../../blob/index.ts';
import type { Clock } from '../base/clock.ts';
import { publish } from '../base/diagnostics.ts';
import type { Sequence } from '../base/sequence.ts';
import type { Checkpoints } from './checkpoints.ts';
import { isFresh, laterSighting, type Moment, type Sighting } from './sighting.ts';

export interface SightingsParts {
  readonly clock: Clock;
  readonly checkpoints: Checkpoints;
}

/** Thrown through a replay whose answers cannot be believed: the state must be loaded anew. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
}

export class Sightings {
  readonly #parts: SightingsParts;
  #newest: Sighting | null = null;

  constructor(parts: SightingsParts) {
    this.#parts = parts;
  }

  /** The newest sighting; null before the first. */
  get newest(): Sighting | null {
    return this.#newest;
  }

  /** The clocks now. @param date the service's, when an answer has just told it */
  moment(date?: number): Moment {
    const { clock } = this.#parts;
    return { wall: clock.now(), monotonic: clock.monotonic(), date: date ?? null };
  }

  /**
   * Notes that the next name was found missing, or was created by this store, by a request that
   * began at a moment; the service's date comes with its answer. Without one, the date of the
   * sighting before stays: a clock that has told its time is never left out again.
   */
  note(tip: Sequence, began: Moment, date: number | undefined): void {
    const newest = this.#newest;
    const before = newest?.at.date ?? null;
    if (newest !== null && date === undefined && before !== null) {
      // That date is later than this look began: it would make it too young.
      if (newest.at.monotonic > began.monotonic) return;
    }
    const sighting = { tip, at: { ...began, date: date ?? before } };
    this.#newest = newest === null ? sighting : laterSighting(newest, sighting);
  }

  /**
   * Notes that a slot which was believed on the newest sighting leads from its tip to another. What
   * was never freed behind the one was never freed behind the other: the sighting goes along, and
   * is as old as it was.
   */
  pass(from: Sequence, to: Sequence): void {
    if (this.#newest?.tip === from) this.#newest = { tip: to, at: this.#newest.at };
  }

  /**
   * A sighting of this very tip that is fresh by the local clocks: without one no create may begin
   * behind it. Null when there is none.
   */
  freshOf(tip: Sequence): Sighting | null {
    const newest = this.#newest;
    return newest?.tip === tip && isFresh(newest, this.moment()) ? newest : null;
  }

  /** Whether the newest sighting bears an answer that has just come. No request. */
  bears(date: number | undefined): boolean {
    return this.#newest !== null && this.#isFresh(this.#newest, date);
  }

  /**
   * Whether an answer about a name behind `tip` that has just come is believed. No request on a
   * fresh sighting; else one list, made now and thus after the answer: when it shows no checkpoint
   * beyond the tip, no floor above it was ever set and no name behind it ever freed. When it shows
   * one, what was seen of this tip is void: no create may begin behind it.
   * @param held the sighting that was relied on, of this tip or a lower one; null for none. One of
   *   a higher tip says nothing of the names before that
   * @param date the service's, as the answer told it
   * @throws StoreError `UNAVAILABLE`, `LOCATION`, `INTEGRITY` when the list fails: not believed yet
   */
  async believes(
    tip: Sequence,
    held: Sighting | null,
    date: number | undefined,
    options: CallOptions,
  ): Promise<boolean> {
    if (held !== null && held.tip <= tip && this.#isFresh(this.#latest(held), date)) return true;
    const began = this.moment();
    const listed = await this.#parts.checkpoints.newest(options);
    const beyond = listed.place !== null && listed.place.sequence > tip;
    publish('bucketstore:fence', () => ({ tip, beyond }));
    if (!beyond) this.note(tip, began, listed.date);
    else if (this.#newest !== null && this.#newest.tip <= tip) this.#newest = null;
    return !beyond;
  }

  /** An answer without the date that the sighting has may have slept where only that shows. */
  #isFresh(sighting: Sighting, date: number | undefined): boolean {
    if (sighting.at.date !== null && date === undefined) return false;
    return isFresh(sighting, this.moment(date));
  }

  /** A sighting of the same tip made meanwhile is as good. */
  #latest(held: Sighting): Sighting {
    return this.#newest?.tip === held.tip ? this.#newest : held;
  }
}
