/**
 * Entries of a table: a path, and JSON that does not repeat it.
 *
 *     u16 BE bytes of the path · u32 BE bytes of the JSON · path, UTF-8 · canonical JSON
 *
 * They follow each other without anything between, strictly ascending by path. Paths lie apart from
 * the JSON, so that tables are searched and merged by comparing bytes, and nothing is parsed that
 * nobody asked for. What the JSON says is `index-entry.ts`'s and `record-entry.ts`'s.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { PATH_BYTES_MAX } from '../bucketstore/document/path.ts';

/** Lengths in front of an entry. */
export const ENTRY_HEAD_BYTES = 6;
/** `{}`: no JSON is shorter. */
const JSON_BYTES_MIN = 2;
const U32_MAX = 0xffff_ffff;

/** An entry as it was found: views of what was read, not copies. */
export interface FoundEntry {
  /** Its number in the table, from 0. */
  readonly row: number;
  readonly path: Uint8Array;
  readonly json: Uint8Array;
}

/**
 * Negative, zero or positive as the bytes of `a` from `aStart` to `aEnd` sort before, with or after
 * those of `b`. A loop, because the engine's own comparison costs more than most paths are long.
 */
export function compareBytes(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const length = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < length; i++) {
    const difference = (a[aStart + i] ?? 0) - (b[bStart + i] ?? 0);
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
}

/**
 * Walks over entries that lie in a row, in place: where the current one lies is told as offsets
 * into `bytes`, so that a walk over a million makes no object for each. Checks lengths and order.
 */
export class EntryCursor {
  /** Key of the object that the entries are of, for errors. */
  readonly key: string;
  readonly bytes: Uint8Array;
  #row: number;
  #start = 0;
  #jsonStart = 0;
  #end = 0;

  /**
   * Stands before the first entry.
   * @param bytes whole entries and nothing else: a table's, or a stretch of them
   * @param firstRow the number of the first one in its table
   */
  constructor(key: string, bytes: Uint8Array, firstRow = 0) {
    this.key = key;
    this.bytes = bytes;
    this.#row = firstRow - 1;
  }

  /** Number of the current entry in its table. */
  get row(): number {
    return this.#row;
  }

  /** Where the current entry begins. */
  get start(): number {
    return this.#start;
  }

  get pathStart(): number {
    return this.#start + ENTRY_HEAD_BYTES;
  }

  /** Where its JSON begins and its path ends. */
  get jsonStart(): number {
    return this.#jsonStart;
  }

  get end(): number {
    return this.#end;
  }

  /** Path of the current entry: a view. */
  path(): Uint8Array {
    return this.bytes.subarray(this.pathStart, this.#jsonStart);
  }

  /** JSON of the current entry: a view. */
  json(): Uint8Array {
    return this.bytes.subarray(this.#jsonStart, this.#end);
  }

  /** The current entry: views. */
  found(): FoundEntry {
    return { row: this.#row, path: this.path(), json: this.json() };
  }

  /**
   * Goes on to the next entry; false when there is none.
   * @throws StoreError INTEGRITY when what follows is no entry, or does not sort behind this one
   */
  advance(): boolean {
    const { bytes } = this;
    const start = this.#end;
    if (start === bytes.length) return false;
    const pathStart = start + ENTRY_HEAD_BYTES;
    if (pathStart > bytes.length) this.#refuse(start, 'ends inside its lengths');
    const pathBytes = readU16(bytes, start);
    const jsonBytes = readU32(bytes, start + 2);
    const jsonStart = pathStart + pathBytes;
    const end = jsonStart + jsonBytes;
    if (pathBytes < 1 || pathBytes > PATH_BYTES_MAX || jsonBytes < JSON_BYTES_MIN) {
      this.#refuse(start, `a path of ${pathBytes} bytes and JSON of ${jsonBytes}`);
    }
    if (end > bytes.length) this.#refuse(start, 'ends beyond the entries');
    const isFirst = this.#end === 0;
    if (
      !isFirst &&
      compareBytes(bytes, pathStart, jsonStart, bytes, this.pathStart, this.#jsonStart) <= 0
    ) {
      this.#refuse(start, 'its path does not sort behind the one before');
    }
    this.#row += 1;
    this.#start = start;
    this.#jsonStart = jsonStart;
    this.#end = end;
    return true;
  }

  #refuse(at: number, problem: string): never {
    throw integrityError(this.key, `entry ${this.#row + 1}, ${at} bytes on: ${problem}`);
  }
}

/**
 * The entry of a path among entries that lie in a row, null when it has none. Looks at each before
 * it, so give it a stretch and not a table.
 * @param path UTF-8
 * @param firstRow number of the first of these entries in the table
 * @throws StoreError INTEGRITY naming `key` when the bytes up to it are no entries in order
 */
export function findEntry(
  key: string,
  bytes: Uint8Array,
  path: Uint8Array,
  firstRow = 0,
): FoundEntry | null {
  const cursor = new EntryCursor(key, bytes, firstRow);
  while (cursor.advance()) {
    const { pathStart, jsonStart } = cursor;
    const order = compareBytes(bytes, pathStart, jsonStart, path, 0, path.length);
    if (order === 0) return cursor.found();
    if (order > 0) return null;
  }
  return null;
}

/** Bytes of an entry with a path and JSON of these lengths. */
export function entryBytes(pathBytes: number, jsonBytes: number): number {
  return ENTRY_HEAD_BYTES + pathBytes + jsonBytes;
}

/**
 * Writes an entry at `at`; there must be room.
 * @throws InvariantError for lengths that no entry has
 */
export function writeEntry(
  target: Uint8Array,
  at: number,
  path: Uint8Array,
  json: Uint8Array,
): void {
  assert(path.length >= 1 && path.length <= PATH_BYTES_MAX, () => `a path of ${path.length} bytes`);
  assert(
    json.length >= JSON_BYTES_MIN && json.length <= U32_MAX,
    () => `JSON of ${json.length} bytes`,
  );
  target[at] = path.length >>> 8;
  target[at + 1] = path.length;
  target[at + 2] = json.length >>> 24;
  target[at + 3] = json.length >>> 16;
  target[at + 4] = json.length >>> 8;
  target[at + 5] = json.length;
  target.set(path, at + ENTRY_HEAD_BYTES);
  target.set(json, at + ENTRY_HEAD_BYTES + path.length);
}

function readU16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

function readU32(bytes: Uint8Array, at: number): number {
  return readU16(bytes, at) * 0x1_0000 + readU16(bytes, at + 2);
}
