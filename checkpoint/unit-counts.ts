/**
 * How many documents were changed last in which stretch of the log, so that how many belong into a
 * run is known without a walk over all of them. Runs begin at the start of the life or where a unit
 * ends, so units are fine enough: a number for each.
 */

import { UNIT } from './constants.ts';
import { multipleFrom } from './interval.ts';

export class UnitCounts {
  readonly #start: number;
  readonly #counts = new Map<number, number>();

  /** @param start where the life began: all that lies before it is one stretch */
  constructor(start: number) {
    this.#start = start;
  }

  /** One more document, or several, at a sequence. */
  add(at: number, documents = 1): void {
    const unit = this.#unitOf(at);
    this.#counts.set(unit, this.count(unit) + documents);
  }

  /** A document that was at a sequence is at another now. */
  move(from: number, to: number): void {
    this.add(from, -1);
    this.add(to);
  }

  /** How many are beyond a sequence: 0, the start, or the end of a unit. */
  beyond(after: number): number {
    let sum = 0;
    for (const [unit, count] of this.#counts) {
      if (after === 0 || unit > this.#unitOf(after)) sum += count;
    }
    return sum;
  }

  /** How many are in the unit that ends at a sequence. */
  count(unitEnd: number): number {
    return this.#counts.get(unitEnd) ?? 0;
  }

  /** A unit is known by its end, what lies up to the start by 0. */
  #unitOf(at: number): number {
    return at <= this.#start ? 0 : multipleFrom(at, UNIT);
  }
}
