/**
 * Reads the runs of a root: manifests, and the columns of segments, many at once and in order. What
 * the runs loaded before have is not read again.
 */
import type { CallOptions } from '../blob/index.ts';
import { assert } from '../bucketstore/base/assert.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { inTurns, type Turn } from '../bucketstore/base/in-turns.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import { readColumns, type SegmentColumns } from './columns-reader.ts';
import type { ObjectReader } from './objects.ts';
import { PathFilter } from './path-filter.ts';
import { ResidentBuilder } from './resident-builder.ts';
import { ResidentRun } from './resident-run.ts';
import type { Root, RunRef } from './root.ts';
import { type RunKind, type RunManifest, runKey } from './run-manifest.ts';
import { type DataRange, type TableRanges, type TableRef, tableKey } from './table-directory.ts';
import type { RecordRun } from './version-reader.ts';

/** The manifests of one root's runs, each row in the order of the intervals. */
export interface OpenedManifests {
  readonly runs: readonly RecordRun[];
  readonly records: readonly RecordRun[];
}

/** How many of the objects that hold columns have been read. */
export type TellRead = (read: number, of: number) => void;

/** The runs of one root, each row in the order of the intervals. */
export interface LoadedRuns {
  readonly runs: readonly ResidentRun[];
  readonly records: readonly RecordRun[];
}

/** Objects read at once: a segment's columns are a megabyte or so. */
const READ_AHEAD = 16;

/** A run whose columns are being read. */
interface Loading {
  readonly key: string;
  readonly manifest: RunManifest;
  readonly builder: ResidentBuilder;
  /** Segments that are still to come. */
  missing: number;
}

export class RunLoader {
  readonly #objects: ObjectReader;
  readonly #turn: Turn;
  #runs: ReadonlyMap<string, ResidentRun> = new Map();
  #records: ReadonlyMap<string, RecordRun> = new Map();

  /** @param turn lets others have theirs: columns are made in steps of some milliseconds */
  constructor(objects: ObjectReader, turn: Turn) {
    this.#objects = objects;
    this.#turn = turn;
  }

  /** From now on these are not read again, and only these. */
  keep({ runs, records }: LoadedRuns): void {
    this.#runs = new Map(runs.map((run) => [run.key, run]));
    this.#records = new Map(records.map((run) => [run.key, run]));
  }

  /**
   * The manifests of a root. One `get` for each, 16 at a time in each row; none for what is kept.
   * @throws StoreError as `load`
   */
  async open(root: Root, options: CallOptions): Promise<OpenedManifests> {
    const [manifests, records] = await Promise.all([
      this.#manifests('run', root.runs, options),
      this.#manifests('records', root.records, options),
    ]);
    const [base] = manifests;
    if (base !== undefined && base.manifest.entries !== root.base.documents) {
      const { entries } = base.manifest;
      throw integrityError(base.key, `entries: ${entries}, the root says ${root.base.documents}`);
    }
    return { runs: manifests, records };
  }

  /**
   * The runs of manifests, with their columns. Two `get`s for each segment, 16 at a time, in the
   * lane of bulk reads; none for what is kept.
   * @throws StoreError `INTEGRITY` naming what is missing or damaged, `UNSUPPORTED_FORMAT`,
   *   `UNAVAILABLE`, `LOCATION`; the signal's reason
   */
  async load(
    { runs, records }: OpenedManifests,
    options: CallOptions,
    tell: TellRead,
  ): Promise<LoadedRuns> {
    return { runs: await this.#columns(runs, { ...options, lane: 'bulk' }, tell), records };
  }

  async #manifests(
    kind: RunKind,
    refs: readonly RunRef[],
    options: CallOptions,
  ): Promise<RecordRun[]> {
    const known = kind === 'run' ? this.#runs : this.#records;
    const runs: RecordRun[] = [];
    const read = async (ref: RunRef): Promise<RecordRun> => {
      const key = runKey(ref);
      const manifest = known.get(key)?.manifest;
      return { key, manifest: manifest ?? (await this.#objects.run(kind, ref, options)) };
    };
    for await (const run of readAhead(refs, READ_AHEAD, read)) runs.push(run);
    return runs;
  }

  /** One stream of the segments of all runs: most runs have but one. */
  async #columns(
    manifests: readonly RecordRun[],
    options: CallOptions,
    tell: TellRead,
  ): Promise<ResidentRun[]> {
    const loaded = new Map<string, ResidentRun>();
    const segments: { readonly run: Loading; readonly ref: TableRef }[] = [];
    for (const { key, manifest } of manifests) {
      const known = this.#runs.get(key);
      if (known !== undefined) {
        loaded.set(key, known);
        continue;
      }
      const missing = manifest.objects.length;
      const run = { key, manifest, missing, builder: new ResidentBuilder(manifest.entries) };
      if (missing === 0) loaded.set(key, await this.#resident(run));
      for (const ref of manifest.objects) segments.push({ run, ref });
    }
    const read = async ({ run, ref }: (typeof segments)[number]) => {
      return { run, columns: await this.#segment(ref, options) };
    };
    let done = 0;
    if (segments.length > 0) tell(done, segments.length);
    for await (const { run, columns } of readAhead(segments, READ_AHEAD, read)) {
      tell(++done, segments.length);
      run.builder.append(columns());
      run.missing -= 1;
      if (run.missing === 0) loaded.set(run.key, await this.#resident(run));
      else await this.#turn();
    }
    return manifests.map(({ key }) => {
      const run = loaded.get(key);
      assert(run !== undefined, () => `${key} was not loaded`);
      return run;
    });
  }

  async #resident({ key, manifest, builder }: Loading): Promise<ResidentRun> {
    const columns = await inTurns(builder.finishing(), this.#turn);
    const making = PathFilter.making(columns.cursor(), columns.rows);
    return new ResidentRun(key, manifest, columns, await inTurns(making, this.#turn));
  }

  /**
   * The columns of a segment as bytes, and what makes them columns: only when their turn comes, so
   * that no more than one segment's are in memory as such.
   */
  async #segment(ref: TableRef, options: CallOptions): Promise<() => SegmentColumns> {
    const directory = await this.#objects.directory('segment', ref, options);
    const all = columnsRange(directory.ranges);
    const bytes = await this.#objects.range(directory, all, options);
    return () => {
      const ranges = [...directory.ranges.columns].map(([name, { offset, length }]) => {
        const start = offset - all.offset;
        return [name, bytes.subarray(start, start + length)] as const;
      });
      const columns = readColumns(directory.key, directory.entries, new Map(ranges));
      assertEnds(ref, columns);
      return columns;
    };
  }
}

/** Where all columns lie: behind one another. */
function columnsRange({ columns }: TableRanges): DataRange {
  const ranges = [...columns.values()];
  const start = ranges[0]?.offset ?? 0;
  const last = ranges.at(-1);
  const end = last === undefined ? 0 : last.offset + last.length;
  return { offset: start, length: end - start };
}

/** Tables are found by their first and last path, and documents by rows: they must agree. */
function assertEnds(ref: TableRef, { rows, paths }: SegmentColumns): void {
  if (paths.at(0) === ref.first && paths.at(rows - 1) === ref.last) return;
  throw integrityError(tableKey('segment', ref), 'column paths: other ends than its manifest says');
}
