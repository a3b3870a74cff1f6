/**
 * The directory of a table: what lies where in it, and the hash of each of its blocks, so that any
 * range is read and verified without the rest (`table-blocks.ts`). `table.ts` has the layout.
 */
import { NEWLINE } from '../bucketstore/base/ascii.ts';
import { assert } from '../bucketstore/base/assert.ts';
import { canonicalText, type Json } from '../bucketstore/base/canonical.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { SCHEMA } from '../bucketstore/log/format.ts';
import { keyOf, parseKey } from '../bucketstore/log/names.ts';
import { readSchemaObject } from '../bucketstore/log/schema-object.ts';
import { assertCanonical, Fields, isInteger, type JsonBounds } from '../bucketstore/log/strict.ts';
import { directoryProblem, refProblem } from './table-rules.ts';

/** States of documents (`.seg`), or version records (`.rec`). */
export type TableKind = 'segment' | 'records';

/** A table as a run manifest names it. */
export interface TableRef {
  /** Length of the object. */
  readonly bytes: number;
  readonly directory: { readonly length: number; readonly hash: string };
  readonly entries: number;
  readonly epoch: number;
  /** Path of its first and of its last entry. */
  readonly first: string;
  readonly last: string;
  /** SHA-256 of the object, 64 hex. */
  readonly hash: string;
}

/** Bytes of a table's data, which begins behind the directory. */
export interface DataRange {
  readonly offset: number;
  readonly length: number;
}

/** An entry that begins at or behind a block's beginning, and none before it does. */
export interface Mark {
  readonly path: string;
  readonly row: number;
  /** Where it begins in the entries, which begin where the data does. */
  readonly offset: number;
}

export interface TableDirectory {
  /** Key of the table, for errors. */
  readonly key: string;
  readonly kind: TableKind;
  readonly entries: number;
  readonly ranges: TableRanges;
  readonly marks: readonly Mark[];
  /** SHA-256 of each 64 KiB of data, the last of what is left; 64 hex. */
  readonly blocks: readonly string[];
  /** Its own length: where data begins in the object. */
  readonly length: number;
}

export interface TableRanges {
  readonly entries: DataRange;
  /** By name, in the order of the names, in which they lie too. */
  readonly columns: ReadonlyMap<string, DataRange>;
  readonly postings: DataRange;
}

/** 128 marks of paths of 4 KB in JSON, and a hash for each block of an entry of 256 MiB. */
export const DIRECTORY_BYTES_MAX = 4_194_304;

const TYPES = { segment: 'seg', records: 'rec' } as const;

/** The key of a table. */
export function tableKey(
  kind: TableKind,
  { epoch, hash }: Pick<TableRef, 'epoch' | 'hash'>,
): string {
  return keyOf({ kind: 'index', type: TYPES[kind], epoch, hash });
}

/**
 * The epoch that a table was written in: nothing that it says names a younger object.
 * @throws InvariantError for a key that is no table's
 */
export function epochOfTable(key: string): number {
  const name = parseKey(key);
  assert(name?.kind === 'index', () => `${key} is no table's key`);
  return name.epoch;
}

/** Length of a table's data: postings are the last of it. */
export function dataLength({ postings }: TableRanges): number {
  return postings.offset + postings.length;
}

/**
 * The bytes of a directory. A pure function.
 * @throws InvariantError when it would break a rule of the format
 */
export function encodeDirectory(directory: Omit<TableDirectory, 'key' | 'length'>): Uint8Array {
  const problem = directoryProblem(directory);
  assert(problem === null, () => `table directory: ${problem}`);
  const bytes = Buffer.from(`${directoryText(directory)}\n`);
  assert(bytes.length <= DIRECTORY_BYTES_MAX, () => `a directory of ${bytes.length} bytes`);
  return bytes;
}

/**
 * The directory of a table, checked against what its manifest says of it.
 * @param bytes the first `ref.directory.length` bytes of the object
 * @throws StoreError INTEGRITY naming the table; UNSUPPORTED_FORMAT for a newer schema
 */
export function decodeDirectory(kind: TableKind, ref: TableRef, bytes: Uint8Array): TableDirectory {
  const key = tableKey(kind, ref);
  const { length, hash } = ref.directory;
  if (bytes.length !== length || sha256Hex(bytes) !== hash) {
    throw integrityError(
      key,
      `${bytes.length} bytes are not the directory that its manifest names`,
    );
  }
  if (bytes.at(-1) !== NEWLINE) throw integrityError(key, 'no end of the directory');
  const bounds: JsonBounds = { bytesMax: DIRECTORY_BYTES_MAX, depthMax: 4, commasMax: length / 4 };
  const { text, fields } = readSchemaObject(key, bytes.subarray(0, -1), bounds);
  const directory = readDirectory(key, fields, length);
  if (directory.kind !== kind) fields.fail('kind', `the name says ${kind}`);
  const problem = directoryProblem(directory) ?? refProblem(directory, ref);
  if (problem !== null) return fields.refuse(problem);
  assertCanonical(key, text, directoryText(directory));
  return directory;
}

function readDirectory(key: string, fields: Fields, length: number): TableDirectory {
  const kind = fields.choice('kind', ['segment', 'records']);
  const entries = fields.integer('entries');
  const places = fields.object('ranges');
  const ranges: TableRanges = {
    entries: readRange(places, 'entries'),
    columns: readColumns(key, places.path('columns'), places.json('columns')),
    postings: readRange(places, 'postings'),
  };
  places.end();
  const marks = fields.array('marks').map((item, index): Mark => {
    const [path, row, offset, ...rest] = Array.isArray(item) ? item : [];
    if (typeof path !== 'string' || !isInteger(row) || !isInteger(offset) || rest.length > 0) {
      return fields.fail(`marks[${index}]`, 'not a path, a row and an offset');
    }
    return { path, row, offset };
  });
  const blocks = fields.array('blocks').map((item, index) => {
    return typeof item === 'string' ? item : fields.fail(`blocks[${index}]`, 'not a string');
  });
  fields.end();
  return { key, kind, entries, ranges, marks, blocks, length };
}

function readColumns(key: string, path: string, value: Json): Map<string, DataRange> {
  const fields = new Fields(key, path, value);
  const names = Object.keys(value as object);
  return new Map(names.map((name) => [name, readRange(fields, name)]));
}

function readRange(fields: Fields, name: string): DataRange {
  const [offset, length, ...rest] = fields.array(name);
  if (!isInteger(offset) || !isInteger(length) || rest.length > 0) {
    return fields.fail(name, 'not an offset and a length');
  }
  return { offset, length };
}

function directoryText(directory: Omit<TableDirectory, 'key' | 'length'>): string {
  const { blocks, entries, kind, marks, ranges } = directory;
  const columns = [...ranges.columns].map(([name, range]) => [name, rangeJson(range)] as const);
  return canonicalText({
    blocks,
    entries,
    kind,
    marks: marks.map(({ path, row, offset }) => [path, row, offset]),
    ranges: {
      columns: Object.fromEntries(columns),
      entries: rangeJson(ranges.entries),
      postings: rangeJson(ranges.postings),
    },
    schema: SCHEMA,
  });
}

function rangeJson({ offset, length }: DataRange): Json {
  return [offset, length];
}
