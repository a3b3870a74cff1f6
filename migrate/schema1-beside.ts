/** A head of schema 1: as it is, as it has become, and the log that may lie beside it. */
import type { BlobStore } from '../blob/blob.ts';
import { integrityError, isStoreError } from '../bucketstore/base/errors.ts';
import { otherWorld } from '../bucketstore/log/format.ts';
import { parseSlotKey } from '../bucketstore/log/names.ts';
import type { Problems } from '../bucketstore/log/problems.ts';
import { decodeSlot } from '../bucketstore/log/slot.ts';
import { HEAD_KEY } from './schema1-keys.ts';
import type { Schema1Listing } from './schema1-listing.ts';
import { readSchema1Head } from './schema1-reader.ts';
import type { Schema1Head } from './schema1-records.ts';
import type { Schema1Report } from './schema1-report.ts';

export interface BesideParts {
  readonly bucket: BlobStore;
  readonly signal: AbortSignal | undefined;
  readonly problems: Problems;
}

/**
 * The head of a location, or null when it is damaged, which is noted. One `get`.
 * @param asked the world that must be there; undefined for any
 * @throws StoreError `LOCATION` for another world; as `readSchema1Head`, damage apart
 */
export async function tryHead(
  { bucket, signal, problems }: BesideParts,
  asked: string | undefined,
): Promise<Schema1Head | null> {
  let head: Schema1Head;
  try {
    head = (await readSchema1Head(bucket, { signal })).head;
  } catch (error) {
    problems.noteIntegrity(error, HEAD_KEY);
    return null;
  }
  if (asked === undefined || head.worldId === asked) return head;
  throw otherWorld(bucket.name, head.worldId, asked);
}

/** What is in the place of a head when all else has been read. One `get`. */
export async function readHeadAfter(
  before: Schema1Head,
  { bucket, signal, problems }: BesideParts,
): Promise<Schema1Report['headAfter']> {
  try {
    const { head } = await readSchema1Head(bucket, { signal });
    const { worldId, sequence } = head;
    if (worldId !== before.worldId) problems.note(HEAD_KEY, `now of world ${worldId}`);
    if (sequence < before.sequence) {
      problems.note(HEAD_KEY, `went back from ${before.sequence} to ${sequence}`);
    }
    return sequence;
  } catch (error) {
    if (isStoreError(error) && error.code === 'UNSUPPORTED_FORMAT') return 'migrated';
    if (isStoreError(error) && error.code === 'NOT_FOUND') {
      problems.note(HEAD_KEY, 'was there, and is gone');
    } else {
      problems.noteIntegrity(error, HEAD_KEY);
    }
    return null;
  }
}

/** Whether there is anything of schema 2 that `checkLogBeside` has to look at. */
export function hasLogBeside({ logLast, checkpointFirst }: Schema1Listing): boolean {
  return logLast !== null || checkpointFirst !== null;
}

/**
 * Beside the head of schema 1 there is a log only when a migration was rolled back: its last slot
 * is the seal that says so, and the head went on from there. One `get` where there is a log.
 * @param headAfter the head as it was found after the listing
 */
export async function checkLogBeside(
  head: Schema1Head,
  { logLast, checkpointFirst }: Schema1Listing,
  headAfter: Schema1Report['headAfter'],
  { bucket, signal, problems }: BesideParts,
): Promise<void> {
  // The new marker's log is beside no head.
  if (headAfter === 'migrated') return;
  if (logLast === null) {
    if (checkpointFirst === null) return;
    problems.note(checkpointFirst, 'a checkpoint beside a head of schema 1, and there is no log');
    return;
  }
  const problem = 'a log beside a head of schema 1 that does not end with the seal of a rollback';
  if (parseSlotKey(logLast) === null) return problems.note(logLast, problem);
  try {
    const found = await bucket.get(logLast, { signal, lane: 'bulk' });
    if (!found.found) return problems.note(logLast, 'was listed, and is gone');
    const { slot } = decodeSlot(logLast, found.bytes);
    const [entry] = slot.entries;
    const isSeal = entry?.kind === 'seal' && entry.reason === 'rollback';
    if (!isSeal) throw integrityError(logLast, problem);
    if (slot.worldId !== head.worldId) {
      throw integrityError(logLast, `of world ${slot.worldId}, and the head of ${head.worldId}`);
    }
    // A rollback since then has brought the head forward, too.
    const sequence = Math.max(head.sequence, headAfter ?? 0);
    if (slot.first > sequence) {
      throw integrityError(logLast, `a rollback at ${slot.first}, and the head is at ${sequence}`);
    }
  } catch (error) {
    problems.noteIntegrity(error, logLast);
  }
}
