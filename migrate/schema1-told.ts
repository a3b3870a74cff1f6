/**
 * What receipts tell, held against each other and against what the world holds. Pure.
 *
 * A document's versions count up one by one, and never go back; an archiving and what undoes it
 * tell the version that is there, by turns; what is archived is not written. So a receipt follows
 * from the one before it of the same document, unless between the two some are missing, or do not
 * say of what they are. What nothing else tells is which operation it was and by whom, whether a
 * version was published or appended, and the body of a version that is not retained.
 */
import type { PresentDocument } from './schema1-present.ts';
import type { ChangeBlock, Receipt, ReceiptChange, Schema1Head } from './schema1-records.ts';

/** A receipt that says what was committed. */
export interface NamedReceipt {
  readonly sequence: number;
  readonly change: ReceiptChange;
}

/** No operation comes twice within a head's window. */
const WINDOW = 16;
/** As many documents as a world can have; of more, nothing is remembered (I17). */
const DOCUMENTS_MAX = 100_000;

/** What has been told so far, oldest first. */
export class Schema1Story {
  /** Every change behind this sequence is told. Sequence 1 is genesis: nothing to tell. */
  resumesFrom = 1;
  #next = 2;
  readonly #newest = new Map<string, NamedReceipt>();
  /** Of the window before the next receipt. */
  #recent: Pick<Receipt, 'sequence' | 'operationId'>[] = [];

  /**
   * Takes the next receipt, which may be of any later sequence; what is wrong with it beside those
   * before it, or null.
   */
  take({ sequence, operationId, change }: Receipt): string | null {
    if (sequence > this.#next) this.resumesFrom = sequence - 1;
    if (change === null) this.resumesFrom = sequence;
    this.#next = sequence + 1;
    const twice = this.#twiceProblem(sequence, operationId);
    if (change === null) return twice;
    const problem = this.#changeProblem(sequence, change);
    return twice ?? problem;
  }

  /** The newest of each document behind which no more can have been told of it. */
  *last(): Generator<NamedReceipt> {
    for (const told of this.#newest.values()) {
      if (told.sequence >= this.resumesFrom) yield told;
    }
  }

  #twiceProblem(sequence: number, operationId: string): string | null {
    this.#recent = this.#recent.filter((one) => one.sequence > sequence - WINDOW);
    const other = this.#recent.find((one) => one.operationId === operationId);
    this.#recent.push({ sequence, operationId });
    if (other === undefined) return null;
    return `receipt of ${sequence}: its operation is that of ${other.sequence}`;
  }

  #changeProblem(sequence: number, change: ReceiptChange): string | null {
    const { path, op, version } = change;
    const before = this.#newest.get(path);
    if (before !== undefined || this.#newest.size < DOCUMENTS_MAX) {
      this.#newest.set(path, { sequence, change });
    }
    const isNext = before !== undefined && before.sequence >= this.resumesFrom;
    const problem =
      op === 'append' && version === 1
        ? 'appended to nothing'
        : before && afterProblem(before, change, isNext);
    return problem ? `receipt of ${sequence}: ${path} version ${version}, ${problem}` : null;
  }
}

/**
 * What is wrong with a change behind another of its document, or null.
 * @param isNext whether nothing can have been changed of it between the two
 */
function afterProblem(
  { sequence, change: before }: NamedReceipt,
  { op, version, bodyHash }: ReceiptChange,
  isNext: boolean,
): string | null {
  const last = `version ${before.version} at ${sequence}`;
  if (version < before.version) return `behind ${last}`;
  const wasArchived = before.op === 'archive';
  if (version === before.version) {
    if (op === 'append') return `which was there at ${sequence} already`;
    if (bodyHash !== before.bodyHash) return `with another body hash than at ${sequence}`;
    if (!isNext || (op === 'archive') !== wasArchived) return null;
    return wasArchived
      ? `archived at ${sequence} already`
      : `which was there at ${sequence} already`;
  }
  if (!isNext) return null;
  if (wasArchived) return `archived at ${sequence}`;
  if (op === 'archive' || version !== before.version + 1) return `behind ${last}`;
  return null;
}

/** What is wrong with a receipt beside the document that it tells of, or null. */
export function presentProblem(
  { sequence, change: { path, version, bodyHash } }: NamedReceipt,
  document: PresentDocument,
): string | null {
  const where = `receipt of ${sequence}: ${path} version ${version}`;
  if (version > document.version) return `${where}, which is at ${document.version}`;
  const known = document.bodyHashOf(version);
  return known === null || known === bodyHash ? null : `${where}, which has another body hash`;
}

/** What is wrong with the last receipt of a document beside that document, or null. */
export function lastProblem(
  { sequence, change: { path, op, version } }: NamedReceipt,
  document: PresentDocument,
): string | null {
  const where = `receipt of ${sequence}: ${path} version ${version}`;
  // A version that it never had has been told of already.
  if (version < document.version) return `${where}, which is at ${document.version}`;
  const archived = op === 'archive';
  if (archived === document.archived) return null;
  return archived ? `${where} archived, which it is not` : `${where}, and it is archived`;
}

/** A change block against the head, for the sequences that both tell of; null when they agree. */
export function windowProblem(block: ChangeBlock, { receipts }: Schema1Head): string | null {
  for (const receipt of block.receipts) {
    const other = receipts.find(({ sequence }) => sequence === receipt.sequence);
    if (other !== undefined && !isSame(receipt, other)) {
      return `receipt of ${receipt.sequence}: not the one in the head`;
    }
  }
  return null;
}

function isSame(a: Receipt, b: Receipt): boolean {
  if (a.operationId !== b.operationId) return false;
  if (a.change === null || b.change === null) return a.change === b.change;
  const { path, op, agent, version, bodyHash } = a.change;
  const other = b.change;
  return (
    path === other.path &&
    op === other.op &&
    agent === other.agent &&
    version === other.version &&
    bodyHash === other.bodyHash
  );
}
