/**
 * A manifest: where the retained versions of one document are told.
 *
 * LAYOUT. `docs/<path hash>/manifests/<hash>.json`: { schema: 1, path_hash, current, archived,
 * history: [{ path_hash, first, last, key, hash }, …] }
 *
 * VALIDITY. Versions are cut into blocks of 256: 1 to 256, 257 to 512 and so on. Each reference is
 * to versions of one block; one begins where the last ended, in the next block; the last ends at
 * `current`. Only the first may begin within its block, after pruning.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { DOCUMENT_VERSION_MAX } from '../bucketstore/document/stored.ts';
import { hashProblem, rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { Fields, parseStrict } from '../bucketstore/log/strict.ts';
import { assertGoText, type GoFields, goBytes } from './go-json.ts';
import { SCHEMA1_BOUNDS } from './schema1-bounds.ts';
import { schema1HistoryKey } from './schema1-keys.ts';
import { openObject, readReferred, readSchema } from './schema1-object.ts';
import type { BlockReference, Schema1Manifest } from './schema1-records.ts';

/** Versions of a history block. */
const BLOCK_VERSIONS = 256;

/**
 * The manifest that bytes hold.
 * @param key its key, whose hash the bytes must have, and which names the document
 * @throws StoreError INTEGRITY naming the object and the field
 */
export function decodeSchema1Manifest(key: string, bytes: Uint8Array): Schema1Manifest {
  const { pathHash } = openObject('manifest', key, bytes);
  const { text, value } = parseStrict(key, bytes, SCHEMA1_BOUNDS.manifest);
  const fields = new Fields(key, '', value);
  readSchema(fields);
  const manifest: Schema1Manifest = {
    pathHash: fields.string('path_hash'),
    version: fields.integer('current'),
    archived: fields.boolean('archived'),
    blocks: fields
      .array('history')
      .map((item, index) => readBlockReference(new Fields(key, `history[${index}]`, item))),
  };
  fields.end();
  const problem = manifestProblem(manifest);
  if (problem !== null) return fields.refuse(problem);
  if (manifest.pathHash !== pathHash) fields.fail('path_hash', 'not the one of its key');
  assertGoText(key, text, manifestJson(manifest));
  return manifest;
}

/**
 * The bytes of a manifest.
 * @throws InvariantError when it breaks a rule of the format
 */
export function encodeSchema1Manifest(manifest: Schema1Manifest): Uint8Array {
  const problem = manifestProblem(manifest);
  assert(problem === null, () => `manifest: ${problem}`);
  return goBytes(manifestJson(manifest));
}

/** Null when versions `first` to `last` lie in one block. The problem begins with a field. */
export function blockRangeProblem(first: number, last: number): string | null {
  const problem =
    rangeProblem('first', first, 1, DOCUMENT_VERSION_MAX) ??
    rangeProblem('last', last, first, DOCUMENT_VERSION_MAX);
  if (problem !== null || blockOf(first) === blockOf(last)) return problem;
  return `last: ${last} is not in the block of ${first}`;
}

function readBlockReference(fields: Fields): BlockReference {
  const reference = {
    pathHash: fields.string('path_hash'),
    first: fields.integer('first'),
    last: fields.integer('last'),
    hash: readReferred(fields, schema1HistoryKey),
  };
  fields.end();
  return reference;
}

function manifestJson({ pathHash, version, archived, blocks }: Schema1Manifest): GoFields {
  return {
    schema: 1,
    path_hash: pathHash,
    current: version,
    archived,
    history: blocks.map((block) => ({
      path_hash: block.pathHash,
      first: block.first,
      last: block.last,
      key: schema1HistoryKey(block.hash),
      hash: block.hash,
    })),
  };
}

function manifestProblem({ pathHash, version, blocks }: Schema1Manifest): string | null {
  const problem =
    hashProblem('path_hash', pathHash) ?? rangeProblem('current', version, 1, DOCUMENT_VERSION_MAX);
  if (problem !== null) return problem;
  let last: number | null = null;
  for (const [index, block] of blocks.entries()) {
    const wrong = referenceProblem(block, pathHash, last);
    if (wrong !== null) return `history[${index}].${wrong}`;
    last = block.last;
  }
  if (last === null) return 'history: empty';
  return last === version ? null : `history: ends at version ${last}, not ${version}`;
}

/** @param before last version of the block before */
function referenceProblem(
  { pathHash, first, last }: BlockReference,
  expected: string,
  before: number | null,
): string | null {
  if (pathHash !== expected) return 'path_hash: not the one of the manifest';
  const problem = blockRangeProblem(first, last);
  if (problem !== null || before === null) return problem;
  if (first !== before + 1) return `first: ${first} is not ${before + 1}`;
  return blockOf(first) === blockOf(before) + 1 ? null : `first: ${first} is not in the next block`;
}

function blockOf(version: number): number {
  return Math.floor((version - 1) / BLOCK_VERSIONS);
}
