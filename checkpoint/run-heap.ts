/**
 * Several walks in path order as one: the least path first, and of equal ones the newest run's. A
 * binary heap, so a step costs a few comparisons however many runs there are.
 */
import { compareUtf8 } from '../bucketstore/base/order.ts';

/** A walk through one run, standing on a path. */
export interface RunStand {
  path: string;
  /** The greater, the newer. */
  readonly age: number;
}

/** Its members are changed by who uses it, who says so then. */
export class RunHeap<S extends RunStand> {
  readonly #stands: S[];

  /** @param stands taken over, in any order */
  constructor(stands: S[]) {
    this.#stands = stands;
    for (let at = (stands.length >> 1) - 1; at >= 0; at--) this.#sink(at);
  }

  /** The least; undefined when all walks have ended. */
  get top(): S | undefined {
    return this.#stands[0];
  }

  /** The top has moved on to a later path. */
  moved(): void {
    this.#sink(0);
  }

  /** The top has ended. */
  ended(): void {
    const last = this.#stands.pop();
    if (last === undefined || this.#stands.length === 0) return;
    this.#stands[0] = last;
    this.#sink(0);
  }

  #sink(from: number): void {
    const stands = this.#stands;
    const sinking = stands[from];
    if (sinking === undefined) return;
    let at = from;
    for (;;) {
      const left = 2 * at + 1;
      const right = stands[left + 1];
      let child = stands[left];
      let place = left;
      if (child === undefined) break;
      if (right !== undefined && isBefore(right, child)) {
        child = right;
        place = left + 1;
      }
      if (!isBefore(child, sinking)) break;
      stands[at] = child;
      at = place;
    }
    stands[at] = sinking;
  }
}

function isBefore(a: RunStand, b: RunStand): boolean {
  const order = compareUtf8(a.path, b.path);
  return order === 0 ? a.age > b.age : order < 0;
}
