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
   * began at a moment; the service's date comes with its answer.
   */
  note(tip: Sequence, began: Moment, date: number | undefined): void {
    const sighting = { tip, at: { ...began, date: date ?? null } };
    this.#newest = this.#newest === null ? sighting : laterSighting(this.#newest, sighting);
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
    return this.#newest !== null && isFresh(this.#newest, this.moment(date));
  }

  /**
   * Whether an answer about a name behind `tip` that has just come is believed. No request on a
   * fresh sighting; else one list, made now and thus after the answer: when it shows no checkpoint
   * beyond the tip, no floor above it was ever set and no name behind it ever freed.
   * @param held the sighting that was relied on; null for none
   * @param date the service's, as the answer told it
   * @throws StoreError `UNAVAILABLE`, `LOCATION`, `INTEGRITY` when the list fails: not believed yet
   */
  async believes(
    tip: Sequence,
    held: Sighting | null,
    date: number | undefined,
    options: CallOptions,
  ): Promise<boolean> {
    if (held !== null && isFresh(this.#latest(held), this.moment(date))) return true;
    const began = this.moment();
    const listed = await this.#parts.checkpoints.newest(options);
    const beyond = listed.place !== null && listed.place.sequence > tip;
    publish('bucketstore:fence', () => ({ tip, beyond }));
    if (!beyond) this.note(tip, began, listed.date);
    return !beyond;
  }

  /** A sighting of the same tip made meanwhile is as good. */
  #latest(held: Sighting): Sighting {
    return this.#newest?.tip === held.tip ? this.#newest : held;
  }
}
