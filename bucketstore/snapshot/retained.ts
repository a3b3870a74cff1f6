/**
 * The slots before a checkpoint that are still there: a state does not need them, but the recent
 * operations in them let a request that is sent again get its first answer.
 */
import type { CallOptions } from '../../blob/index.ts';
import type { Logger } from '../base/diagnostics.ts';
import { isStoreError } from '../base/errors.ts';
import { readAhead } from '../base/read-ahead.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import type { Log, ReadSlot } from '../log/log.ts';
import { LOG_PREFIX, slotKey } from '../log/names.ts';
import type { EnteredSlot } from './load.ts';
import type { Tip } from './state.ts';

/** Entries read back at most: as many as operations are kept of at least. */
const ENTRIES_MAX = 65_536;
const READ_AHEAD = 16;

export interface RetainedParts {
  readonly log: Log;
  readonly logger: Logger;
}

type Row = readonly EnteredSlot[];

export interface RetainedRange {
  /** Slots up to here need not be read. */
  readonly known: number;
  /** The lowest readable sequence: a name below it may be a stray's. */
  readonly floor: number;
}

/**
 * The newest unbroken row of slots that ends at a checkpoint's tip, in order, at most 65,536
 * entries. One list for a thousand names and one `get` for each; none when all are known. The state
 * rests on none of them: one that is damaged ends the row before it, with a warning, and then some
 * operations are not known. One that is only not answered for is no such thing: the load is tried
 * again, since a repeat of what is not known would be committed twice.
 * @throws StoreError `UNAVAILABLE`, `LOCATION`; the signal's reason when it aborts
 */
export async function readRetained(
  parts: RetainedParts,
  tip: Tip,
  { known, floor }: RetainedRange,
  options: CallOptions,
): Promise<Row> {
  const from = Math.max(floor, known + 1, tip.sequence - ENTRIES_MAX + 1);
  if (from > tip.sequence) return [];
  try {
    return await readRow(parts, sequence(from), tip, options);
  } catch (error) {
    // A name that is no slot's.
    skipDamaged(parts.logger, LOG_PREFIX, error);
    return [];
  }
}

async function readRow(
  { log, logger }: RetainedParts,
  from: Sequence,
  tip: Tip,
  options: CallOptions,
): Promise<Row> {
  const found = new Map<string, Row[number]>();
  const readOne = async (name: Sequence): Promise<ReadSlot | null> => {
    try {
      return (await log.read(name, options)).read;
    } catch (error) {
      skipDamaged(logger, slotKey(name), error);
      return null;
    }
  };
  for await (const names of log.names(from, options.signal)) {
    const covered = names.filter((name) => name <= tip.sequence);
    for await (const read of readAhead(covered, READ_AHEAD, readOne)) {
      if (read !== null) found.set(read.hash, retainedOf(read));
    }
    if (covered.length < names.length) break;
  }
  // Only what leads to the very slot that the checkpoint stands on: a stray does not.
  const row: Row[number][] = [];
  for (let one = found.get(tip.hash); one !== undefined; one = found.get(one.slot.prev)) {
    row.push(one);
  }
  return row.reverse();
}

/** What is kept of a slot: not its bytes. */
function retainedOf({ slot, hash, bytes }: ReadSlot): EnteredSlot {
  return { slot, hash, size: bytes.byteLength };
}

/** Warns of what is no slot. @throws what else kept it from being read */
function skipDamaged(logger: Logger, object: string, err: unknown): void {
  if (!isStoreError(err) || err.code !== 'INTEGRITY') throw err;
  logger.warn({ object, err }, 'skipped: operations up to it are not known here');
}
