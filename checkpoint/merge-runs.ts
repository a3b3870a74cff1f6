/**
 * Runs made of older runs: the bytes of entries are copied, rows of columns gathered, and nothing
 * but version records of several runs is parsed. Tables come from wherever `read` has them, so this
 * works in a thread of its own as well.
 */
import { inTurns, type Turn } from '../bucketstore/base/in-turns.ts';
import { Breaks } from './breaks.ts';
import { readColumns, type SegmentColumns } from './columns-reader.ts';
import type { CutSizes } from './cut.ts';
import type { EncodedHistory } from './history.ts';
import { isKept } from './kept-tables.ts';
import { RunMerge } from './merge.ts';
import { mergeTable } from './merge-input.ts';
import { addMergedRecords } from './merge-records.ts';
import type { MergeOptions, RunSink, RunSource } from './merger.ts';
import { RunBuilder } from './run-builder.ts';
import { type EndedTable, SegmentRun } from './segment-run.ts';
import { columnsOf, entriesOf, type OpenedTable, openingTable } from './table.ts';
import type { TableKind } from './table-directory.ts';

/** The run that is being made. */
interface Target {
  /** Whether it has just ended a table, or has none yet. */
  readonly isBetween: boolean;
  /** A run of the merge goes on with a table. */
  open(run: number, table: OpenedTable): void;
  /** Adds what the merge stands on. @returns blocks to be written before the next table */
  add(merge: RunMerge): readonly EncodedHistory[];
  end(): void;
}

/**
 * Merges runs into a sink; `RunMerger` says what and with what failures.
 * @param runs the oldest first; at least one
 * @param turn taken between steps of a few milliseconds
 */
export async function mergeRuns(
  kind: TableKind,
  runs: readonly RunSource[],
  sink: RunSink,
  { epoch, sizes, signal }: MergeOptions,
  turn: Turn,
): Promise<void> {
  const ended: EndedTable[] = [];
  const onTable = (table: EndedTable): void => {
    ended.push(table);
  };
  const target =
    kind === 'segment' ? segments(epoch, onTable, sizes) : records(epoch, onTable, sizes);
  const merge = new RunMerge(runs.map(({ tables }) => tables.map((ref) => mergeTable(kind, ref))));
  const breaks = new Breaks(turn, signal);
  const flush = async (): Promise<void> => {
    for (const table of ended.splice(0)) {
      await sink.table(await inTurns(table, turn));
      await breaks.take();
    }
  };
  for (let step = merge.advance(); step !== 'done'; step = merge.advance()) {
    if (step === 'table') {
      await comeToTable(kind, runs, merge, target, { sizes, sink, turn });
      await breaks.take();
      continue;
    }
    const bytes = bytesOfStep(merge);
    for (const block of target.add(merge)) await sink.closed(block);
    if (ended.length > 0) await flush();
    if (breaks.isDue(bytes)) await breaks.take();
  }
  target.end();
  await flush();
}

/** Names the table that the merge has come to, or opens it. */
async function comeToTable(
  kind: TableKind,
  runs: readonly RunSource[],
  merge: RunMerge,
  target: Target,
  { sizes, sink, turn }: { sizes: CutSizes | undefined; sink: RunSink; turn: Turn },
): Promise<void> {
  const { run, object } = merge;
  const source = runs[run];
  const ref = source?.tables[object];
  if (source === undefined || ref === undefined) throw new RangeError(`no table ${object}`);
  if (isKept(merge, kind, ref, target.isBetween, sizes)) {
    merge.pass();
    await sink.kept(run, object);
    return;
  }
  const opened = await inTurns(openingTable(kind, ref, await source.read(object)), turn);
  target.open(run, opened);
  merge.open(entriesOf(opened));
}

function segments(epoch: number, onTable: (table: EndedTable) => void, sizes?: CutSizes): Target {
  const columns = new Map<number, SegmentColumns>();
  const built = new SegmentRun(epoch, onTable, sizes);
  return {
    get isBetween() {
      return built.isBetween;
    },
    open(run, table) {
      const { key, entries } = table.directory;
      columns.set(run, readColumns(key, entries, columnsOf(table)));
    },
    add(merge) {
      const rows = columns.get(merge.run);
      if (rows === undefined) throw new TypeError('an entry without its columns');
      built.copy(merge.cursor, rows);
      return [];
    },
    end: () => built.end(),
  };
}

function records(epoch: number, onTable: (table: EndedTable) => void, sizes?: CutSizes): Target {
  const built = new RunBuilder('records', epoch, (builder) => onTable(builder.finishing()), sizes);
  return {
    get isBetween() {
      return built.isBetween;
    },
    open: () => undefined,
    add: (merge) => addMergedRecords(merge, built, epoch),
    end: () => built.end(),
  };
}

/** Bytes of the entries that the merge stands on. */
function bytesOfStep(merge: RunMerge): number {
  let bytes = 0;
  for (const run of merge.sources) {
    const { start, end } = merge.cursorOf(run);
    bytes += end - start;
  }
  return bytes;
}
