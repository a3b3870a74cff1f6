/**
 * Which tables of the runs that a merge reads are tables of what it makes, byte for byte: they are
 * named again, under their own epoch, and neither read nor written.
 *
 * WHY IT IS THE SAME TABLE. Where a table ends follows from the entries since the last end alone
 * (`cut.ts`). So if what is made has just ended a table, and no other run has a path from the first
 * to the last of this one, then its entries come next, just as they came in its own run, and
 * nothing ends inside it that did not end there. It is left to see that it ends where it did:
 *
 *  - The entry behind it is its own run's next one, or there is none: then nothing that decides it
 *    has changed.
 *  - An entry of another run comes next. It ended behind its last entry if that has 2 MiB before it
 *    and the right hash, whatever comes next. The hash is told by the path. That a segment which
 *    another one follows has 2 MiB by then is told by the hash too: else it ended because the next
 *    entry would have passed 8 MiB, but then it has more than 2 MiB, since no entry of a segment is
 *    as long as the difference. Version records may be that long; their tables hold nothing else,
 *    so their length tells. The last table of a run tells neither, and is read.
 *
 * So a merge with this and one without name the same tables, but for their epochs (I4), and as much
 * of a run is written again as changed.
 */
import { type CutSizes, FORMAT_CUT, isCutPath } from './cut.ts';
import type { RunMerge } from './merge.ts';
import type { TableKind, TableRef } from './table-directory.ts';

/**
 * Whether the table that a merge stands before is one of those it makes.
 * @param ref that table's
 * @param isBetween whether what is made has just ended a table, or has none yet
 */
export function isKept(
  merge: RunMerge,
  kind: TableKind,
  ref: TableRef,
  isBetween: boolean,
  sizes: CutSizes = FORMAT_CUT,
): boolean {
  if (!isBetween || !merge.isAlone) return false;
  if (merge.isFollowedByOwn) return true;
  if (merge.isLastOfRun) return false;
  const isLong = kind === 'segment' || entryBytesAtLeast(ref) >= sizes.bytesMin;
  return isLong && isCutPath(Buffer.from(ref.last), sizes.modulus);
}

/** Of a table of version records, whose data are its entries and less than 8 zeros. */
function entryBytesAtLeast({ bytes, directory }: TableRef): number {
  return bytes - directory.length - 7;
}
