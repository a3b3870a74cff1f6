/**
 * A table: one object of a run. A *segment* (`.seg`) holds states of documents with the columns
 * made of them, a table of *version records* (`.rec`) holds those and no columns.
 *
 * LAYOUT
 *
 *     directory   one line of canonical JSON, newline:
 *
 *         { schema: 2, kind: 'segment' or 'records', entries: n,
 *           ranges: { entries: [offset, length], columns: { <name>: [offset, length]… },
 *                     postings: [offset, length] },
 *           marks: [[path, row, offset]…], blocks: [hash…] }
 *
 *     data        entries (`table-entry.ts`) · columns in the order of their names · postings
 *
 * Offsets count from the beginning of data. Entries begin there; each column and the postings
 * begin at the next multiple of 8, zeros between. `blocks` are the SHA-256 of each 64 KiB of data,
 * the last shorter. `marks` are the first entry and each that is the first to begin at or behind a
 * multiple of 64 KiB. `postings` are of sections, and empty until there are any.
 *
 * VALIDITY. At least one entry; paths strictly ascending by their bytes; every range, mark and hash
 * exactly as above; version records without columns. Length and hash of the object and of its
 * directory, the number of its entries, the first path and the last are as the run manifest says.
 *
 * READER. A path: `stretchOf`, `blocksFor`, one range request, `sliceBlocks`, `findEntry`. All of
 * it, for columns or to merge: `openTable`.
 *
 * WHY. A read of one path takes a block or two and verifies them, never the whole object. A mark's
 * offset is an entry's, so that a stretch of entries is read from its beginning; the row goes with
 * it, since columns are by row.
 */

import { sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { atOnce } from '../bucketstore/base/in-turns.ts';
import { isDocumentPath } from '../bucketstore/document/path.ts';
import { decodeUtf8 } from '../bucketstore/document/text.ts';
import { BLOCK_BYTES } from './constants.ts';
import { verifyBlocks } from './table-blocks.ts';
import { TableBuilder } from './table-builder.ts';
import {
  type DataRange,
  decodeDirectory,
  type TableDirectory,
  type TableKind,
  type TableRef,
} from './table-directory.ts';
import { EntryCursor } from './table-entry.ts';

/** A table that was read as a whole. */
export interface OpenedTable {
  readonly directory: TableDirectory;
  /** All of its data, verified: a view. */
  readonly data: Uint8Array;
}

/**
 * A whole table, checked: its directory by the manifest, its data by the directory's hashes.
 * @param bytes the object
 * @throws StoreError INTEGRITY naming the table; UNSUPPORTED_FORMAT for a newer schema
 */
export function openTable(kind: TableKind, ref: TableRef, bytes: Uint8Array): OpenedTable {
  return atOnce(openingTable(kind, ref, bytes));
}

/** Blocks that are verified in one step. */
const STEP_BLOCKS = 32;

/** The same in steps of some milliseconds. */
export function* openingTable(
  kind: TableKind,
  ref: TableRef,
  bytes: Uint8Array,
): Generator<undefined, OpenedTable> {
  const head = bytes.subarray(0, ref.directory.length);
  const directory = decodeDirectory(kind, ref, head);
  const data = bytes.subarray(head.length);
  if (bytes.length !== ref.bytes) {
    throw integrityError(directory.key, `${bytes.length} bytes, the manifest says ${ref.bytes}`);
  }
  for (let block = 0; block < directory.blocks.length; block += STEP_BLOCKS) {
    const start = block * BLOCK_BYTES;
    verifyBlocks(directory, block, data.subarray(start, start + STEP_BLOCKS * BLOCK_BYTES));
    yield;
  }
  return { directory, data };
}

/** The entries of an opened table, from the first on. */
export function entriesOf({ directory, data }: OpenedTable): EntryCursor {
  return new EntryCursor(directory.key, data.subarray(0, directory.ranges.entries.length));
}

/** The columns of an opened table by name: views. */
export function columnsOf({ directory, data }: OpenedTable): ReadonlyMap<string, Uint8Array> {
  const { columns } = directory.ranges;
  return new Map([...columns].map(([name, range]) => [name, slice(data, range)]));
}

/**
 * What `openTable` leaves out, for whoever verifies a world: the hash of the object, every entry's
 * place and order, the last path, and that the directory is the one that a builder makes.
 * @throws StoreError INTEGRITY naming the table
 */
export function verifyTable(kind: TableKind, ref: TableRef, bytes: Uint8Array): OpenedTable {
  const table = openTable(kind, ref, bytes);
  const { directory, data } = table;
  if (sha256Hex(bytes) !== ref.hash) {
    throw integrityError(directory.key, 'not the bytes of its name');
  }
  const builder = new TableBuilder(kind, ref.epoch);
  const cursor = entriesOf(table);
  while (cursor.advance()) {
    const path = decodeUtf8(cursor.path());
    if (path === null || !isDocumentPath(path)) {
      throw integrityError(directory.key, `entry ${cursor.row}: not a canonical document path`);
    }
    builder.copy(cursor);
  }
  const postings = slice(data, directory.ranges.postings);
  const built = builder.finish({ columns: columnsOf(table), postings });
  if (built.ref.hash !== ref.hash || built.ref.last !== ref.last) {
    throw integrityError(directory.key, 'not the table that its entries make');
  }
  return table;
}

function slice(data: Uint8Array, { offset, length }: DataRange): Uint8Array {
  return data.subarray(offset, offset + length);
}
