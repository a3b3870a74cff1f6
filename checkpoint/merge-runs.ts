/**
 * Runs made of what a stretch of the log changed, and of older runs: the bytes of entries are
 * copied, rows of columns gathered, and nothing but version records is parsed. Tables come from
 * wherever `open` has them, so this works in a thread of its own as well.
 */
import { compareUtf8 } from '../bucketstore/base/order.ts';
import { readColumns, type SegmentColumns } from './columns-reader.ts';
import type { CutSizes } from './cut.ts';
import type { EncodedHistory } from './history.ts';
import { encodeIndexEntry } from './index-entry.ts';
import type { ChangedStates, ChangedVersions } from './intake.ts';
import { RunMerge } from './merge.ts';
import { addMergedRecords, recordEntryOf } from './merge-records.ts';
import { encodeRecordEntry } from './record-entry.ts';
import { RunBuilder } from './run-builder.ts';
import { SegmentRun } from './segment-run.ts';
import { columnsOf, entriesOf, type OpenedTable, openTable } from './table.ts';
import type { BuiltTable } from './table-builder.ts';

/** A run as a merge reads it, table by table in the order of their paths. */
export interface RunSource {
  readonly tables: number;
  open(table: number): Promise<OpenedTable>;
}

/** Takes what a merge makes, in order, and writes it; `closed` before any table that names it. */
export interface RunSink {
  table(table: BuiltTable): Promise<void>;
  closed(block: EncodedHistory): Promise<void>;
}

export interface MergeOptions {
  /** That the run is written in. */
  readonly epoch: number;
  /** The format's; others are for proofs. */
  readonly sizes?: CutSizes | undefined;
}

/** The segments of what a stretch of the log changed. */
export function segmentsOf(
  { states }: ChangedStates,
  { epoch, sizes }: MergeOptions,
): BuiltTable[] {
  const segments: BuiltTable[] = [];
  const run = new SegmentRun(epoch, (segment) => segments.push(segment), sizes);
  for (const [path, state] of [...states].sort(byPath)) {
    run.add(Buffer.from(path), encodeIndexEntry(state, epoch), (columns) => {
      columns.add(path, state);
    });
  }
  run.end();
  return segments;
}

/** The version records of what a stretch of the log made, and the blocks that it completed. */
export function recordsOf(
  { made }: ChangedVersions,
  { epoch, sizes }: MergeOptions,
): { readonly tables: readonly BuiltTable[]; readonly closed: readonly EncodedHistory[] } {
  const tables: BuiltTable[] = [];
  const closed: EncodedHistory[] = [];
  const onEnd = (builder: Parameters<ConstructorParameters<typeof RunBuilder>[2]>[0]): void => {
    tables.push(builder.finish());
  };
  const run = new RunBuilder('records', epoch, onEnd, sizes);
  for (const [path, { first, records }] of [...made].sort(byPath)) {
    const merged = recordEntryOf(path, first, records, epoch);
    closed.push(...merged.closed);
    run.add(Buffer.from(path), encodeRecordEntry(path, merged.entry, epoch));
  }
  run.end();
  return { tables, closed };
}

/** Tables that were just made, as a run. */
export function sourceOf(
  kind: OpenedTable['directory']['kind'],
  tables: readonly BuiltTable[],
): RunSource {
  return {
    tables: tables.length,
    open: async (table) => {
      const built = tables[table];
      if (built === undefined) throw new RangeError(`no table ${table}`);
      return openTable(kind, built.ref, built.bytes);
    },
  };
}

/**
 * Merges runs of documents: the newest entry of each path.
 * @param runs the oldest first; at least one
 */
export async function mergeSegments(
  runs: readonly RunSource[],
  sink: RunSink,
  { epoch, sizes }: MergeOptions,
): Promise<void> {
  const columns: (SegmentColumns | null)[] = runs.map(() => null);
  const ready: BuiltTable[] = [];
  const built = new SegmentRun(epoch, (segment) => ready.push(segment), sizes);
  const merge = new RunMerge(runs.length);
  for (let step = merge.advance(); step !== 'done'; step = merge.advance()) {
    if (step === 'hungry') {
      const run = merge.hungry;
      const table = await nextTable(runs, merge, run);
      columns[run] = table === null ? null : columnsIn(table);
      merge.feed(run, table === null ? null : entriesOf(table));
      continue;
    }
    const rows = columns[merge.run];
    if (rows === null || rows === undefined) throw new TypeError('an entry without its columns');
    built.copy(merge.cursor, rows);
    await flush(ready, sink);
  }
  built.end();
  await flush(ready, sink);
}

/**
 * Merges record runs: of each path the versions of all.
 * @param runs the oldest first; at least one
 */
export async function mergeRecordRuns(
  runs: readonly RunSource[],
  sink: RunSink,
  { epoch, sizes }: MergeOptions,
): Promise<void> {
  const ready: BuiltTable[] = [];
  const built = new RunBuilder('records', epoch, (builder) => ready.push(builder.finish()), sizes);
  const merge = new RunMerge(runs.length);
  for (let step = merge.advance(); step !== 'done'; step = merge.advance()) {
    if (step === 'hungry') {
      const run = merge.hungry;
      const table = await nextTable(runs, merge, run);
      merge.feed(run, table === null ? null : entriesOf(table));
      continue;
    }
    for (const block of addMergedRecords(merge, built, epoch)) await sink.closed(block);
    await flush(ready, sink);
  }
  built.end();
  await flush(ready, sink);
}

/** The table behind the one that a run has been fed last. */
async function nextTable(
  runs: readonly RunSource[],
  merge: RunMerge,
  run: number,
): Promise<OpenedTable | null> {
  const source = runs[run];
  const next = merge.objectOf(run) + 1;
  return source === undefined || next >= source.tables ? null : source.open(next);
}

function columnsIn(table: OpenedTable): SegmentColumns {
  const { key, entries } = table.directory;
  return readColumns(key, entries, columnsOf(table));
}

async function flush(ready: BuiltTable[], sink: RunSink): Promise<void> {
  for (const table of ready.splice(0)) await sink.table(table);
}

function byPath([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return compareUtf8(a, b);
}
