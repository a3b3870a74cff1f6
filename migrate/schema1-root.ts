/**
 * A root: the 256 shards of one state.
 *
 * LAYOUT. `roots/<hash>.json`: { schema: 1, world_id, document_count,
 * shards: [{ shard: "00", key, hash }, … "ff"] }
 *
 * VALIDITY. All 256 shards, in order; at most 100,000 documents. That the shards hold as many is
 * `rootCountProblem`'s.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { rangeProblem, uuidProblem } from '../bucketstore/log/entry-rules.ts';
import { Fields, parseStrict } from '../bucketstore/log/strict.ts';
import { assertGoText, type GoFields, goBytes } from './go-json.ts';
import { SCHEMA1_BOUNDS, SCHEMA1_DOCUMENTS_MAX } from './schema1-bounds.ts';
import { schema1ShardKey } from './schema1-keys.ts';
import { openObject, readReferred, readSchema } from './schema1-object.ts';
import type { Schema1Root } from './schema1-records.ts';

/** Shards of a root: one for each first byte of a path hash. */
export const SCHEMA1_SHARDS = 256;

/** The label of a shard: two hex digits. */
export function shardLabel(index: number): string {
  return index.toString(16).padStart(2, '0');
}

/**
 * The root that bytes hold.
 * @param key its key, whose hash the bytes must have
 * @param worldId the world whose head names it
 * @throws StoreError INTEGRITY naming the object and the field
 */
export function decodeSchema1Root(key: string, bytes: Uint8Array, worldId: string): Schema1Root {
  openObject('root', key, bytes);
  const { text, value } = parseStrict(key, bytes, SCHEMA1_BOUNDS.root);
  const fields = new Fields(key, '', value);
  readSchema(fields);
  const root: Schema1Root = {
    worldId: fields.string('world_id'),
    documents: fields.integer('document_count'),
    shards: readShards(key, fields),
  };
  fields.end();
  const problem = rootProblem(root);
  if (problem !== null) return fields.refuse(problem);
  if (root.worldId !== worldId) fields.fail('world_id', `${root.worldId} is not ${worldId}`);
  assertGoText(key, text, rootJson(root));
  return root;
}

/**
 * The bytes of a root.
 * @throws InvariantError when it breaks a rule of the format
 */
export function encodeSchema1Root(root: Schema1Root): Uint8Array {
  const problem = rootProblem(root);
  assert(problem === null, () => `root: ${problem}`);
  return goBytes(rootJson(root));
}

function readShards(object: string, fields: Fields): string[] {
  const shards = fields.array('shards');
  // First, for there is no key of a shard beyond the last label.
  const problem = shardsProblem(shards);
  if (problem !== null) return fields.refuse(problem);
  return shards.map((value, index) => {
    const reference = new Fields(object, `shards[${index}]`, value);
    const label = reference.string('shard');
    if (label !== shardLabel(index)) reference.fail('shard', `not "${shardLabel(index)}"`);
    const hash = readReferred(reference, (of) => schema1ShardKey(label, of));
    reference.end();
    return hash;
  });
}

function rootJson({ worldId, documents, shards }: Schema1Root): GoFields {
  return {
    schema: 1,
    world_id: worldId,
    document_count: documents,
    shards: shards.map((hash, index) => {
      const shard = shardLabel(index);
      return { shard, key: schema1ShardKey(shard, hash), hash };
    }),
  };
}

function shardsProblem({ length }: readonly unknown[]): string | null {
  return length === SCHEMA1_SHARDS ? null : `shards: ${length}, not ${SCHEMA1_SHARDS}`;
}

function rootProblem({ worldId, documents, shards }: Schema1Root): string | null {
  return (
    shardsProblem(shards) ??
    uuidProblem('world_id', worldId) ??
    rangeProblem('document_count', documents, 0, SCHEMA1_DOCUMENTS_MAX)
  );
}
