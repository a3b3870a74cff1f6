/**
 * A value that changes along the log: what it was at each sequence, and where it was what somebody
 * says it was.
 */

/** Sequences, both ends included. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

export class Changes<T> {
  readonly #sequences: number[] = [];
  readonly #values: T[] = [];

  /** The value from a sequence on. Sequences never go back; the same one again replaces. */
  add(sequence: number, value: T): void {
    const last = this.#sequences.length - 1;
    if (last >= 0 && this.#sequences[last] === sequence) {
      this.#values[last] = value;
      return;
    }
    this.#sequences.push(sequence);
    this.#values.push(value);
  }

  /** undefined before the first change. */
  at(sequence: number): T | undefined {
    return this.#values[lastAtMost(this.#sequences, sequence)];
  }

  /** The value now. */
  get last(): T | undefined {
    return this.#values.at(-1);
  }

  /** Where within `range` the value is right; ascending, apart. */
  where(holds: (value: T | undefined) => boolean, { from, to }: Interval): Interval[] {
    const found: Interval[] = [];
    let index = lastAtMost(this.#sequences, from);
    for (let at = from; at <= to; index++) {
      const next = this.#sequences[index + 1] ?? Number.POSITIVE_INFINITY;
      if (holds(this.#values[index])) found.push({ from: at, to: Math.min(to, next - 1) });
      at = next;
    }
    return found;
  }
}

/** The index of the last number that is at most `limit`; −1 for none. `numbers` ascend. */
export function lastAtMost(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
