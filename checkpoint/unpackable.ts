/**
 * Units that a checkpoint may leave unpacked, as a slot of theirs cannot be read or what it inlines
 * is not right.
 */
import type { Sequence } from '../bucketstore/base/sequence.ts';
import { SLOT_ENTRIES_MAX } from '../bucketstore/log/records.ts';
import { UNIT } from './constants.ts';
import { multipleFrom } from './interval.ts';

export class Unpackable {
  /** Ends of units, both included; ascending, and not more than there are units. */
  readonly #rows: { readonly from: number; to: number }[] = [];

  /**
   * Sequences of slots that packing stops at, both ends included; in order. The unit before counts
   * too: when it is packed late, the slot behind it must say that its slots are the log's.
   */
  add(first: number, last: number): void {
    const from = multipleFrom(Math.max(first - SLOT_ENTRIES_MAX, 1), UNIT);
    const to = multipleFrom(last, UNIT);
    const row = this.#rows.at(-1);
    if (row !== undefined && row.to >= from) row.to = Math.max(row.to, to);
    else this.#rows.push({ from, to });
  }

  /** Whether packing may have stopped here. */
  stopsAt(packedThrough: Sequence): boolean {
    const unit = multipleFrom(packedThrough + 1, UNIT);
    return this.#rows.some(({ from, to }) => from <= unit && unit <= to);
  }
}
