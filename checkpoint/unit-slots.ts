/**
 * Reads the slots of a unit that a checkpoint has taken in and that is not packed yet: once, when
 * it is complete; and again later, when a slot of it could not be read then.
 */
import type { CallOptions } from '../blob/index.ts';
import { integrityError, isStoreError } from '../bucketstore/base/errors.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import type { Log, ReadSlot } from '../bucketstore/log/log.ts';
import { slotKey } from '../bucketstore/log/names.ts';
import { SLOT_ENTRIES_MAX } from '../bucketstore/log/records.ts';
import type { Tip } from '../bucketstore/snapshot/state.ts';
import type { Interval } from './interval.ts';

const READ_AHEAD = 16;
/** Sequence 1 is the genesis, which no slot holds. */
const FIRST_SLOT = 2;

/**
 * The slots up to a checkpoint that hold something of a unit, in order. They are told by the chain,
 * backwards, from the checkpoint, or, when the unit ends before that, from the slot behind the
 * unit, which names the last of them: so strays fall away, and so does what is packed already and
 * may be removed or damaged. One list for a thousand names; one `get` for each slot of the unit,
 * for those close before it, and one behind it.
 * @param tip of the checkpoint
 * @throws StoreError `INTEGRITY` naming the slot that is damaged, or the one before which it is
 *   missing; `UNAVAILABLE`, `LOCATION`
 */
export async function readUnitSlots(
  log: Log,
  tip: Pick<Tip, 'sequence' | 'hash'>,
  unit: Interval,
  options: CallOptions,
): Promise<readonly ReadSlot[]> {
  const last = Math.min(unit.through, tip.sequence) as Sequence;
  if (unit.after >= last) return [];
  const found = new FoundSlots(log, options);
  await found.read(sequence(Math.max(FIRST_SLOT, unit.after - SLOT_ENTRIES_MAX + 2)), last);
  let read = await found.endAt(last, tip);
  const slots = [read];
  while (read.slot.first > unit.after + 1) {
    read = found.before(read);
    slots.push(read);
  }
  return slots.reverse();
}

/** Slots as they lie under their names. */
class FoundSlots {
  readonly #log: Log;
  readonly #options: CallOptions;
  readonly #byHash = new Map<string, ReadSlot>();
  readonly #damaged = new Map<Sequence, unknown>();

  constructor(log: Log, options: CallOptions) {
    this.#log = log;
    this.#options = { ...options, lane: 'bulk' };
  }

  async read(from: Sequence, last: Sequence): Promise<void> {
    const read = (name: Sequence) => this.#read(name);
    for await (const names of this.#log.names(from, this.#options.signal)) {
      const near = names.filter((name) => name <= last);
      for await (const found of readAhead(near, READ_AHEAD, read)) {
        if (found !== null) this.#byHash.set(found.hash, found);
      }
      if (near.length < names.length) return;
    }
  }

  /** The slot that holds a sequence: the checkpoint's own, or one that the next slot names. */
  async endAt(at: Sequence, tip: Pick<Tip, 'sequence' | 'hash'>): Promise<ReadSlot> {
    for (const read of this.#byHash.values()) {
      if (read.slot.last < at) continue;
      if (read.hash === tip.hash) return read;
      const behind = sequence(read.slot.last + 1);
      if (behind > tip.sequence) continue;
      const next = await this.#read(behind);
      if (next?.slot.prev === read.hash) return read;
      if (next === null) throw this.#damaged.get(behind) ?? missing(behind);
    }
    throw this.#damageBefore(sequence(at + 1));
  }

  /** The slot before one. */
  before({ slot: { first, prev } }: ReadSlot): ReadSlot {
    const found = this.#byHash.get(prev);
    if (found === undefined) throw this.#damageBefore(first);
    return found;
  }

  /** null: it is gone, or damaged. */
  async #read(name: Sequence): Promise<ReadSlot | null> {
    try {
      return (await this.#log.read(name, this.#options)).read;
    } catch (error) {
      if (!isStoreError(error) || error.code !== 'INTEGRITY') throw error;
      this.#damaged.set(name, error);
      return null;
    }
  }

  /** Why no slot ends before a sequence. */
  #damageBefore(next: Sequence): unknown {
    const names = [...this.#damaged.keys()].filter((name) => name < next);
    const name = Math.max(...names) as Sequence;
    return next - name <= SLOT_ENTRIES_MAX ? this.#damaged.get(name) : missing(next, 'before ');
  }
}

function missing(name: Sequence, where = ''): Error {
  return integrityError(slotKey(name), `the slot ${where}it is missing`);
}
