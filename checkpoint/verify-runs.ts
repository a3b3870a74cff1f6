/**
 * Runs of documents against the log. A run (a, b] is right when it has the documents whose last
 * change up to b lies behind a, each as it was at b, and no others. The runs of a checkpoint join,
 * so when each is right the checkpoint is the state of the log; and most runs are those of the
 * checkpoint before, so each is held against the log once.
 */
import { decodeUtf8 } from '../bucketstore/document/text.ts';
import type { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import type { DocumentState } from '../bucketstore/snapshot/state.ts';
import { TableCut } from './cut.ts';
import { Findings, fieldsThatDiffer } from './findings.ts';
import { encodeIndexEntry } from './index-entry.ts';
import { intervalText } from './interval.ts';
import type { RunRef } from './root.ts';
import { type RunKind, type RunManifest, runKey, TABLE_KINDS } from './run-manifest.ts';
import { entriesOf, type OpenedTable } from './table.ts';
import type { EntryCursor } from './table-entry.ts';
import type { VerifyObjects } from './verify-objects.ts';
import type { VerifyWalk } from './verify-walk.ts';

export interface RunCheck {
  readonly objects: VerifyObjects;
  readonly walk: VerifyWalk;
  /** The state at the end of the run's interval. */
  readonly state: Snapshot;
}

/** A run of documents. One `get` for its manifest and for each table. */
export async function verifyRun(check: RunCheck, ref: RunRef): Promise<void> {
  const { objects, walk } = check;
  const manifest = await objects.run('run', ref);
  if (manifest === null) return;
  const expected = walk.touched.beyond(ref.after);
  await eachTable(objects, 'run', manifest, async (table, findings) => {
    const cursor = entriesOf(table);
    while (cursor.advance()) {
      const problem = await entryProblem(check, ref, cursor);
      if (problem !== null) findings.add(problem);
    }
  });
  if (manifest.entries === expected) return;
  const entries = `${manifest.entries} documents changed last in ${intervalText(ref)}`;
  objects.note(runKey(ref), `entries: ${entries}, the log has ${expected}`);
}

/**
 * Reads the tables of a run one after another, and notes what `check` finds in each, and one that
 * begins or ends where the format has no cut.
 * @returns whether all of them could be read
 */
export async function eachTable(
  objects: VerifyObjects,
  kind: RunKind,
  { objects: refs }: RunManifest,
  check: (table: OpenedTable, findings: Findings) => Promise<void>,
): Promise<boolean> {
  let isWhole = true;
  const cuts = new CutWalk();
  for (const ref of refs) {
    const table = await objects.table(TABLE_KINDS[kind], ref);
    if (table === null) {
      isWhole = false;
      cuts.skip();
      continue;
    }
    const findings = new Findings();
    if (!cuts.isRight(table)) findings.add('begins or ends where no table of the format does');
    await check(table, findings);
    const problem = findings.text();
    if (problem !== null) objects.note(table.directory.key, problem);
  }
  return isWhole;
}

/** Whether the tables of a run are cut where the format cuts them. */
class CutWalk {
  #cut = new TableCut();
  /** Whether the next entry begins a table; null when that is not known. */
  #begins: boolean | null = null;

  /** A table that cannot be read: where the one behind it begins is not known. */
  skip(): void {
    this.#cut = new TableCut();
    this.#begins = null;
  }

  isRight(table: OpenedTable): boolean {
    const cursor = entriesOf(table);
    let right = true;
    while (cursor.advance()) {
      const bytes = cursor.end - cursor.start;
      const begins = this.#cut.endsBefore(bytes) || this.#begins === true;
      if (this.#begins !== null && begins !== (cursor.row === 0)) right = false;
      this.#begins = this.#cut.endsBehind(cursor.path(), bytes);
    }
    if (!right) this.skip();
    return right;
  }
}

async function entryProblem(
  { state, walk }: RunCheck,
  ref: RunRef,
  cursor: EntryCursor,
): Promise<string | null> {
  const path = decodeUtf8(cursor.path()) ?? '';
  const head = state.head(path);
  if (head === undefined) return `has ${path}, which the log does not have at ${ref.through}`;
  const touched = 'at' in head ? head.at : walk.places?.runOf(path).through;
  if (touched !== undefined && ref.after >= touched) {
    return `has ${path}, which did not change in ${intervalText(ref)}`;
  }
  const known = state.document(path);
  const document = known instanceof Promise ? await known : known;
  return document === undefined ? null : differenceOf(document, cursor, ref);
}

function differenceOf(document: DocumentState, cursor: EntryCursor, ref: RunRef): string | null {
  const json = encodeIndexEntry(document, ref.epoch);
  const found = cursor.json();
  if (Buffer.compare(json, found) === 0) return null;
  const fields = fieldsThatDiffer(json, found);
  return `${document.path}: ${fields} not as the log has it at ${ref.through}`;
}
