/**
 * A history block: up to 256 consecutive versions of one document.
 *
 * LAYOUT. `history/<hash>.json`: { schema: 1, path_hash, first, last,
 * entries: [{ version, blob: { key, hash }, body_hash, modified }, …] }
 *
 * VALIDITY. `first` to `last` lie in one absolute block of 256, and `entries` are exactly these
 * versions in order. That it is the block a manifest means is `referenceBlockProblem`'s.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { formatHash } from '../bucketstore/document/body.ts';
import { formatTimestamp } from '../bucketstore/document/timestamp.ts';
import { hashProblem } from '../bucketstore/log/entry-rules.ts';
import { Fields, parseStrict } from '../bucketstore/log/strict.ts';
import { assertGoText, type GoFields, goBytes } from './go-json.ts';
import { SCHEMA1_BOUNDS } from './schema1-bounds.ts';
import { schema1BlobKey } from './schema1-keys.ts';
import { blockRangeProblem } from './schema1-manifest.ts';
import { openObject, readBodyHash, readReference, readSchema, readTime } from './schema1-object.ts';
import type { Schema1Block, Schema1Version } from './schema1-records.ts';

/**
 * The block that bytes hold.
 * @param key its key, whose hash the bytes must have
 * @throws StoreError INTEGRITY naming the object and the field
 */
export function decodeSchema1Block(key: string, bytes: Uint8Array): Schema1Block {
  openObject('history', key, bytes);
  const { text, value } = parseStrict(key, bytes, SCHEMA1_BOUNDS.history);
  const fields = new Fields(key, '', value);
  readSchema(fields);
  const block: Schema1Block = {
    pathHash: fields.string('path_hash'),
    first: fields.integer('first'),
    last: fields.integer('last'),
    versions: fields
      .array('entries')
      .map((item, index) => readVersion(new Fields(key, `entries[${index}]`, item))),
  };
  fields.end();
  const problem = blockProblem(block);
  if (problem !== null) return fields.refuse(problem);
  assertGoText(key, text, blockJson(block));
  return block;
}

/**
 * The bytes of a block.
 * @throws InvariantError when it breaks a rule of the format
 * @throws RangeError for a time outside the years 0000 to 9999
 */
export function encodeSchema1Block(block: Schema1Block): Uint8Array {
  const problem = blockProblem(block);
  assert(problem === null, () => `history block: ${problem}`);
  return goBytes(blockJson(block));
}

function readVersion(fields: Fields): Schema1Version {
  const version = {
    version: fields.integer('version'),
    storedHash: readReference(fields, 'blob', schema1BlobKey),
    bodyHash: readBodyHash(fields, 'body_hash'),
    modified: readTime(fields, 'modified'),
  };
  fields.end();
  return version;
}

function blockJson({ pathHash, first, last, versions }: Schema1Block): GoFields {
  return {
    schema: 1,
    path_hash: pathHash,
    first,
    last,
    entries: versions.map(({ version, storedHash, bodyHash, modified }) => ({
      version,
      blob: { key: schema1BlobKey(storedHash), hash: storedHash },
      body_hash: formatHash(bodyHash),
      modified: formatTimestamp(modified),
    })),
  };
}

function blockProblem({ pathHash, first, last, versions }: Schema1Block): string | null {
  const problem = hashProblem('path_hash', pathHash) ?? blockRangeProblem(first, last);
  if (problem !== null) return problem;
  const count = last - first + 1;
  if (versions.length !== count) return `entries: ${versions.length}, not ${count}`;
  for (const [index, { version, bodyHash }] of versions.entries()) {
    const wrong =
      (version === first + index ? null : `version: ${version} is not ${first + index}`) ??
      hashProblem('body_hash', bodyHash);
    if (wrong !== null) return `entries[${index}].${wrong}`;
  }
  return null;
}
