/** Reads documents of an old world as the old store did: nothing is believed unchecked. */
import type { BlobStore } from '../../blob/blob.ts';
import { decodeBlock, decodeManifest } from './decode.ts';
import type { OldDocument, OldVersion } from './document.ts';
import { demand } from './error.ts';
import { blobKey, historyKey, manifestKey, sha256 } from './names.ts';
import { fetchObject } from './objects.ts';
import type { OldBlock, OldEntry, OldManifest, OldRange, OldVersionRecord } from './records.ts';
import { bodyHashOf, decodeStored } from './stored.ts';

/** The manifest of a document. One request. */
export async function readManifest(bucket: BlobStore, entry: OldEntry): Promise<OldManifest> {
  const { pathHash, manifestHash } = entry;
  return decodeManifest(entry, await fetchObject(bucket, manifestKey(pathHash, manifestHash)));
}

/** A history block of a document. One request. */
export async function readHistory(
  bucket: BlobStore,
  entry: OldEntry,
  range: OldRange,
): Promise<OldBlock> {
  return decodeBlock(entry.pathHash, range, await fetchObject(bucket, historyKey(range.hash)));
}

/** A version: its bytes, its number and its body are what the record says. One request. */
export async function readVersion(
  bucket: BlobStore,
  record: OldVersionRecord,
): Promise<OldVersion> {
  const { version, blobHash: hash, bodyHash, modified } = record;
  const key = blobKey(hash);
  const stored = await fetchObject(bucket, key);
  demand(sha256(stored) === hash, key, 'has another hash than its name');
  const { version: number, metadata, body } = decodeStored(key, stored);
  demand(number === version, key, `is version ${number}, not ${version}`);
  demand(bodyHashOf(body) === bodyHash, key, 'has another body than its record');
  return { version, stored, hash, body, bodyHash, modified, metadata };
}

/**
 * A document with all retained versions, and the chain between them. One request for its manifest,
 * for each block and for each version.
 */
export async function readDocument(bucket: BlobStore, entry: OldEntry): Promise<OldDocument> {
  const { path, pathHash, archived, current, catalog } = entry;
  const manifest = await readManifest(bucket, entry);
  const versions: OldVersion[] = [];
  for (const range of manifest.history) {
    const block = await readHistory(bucket, entry, range);
    for (const record of block.entries) versions.push(await readVersion(bucket, record));
  }
  for (const [index, { stored }] of versions.entries()) {
    const before = versions[index - 1];
    const { previous } = decodeStored(path, stored);
    demand(before === undefined || previous === before.hash, path, 'breaks its chain');
  }
  checkTip(entry, versions.at(-1));
  return { path, pathHash, archived, current, catalog, versions };
}

/** Refuses a current version that is not the one that the entry tells of. */
export function checkTip(
  entry: OldEntry,
  tip: Pick<OldVersion, 'version' | 'bodyHash' | 'modified'> | undefined,
): void {
  const same =
    tip?.version === entry.current &&
    tip.bodyHash === entry.bodyHash &&
    tip.modified === entry.modified;
  demand(same, entry.path, 'has another current version than its history');
}
