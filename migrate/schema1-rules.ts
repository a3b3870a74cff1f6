/**
 * What two objects of a schema 1 world, or all of one kind, must agree in, once each is decoded.
 * Null when they do; the caller names the object that is to blame.
 */
import { bodyHash } from '../bucketstore/document/body.ts';
import { cutTitle, deriveTitle } from '../bucketstore/document/catalog.ts';
import { metadataEqual } from '../bucketstore/document/metadata.ts';
import { pathHash } from '../bucketstore/document/path.ts';
import type { StoredVersion } from '../bucketstore/document/stored.ts';
import { trimSpace } from '../bucketstore/document/text.ts';
import { SCHEMA1_DOCUMENTS_MAX } from './schema1-bounds.ts';
import type {
  BlockReference,
  Schema1Block,
  Schema1Entry,
  Schema1Manifest,
  Schema1Root,
  Schema1Version,
} from './schema1-records.ts';

/** A root against the entries of all its shards, or of so many that no others matter. */
export function rootCountProblem(root: Schema1Root, entries: number): string | null {
  if (root.documents === entries) return null;
  const isTooMany = entries > SCHEMA1_DOCUMENTS_MAX;
  const found = isTooMany ? `more than ${SCHEMA1_DOCUMENTS_MAX}` : String(entries);
  return `document_count: ${root.documents}, its shards hold ${found}`;
}

/** A manifest against the entry that refers to it. */
export function entryManifestProblem(
  entry: Schema1Entry,
  manifest: Schema1Manifest,
): string | null {
  if (manifest.pathHash !== pathHash(entry.path)) return `path_hash: not the one of ${entry.path}`;
  if (manifest.version !== entry.version) {
    return `current: ${manifest.version}, the entry of ${entry.path} says ${entry.version}`;
  }
  if (manifest.archived === entry.archived) return null;
  return `archived: ${manifest.archived}, the entry of ${entry.path} says ${entry.archived}`;
}

/** A history block against the reference in a manifest. */
export function referenceBlockProblem(
  reference: BlockReference,
  block: Schema1Block,
): string | null {
  for (const [name, found, expected] of [
    ['path_hash', block.pathHash, reference.pathHash],
    ['first', block.first, reference.first],
    ['last', block.last, reference.last],
  ] as const) {
    if (found !== expected) return `${name}: ${found}, the manifest says ${expected}`;
  }
  return null;
}

/** A document's newest version in its last block against its entry. */
export function entryTipProblem(entry: Schema1Entry, tip: Schema1Version): string | null {
  for (const [name, found, expected] of [
    ['version', tip.version, entry.version],
    ['body_hash', tip.bodyHash, entry.bodyHash],
    ['modified', tip.modified, entry.modified],
  ] as const) {
    if (found !== expected) {
      return `${name} of the newest: ${found}, the entry of ${entry.path} says ${expected}`;
    }
  }
  return null;
}

/**
 * The blob of a version against its record in the history block. That the blob's bytes have the
 * record's hash is `decodeSchema1Blob`'s.
 * @param stored what `inspectStored` says of `bytes`
 */
export function recordStoredProblem(
  record: Schema1Version,
  stored: StoredVersion,
  bytes: Uint8Array,
): string | null {
  if (stored.version !== record.version) {
    return `version: ${stored.version}, its record says ${record.version}`;
  }
  const found = bodyHash(bytes.subarray(stored.bodyOffset));
  return found === record.bodyHash ? null : `body: its hash is ${found}, not ${record.bodyHash}`;
}

/**
 * A stored version against the one before it.
 * @param before hash of that one; null when there is none, and only then is this version 1
 */
export function chainProblem(stored: StoredVersion, before: string | null): string | null {
  if (stored.previousHash === before) return null;
  const [found, expected] = [stored.previousHash ?? 'none', before ?? 'none'];
  return `previous-hash: ${found}, the version before is ${expected}`;
}

/**
 * The newest version of a document against the catalog of its entry. A title that is not in the
 * metadata was derived from the body: old servers kept it whole, with the white space around it.
 */
export function tipCatalogProblem(
  { path, catalog }: Pick<Schema1Entry, 'path' | 'catalog'>,
  stored: StoredVersion,
  bytes: Uint8Array,
): string | null {
  if (!metadataEqual(stored.metadata, catalog.metadata)) {
    return `catalog.metadata of ${path}: not that of its newest version`;
  }
  const title = deriveTitle(stored.metadata, bytes.subarray(stored.bodyOffset), path);
  if (bareTitle(title) === bareTitle(catalog.title)) return null;
  return `catalog.title of ${path}: not that of its newest version`;
}

function bareTitle(title: string): string {
  return trimSpace(cutTitle(trimSpace(title)));
}
