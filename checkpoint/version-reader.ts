/** All versions of one document, out of the record runs of a checkpoint and history blocks. */
import type { CallOptions } from '../blob/index.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import type { DocumentHead, VersionRecord } from '../bucketstore/snapshot/state.ts';
import type { HistoryRef } from './history.ts';
import { decodeRecordEntry, firstVersion, type RecordEntry, rangeEnd } from './record-entry.ts';
import { type RunManifest, tableFor } from './run-manifest.ts';
import type { TableReader } from './table-reader.ts';

/** A record run as a state holds it. */
export interface RecordRun {
  /** Key of its manifest, for errors. */
  readonly key: string;
  readonly manifest: RunManifest;
}

/** Which document, and where its versions are looked for. */
export interface VersionsOf {
  readonly path: string;
  readonly head: Pick<DocumentHead, 'version' | 'first'>;
  /** Record runs that may hold versions of it, newest first. */
  readonly runs: readonly RecordRun[];
}

/** Record runs read at once. The versions asked for are mostly in the newest ones. */
const RUNS_AHEAD = 4;
const BLOCKS_AHEAD = 8;

/**
 * The versions of a document from its current one down to the oldest retained one at least, newest
 * first. At most two `get`s for each run, and one for each history block in which a version is
 * retained; runs are read four at a time, until the versions are complete.
 * @throws StoreError `INTEGRITY` naming what is damaged, or the oldest of the runs when they lack a
 *   version; `UNSUPPORTED_FORMAT`, `UNAVAILABLE`, `LOCATION`; the signal's reason
 */
export async function readVersions(
  tables: TableReader,
  { path, head, runs }: VersionsOf,
  options: CallOptions,
): Promise<readonly VersionRecord[]> {
  const entries: RecordEntry[] = [];
  const found = readAhead(runs, RUNS_AHEAD, (run) => readEntry(tables, run, path, options));
  for await (const entry of found) {
    if (entry === null) continue;
    entries.push(entry);
    if (firstVersion(entry) <= head.first) break;
  }
  const blocks = entries.flatMap((entry) => retainedBlocks(entry, head.first));
  const versions = entries.flatMap(({ records }) => records);
  const read = (block: HistoryRef) => tables.history(path, block, options);
  for await (const records of readAhead(blocks, BLOCKS_AHEAD, read)) {
    for (const record of records) versions.push(record);
  }
  versions.sort((a, b) => b.version - a.version);
  const gap = gapIn(versions, head);
  if (gap === null) return versions;
  throw integrityError(runs.at(-1)?.key ?? path, `version ${gap} of ${path} is in no record run`);
}

async function readEntry(
  tables: TableReader,
  { manifest }: RecordRun,
  path: string,
  options: CallOptions,
): Promise<RecordEntry | null> {
  const ref = tableFor(manifest, path);
  if (ref === undefined) return null;
  const found = await tables.find('records', ref, path, options);
  return found === null ? null : decodeRecordEntry(found.key, found);
}

function retainedBlocks({ blocks }: RecordEntry, first: number): readonly HistoryRef[] {
  return blocks.filter((block) => rangeEnd(block.first) >= first);
}

/** The newest retained version that is missing, or null. */
function gapIn(
  versions: readonly VersionRecord[],
  { version, first }: VersionsOf['head'],
): number | null {
  let expected = version;
  for (const record of versions) {
    if (record.version !== expected) break;
    expected -= 1;
  }
  return expected < first ? null : expected;
}
