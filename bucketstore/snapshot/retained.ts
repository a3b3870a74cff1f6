/**
 * The slots before a checkpoint that are still there: a state does not need them, but the recent
 * operations in them let a request that is sent again get its first answer.
 */
import type { CallOptions } from '../../blob/index.ts';
import { readAhead } from '../base/read-ahead.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import type { Log, ReadSlot } from '../log/log.ts';
import type { Tip } from './state.ts';

/** Entries read back at most: as many as operations are kept of at least. */
const ENTRIES_MAX = 65_536;
const READ_AHEAD = 16;

export interface RetainedRange {
  /** Slots up to here need not be read. */
  readonly known: Sequence | undefined;
  /** The lowest readable sequence: a name below it may be a stray's. */
  readonly floor: number;
}

/**
 * The newest unbroken row of slots that ends at a checkpoint's tip, in order, at most 65,536
 * entries. One list for a thousand names and one `get` for each; none when all are known.
 */
export async function readRetained(
  log: Log,
  tip: Tip,
  { known, floor }: RetainedRange,
  options: CallOptions,
): Promise<readonly Pick<ReadSlot, 'slot' | 'hash'>[]> {
  const from = Math.max(floor, (known ?? 0) + 1, tip.sequence - ENTRIES_MAX + 1);
  if (from > tip.sequence) return [];
  let row: Pick<ReadSlot, 'slot' | 'hash'>[] = [];
  for await (const names of log.names(sequence(from), options.signal)) {
    const covered = names.filter((name) => name <= tip.sequence);
    const read = (name: Sequence): ReturnType<Log['read']> => log.read(name, options);
    for await (const answer of readAhead(covered, READ_AHEAD, read)) {
      if (answer.read === null) continue;
      const { slot, hash } = answer.read;
      // What does not name the one before begins the row anew: only its unbroken end is trusted.
      if (row.at(-1)?.hash !== slot.prev) row = [];
      row.push({ slot, hash });
    }
    if (covered.length < names.length) break;
  }
  return ends(row, tip);
}

/** The row, when it leads to the very slot that the checkpoint stands on. */
function ends(
  row: readonly Pick<ReadSlot, 'slot' | 'hash'>[],
  tip: Tip,
): readonly Pick<ReadSlot, 'slot' | 'hash'>[] {
  return row.at(-1)?.hash === tip.hash ? row : [];
}
