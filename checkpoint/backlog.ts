/** Reads the slots behind a checkpoint, as far as one step of a compactor takes them in. */
import type { CallOptions } from '../blob/index.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import type { Log, ReadSlot } from '../bucketstore/log/log.ts';
import { slotKey } from '../bucketstore/log/names.ts';
import type { Tip } from '../bucketstore/snapshot/state.ts';

/**
 * What one step takes in at most, so that it ends at the same slot for all that begin where it
 * does.
 */
export interface StepBounds {
  readonly slots: number;
  readonly bytes: number;
}

export const STEP_BOUNDS: StepBounds = { slots: 1024, bytes: 33_554_432 };

const READ_AHEAD = 16;

/**
 * The slots behind a checkpoint, as far as one step goes: to the first slot end at which a bound is
 * reached, or to `target`, a slot's end that is known by its hash. One list for a thousand names,
 * one `get` for each slot.
 * @throws StoreError `INTEGRITY` naming a slot that is damaged or missing, or is another than the
 *   one known at the target; `UNAVAILABLE`, `LOCATION`
 */
export async function readStep(
  log: Log,
  tip: Tip,
  target: Pick<Tip, 'sequence' | 'hash'>,
  bounds: StepBounds,
  options: CallOptions,
): Promise<readonly ReadSlot[]> {
  const slots: ReadSlot[] = [];
  let next = sequence(tip.sequence + 1);
  let bytes = 0;
  const read = (name: Sequence) => readSlot(log, name, options);
  for await (const names of log.names(next, options.signal)) {
    for await (const found of readAhead(names, READ_AHEAD, read)) {
      const { first } = found.slot;
      // A name inside the range already covered is a stray of a writer that slept.
      if (first < next) continue;
      if (first > next) throw integrityError(slotKey(next), `missing, while ${first} is there`);
      if (first > target.sequence) return upTo(target, tip, slots);
      slots.push(found);
      next = sequence(found.slot.last + 1);
      bytes += found.bytes.byteLength;
      if (found.slot.last >= target.sequence) return upTo(target, tip, slots);
      if (slots.length >= bounds.slots || bytes >= bounds.bytes) return slots;
    }
  }
  return upTo(target, tip, slots);
}

/** The slots of a step that must end at the target: else the log is not the one that was seen. */
function upTo(
  target: Pick<Tip, 'sequence' | 'hash'>,
  tip: Tip,
  slots: readonly ReadSlot[],
): readonly ReadSlot[] {
  const end = slots.at(-1);
  const last = end?.slot.last ?? tip.sequence;
  if (last < target.sequence) {
    const problem = `missing, and this store has applied the log up to ${target.sequence}`;
    throw integrityError(slotKey(sequence(last + 1)), problem);
  }
  if (end !== undefined && (last > target.sequence || end.hash !== target.hash)) {
    throw integrityError(slotKey(end.slot.first), 'is not the slot that this store has applied');
  }
  return slots;
}

async function readSlot(log: Log, name: Sequence, options: CallOptions): Promise<ReadSlot> {
  const { read } = await log.read(name, { ...options, lane: 'bulk' });
  if (read === null) throw integrityError(slotKey(name), 'was listed, and is gone');
  return read;
}
