/**
 * Record runs against the log. A record run (a, b] is right when it has the documents whose current
 * version at b was made behind a, and of each all retained versions that were made there, in its
 * records or in history blocks, each as the log made it. What is retained no more may still be in
 * it, and nobody asks for that.
 */
import { decodeUtf8 } from '../bucketstore/document/text.ts';
import type { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import type { VersionRecord } from '../bucketstore/snapshot/state.ts';
import { intervalText } from './interval.ts';
import { decodeRecordEntry, type RecordEntry } from './record-entry.ts';
import type { RunRef } from './root.ts';
import { runKey } from './run-manifest.ts';
import { entriesOf } from './table.ts';
import type { EntryCursor } from './table-entry.ts';
import { eachTable, type RunCheck } from './verify-runs.ts';
import { isSameRecord } from './version-record.ts';

/** A record run. One `get` for its manifest, each table, and each history block in it. */
export async function verifyRecordRun(check: RunCheck, ref: RunRef): Promise<void> {
  const { objects, walk } = check;
  const manifest = await objects.run('records', ref);
  if (manifest === null) return;
  const expected = walk.made.beyond(ref.after);
  await eachTable(objects, 'records', manifest, async (table, findings) => {
    const cursor = entriesOf(table);
    while (cursor.advance()) {
      const problem = await entryProblem(check, ref, cursor);
      if (problem !== null) findings.add(problem);
    }
  });
  if (manifest.entries === expected) return;
  const entries = `${manifest.entries} documents got versions in ${intervalText(ref)}`;
  objects.note(runKey(ref), `entries: ${entries}, the log has ${expected}`);
}

async function entryProblem(
  check: RunCheck,
  ref: RunRef,
  cursor: EntryCursor,
): Promise<string | null> {
  const { objects, state } = check;
  const path = decodeUtf8(cursor.path()) ?? '';
  const entry = decodeRecordEntry(cursor.key, cursor.found());
  const head = state.head(path);
  if (head === undefined) return `has ${path}, which the log does not have at ${ref.through}`;
  if (entry.first !== head.first) {
    return `${path}: first ${entry.first}, the log has ${head.first} at ${ref.through}`;
  }
  const versions = await versionsIn(objects, path, entry);
  // A block that is not right has been noted.
  if (versions === null) return null;
  const known = new KnownVersions(state, path);
  const problem = await versionsProblem(check, ref, head, versions, known);
  return problem === null ? null : `${path}: ${problem}`;
}

/** All versions of an entry, ascending; null when a block of it is not right. */
async function versionsIn(
  objects: RunCheck['objects'],
  path: string,
  { blocks, records }: RecordEntry,
): Promise<readonly VersionRecord[] | null> {
  const versions = [...records];
  for (const block of blocks) {
    const found = await objects.history(path, block);
    if (found === null) return null;
    for (const record of found) versions.push(record);
  }
  return versions.sort((a, b) => a.version - b.version);
}

async function versionsProblem(
  { walk }: RunCheck,
  ref: RunRef,
  head: { readonly first: number; readonly version: number },
  versions: readonly VersionRecord[],
  known: KnownVersions,
): Promise<string | null> {
  const isIn = (record: VersionRecord | undefined): boolean => {
    const at = record === undefined ? undefined : walk.madeAt(record);
    return at === undefined || (at > ref.after && at <= ref.through);
  };
  const from = versions[0]?.version ?? 0;
  const last = versions.at(-1)?.version ?? 0;
  if (last !== head.version) return `ends at version ${last}, the log at ${head.version}`;
  for (const record of versions) {
    if (record.version < head.first) continue;
    const expected = await known.get(record.version);
    if (expected === undefined || !isSameRecord(record, expected)) {
      return `version ${record.version} is not as the log made it`;
    }
    if (!isIn(expected)) return `version ${record.version} was not made in ${intervalText(ref)}`;
  }
  const before = from > head.first ? await known.get(from - 1) : undefined;
  const madeBefore = before === undefined ? undefined : walk.madeAt(before);
  const isMissing = madeBefore !== undefined && madeBefore > ref.after;
  return isMissing ? `version ${from - 1} is missing` : null;
}

/** The retained versions of a document at one sequence; what a checkpoint has is read once. */
class KnownVersions {
  readonly #state: Snapshot;
  readonly #path: string;
  readonly #inBase: number;
  #base: ReadonlyMap<number, VersionRecord> | null = null;

  constructor(state: Snapshot, path: string) {
    this.#state = state;
    this.#path = path;
    this.#inBase = state.base.head(path)?.version ?? 0;
  }

  async get(version: number): Promise<VersionRecord | undefined> {
    if (version > this.#inBase) {
      const found = this.#state.version(this.#path, version);
      return found instanceof Promise ? await found : found;
    }
    if (this.#base === null) {
      const records = await this.#state.base.versions(this.#path, { lane: 'bulk' });
      this.#base = new Map(records.map((record) => [record.version, record]));
    }
    return this.#base.get(version);
  }
}
