/**
 * A history block: the 256 version records of an aligned range of one document's versions, closed
 * for ever, so that record runs name it by one reference instead.
 *
 * LAYOUT. One line of canonical JSON without a newline:
 *
 *     { schema: 2, path_hash, first, last,
 *       records: [[version, stored_hash, body_hash, modified, at]…] }
 *
 * with `at` = { seq } (in the slot, later the pack, that holds the sequence) or { epoch } (a blob).
 *
 * VALIDITY. Exactly these fields; `path_hash` is the SHA-256 of the path's UTF-8 bytes; `first` is
 * one more than a multiple of 256, `last` is `first` + 255; the records are the versions of this
 * range in order; sequences ascend and epochs do not descend, none above the block's own; epoch 0
 * is schema 1's.
 *
 * READER. A reference `[first version, block hash, epoch]` stands in the record run of a path: what
 * it leads to must be a block of that path and that range. A reference of epoch 0 leads to a block
 * of schema 1, which has another format.
 *
 * WHY. Ranges are absolute, so that it does not depend on retention or on who merges when a block
 * is closed, and its bytes are a function of the log (I4).
 */
import { assert } from '../bucketstore/base/assert.ts';
import { canonicalText } from '../bucketstore/base/canonical.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { hashProblem, rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { SCHEMA } from '../bucketstore/log/format.ts';
import { EPOCH_MAX, keyOf } from '../bucketstore/log/names.ts';
import { VERSION_MAX } from '../bucketstore/log/records.ts';
import { readSchemaObject } from '../bucketstore/log/schema-object.ts';
import { assertCanonical, type JsonBounds } from '../bucketstore/log/strict.ts';
import type { VersionRecord } from '../bucketstore/snapshot/state.ts';
import { HISTORY_VERSIONS } from './constants.ts';
import { readVersionRecord, versionRecordJson, versionRecordsProblem } from './version-record.ts';

/** A record has at most 185 bytes, and five commas with the one behind it. */
const BOUNDS: JsonBounds = {
  bytesMax: 65_536,
  depthMax: 5,
  commasMax: 5 * HISTORY_VERSIONS + 8,
};

/** A history block as a record run names it. */
export interface HistoryRef {
  /** Its first version. */
  readonly first: number;
  /** SHA-256 of the object, 64 hex. */
  readonly hash: string;
  readonly epoch: number;
}

export interface EncodedHistory {
  readonly bytes: Uint8Array;
  readonly ref: HistoryRef;
}

interface Block {
  readonly pathHash: string;
  readonly first: number;
  readonly last: number;
  readonly records: readonly VersionRecord[];
}

/** The key of a history block, of schema 1's too. */
export function historyKey({ epoch, hash }: Pick<HistoryRef, 'epoch' | 'hash'>): string {
  return keyOf({ kind: 'history', epoch, hash });
}

/** The first version of the aligned range that holds a version. */
export function historyFirst(version: number): number {
  return version - ((version - 1) % HISTORY_VERSIONS);
}

/**
 * The block of 256 version records. A pure function.
 * @param path the document's
 * @param epoch that the block is written in
 * @throws InvariantError when they are no closed range, or break a rule of the format
 */
export function encodeHistory(
  path: string,
  records: readonly VersionRecord[],
  epoch: number,
): EncodedHistory {
  const first = records[0]?.version ?? 0;
  const pathHash = sha256Hex(path);
  const block = { pathHash, first, last: first + (HISTORY_VERSIONS - 1), records };
  const problem = rangeProblem('epoch', epoch, 1, EPOCH_MAX) ?? blockProblem(block, epoch);
  assert(problem === null, () => `history block: ${problem}`);
  const bytes = new TextEncoder().encode(blockText(block));
  return { bytes, ref: { first, hash: sha256Hex(bytes), epoch } };
}

/**
 * The 256 version records of a block, ascending.
 * @param ref what the record run of `path` says; not of epoch 0
 * @throws StoreError INTEGRITY naming the block unless it is a valid one, of that path and range;
 *   UNSUPPORTED_FORMAT for a newer schema
 */
export function decodeHistory(
  path: string,
  ref: HistoryRef,
  bytes: Uint8Array,
): readonly VersionRecord[] {
  assert(ref.epoch > 0, 'a block of schema 1 has another format');
  const key = historyKey(ref);
  if (sha256Hex(bytes) !== ref.hash) throw integrityError(key, 'not the bytes of its name');
  const { text, fields } = readSchemaObject(key, bytes, BOUNDS);
  const block: Block = {
    pathHash: fields.string('path_hash'),
    first: fields.integer('first'),
    last: fields.integer('last'),
    records: fields
      .array('records')
      .map((item, index) => readVersionRecord(key, `records[${index}]`, item)),
  };
  fields.end();
  const problem = blockProblem(block, ref.epoch);
  if (problem !== null) return fields.refuse(problem);
  assertCanonical(key, text, blockText(block));
  if (block.pathHash !== sha256Hex(path)) fields.fail('path_hash', 'of another path');
  if (block.first !== ref.first) fields.fail('first', `the record run says ${ref.first}`);
  return block.records;
}

function blockProblem({ pathHash, first, last, records }: Block, epoch: number): string | null {
  const problem =
    hashProblem('path_hash', pathHash) ??
    rangeProblem('first', first, 1, VERSION_MAX - (HISTORY_VERSIONS - 1)) ??
    rangeProblem('last', last, first + (HISTORY_VERSIONS - 1), first + (HISTORY_VERSIONS - 1)) ??
    rangeProblem('records.length', records.length, HISTORY_VERSIONS, HISTORY_VERSIONS) ??
    versionRecordsProblem('records', records, epoch);
  if (problem !== null) return problem;
  if (first !== historyFirst(first)) return `first: ${first} begins no range`;
  const odd = records.findIndex(({ version }, index) => version !== first + index);
  return odd < 0 ? null : `records[${odd}][0]: not version ${first + odd}`;
}

function blockText({ pathHash, first, last, records }: Block): string {
  return canonicalText({
    first,
    last,
    path_hash: pathHash,
    records: records.map(versionRecordJson),
    schema: SCHEMA,
  });
}
