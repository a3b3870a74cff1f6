/** One run as a merge walks over it: where it stands, and what comes next. */
import { assert } from '../bucketstore/base/assert.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { type TableKind, type TableRef, tableKey } from './table-directory.ts';
import { compareBytes, type EntryCursor } from './table-entry.ts';

/** A table as a merge knows it before it is open. */
export interface MergeTable {
  /** For errors. */
  readonly key: string;
  /** Paths of its first and its last entry, UTF-8. */
  readonly first: Uint8Array;
  readonly last: Uint8Array;
}

/** A table of a manifest, as a merge knows it. */
export function mergeTable(kind: TableKind, ref: TableRef): MergeTable {
  const { first, last } = ref;
  return { key: tableKey(kind, ref), first: Buffer.from(first), last: Buffer.from(last) };
}

const NOTHING: Uint8Array = new Uint8Array(0);

/**
 * Stands before a table, on one of its entries, or at the end. The path that it stands on or before
 * is `bytes` from `start` to `end`: fields, because a merge compares them millions of times.
 */
export class MergeInput {
  bytes: Uint8Array = NOTHING;
  start = 0;
  end = 0;
  /** Stands on an entry; null before a table and at the end. */
  cursor: EntryCursor | null = null;
  readonly #tables: readonly MergeTable[];
  #object = -1;

  constructor(tables: readonly MergeTable[]) {
    this.#tables = tables;
    this.#enter();
  }

  /** Number of the table that it stands in or before, from 0. */
  get object(): number {
    return this.#object;
  }

  get hasEnded(): boolean {
    return this.#object >= this.#tables.length;
  }

  /** The table that it stands in or before. */
  get table(): MergeTable {
    const table = this.#tables[this.#object];
    assert(table !== undefined, 'a run that has ended');
    return table;
  }

  /** The table behind that one. */
  get next(): MergeTable | undefined {
    return this.#tables[this.#object + 1];
  }

  /** Negative, zero or positive as its path sorts before, with or after another. */
  compare(path: Uint8Array): number {
    return compareBytes(this.bytes, this.start, this.end, path, 0, path.length);
  }

  /** @param cursor before the first entry of the table that it stands before */
  open(cursor: EntryCursor): void {
    const { key, first } = this.table;
    assert(this.cursor === null, () => `${key} is open`);
    if (!cursor.advance() || compare(cursor, first) !== 0) {
      throw integrityError(key, 'its first path is not the one that its manifest says');
    }
    this.#stand(cursor);
  }

  /** Passes the table that it stands before. */
  pass(): void {
    assert(this.cursor === null, () => `${this.table.key} is open`);
    this.#enter();
  }

  /** To the next entry of the table that it stands in, or before the next table. */
  advance(): void {
    const { cursor } = this;
    assert(cursor !== null, 'stands on no entry');
    if (cursor.advance()) {
      this.#stand(cursor);
      return;
    }
    const { key, last } = this.table;
    if (compare(cursor, last) !== 0) {
      throw integrityError(key, 'its last path is not the one that its manifest says');
    }
    this.#enter();
  }

  #stand(cursor: EntryCursor): void {
    this.cursor = cursor;
    this.bytes = cursor.bytes;
    this.start = cursor.pathStart;
    this.end = cursor.jsonStart;
  }

  /** Before the next table; at the end, behind the last. */
  #enter(): void {
    const before = this.#tables[this.#object];
    this.#object += 1;
    this.cursor = null;
    const table = this.#tables[this.#object];
    this.bytes = table?.first ?? NOTHING;
    this.start = 0;
    this.end = this.bytes.length;
    if (table === undefined || before === undefined || this.compare(before.last) > 0) return;
    throw integrityError(table.key, 'its first path does not sort behind the table before');
  }
}

function compare(cursor: EntryCursor, path: Uint8Array): number {
  return compareBytes(cursor.bytes, cursor.pathStart, cursor.jsonStart, path, 0, path.length);
}
