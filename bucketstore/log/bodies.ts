/** Stored versions that lie in a slot: finding one by sequence, and its bytes. */
import { assert } from '../base/assert.ts';
import type { Sequence } from '../base/sequence.ts';
import type { Inlined } from './records.ts';

/**
 * The bytes of an inlined stored version: a view of `bytes`, not a copy, so a small one keeps the
 * whole slot in memory. Their hash is not checked here.
 * @param bytes the whole slot object
 */
export function sliceInlined(bytes: Uint8Array, inlined: Inlined): Uint8Array {
  const end = inlined.offset + inlined.length;
  assert(end <= bytes.length, () => `inlined to ${end} of ${bytes.length} bytes`);
  return bytes.subarray(inlined.offset, end);
}

/** The inlined stored version of an entry, undefined when it has none. Binary search. */
export function findInlined(inlined: readonly Inlined[], sequence: Sequence): Inlined | undefined {
  let low = 0;
  let high = inlined.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = inlined[middle];
    if (item === undefined || item.sequence >= sequence) high = middle;
    else low = middle + 1;
  }
  const found = inlined[low];
  return found?.sequence === sequence ? found : undefined;
}
