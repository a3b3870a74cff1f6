/** What verification judges, once the bytes are there. Pure. */
import { isStoreError } from './base/errors.ts';
import type { Sequence } from './base/sequence.ts';
import { deriveTitle } from './document/catalog.ts';
import { metadataEqual } from './document/metadata.ts';
import { inspectStored, STORED_BYTES_MAX } from './document/stored.ts';
import { sliceInlined } from './log/bodies.ts';
import { slotKey } from './log/names.ts';
import type { Problem } from './log/problems.ts';
import type { CatalogRecord, Slot } from './log/records.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import type { VersionRecord } from './snapshot/state.ts';
import { checkStored } from './snapshot/stored-version.ts';

/** A stored version as the log describes it. */
export interface DescribedVersion {
  readonly path: string;
  readonly record: VersionRecord;
  /** Hash of the version before it, null for the first; undefined when that is no longer known. */
  readonly previousHash: string | null | undefined;
  /** undefined when it is not the document's current version, of which alone it is kept. */
  readonly catalog: CatalogRecord | undefined;
}

/**
 * What is wrong with the bytes of a stored version, or null: its own hash, its grammar, its
 * version, the hash of its body, the link to the version before, its metadata and its title.
 */
export function versionProblem(described: DescribedVersion, stored: Uint8Array): string | null {
  const { path, record, previousHash, catalog } = described;
  try {
    checkStored(path, record, stored);
  } catch (error) {
    if (isStoreError(error)) return error.message;
    throw error;
  }
  const where = `${path}: stored version ${record.version}`;
  const { previousHash: names, metadata, bodyOffset } = inspectStored(stored);
  if (previousHash !== undefined && names !== previousHash) {
    return `${where}: names ${names ?? 'none'} as the version before, which is ${previousHash}`;
  }
  if (catalog === undefined) return null;
  if (!metadataEqual(metadata, catalog.metadata)) return `${where}: its metadata is not the log's`;
  const title = deriveTitle(metadata, stored.subarray(bodyOffset), path);
  return title === catalog.title ? null : `${where}: its title is not the log's`;
}

/**
 * The problems of the stored versions that lie in a slot.
 * @param before the state that the slot follows; null when that is not known
 */
export function slotVersionProblems(
  before: Snapshot | null,
  slot: Slot,
  bytes: Uint8Array,
): Problem[] {
  const problems: Problem[] = [];
  // Versions of one document may follow each other in one slot.
  const newest = new Map<string, string>();
  const bodies = new Map(slot.inlined.map((inlined) => [inlined.sequence, inlined]));
  for (const [index, entry] of slot.entries.entries()) {
    if (entry.kind !== 'write') continue;
    const { path, catalog } = entry;
    const known = before === null ? undefined : (before.head(path)?.storedHash ?? null);
    const previous = newest.get(path) ?? known;
    newest.set(path, entry.storedHash);
    const inlined = bodies.get((slot.first + index) as Sequence);
    if (inlined === undefined || entry.at !== 'slot') continue;
    const record = { ...entry, at: { seq: inlined.sequence } };
    const described = { path, record, previousHash: previous, catalog };
    const problem = versionProblem(described, sliceInlined(bytes, inlined));
    if (problem !== null) problems.push({ object: slotKey(slot.first), problem });
  }
  return problems;
}

/** The retained versions that were made since the checkpoint and lie in blobs. */
export function* stagedVersions(snapshot: Snapshot): Generator<DescribedVersion> {
  for (const [path, { first, details }] of snapshot.changed()) {
    const records = [...snapshot.changedVersions(path)];
    for (const [index, record] of records.entries()) {
      if (!('epoch' in record.at)) continue;
      const before = records[index + 1]?.storedHash;
      yield {
        path,
        record,
        previousHash: record.version === 1 ? null : record.version > first ? before : undefined,
        catalog: record.version === details?.current.version ? details.catalog : undefined,
      };
    }
  }
}

/** What is wrong with the size of an object that holds a stored version, or null. */
export function sizeProblem(size: number): string | null {
  if (size > 0 && size <= STORED_BYTES_MAX) return null;
  return `${size} bytes, and a stored version has 1 to ${STORED_BYTES_MAX}`;
}
