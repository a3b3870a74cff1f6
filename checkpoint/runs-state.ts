/**
 * The documents of a checkpoint, out of the runs that its root names: of the runs that have a path
 * the newest tells. Heads, order and body hashes are in memory; the rest is read when it is asked
 * for.
 */
import type { CallOptions } from '../blob/index.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import type { BaseState, PlacedDocument } from '../bucketstore/snapshot/base.ts';
import type {
  DocumentDetails,
  DocumentHead,
  VersionRecord,
} from '../bucketstore/snapshot/state.ts';
import { decodeIndexEntry } from './index-entry.ts';
import type { Interval } from './interval.ts';
import { hashPath, type PathHash } from './path-filter.ts';
import type { ResidentRun } from './resident-run.ts';
import type { Root } from './root.ts';
import { tableFor } from './run-manifest.ts';
import { mergePaths, RunWalk } from './run-walk.ts';
import type { TableReader } from './table-reader.ts';
import { type RecordRun, readVersions } from './version-reader.ts';

export interface RunsStateParts {
  /** What names all of it. */
  readonly root: Root;
  /** Documents in all runs together, archived ones included. */
  readonly documents: number;
  /** In the order of their intervals; the first is the base. */
  readonly runs: readonly ResidentRun[];
  /** In the order of their intervals. */
  readonly records: readonly RecordRun[];
  readonly tables: TableReader;
}

interface Place {
  readonly run: ResidentRun;
  readonly row: number;
}

export class RunsState implements BaseState {
  readonly root: Root;
  readonly documents: number;
  /** In the order of their intervals. */
  readonly runs: readonly ResidentRun[];
  /** In the order of their intervals. */
  readonly records: readonly RecordRun[];
  readonly #newestFirst: readonly ResidentRun[];
  readonly #tables: TableReader;
  /** Of the path that is being looked for. */
  readonly #hash: PathHash = { block: 0, bits: 0 };

  constructor({ root, documents, runs, records, tables }: RunsStateParts) {
    this.root = root;
    this.documents = documents;
    this.runs = runs;
    this.records = records;
    this.#newestFirst = [...runs].reverse();
    this.#tables = tables;
  }

  get sequence(): number {
    return this.root.sequence;
  }

  get packedThrough(): number {
    return this.root.packedThrough;
  }

  head(path: string): DocumentHead | undefined {
    const place = this.#find(path);
    return place === null ? undefined : headAt(place);
  }

  from(path: string, within?: string): Iterator<PlacedDocument> {
    if (within === undefined) return new RunWalk(this.runs, path);
    const bytes = Buffer.from(within);
    const hash = this.#hash;
    hashPath(bytes, bytes.length, hash);
    return new RunWalk(
      this.runs.filter(({ filter }) => filter.mayHave(hash)),
      path,
    );
  }

  livePaths(bodyHash: string): Iterable<string> {
    const hash = Buffer.from(bodyHash, 'hex');
    return mergePaths(this.runs.map((run) => this.#livePathsOf(run, hash)));
  }

  /** At most two `get`s; none for what is kept. */
  async details(path: string, options: CallOptions): Promise<DocumentDetails> {
    const { run, row } = this.#place(path);
    const ref = tableFor(run.manifest, path);
    if (ref === undefined) throw integrityError(run.key, `${path} is in no table of the run`);
    const found = await this.#tables.find('segment', ref, path, options);
    if (found === null) throw integrityError(run.key, `${path} has a row and no entry`);
    const { current, first, archived, catalog } = decodeIndexEntry(found.key, found);
    const head = headAt({ run, row });
    if (
      current.version !== head.version ||
      current.bodyHash !== head.bodyHash ||
      current.storedHash !== head.storedHash ||
      first !== head.first ||
      archived !== head.archived
    ) {
      throw integrityError(found.key, `the entry of ${path} says otherwise than its columns`);
    }
    return { current, catalog };
  }

  /**
   * From the current version down to the oldest that is retained at least. As `details` for a
   * document of which one version is retained; else at most two `get`s for each record run whose
   * interval is in part that of a run which has the document, and one for each history block that
   * holds a retained version.
   */
  async versions(path: string, options: CallOptions): Promise<readonly VersionRecord[]> {
    const head = headAt(this.#place(path));
    if (head.first === head.version) return [(await this.details(path, options)).current];
    const touched = this.#touched(path);
    const runs = this.records.toReversed().filter(({ manifest }) => {
      return touched.some((interval) => overlaps(manifest, interval));
    });
    return readVersions(this.#tables, { path, head, runs }, options);
  }

  #place(path: string): Place {
    const place = this.#find(path);
    if (place === null) throw new TypeError(`${path} is not in the checkpoint`);
    return place;
  }

  /** Where the newest run that has a path has it. */
  #find(path: string): Place | null {
    const bytes = Buffer.from(path);
    const hash = this.#hash;
    hashPath(bytes, bytes.length, hash);
    for (const run of this.#newestFirst) {
      if (!run.filter.mayHave(hash)) continue;
      const row = run.columns.findBytes(bytes);
      if (row >= 0) return { run, row };
    }
    return null;
  }

  /** The intervals of the runs that have a path. */
  #touched(path: string): readonly Interval[] {
    const has = this.runs.filter(({ columns }) => columns.find(path) >= 0);
    return has.map(({ manifest }) => manifest);
  }

  /** Live paths of one run whose body has a hash, but for those that a newer run speaks of. */
  *#livePathsOf(run: ResidentRun, bodyHash: Uint8Array): Generator<string> {
    for (const row of run.columns.rowsWithBody(bodyHash)) {
      const path = run.columns.path(row);
      if (this.#find(path)?.run === run) yield path;
    }
  }
}

function headAt({ run: { columns }, row }: Place): DocumentHead {
  return {
    version: columns.version(row),
    first: columns.first(row),
    archived: columns.archived(row),
    bodyHash: columns.bodyHash(row),
    storedHash: columns.storedHash(row),
  };
}

function overlaps(one: Interval, other: Interval): boolean {
  return one.after < other.through && other.after < one.through;
}
