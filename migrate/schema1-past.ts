/**
 * What a bucket tells of a schema 1 world's past: the receipts of its commits, and a log, if the
 * world has been of schema 2 before.
 */
import type { BlobStore } from '../blob/blob.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import { parseSlotKey } from '../bucketstore/log/names.ts';
import type { Problems } from '../bucketstore/log/problems.ts';
import { decodeSlot } from '../bucketstore/log/slot.ts';
import { changeBlockOf, changeBlockRange, decodeChangeBlock } from './schema1-changes.ts';
import { CHANGE_BLOCK_RECEIPTS, changeBlockKey, HEAD_KEY } from './schema1-keys.ts';
import type { Schema1Listing } from './schema1-listing.ts';
import type { ChangeBlock, Receipt, Schema1Head } from './schema1-records.ts';
import type { Schema1Report, Schema1Told } from './schema1-report.ts';
import { receiptVersionProblem, windowProblem } from './schema1-told.ts';

export interface PastParts {
  readonly bucket: BlobStore;
  readonly signal: AbortSignal | undefined;
  readonly problems: Problems;
  readonly listing: Schema1Listing;
  /** The current version of a document; null when not all of them are known. */
  readonly versionOf: ((path: string) => number | undefined) | null;
  /** The head as it was found after the listing. */
  readonly headAfter: Schema1Report['headAfter'];
}

const CHANGES_AHEAD = 16;

/**
 * Beside the head of schema 1 there is a log only when a migration was rolled back: its last slot
 * is the seal that says so. One `get` where there is one.
 */
export async function checkLogBeside(head: Schema1Head, parts: PastParts): Promise<void> {
  const { bucket, signal, problems, listing, headAfter } = parts;
  // The new marker's log is beside no head.
  if (headAfter === 'migrated') return;
  const { logLast, checkpointFirst } = listing;
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
  } catch (error) {
    problems.noteIntegrity(error, logLast);
  }
}

/**
 * What the receipts of a world tell, those of the head and of its change blocks. One `get` for each
 * change block.
 */
export async function readTold(head: Schema1Head, parts: PastParts): Promise<Schema1Told> {
  const { problems, listing } = parts;
  const told = new Told();
  const indices = listing.changes.filter((index) => isOfHead(index, head, parts));
  const reading = readAhead(indices, CHANGES_AHEAD, (index) => readBlock(index, head, parts));
  for await (const block of reading) {
    if (block === null) continue;
    told.add(block.receipts);
    checkReceipts(changeBlockKey(changeBlockOf(block.first)), block.receipts, parts);
    const problem = windowProblem(block, head);
    if (problem !== null) problems.note(changeBlockKey(changeBlockOf(block.first)), problem);
  }
  told.add(head.receipts);
  checkReceipts(HEAD_KEY, head.receipts, parts);
  const named = head.receipts.filter(({ change }) => change !== null).length;
  return {
    named,
    unnamed: head.receipts.length - named,
    changeBlocks: indices.length,
    changeGaps: Math.floor(head.sequence / CHANGE_BLOCK_RECEIPTS) - indices.length,
    resumesFrom: told.resumesFrom,
  };
}

/** Whether a change block tells of the state that was read, and not of a later one. */
function isOfHead(
  index: number,
  { sequence }: Schema1Head,
  { problems, headAfter }: PastParts,
): boolean {
  const { last } = changeBlockRange(index);
  if (last <= sequence) return true;
  if (typeof headAfter === 'number' && last > headAfter) {
    problems.note(changeBlockKey(index), `tells of ${last}, and the head is at ${headAfter}`);
  }
  return false;
}

async function readBlock(
  index: number,
  { worldId }: Schema1Head,
  { bucket, signal, problems }: PastParts,
): Promise<ChangeBlock | null> {
  const key = changeBlockKey(index);
  try {
    const found = await bucket.get(key, { signal, lane: 'bulk' });
    if (found.found) return decodeChangeBlock(key, found.bytes, worldId);
    problems.note(key, 'was listed, and is gone');
  } catch (error) {
    problems.noteIntegrity(error, key);
  }
  return null;
}

function checkReceipts(
  key: string,
  receipts: readonly Receipt[],
  { problems, versionOf }: PastParts,
): void {
  if (versionOf === null) return;
  for (const receipt of receipts) {
    const problem = receiptVersionProblem(receipt, versionOf);
    if (problem !== null) problems.note(key, problem);
  }
}

/** From which sequence on all is told. */
class Told {
  /** Sequence 1 is genesis, of which there is nothing to tell. */
  resumesFrom = 1;
  #next = 2;

  /** Receipts of sequences in order, no earlier than those before. */
  add(receipts: readonly Receipt[]): void {
    const [first] = receipts;
    if (first !== undefined && first.sequence > this.#next) this.resumesFrom = first.sequence - 1;
    for (const { sequence, change } of receipts) {
      if (change === null) this.resumesFrom = Math.max(this.resumesFrom, sequence);
      this.#next = Math.max(this.#next, sequence + 1);
    }
  }
}
