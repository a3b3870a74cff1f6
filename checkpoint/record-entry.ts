/**
 * An entry of a record run: the versions of a document that were made in the run's interval. Its
 * JSON, the path apart:
 *
 *     { blocks: [[first version, hash, epoch]…], first,
 *       records: [[version, stored_hash, body_hash, modified, at]…] }
 *
 * `first` is the oldest version that was retained at the end of the interval; versions older than
 * the interval's are in runs before. A block stands for the 256 records of an aligned range
 * (versions 256k + 1 to 256k + 256), which lie in a history block; `records` has what no block
 * stands for. Blocks of epoch 0 are of schema 1: the first of them may begin inside its range, and
 * the last may end inside.
 *
 * VALIDITY. At least one version; blocks and records ascend and together have each version from the
 * first to the last once; no aligned range is complete in `records`; none lies below `first` as a
 * whole; `first` is not beyond the last version. So what an entry says follows from the versions of
 * its interval and `first` alone, by whatever merges it was made. That is also why a range which
 * `first` has only entered keeps its records: an earlier merge might have closed it.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { canonicalText, type Json } from '../bucketstore/base/canonical.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { isDocumentPath } from '../bucketstore/document/path.ts';
import { decodeUtf8 } from '../bucketstore/document/text.ts';
import { hashProblem, rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { EPOCH_MAX } from '../bucketstore/log/names.ts';
import { VERSION_MAX } from '../bucketstore/log/records.ts';
import {
  assertCanonical,
  Fields,
  isInteger,
  type JsonBounds,
  parseStrict,
} from '../bucketstore/log/strict.ts';
import type { VersionRecord } from '../bucketstore/snapshot/state.ts';
import { HISTORY_VERSIONS } from './constants.ts';
import { type HistoryRef, historyFirst } from './history.ts';
import { epochOfTable } from './table-directory.ts';
import type { FoundEntry } from './table-entry.ts';
import { readVersionRecord, versionRecordJson, versionRecordsProblem } from './version-record.ts';

/** The versions of one document in one interval. */
export interface RecordEntry {
  /** The oldest version retained at the end of the interval. */
  readonly first: number;
  /** Closed ranges, ascending. */
  readonly blocks: readonly HistoryRef[];
  /** What is in no closed range, ascending. */
  readonly records: readonly VersionRecord[];
}

/** JSON of an entry at most, bytes: a document of 700 million versions has that. */
const RECORD_ENTRY_BYTES_MAX = 268_435_456;

/**
 * The JSON of an entry, UTF-8. A pure function.
 * @param path for errors
 * @param epoch of the table that it is written into: it names nothing younger
 * @throws InvariantError when it breaks a rule of the format
 */
export function encodeRecordEntry(path: string, entry: RecordEntry, epoch: number): Uint8Array {
  const problem = recordEntryProblem(entry, epoch);
  assert(problem === null, () => `the versions of ${path}: ${problem}`);
  const json = Buffer.from(entryText(entry));
  assert(json.length <= RECORD_ENTRY_BYTES_MAX, () => `${path}: JSON of ${json.length} bytes`);
  return json;
}

/**
 * The versions that an entry says.
 * @param key of the table of version records: for errors, and because its epoch bounds theirs
 * @param entry as `findEntry` or a cursor found it
 * @throws StoreError INTEGRITY naming the table
 */
export function decodeRecordEntry(
  key: string,
  { path: pathBytes, json }: Pick<FoundEntry, 'path' | 'json'>,
): RecordEntry {
  const path = decodeUtf8(pathBytes);
  if (path === null || !isDocumentPath(path)) {
    throw integrityError(key, 'the path of an entry is not a canonical document path');
  }
  // A block has three commas and one behind it, in more than 70 bytes.
  const commasMax = json.length / 16;
  const bounds: JsonBounds = { bytesMax: RECORD_ENTRY_BYTES_MAX, depthMax: 4, commasMax };
  const { text, value } = parseStrict(key, json, bounds);
  const fields = new Fields(key, path, value);
  const entry: RecordEntry = {
    first: fields.integer('first'),
    blocks: fields.array('blocks').map((item, index) => readBlock(fields, index, item)),
    records: fields
      .array('records')
      .map((item, index) => readVersionRecord(key, fields.path(`records[${index}]`), item)),
  };
  fields.end();
  const problem = recordEntryProblem(entry, epochOfTable(key));
  if (problem !== null) return fields.refuse(problem);
  assertCanonical(key, text, entryText(entry));
  return entry;
}

/** The first version of an entry. */
export function firstVersion({ blocks, records }: RecordEntry): number {
  return Math.min(blocks[0]?.first ?? Infinity, records[0]?.version ?? Infinity);
}

/** The last version of the range that holds a version. */
export function rangeEnd(version: number): number {
  return historyFirst(version) + (HISTORY_VERSIONS - 1);
}

/** Whether what comes next after a block may begin at this version. */
export function followsBlock({ first, epoch }: HistoryRef, version: number): boolean {
  const end = rangeEnd(first);
  // The last block of schema 1 ends where its document did.
  return version === end + 1 || (epoch === 0 && version > first && version <= end);
}

/**
 * What is wrong with an entry, or null.
 * @param epoch of the table that holds it
 */
export function recordEntryProblem(entry: RecordEntry, epoch: number): string | null {
  const { first, blocks, records } = entry;
  if (blocks.length + records.length === 0) return 'records: empty beside empty blocks';
  return (
    rangeProblem('epoch', epoch, 1, EPOCH_MAX) ??
    rangeProblem('first', first, 1, VERSION_MAX) ??
    blocksProblem(blocks, epoch) ??
    versionRecordsProblem('records', records, epoch) ??
    rowProblem(entry) ??
    openProblem(records) ??
    retainedProblem(entry)
  );
}

function blocksProblem(blocks: readonly HistoryRef[], epoch: number): string | null {
  let before = 0;
  for (const [index, block] of blocks.entries()) {
    const name = `blocks[${index}]`;
    const problem =
      rangeProblem(`${name}[0]`, block.first, before + 1, VERSION_MAX) ??
      hashProblem(`${name}[1]`, block.hash) ??
      rangeProblem(`${name}[2]`, block.epoch, 0, epoch);
    if (problem !== null) return problem;
    if (block.epoch > 0 && block.first !== historyFirst(block.first)) {
      return `${name}[0]: ${block.first} begins no range`;
    }
    before = rangeEnd(block.first);
    if (block.epoch > 0 && before > VERSION_MAX) return `${name}[0]: ends beyond the last version`;
  }
  return null;
}

/** Blocks and records, each ascending, are one row of versions. */
function rowProblem({ blocks, records }: RecordEntry): string | null {
  let block = 0;
  let record = 0;
  /** What the row ends with so far. */
  let before: HistoryRef | number | null = null;
  while (block < blocks.length || record < records.length) {
    const nextBlock = blocks[block];
    const nextRecord = records[record];
    const isBlock = nextBlock !== undefined && nextBlock.first < (nextRecord?.version ?? Infinity);
    const version = isBlock ? nextBlock.first : (nextRecord?.version ?? 0);
    if (before !== null && !follows(before, version)) {
      const name = isBlock ? `blocks[${block}][0]` : `records[${record}][0]`;
      return `${name}: ${version} does not follow`;
    }
    before = isBlock ? nextBlock : version;
    if (isBlock) block += 1;
    else record += 1;
  }
  return null;
}

function follows(before: HistoryRef | number, version: number): boolean {
  return typeof before === 'number' ? version === before + 1 : followsBlock(before, version);
}

/** A range that is complete is closed. */
function openProblem(records: readonly VersionRecord[]): string | null {
  for (const [index, { version }] of records.entries()) {
    const last = records[index + (HISTORY_VERSIONS - 1)];
    if (last === undefined) return null;
    if (version === historyFirst(version) && last.version === rangeEnd(version)) {
      return `records[${index}]: a complete range, not closed`;
    }
  }
  return null;
}

function retainedProblem(entry: RecordEntry): string | null {
  const { first, blocks, records } = entry;
  const from = firstVersion(entry);
  if (rangeEnd(from) < first) return `first: versions from ${from} on, and ${first} is beyond them`;
  const lastBlock = blocks.at(-1);
  const last = records.at(-1)?.version ?? 0;
  const end = Math.max(last, lastBlock === undefined ? 0 : rangeEnd(lastBlock.first));
  // Where the last block is of schema 1, its document may have ended before the range does.
  return first <= end ? null : `first: ${first} is beyond the last version`;
}

function readBlock(fields: Fields, index: number, value: Json): HistoryRef {
  const [first, hash, epoch, ...rest] = Array.isArray(value) ? value : [];
  if (!isInteger(first) || typeof hash !== 'string' || !isInteger(epoch) || rest.length > 0) {
    return fields.fail(`blocks[${index}]`, 'not a version, a hash and an epoch');
  }
  return { first, hash, epoch };
}

/** Members in canonical order. */
function entryText({ first, blocks, records }: RecordEntry): string {
  return canonicalText({
    blocks: blocks.map((block) => [block.first, block.hash, block.epoch]),
    first,
    records: records.map(versionRecordJson),
  });
}
