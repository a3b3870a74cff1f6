/** A stored version out of the log itself, when nobody told which slot holds it. */
import type { CallOptions } from '../../blob/index.ts';
import { sha256Hex } from '../base/digest.ts';
import type { Sequence } from '../base/sequence.ts';
import { findInlined, sliceInlined } from '../log/bodies.ts';
import type { Log } from '../log/log.ts';

export interface SlotBody {
  /** Where the slot that holds the sequence begins, as far as the names tell. */
  readonly first: Sequence;
  /** A copy, so that the slot is not kept with it; null: the slot is gone, or has it not. */
  readonly bytes: Uint8Array | null;
}

/**
 * The stored version that the slot of a sequence inlines. One list and one `get`.
 * @throws StoreError `INTEGRITY` naming a slot that is damaged; `UNAVAILABLE`, `LOCATION`
 */
export async function readInSlot(
  log: Pick<Log, 'firstOf' | 'read'>,
  at: Sequence,
  storedHash: string,
  options: CallOptions,
): Promise<SlotBody> {
  const first = (await log.firstOf(at, options)) ?? at;
  const { read } = await log.read(first, options);
  const inlined = read === null ? undefined : findInlined(read.slot.inlined, at);
  if (read === null || inlined === undefined) return { first, bytes: null };
  const bytes = new Uint8Array(sliceInlined(read.bytes, inlined));
  return { first, bytes: sha256Hex(bytes) === storedHash ? bytes : null };
}
