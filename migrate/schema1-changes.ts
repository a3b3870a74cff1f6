/**
 * Change blocks: eight receipts each, kept beyond the head's window by the servers that had them.
 *
 * LAYOUT. `changes/<index, 16 hex>.json`: { schema: 1, world_id, first, receipts: [receipt…] }
 *
 * VALIDITY. Block b holds the receipts of sequences 8b + 1 to 8b + 8, all of them; sequence 1 has
 * none, so block 0 holds seven. Receipts are as in the head.
 *
 * READER. A block that is absent is a gap: its seal failed for good. A receipt without a change, of
 * an early release, makes no event.
 *
 * WHY. Its bytes follow from the receipts, so it is named by its place and carries no checksum.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { uuidProblem } from '../bucketstore/log/entry-rules.ts';
import { Fields, parseStrict } from '../bucketstore/log/strict.ts';
import { assertGoText, type GoFields, goBytes } from './go-json.ts';
import { SCHEMA1_BOUNDS } from './schema1-bounds.ts';
import { CHANGE_BLOCK_RECEIPTS, parseSchema1Key } from './schema1-keys.ts';
import { readSchema } from './schema1-object.ts';
import { readReceipts, receiptsJson, receiptsProblem } from './schema1-receipts.ts';
import type { ChangeBlock } from './schema1-records.ts';

/** The index of the change block that holds the receipt of a sequence. */
export function changeBlockOf(sequence: number): number {
  return Math.floor((sequence - 1) / CHANGE_BLOCK_RECEIPTS);
}

/** The sequences whose receipts a change block holds. */
export function changeBlockRange(index: number): { readonly first: number; readonly last: number } {
  const before = index * CHANGE_BLOCK_RECEIPTS;
  return { first: Math.max(before + 1, 2), last: before + CHANGE_BLOCK_RECEIPTS };
}

/**
 * The change block that bytes hold.
 * @param key its key, which says which one it is
 * @param worldId the world whose head is here
 * @throws StoreError INTEGRITY naming the object and the field
 */
export function decodeChangeBlock(key: string, bytes: Uint8Array, worldId: string): ChangeBlock {
  const name = parseSchema1Key(key);
  assert(name?.kind === 'changes', () => `${key} is not the key of a change block`);
  const { text, value } = parseStrict(key, bytes, SCHEMA1_BOUNDS.changes);
  const fields = new Fields(key, '', value);
  readSchema(fields);
  const block: ChangeBlock = {
    worldId: fields.string('world_id'),
    first: fields.integer('first'),
    receipts: readReceipts(key, fields),
  };
  fields.end();
  const { first } = changeBlockRange(name.index);
  if (block.first !== first) fields.fail('first', `${block.first} is not ${first}`);
  const problem = changeBlockProblem(block);
  if (problem !== null) return fields.refuse(problem);
  if (block.worldId !== worldId) fields.fail('world_id', `${block.worldId} is not ${worldId}`);
  assertGoText(key, text, changeBlockJson(block));
  return block;
}

/**
 * The bytes of a change block, whose key follows from its `first`.
 * @throws InvariantError when it breaks a rule of the format
 */
export function encodeChangeBlock(block: ChangeBlock): Uint8Array {
  const problem = changeBlockProblem(block);
  assert(problem === null, () => `change block: ${problem}`);
  return goBytes(changeBlockJson(block));
}

function changeBlockJson({ worldId, first, receipts }: ChangeBlock): GoFields {
  return { schema: 1, world_id: worldId, first, receipts: receiptsJson(receipts) };
}

function changeBlockProblem({ worldId, first, receipts }: ChangeBlock): string | null {
  const range = changeBlockRange(changeBlockOf(first));
  const count = range.last - range.first + 1;
  return (
    uuidProblem('world_id', worldId) ??
    (first === range.first ? null : `first: ${first} is not the first of a block`) ??
    (receipts.length === count ? null : `receipts: ${receipts.length}, not ${count}`) ??
    receiptsProblem(receipts, first)
  );
}
