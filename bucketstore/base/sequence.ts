/** Sequences are branded, so that no count, version or index is ever taken for one. */

/** The number of an entry in a world's log, contiguous from 1 (genesis) to 2^53 − 1. */
export type Sequence = number & { readonly brand: 'sequence' };

/** @throws RangeError unless `value` is an integer of 1 to 2^53 − 1 */
export function sequence(value: number): Sequence {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new RangeError(`a sequence is an integer of 1 to 2^53 - 1, got ${value}`);
  }
  return value as Sequence;
}
