/**
 * Makes tables (`table.ts`) out of entries in order: what lies where, marks, hashes, and the
 * reference that a run manifest has of the table.
 */

import { assert } from '../bucketstore/base/assert.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { atOnce } from '../bucketstore/base/in-turns.ts';
import { decodeUtf8 } from '../bucketstore/document/text.ts';
import { BLOCK_BYTES } from './constants.ts';
import {
  type DataRange,
  dataLength,
  encodeDirectory,
  type Mark,
  type TableKind,
  type TableRanges,
  type TableRef,
} from './table-directory.ts';
import { compareBytes, type EntryCursor, entryBytes, writeEntry } from './table-entry.ts';
import { aligned } from './table-rules.ts';

/** Room that a builder begins with. */
const ROOM_BYTES = 262_144;

/** What lies behind the entries. */
export interface TableExtras {
  /** By name, as bytes; in any order. */
  readonly columns: ReadonlyMap<string, Uint8Array>;
  readonly postings: Uint8Array;
}

export interface BuiltTable {
  /** The object. */
  readonly bytes: Uint8Array;
  readonly ref: TableRef;
}

const NOTHING: Uint8Array = new Uint8Array(0);

/**
 * Makes tables out of entries, one after another; the same entries and extras make the same bytes.
 * Holds the entries of one table, in room that it keeps for the next.
 */
export class TableBuilder {
  readonly #kind: TableKind;
  readonly #epoch: number;
  #room: Uint8Array = new Uint8Array(ROOM_BYTES);
  #bytes = 0;
  #entries = 0;
  /** Where the last entry's path lies. */
  #lastStart = 0;
  #lastEnd = 0;
  #marks: Mark[] = [];
  /** The next entry that begins here or later is marked. */
  #nextMark = 0;

  /** @param epoch that the tables are written in */
  constructor(kind: TableKind, epoch: number) {
    this.#kind = kind;
    this.#epoch = epoch;
  }

  /** Entries since the last table. */
  get entries(): number {
    return this.#entries;
  }

  /** Bytes of these entries. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * @param path UTF-8, of a document
   * @param json canonical; what it says is its codec's to check
   * @throws InvariantError when the path does not sort behind the one before
   */
  add(path: Uint8Array, json: Uint8Array): void {
    const start = this.#grow(entryBytes(path.length, json.length));
    writeEntry(this.#room, start, path, json);
    this.#take(start, path.length);
  }

  /**
   * Adds the cursor's current entry, its bytes as they are.
   * @throws InvariantError when its path does not sort behind the one before
   */
  copy(cursor: EntryCursor): void {
    const { bytes, start, end, pathStart, jsonStart } = cursor;
    const at = this.#grow(end - start);
    this.#room.set(bytes.subarray(start, end), at);
    this.#take(at, jsonStart - pathStart);
  }

  /**
   * The table of the entries since the last one.
   * @throws InvariantError when there are none, or what lies behind them breaks a rule of the
   *   format
   */
  finish(extras: Partial<TableExtras> = {}): BuiltTable {
    return atOnce(this.finishing(extras));
  }

  /** The same in steps of some milliseconds. Nothing may be added meanwhile. */
  *finishing({ columns, postings }: Partial<TableExtras> = {}): Generator<undefined, BuiltTable> {
    assert(this.#entries > 0, 'a table of nothing');
    const ranges = this.#arrange(columns ?? new Map(), postings ?? NOTHING);
    const data = this.#room.subarray(0, dataLength(ranges));
    const [kind, entries, marks] = [this.#kind, this.#entries, this.#marks];
    const blocks = yield* blockHashes(data);
    const head = encodeDirectory({ kind, entries, ranges, marks, blocks });
    const bytes = new Uint8Array(head.length + data.length);
    bytes.set(head);
    bytes.set(data, head.length);
    yield;
    const ref: TableRef = {
      bytes: bytes.length,
      directory: { length: head.length, hash: sha256Hex(head) },
      entries,
      epoch: this.#epoch,
      first: marks[0]?.path ?? '',
      last: pathText(this.#room, this.#lastStart, this.#lastEnd),
      hash: sha256Hex(bytes),
    };
    this.#clear();
    return { bytes, ref };
  }

  /** Room for so many bytes more; where they begin. */
  #grow(bytes: number): number {
    const start = this.#bytes;
    const needed = start + bytes;
    if (needed > this.#room.length) {
      const room = new Uint8Array(Math.max(needed, this.#room.length * 2));
      room.set(this.#room.subarray(0, start));
      this.#room = room;
    }
    this.#bytes = needed;
    return start;
  }

  /** Notes the entry that was just written at `start`. */
  #take(start: number, pathBytes: number): void {
    const pathStart = start + entryBytes(0, 0);
    const pathEnd = pathStart + pathBytes;
    const room = this.#room;
    const isBehind =
      this.#entries === 0 ||
      compareBytes(room, this.#lastStart, this.#lastEnd, room, pathStart, pathEnd) < 0;
    assert(isBehind, () => `${pathText(room, pathStart, pathEnd)} is out of order`);
    if (start >= this.#nextMark) {
      const path = pathText(room, pathStart, pathEnd);
      this.#marks.push({ path, row: this.#entries, offset: start });
      this.#nextMark = (Math.floor(start / BLOCK_BYTES) + 1) * BLOCK_BYTES;
    }
    this.#entries += 1;
    this.#lastStart = pathStart;
    this.#lastEnd = pathEnd;
  }

  /** Puts what lies behind the entries there, and says where everything is. */
  #arrange(columns: TableExtras['columns'], postings: Uint8Array): TableRanges {
    const entries = { offset: 0, length: this.#bytes };
    // Names are ASCII: the engine's order is that of their bytes.
    const ordered = [...columns].sort(([a], [b]) => (a < b ? -1 : 1));
    const placed = new Map(ordered.map(([name, bytes]) => [name, this.#append(bytes)]));
    return { entries, columns: placed, postings: this.#append(postings) };
  }

  /** Puts bytes at the next multiple of 8, behind zeros. */
  #append(bytes: Uint8Array): DataRange {
    const end = this.#bytes;
    const offset = aligned(end);
    this.#grow(offset - end + bytes.length);
    // The room has the bytes of an earlier table.
    this.#room.fill(0, end, offset);
    this.#room.set(bytes, offset);
    return { offset, length: bytes.length };
  }

  #clear(): void {
    this.#bytes = 0;
    this.#entries = 0;
    this.#marks = [];
    this.#nextMark = 0;
  }
}

/** Bytes that are hashed in one step. */
const STEP_BYTES = 32 * BLOCK_BYTES;

function* blockHashes(data: Uint8Array): Generator<undefined, string[]> {
  const hashes: string[] = [];
  for (let at = 0; at < data.length; at += BLOCK_BYTES) {
    hashes.push(sha256Hex(data.subarray(at, at + BLOCK_BYTES)));
    if ((at + BLOCK_BYTES) % STEP_BYTES === 0) yield;
  }
  return hashes;
}

function pathText(bytes: Uint8Array, start: number, end: number): string {
  const text = decodeUtf8(bytes.subarray(start, end));
  assert(text !== null, 'a path that is not UTF-8');
  return text;
}
