/**
 * A shard: the entries of all documents whose path hash begins with its two digits.
 *
 * LAYOUT. `index/<shard>/<hash>.json`: { schema: 1, shard, entries: [entry…] }, an entry being
 * { path, path_hash, manifest: { key, hash }, current, archived, body_hash, modified, catalog }
 *
 * VALIDITY. Entries ascend strictly by the bytes of their paths and lie in their shard. Path hash,
 * manifest key and catalog agree with the path; `schema1-catalog.ts` has the rest of the catalog.
 * No more than a world has documents: 100,000.
 *
 * READER. `decodeSchema1Shard` for one shard, `Schema1Topology` and `rootCountProblem` for all.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { compareUtf8 } from '../bucketstore/base/order.ts';
import { formatHash } from '../bucketstore/document/body.ts';
import { normaliseMetadata } from '../bucketstore/document/metadata.ts';
import { isDocumentPath, pathHash } from '../bucketstore/document/path.ts';
import { DOCUMENT_VERSION_MAX } from '../bucketstore/document/stored.ts';
import { formatTimestamp } from '../bucketstore/document/timestamp.ts';
import { hashProblem, rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { Fields, parseStrict } from '../bucketstore/log/strict.ts';
import { assertGoText, type GoFields, goBytes } from './go-json.ts';
import { SCHEMA1_BOUNDS, SCHEMA1_DOCUMENTS_MAX } from './schema1-bounds.ts';
import { catalogJson, readCatalog, schema1CatalogProblem } from './schema1-catalog.ts';
import { schema1ManifestKey } from './schema1-keys.ts';
import { openObject, readBodyHash, readReference, readSchema, readTime } from './schema1-object.ts';
import type { Schema1Entry } from './schema1-records.ts';

/**
 * The entries that bytes hold, by path. Their metadata is normalised, as the new format has it.
 * @param key the shard's key, whose hash the bytes must have, and which says which shard it is
 * @throws StoreError INTEGRITY naming the object and the field
 */
export function decodeSchema1Shard(key: string, bytes: Uint8Array): Schema1Entry[] {
  const { shard } = openObject('shard', key, bytes);
  const { text, value } = parseStrict(key, bytes, SCHEMA1_BOUNDS.shard);
  const fields = new Fields(key, '', value);
  readSchema(fields);
  if (fields.string('shard') !== shard) fields.fail('shard', 'not the one of its key');
  const items = fields.array('entries');
  if (items.length > SCHEMA1_DOCUMENTS_MAX) {
    fields.fail('entries', `${items.length}, more than the ${SCHEMA1_DOCUMENTS_MAX} of a world`);
  }
  const entries = items.map((item, index) => {
    return readEntry(new Fields(key, `entries[${index}]`, item));
  });
  fields.end();
  const problem = shardProblem(shard, entries);
  if (problem !== null) return fields.refuse(problem);
  assertGoText(key, text, shardJson(shard, entries));
  return entries.map(normalised);
}

/**
 * The bytes of a shard. Metadata is spelled as it is given.
 * @param shard its two digits
 * @param entries by path
 * @throws InvariantError when they break a rule of the format
 * @throws RangeError for a time outside the years 0000 to 9999
 */
export function encodeSchema1Shard(shard: string, entries: readonly Schema1Entry[]): Uint8Array {
  const problem = shardProblem(shard, entries);
  assert(problem === null, () => `shard ${shard}: ${problem}`);
  return goBytes(shardJson(shard, entries));
}

/** The shard of a document: the first two digits of its path's hash. */
export function shardOf(path: string): string {
  return pathHash(path).slice(0, 2);
}

function readEntry(fields: Fields): Schema1Entry {
  const path = fields.string('path');
  const hash = pathHash(path);
  if (fields.string('path_hash') !== hash) fields.fail('path_hash', 'not the one of its path');
  const modified = readTime(fields, 'modified');
  const entry = {
    path,
    manifestHash: readReference(fields, 'manifest', (of) => schema1ManifestKey(hash, of)),
    version: fields.integer('current'),
    archived: fields.boolean('archived'),
    bodyHash: readBodyHash(fields, 'body_hash'),
    modified,
    catalog: readCatalog(fields.object('catalog'), path, modified),
  };
  fields.end();
  return entry;
}

function normalised(entry: Schema1Entry): Schema1Entry {
  const { title, metadata } = entry.catalog;
  return { ...entry, catalog: { title, metadata: normaliseMetadata(metadata) } };
}

function shardJson(shard: string, entries: readonly Schema1Entry[]): GoFields {
  return { schema: 1, shard, entries: entries.map(entryJson) };
}

function entryJson(entry: Schema1Entry): GoFields {
  const { path, manifestHash, version, archived, bodyHash, modified, catalog } = entry;
  const hash = pathHash(path);
  return {
    path,
    path_hash: hash,
    manifest: { key: schema1ManifestKey(hash, manifestHash), hash: manifestHash },
    current: version,
    archived,
    body_hash: formatHash(bodyHash),
    modified: formatTimestamp(modified),
    catalog: catalogJson(catalog, path, modified),
  };
}

function shardProblem(shard: string, entries: readonly Schema1Entry[]): string | null {
  let before: string | null = null;
  for (const [index, entry] of entries.entries()) {
    const problem = entryProblem(shard, entry, before);
    if (problem !== null) return `entries[${index}].${problem}`;
    before = entry.path;
  }
  return null;
}

function entryProblem(shard: string, entry: Schema1Entry, before: string | null): string | null {
  const { path, version, bodyHash, catalog } = entry;
  if (!isDocumentPath(path)) return 'path: not a canonical document path';
  if (shardOf(path) !== shard) return `path: of shard ${shardOf(path)}`;
  if (before !== null && compareUtf8(before, path) >= 0) return 'path: not ascending';
  const problem = schema1CatalogProblem(catalog);
  return (
    rangeProblem('current', version, 1, DOCUMENT_VERSION_MAX) ??
    hashProblem('body_hash', bodyHash) ??
    (problem === null ? null : `catalog.${problem}`)
  );
}
