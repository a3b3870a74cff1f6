/**
 * The head, `head.json`: which state a world of schema 1 is in.
 *
 * LAYOUT. { schema: 1, world_id, sequence, root: { key, hash }, receipts: [receipt…] }
 *
 * VALIDITY. Sequence 1 or more; exactly min(sequence − 1, 16) receipts, the last one of this very
 * sequence, by the rules of `schema1-receipts.ts`.
 *
 * READER. `recogniseHead` (`bucketstore/log/marker.ts`) says that it is one of schema 1; this
 * decoder is the one that believes it.
 *
 * WHY. It is replaced with every commit, so nothing names it by hash and it carries no checksum:
 * that it can be spelled again, and that its root is there, is all there is to check.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { rangeProblem, uuidProblem } from '../bucketstore/log/entry-rules.ts';
import { Fields, parseStrict } from '../bucketstore/log/strict.ts';
import { assertGoText, type GoFields, goBytes } from './go-json.ts';
import { SCHEMA1_BOUNDS } from './schema1-bounds.ts';
import { HEAD_KEY, schema1RootKey } from './schema1-keys.ts';
import { readReference, readSchema } from './schema1-object.ts';
import { readReceipts, receiptsJson, receiptsProblem } from './schema1-receipts.ts';
import type { Schema1Head } from './schema1-records.ts';

/** Most receipts in a head. */
const HEAD_RECEIPTS_MAX = 16;

/**
 * The head that bytes hold. Whose world it is, the caller compares.
 * @throws StoreError INTEGRITY naming the field
 */
export function decodeSchema1Head(bytes: Uint8Array): Schema1Head {
  const { text, value } = parseStrict(HEAD_KEY, bytes, SCHEMA1_BOUNDS.head);
  const fields = new Fields(HEAD_KEY, '', value);
  readSchema(fields);
  const head: Schema1Head = {
    worldId: fields.string('world_id'),
    sequence: fields.integer('sequence'),
    rootHash: readReference(fields, 'root', schema1RootKey),
    receipts: readReceipts(HEAD_KEY, fields),
  };
  fields.end();
  const problem = headProblem(head);
  if (problem !== null) return fields.refuse(problem);
  assertGoText(HEAD_KEY, text, headJson(head));
  return head;
}

/**
 * The bytes of a head.
 * @throws InvariantError when it breaks a rule of the format
 */
export function encodeSchema1Head(head: Schema1Head): Uint8Array {
  const problem = headProblem(head);
  assert(problem === null, () => `${HEAD_KEY}: ${problem}`);
  return goBytes(headJson(head));
}

function headJson({ worldId, sequence, rootHash, receipts }: Schema1Head): GoFields {
  return {
    schema: 1,
    world_id: worldId,
    sequence,
    root: { key: schema1RootKey(rootHash), hash: rootHash },
    receipts: receiptsJson(receipts),
  };
}

function headProblem({ worldId, sequence, receipts }: Schema1Head): string | null {
  const count = Math.min(sequence - 1, HEAD_RECEIPTS_MAX);
  return (
    uuidProblem('world_id', worldId) ??
    rangeProblem('sequence', sequence, 1, Number.MAX_SAFE_INTEGER) ??
    (receipts.length === count ? null : `receipts: ${receipts.length}, not ${count}`) ??
    receiptsProblem(receipts, sequence - count + 1)
  );
}
