/** What a bucket tells of a schema 1 world's past: the receipts of its commits. */
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import type { BesideParts } from './schema1-beside.ts';
import { schema1BytesMax } from './schema1-bounds.ts';
import { changeBlockOf, changeBlockRange, decodeChangeBlock } from './schema1-changes.ts';
import { CHANGE_BLOCK_RECEIPTS, changeBlockKey, HEAD_KEY } from './schema1-keys.ts';
import type { Schema1Listing } from './schema1-listing.ts';
import type { Schema1Present } from './schema1-present.ts';
import type { ChangeBlock, Receipt, Schema1Head } from './schema1-records.ts';
import type { Schema1Report, Schema1Told } from './schema1-report.ts';
import { lastProblem, presentProblem, Schema1Story, windowProblem } from './schema1-told.ts';

export interface PastParts extends BesideParts {
  readonly listing: Schema1Listing;
  /** The documents, as far as they could be read. */
  readonly present: Schema1Present;
  /** Whether there is such a document; null when not all of them are known. */
  readonly isThere: ((path: string) => boolean) | null;
  /** The head as it was found after the listing. */
  readonly headAfter: Schema1Report['headAfter'];
}

const CHANGES_AHEAD = 16;

/**
 * What the receipts of a world tell, those of the head and of its change blocks. One `get` for each
 * change block.
 */
export async function readTold(head: Schema1Head, parts: PastParts): Promise<Schema1Told> {
  const { problems, listing } = parts;
  const past = new Past(head, parts);
  const listed = listing.changes.filter(({ index }) => isOfHead(index, head, parts));
  const reading = readAhead(listed, CHANGES_AHEAD, (one) => readBlock(one, head, parts));
  for await (const block of reading) {
    if (block === null) continue;
    // What the head tells too is taken from there.
    past.take(block.receipts.filter(({ sequence }) => sequence < past.windowFirst));
    const problem = windowProblem(block, head);
    if (problem !== null) problems.note(changeBlockKey(changeBlockOf(block.first)), problem);
  }
  past.take(head.receipts);
  past.end();
  const named = head.receipts.filter(({ change }) => change !== null).length;
  return {
    named,
    unnamed: head.receipts.length - named,
    changeBlocks: listed.length,
    changeGaps: Math.floor(head.sequence / CHANGE_BLOCK_RECEIPTS) - listed.length,
    resumesFrom: past.resumesFrom,
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
  { index, size }: Schema1Listing['changes'][number],
  { worldId }: Schema1Head,
  { bucket, signal, problems }: PastParts,
): Promise<ChangeBlock | null> {
  const key = changeBlockKey(index);
  const sizeMax = schema1BytesMax('changes');
  if (size > sizeMax) {
    problems.note(key, `${size} bytes, more than ${sizeMax}`);
    return null;
  }
  try {
    const found = await bucket.get(key, { signal, lane: 'bulk' });
    if (found.found) return decodeChangeBlock(key, found.bytes, worldId);
    problems.note(key, 'was listed, and is gone');
  } catch (error) {
    problems.noteIntegrity(error, key);
  }
  return null;
}

/** Takes all receipts, oldest first, and notes what is wrong with them where they are. */
class Past {
  /** Sequence of the oldest receipt in the head. */
  readonly windowFirst: number;
  readonly #parts: PastParts;
  readonly #story = new Schema1Story();

  constructor({ sequence, receipts }: Schema1Head, parts: PastParts) {
    this.windowFirst = sequence - receipts.length + 1;
    this.#parts = parts;
  }

  get resumesFrom(): number {
    return this.#story.resumesFrom;
  }

  take(receipts: readonly Receipt[]): void {
    for (const receipt of receipts) {
      this.#note(receipt, this.#story.take(receipt) ?? this.#documentProblem(receipt));
    }
  }

  end(): void {
    for (const told of this.#story.last()) {
      const document = this.#parts.present.get(told.change.path);
      if (document !== undefined) this.#note(told, lastProblem(told, document));
    }
  }

  #documentProblem({ sequence, change }: Receipt): string | null {
    if (change === null) return null;
    const { present, isThere } = this.#parts;
    const document = present.get(change.path);
    if (document !== undefined) return presentProblem({ sequence, change }, document);
    if (isThere === null || isThere(change.path)) return null;
    return `receipt of ${sequence}: no document ${change.path}`;
  }

  #note({ sequence }: Pick<Receipt, 'sequence'>, problem: string | null): void {
    if (problem === null) return;
    const isInHead = sequence >= this.windowFirst;
    this.#parts.problems.note(
      isInHead ? HEAD_KEY : changeBlockKey(changeBlockOf(sequence)),
      problem,
    );
  }
}
