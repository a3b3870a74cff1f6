/**
 * What receipts tell against what the world holds: each told of a document is of one that is there,
 * at a version that it has reached, for documents and versions never go back. Pure.
 */
import type { ChangeBlock, Receipt, Schema1Entry, Schema1Head } from './schema1-records.ts';

/** What is wrong with a receipt beside the current version of its document, or null. */
export function receiptVersionProblem(
  { sequence, change }: Receipt,
  versionOf: (path: string) => number | undefined,
): string | null {
  if (change === null) return null;
  const { path, version } = change;
  const current = versionOf(path);
  if (current === undefined) return `receipt of ${sequence}: no document ${path}`;
  if (version <= current) return null;
  return `receipt of ${sequence}: ${path} version ${version}, which is at ${current}`;
}

/**
 * What is wrong with the head's receipts beside the entries of its own root, or null: the newest
 * that tells of a document tells its current version, unless a later one does not say of which it
 * is.
 * @param entryOf the entry of a path that a receipt tells of
 */
export function headReceiptsProblem(
  { receipts }: Schema1Head,
  entryOf: (path: string) => Schema1Entry | undefined,
): string | null {
  const seen = new Set<string>();
  for (const { sequence, change } of receipts.toReversed()) {
    if (change === null) return null;
    const { path, op, version, bodyHash } = change;
    const entry = entryOf(path);
    if (entry === undefined || seen.has(path)) continue;
    seen.add(path);
    // What an archiving tells of the version has never mattered to anybody.
    if (op === 'archive') continue;
    const where = `receipt of ${sequence}`;
    if (version !== entry.version) {
      return `${where}: ${path} version ${version}, which is at ${entry.version}`;
    }
    if (bodyHash !== entry.bodyHash) return `${where}: not the body hash of ${path}`;
  }
  return null;
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
