/**
 * What the directory of a table may say by itself, and beside the manifest that names it. Asserted
 * before one is written, refused after one is read. A problem begins with the field's name as the
 * format spells it.
 */
import { compareUtf8 } from '../bucketstore/base/order.ts';
import { isDocumentPath, PATH_BYTES_MAX } from '../bucketstore/document/path.ts';
import { hashProblem, rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { ENTRY_BYTES_MAX } from '../bucketstore/log/records.ts';
import { BLOCK_BYTES } from './constants.ts';
import type { DataRange, Mark, TableDirectory, TableRanges, TableRef } from './table-directory.ts';
import { ENTRY_HEAD_BYTES } from './table-entry.ts';

/** Columns of a table at most. */
const COLUMNS_MAX = 64;
const COLUMN_NAME = /^[a-z][a-z0-9_]{0,31}$/;
const ALIGNMENT = 8;
/** The shortest path has two bytes, and the shortest JSON. */
const ENTRY_BYTES_MIN = ENTRY_HEAD_BYTES + 4;
/** An entry of a segment at most. */
const STATE_BYTES_MAX = ENTRY_HEAD_BYTES + PATH_BYTES_MAX + ENTRY_BYTES_MAX;

/** The least multiple of 8 that is ≥ `offset`: where a column begins, and where postings do. */
export function aligned(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

/** What is wrong with a directory, or null. */
export function directoryProblem(directory: Omit<TableDirectory, 'key' | 'length'>): string | null {
  const { kind, entries, ranges, marks, blocks } = directory;
  return (
    rangeProblem('entries', entries, 1, Number.MAX_SAFE_INTEGER) ??
    rangesProblem(ranges, entries) ??
    (kind === 'records' && ranges.columns.size > 0 ? 'ranges.columns: version records' : null) ??
    marksProblem(marks, ranges.entries, entries) ??
    (kind === 'segment' ? stretchesProblem(marks, ranges.entries) : null) ??
    blocksProblem(blocks, ranges)
  );
}

/** What a directory says otherwise than the manifest that names its table, or null. */
export function refProblem(directory: TableDirectory, ref: TableRef): string | null {
  const { entries, ranges, marks, length } = directory;
  const { offset, length: last } = ranges.postings;
  if (marks[0]?.path !== ref.first) return 'marks[0][0]: not the first path of the manifest';
  return (
    rangeProblem('entries', entries, ref.entries, ref.entries) ??
    (length + offset + last === ref.bytes
      ? null
      : `ranges: not the ${ref.bytes} bytes of the table`)
  );
}

/** Entries, columns by name and postings lie behind one another, as near as alignment lets them. */
function rangesProblem({ entries, columns, postings }: TableRanges, count: number): string | null {
  const least = count * ENTRY_BYTES_MIN;
  const problem =
    rangeProblem('ranges.entries[0]', entries.offset, 0, 0) ??
    rangeProblem('ranges.entries[1]', entries.length, least, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('ranges.columns', columns.size, 0, COLUMNS_MAX);
  if (problem !== null) return problem;
  let end = entries.length;
  let before = '';
  for (const [name, range] of columns) {
    if (!COLUMN_NAME.test(name)) return 'ranges.columns: a name that no column has';
    if (name <= before) return `ranges.columns.${name}: out of order`;
    const misplaced = placeProblem(`ranges.columns.${name}`, range, end);
    if (misplaced !== null) return misplaced;
    end = range.offset + range.length;
    before = name;
  }
  return placeProblem('ranges.postings', postings, end);
}

function placeProblem(field: string, { offset, length }: DataRange, end: number): string | null {
  const start = aligned(end);
  return (
    rangeProblem(`${field}[0]`, offset, start, start) ??
    rangeProblem(`${field}[1]`, length, 0, Number.MAX_SAFE_INTEGER - start)
  );
}

/** The first entry, and then each that is the first to begin at or behind a block's beginning. */
function marksProblem(marks: readonly Mark[], entries: DataRange, count: number): string | null {
  let before: Mark | null = null;
  for (const [index, mark] of marks.entries()) {
    const { path, row, offset }: Mark = mark;
    const name = `marks[${index}]`;
    const rows = before === null ? 0 : row - before.row;
    const bytes = before === null ? 0 : offset - before.offset;
    if (!isDocumentPath(path)) return `${name}[0]: not a canonical document path`;
    if (before === null) {
      if (row !== 0 || offset !== 0) return `${name}: not the first entry`;
    } else if (compareUtf8(before.path, path) >= 0) {
      return `${name}[0]: not ascending`;
    } else if (rows < 1 || bytes < rows * ENTRY_BYTES_MIN) {
      return `${name}: ${rows} entries in ${bytes} bytes`;
    } else if (Math.floor(offset / BLOCK_BYTES) === Math.floor(before.offset / BLOCK_BYTES)) {
      return `${name}[2]: no block begins since the mark before`;
    }
    before = mark;
  }
  if (before === null) return 'marks: empty';
  const rows = count - before.row;
  const bytes = entries.length - before.offset;
  if (rows < 1 || bytes < rows * ENTRY_BYTES_MIN) {
    return `marks[${marks.length - 1}]: ${rows} entries in ${bytes} bytes behind it`;
  }
  return null;
}

/** Entries of a segment have a limit, so marks are never far apart, and a read is never long. */
function stretchesProblem(marks: readonly Mark[], entries: DataRange): string | null {
  for (const [index, { offset }] of marks.entries()) {
    const boundary = (Math.floor(offset / BLOCK_BYTES) + 1) * BLOCK_BYTES;
    const end = marks[index + 1]?.offset ?? entries.length;
    if (end >= boundary + STATE_BYTES_MAX)
      return `marks[${index}]: ${end - offset} bytes to the next`;
  }
  return null;
}

function blocksProblem(blocks: readonly string[], { postings }: TableRanges): string | null {
  const needed = Math.ceil((postings.offset + postings.length) / BLOCK_BYTES);
  const problem = rangeProblem('blocks.length', blocks.length, needed, needed);
  if (problem !== null) return problem;
  for (const [index, hash] of blocks.entries()) {
    const odd = hashProblem(`blocks[${index}]`, hash);
    if (odd !== null) return odd;
  }
  return null;
}
