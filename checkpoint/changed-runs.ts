/** Tables of what a stretch of the log changed: made in memory, with breaks. */
import { inTurns, type Turn } from '../bucketstore/base/in-turns.ts';
import { Breaks } from './breaks.ts';
import { sortingByPath } from './by-path.ts';
import type { EncodedHistory } from './history.ts';
import { encodeIndexEntry } from './index-entry.ts';
import type { ChangedStates, ChangedVersions } from './intake.ts';
import { recordEntryOf } from './merge-records.ts';
import type { MergeOptions } from './merger.ts';
import { encodeRecordEntry } from './record-entry.ts';
import { RunBuilder } from './run-builder.ts';
import { type EndedTable, SegmentRun } from './segment-run.ts';
import type { BuiltTable } from './table-builder.ts';

/** What making an entry costs more than copying one does. */
const COST = 4;

/** The segments of what a stretch of the log changed. */
export async function segmentsOf(
  { states }: ChangedStates,
  { epoch, sizes, signal }: MergeOptions,
  turn: Turn,
): Promise<readonly BuiltTable[]> {
  const tables: BuiltTable[] = [];
  const ended: EndedTable[] = [];
  const run = new SegmentRun(epoch, (segment) => ended.push(segment), sizes);
  const breaks = new Breaks(turn, signal);
  for (const [path, state] of await inTurns(sortingByPath(states), turn)) {
    const json = encodeIndexEntry(state, epoch);
    run.add(Buffer.from(path), json, (columns) => columns.add(path, state));
    if (breaks.isDue(COST * json.length)) await breaks.take();
    if (ended.length > 0) await finish(ended, tables, turn);
  }
  run.end();
  await finish(ended, tables, turn);
  return tables;
}

/** The version records of what a stretch of the log made, and the blocks that it completed. */
export async function recordsOf(
  { made }: ChangedVersions,
  { epoch, sizes, signal }: MergeOptions,
  turn: Turn,
): Promise<{ readonly tables: readonly BuiltTable[]; readonly closed: readonly EncodedHistory[] }> {
  const tables: BuiltTable[] = [];
  const closed: EncodedHistory[] = [];
  const ended: EndedTable[] = [];
  const run = new RunBuilder('records', epoch, (one) => ended.push(one.finishing()), sizes);
  const breaks = new Breaks(turn, signal);
  for (const [path, { first, records }] of await inTurns(sortingByPath(made), turn)) {
    const merged = recordEntryOf(path, first, records, epoch);
    closed.push(...merged.closed);
    const json = encodeRecordEntry(path, merged.entry, epoch);
    run.add(Buffer.from(path), json);
    const blocks = merged.closed.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (breaks.isDue(COST * (json.length + blocks))) await breaks.take();
    if (ended.length > 0) await finish(ended, tables, turn);
  }
  run.end();
  await finish(ended, tables, turn);
  return { tables, closed };
}

async function finish(ended: EndedTable[], tables: BuiltTable[], turn: Turn): Promise<void> {
  for (const table of ended.splice(0)) tables.push(await inTurns(table, turn));
}
