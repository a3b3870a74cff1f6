/** Entries, tables and runs that the tests of tables and merges are made of; all from a seed. */
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import type { CutSizes } from '../../checkpoint/cut.ts';
import { type MergeTable, mergeTable } from '../../checkpoint/merge-input.ts';
import { RunBuilder } from '../../checkpoint/run-builder.ts';
import { entriesOf, openTable } from '../../checkpoint/table.ts';
import { type BuiltTable, TableBuilder, type TableExtras } from '../../checkpoint/table-builder.ts';
import { type TableKind, tableKey } from '../../checkpoint/table-directory.ts';
import type { EntryCursor } from '../../checkpoint/table-entry.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

export const EPOCH = 3;

/** Any path and any JSON: tables do not look into it. */
export interface PlainEntry {
  readonly path: string;
  readonly json: string;
}

/** Small cuts, so that small runs have several tables. */
export const SMALL_CUT: CutSizes = { bytesMin: 400, bytesMax: 1200, modulus: 4 };

/** Names whose order by UTF-8 is not that of the engine are among them. */
const LETTERS = ['a', 'b', 'c', '-', '.x', 'é', '\u{ffee}', '\u{1f600}', '"', '\\'] as const;

/** A path; few of them, so that runs have some in common. */
export function drawPath(random: SeededRandom, names: number): string {
  const folder = random.pick(LETTERS);
  return `/${folder}f/${random.pick(LETTERS)}${random.integer(names)}.md`;
}

/** Entries with different paths, in the order of tables. */
export function drawEntries(
  random: SeededRandom,
  count: number,
  bytesMax = 300,
  names = 1_000_000,
): PlainEntry[] {
  const paths = new Set<string>();
  while (paths.size < count) paths.add(drawPath(random, names));
  return [...paths].sort(compareUtf8).map((path) => ({ path, json: drawJson(random, bytesMax) }));
}

/** JSON of 2 bytes to so many. */
function drawJson(random: SeededRandom, bytesMax: number): string {
  const length = random.integer(bytesMax - 8);
  return length === 0 ? '{}' : `{"x":"${String(random.integer(10)).repeat(length)}"}`;
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function tableOf(
  entries: readonly PlainEntry[],
  extras: Partial<TableExtras> = {},
  kind: TableKind = 'segment',
): BuiltTable {
  const builder = new TableBuilder(kind, EPOCH);
  for (const { path, json } of entries) builder.add(utf8(path), utf8(json));
  return builder.finish(extras);
}

/** A run of these entries. */
export function runOf(entries: readonly PlainEntry[], sizes: CutSizes = SMALL_CUT): BuiltTable[] {
  const tables: BuiltTable[] = [];
  const run = new RunBuilder('segment', EPOCH, (builder) => tables.push(builder.finish()), sizes);
  for (const { path, json } of entries) run.add(utf8(path), utf8(json));
  run.end();
  return tables;
}

/** A cursor before the first entry of a table. */
export function cursorOf(table: BuiltTable, kind: TableKind = 'segment'): EntryCursor {
  return entriesOf(openTable(kind, table.ref, table.bytes));
}

/** What a table says, in its order. */
export function readAll(table: BuiltTable, kind: TableKind = 'segment'): PlainEntry[] {
  const found: PlainEntry[] = [];
  const cursor = cursorOf(table, kind);
  while (cursor.advance()) found.push(plain(cursor));
  return found;
}

export function plain(cursor: EntryCursor): PlainEntry {
  return { path: text(cursor.path()), json: text(cursor.json()) };
}

export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

export function keyOfTable(table: BuiltTable, kind: TableKind = 'segment'): string {
  return tableKey(kind, table.ref);
}

/** The bytes of these tables, one after another. */
export function bytesOf(tables: readonly BuiltTable[]): Uint8Array {
  return Buffer.concat(tables.map(({ bytes }) => bytes));
}

/** A run as a merge knows it. */
export function mergeTablesOf(
  tables: readonly BuiltTable[],
  kind: TableKind = 'segment',
): MergeTable[] {
  return tables.map(({ ref }) => mergeTable(kind, ref));
}
