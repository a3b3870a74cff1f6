/**
 * The version records of one document out of several intervals that follow each other, as one
 * entry; and the history blocks that are complete now.
 *
 * An entry is a function of the versions made in its interval and of the oldest retained at its end
 * (the epochs of blocks apart), so merges in any grouping make the same bytes (I4). For that, what
 * is older than `first` falls away by whole aligned ranges, not version by version: a range that
 * `first` has only entered is closed as if it had not, because a merge that ended earlier would
 * have closed it, and there is no telling afterwards.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import type { VersionRecord } from '../bucketstore/snapshot/state.ts';
import { HISTORY_VERSIONS } from './constants.ts';
import { type EncodedHistory, encodeHistory, type HistoryRef, historyFirst } from './history.ts';
import type { RunMerge } from './merge.ts';
import {
  decodeRecordEntry,
  encodeRecordEntry,
  firstVersion,
  followsBlock,
  type RecordEntry,
  rangeEnd,
  recordEntryProblem,
} from './record-entry.ts';
import type { RunBuilder } from './run-builder.ts';
import { versionRecordsProblem } from './version-record.ts';

/** An entry and the table that it was read from. */
export interface RecordSource {
  /** For errors. */
  readonly key: string;
  readonly entry: RecordEntry;
}

export interface MergedRecords {
  readonly entry: RecordEntry;
  /** History blocks that the entry names and that are new: to be written before its table. */
  readonly closed: readonly EncodedHistory[];
}

/**
 * The entry of a document over one interval, from its versions.
 * @param first the oldest version retained at the end of the interval
 * @param records all versions made in the interval, ascending; at least one
 * @param epoch that the entry and its blocks are written in
 * @throws InvariantError when the versions break a rule of the format
 */
export function recordEntryOf(
  path: string,
  first: number,
  records: readonly VersionRecord[],
  epoch: number,
): MergedRecords {
  const problem = versionRecordsProblem('records', records, epoch);
  assert(problem === null, () => `the versions of ${path}: ${problem}`);
  const merged = close(path, { first, blocks: [], records }, epoch);
  const odd = recordEntryProblem(merged.entry, epoch);
  assert(odd === null, () => `the versions of ${path}: ${odd}`);
  return merged;
}

/**
 * The entries of one document as one.
 * @param sources of intervals that follow each other, the oldest first; at least one
 * @param epoch that the entry and its blocks are written in
 * @throws StoreError INTEGRITY naming the table of the first that cannot follow
 */
export function mergeRecords(
  path: string,
  sources: readonly RecordSource[],
  epoch: number,
): MergedRecords {
  const newest = sources.at(-1);
  assert(newest !== undefined, 'a merge of nothing');
  let before: RecordEntry | null = null;
  for (const { key, entry } of sources) {
    const problem = before === null ? null : followProblem(before, entry);
    if (problem !== null) throw integrityError(key, `${path}: ${problem}`);
    before = entry;
  }
  const joined: RecordEntry = {
    first: newest.entry.first,
    blocks: sources.flatMap(({ entry }) => entry.blocks),
    records: sources.flatMap(({ entry }) => entry.records),
  };
  const odd = versionRecordsProblem('records', joined.records, epoch);
  if (odd !== null) throw integrityError(newest.key, `${path}: joined to its past: ${odd}`);
  const merged = close(path, joined, epoch);
  const problem = recordEntryProblem(merged.entry, epoch);
  if (problem !== null) throw integrityError(newest.key, `${path}: joined to its past: ${problem}`);
  return merged;
}

/**
 * Adds the version records of the path that a merge stands on to the run that is being built:
 * merged from all runs that have it, or the bytes as they are where only one has.
 * @param epoch that the run is written in
 * @returns history blocks that are complete now: to be written before the run's table
 * @throws StoreError INTEGRITY naming the table whose entry is none, or cannot follow
 */
export function addMergedRecords(
  merge: RunMerge,
  run: RunBuilder,
  epoch: number,
): readonly EncodedHistory[] {
  const { sources, cursor } = merge;
  if (sources.length === 1) {
    run.copy(cursor);
    return [];
  }
  const found = [...sources].reverse().map((source): RecordSource => {
    const at = merge.cursorOf(source);
    return { key: at.key, entry: decodeRecordEntry(at.key, at.found()) };
  });
  const pathBytes = cursor.path();
  const path = Buffer.from(pathBytes).toString();
  const { entry, closed } = mergeRecords(path, found, epoch);
  run.add(pathBytes, encodeRecordEntry(path, entry, epoch));
  return closed;
}

/** Why an entry cannot be of the interval behind another, or null. */
function followProblem(before: RecordEntry, entry: RecordEntry): string | null {
  if (entry.first < before.first) return `first: ${entry.first}, it was ${before.first} before`;
  const from = firstVersion(entry);
  const record = before.records.at(-1)?.version ?? 0;
  const block = before.blocks.at(-1);
  const endsInBlock = block !== undefined && block.first > record;
  const follows = endsInBlock ? followsBlock(block, from) : from === record + 1;
  // Where all that lies before falls away, so has what was made between.
  const isCutOff = from === historyFirst(entry.first);
  return follows || isCutOff ? null : `version ${from} does not follow`;
}

/** Drops ranges older than `first`, closes those that are complete. */
function close(path: string, entry: RecordEntry, epoch: number): MergedRecords {
  const { first } = entry;
  const kept = entry.records.filter(({ version }) => rangeEnd(version) >= first);
  const open: VersionRecord[] = [];
  const closed: EncodedHistory[] = [];
  let done = 0;
  for (const [at, record] of kept.entries()) {
    if (at < done) continue;
    const range = completeRange(kept, at);
    if (range === null) {
      open.push(record);
    } else {
      closed.push(encodeHistory(path, range, epoch));
      done = at + range.length;
    }
  }
  const old = entry.blocks.filter((block) => rangeEnd(block.first) >= first);
  const blocks = [...old, ...closed.map(({ ref }) => ref)].sort(byFirst);
  return { entry: { first, blocks, records: open }, closed };
}

/** The records from `at` on when they are a whole aligned range, else null. */
function completeRange(
  records: readonly VersionRecord[],
  at: number,
): readonly VersionRecord[] | null {
  const version = records[at]?.version ?? 0;
  const last = records[at + (HISTORY_VERSIONS - 1)]?.version;
  if (version !== historyFirst(version) || last !== rangeEnd(version)) return null;
  return records.slice(at, at + HISTORY_VERSIONS);
}

function byFirst(a: HistoryRef, b: HistoryRef): number {
  return a.first - b.first;
}
