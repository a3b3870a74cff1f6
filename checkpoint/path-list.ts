/**
 * Paths in order, each written as how it differs from the one before: about twenty bytes a path,
 * without an object for any.
 *
 * LAYOUT. For each path, in byte order: varint of the bytes it shares with the path before it (as
 * many as there are, but 0 for every sixteenth, which begins a *block*), varint of the bytes that
 * follow, and those.
 *
 * READER. Binary search over the first paths of the blocks, then along one block: since what is
 * shared is exact, a step needs the bytes of the path itself only where it shares as much with its
 * predecessor as that does with what is looked for.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { PATH_BYTES_MAX } from '../bucketstore/document/path.ts';
import { varintAt, varintBytes } from './column-bytes.ts';
import { ByteSink, NumberSink } from './column-sinks.ts';

/** Paths of a block. */
export const BLOCK_PATHS = 16;

/** Room of a cursor, until it meets a path that is longer. */
const CURSOR_BYTES = 256;

/** Immutable; reads are repeatable. Rows count from 0. */
export class PathList {
  readonly length: number;
  readonly #bytes: Uint8Array;
  /** Where each block begins. */
  readonly #blocks: Uint32Array;
  readonly #reader: PathCursor;

  /** Of bytes that `readPathList` has checked, or that `PathListBuilder` made. */
  constructor(length: number, bytes: Uint8Array, blocks: Uint32Array) {
    this.length = length;
    this.#bytes = bytes;
    this.#blocks = blocks;
    this.#reader = this.cursor();
  }

  /** Bytes that it keeps. */
  get bytes(): number {
    return this.#bytes.byteLength + this.#blocks.byteLength;
  }

  /** The row of a path, −1 when it is none of these. `path` is well formed. */
  find(path: string): number {
    return Math.max(-1, this.search(Buffer.from(path)));
  }

  /** The row of the first path at or after `path` by bytes; `length` when there is none. */
  lowerBound(path: string): number {
    const row = this.search(Buffer.from(path));
    return row < 0 ? ~row : row;
  }

  /** The row of the path of these bytes, or ~r for the row r of the first path after it. */
  search(path: Uint8Array): number {
    const bytes = this.#bytes;
    let low = 0;
    let high = this.#blocks.length;
    // What the last lesser and the last greater one have in common with `path`, all between have.
    let lowShared = 0;
    let highShared = 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      // One byte says that nothing is shared.
      const lengthAt = (this.#blocks[middle] ?? 0) + 1;
      const length = varintAt(bytes, lengthAt);
      const start = lengthAt + varintBytes(length);
      const common = Math.min(length, path.length);
      let shared = Math.min(lowShared, highShared);
      while (shared < common && bytes[start + shared] === path[shared]) shared++;
      if (shared === length && shared === path.length) return middle * BLOCK_PATHS;
      const isLess =
        shared === common
          ? length < path.length
          : (bytes[start + shared] ?? 0) < (path[shared] ?? 0);
      if (isLess) {
        low = middle + 1;
        lowShared = shared;
      } else {
        high = middle;
        highShared = shared;
      }
    }
    return low === 0 ? ~0 : this.#searchBlock(low - 1, path);
  }

  /** The path of a row. Rows read in order cost the bytes in which they differ. */
  at(row: number): string {
    this.#reader.seek(row);
    return this.#reader.text;
  }

  /** Another reader of them. */
  cursor(): PathCursor {
    return new PathCursor(this.length, this.#bytes, this.#blocks);
  }

  /** Along a block whose first path is less than `path`. */
  #searchBlock(block: number, path: Uint8Array): number {
    const bytes = this.#bytes;
    let row = block * BLOCK_PATHS;
    const end = Math.min(row + BLOCK_PATHS, this.length);
    let at = this.#blocks[block] ?? 0;
    // Bytes that the row before has in common with `path`, which is greater than it.
    let matched = 0;
    for (; row < end; row++) {
      const shared = varintAt(bytes, at);
      at += varintBytes(shared);
      const length = varintAt(bytes, at);
      at += varintBytes(length);
      const next = at + length;
      if (shared < matched) return ~row;
      if (shared === matched) {
        while (at < next && matched < path.length && bytes[at] === path[matched]) {
          at++;
          matched++;
        }
        if (matched === path.length) return at === next ? row : ~row;
        if (at < next && (bytes[at] ?? 0) > (path[matched] ?? 0)) return ~row;
      }
      at = next;
    }
    return ~row;
  }
}

/** A place in a list of paths: nowhere, until it is told. */
export class PathCursor {
  /** The path of the row is `path[0, length)`, until the cursor moves. */
  path: Buffer = Buffer.allocUnsafe(CURSOR_BYTES);
  length = 0;
  row = -1;
  readonly #rows: number;
  readonly #bytes: Uint8Array;
  readonly #blocks: Uint32Array;
  /** Where the next row begins. */
  #at = 0;

  constructor(rows: number, bytes: Uint8Array, blocks: Uint32Array) {
    this.#rows = rows;
    this.#bytes = bytes;
    this.#blocks = blocks;
  }

  /** The path as text. */
  get text(): string {
    return this.path.toString('utf8', 0, this.length);
  }

  /** To a row: along the rows from where it is, or from where the row's block begins. */
  seek(row: number): void {
    const inBlock = row % BLOCK_PATHS;
    if (row < this.row || row - this.row > inBlock) {
      this.#at = this.#blocks[(row - inBlock) / BLOCK_PATHS] ?? 0;
      this.row = row - inBlock - 1;
    }
    while (this.row < row) this.next();
  }

  /** To the next row, which there must be. */
  next(): void {
    assert(this.row + 1 < this.#rows, () => `row ${this.row + 1} of ${this.#rows}`);
    const bytes = this.#bytes;
    const shared = varintAt(bytes, this.#at);
    const lengthAt = this.#at + varintBytes(shared);
    const length = varintAt(bytes, lengthAt);
    const start = lengthAt + varintBytes(length);
    if (shared + length > this.path.length) {
      this.path = Buffer.concat([this.path.subarray(0, shared)], PATH_BYTES_MAX);
    }
    const { path } = this;
    for (let i = 0; i < length; i++) path[shared + i] = bytes[start + i] ?? 0;
    this.#at = start + length;
    this.length = shared + length;
    this.row++;
  }
}

/** Makes a list of paths that come in order. */
export class PathListBuilder {
  readonly #sink = new ByteSink();
  readonly #blocks = new NumberSink();
  readonly #last: Buffer = Buffer.allocUnsafe(PATH_BYTES_MAX);
  #lastLength = 0;
  #count = 0;

  /** Paths so far. */
  get count(): number {
    return this.#count;
  }

  /**
   * Appends `path[0, length)`, when it is greater than the last one.
   * @returns the bytes that it shares with the one before, −1 when it is not greater
   */
  append(path: Uint8Array, length: number): number {
    const last = this.#last;
    const common = Math.min(length, this.#lastLength);
    let shared = 0;
    while (shared < common && path[shared] === last[shared]) shared++;
    if (shared === length) return -1;
    if (shared < this.#lastLength && (path[shared] ?? 0) < (last[shared] ?? 0)) return -1;
    const begins = this.#count % BLOCK_PATHS === 0;
    if (begins) this.#blocks.push(this.#sink.length);
    const start = begins ? 0 : shared;
    this.#sink.varint(start);
    this.#sink.varint(length - start);
    this.#sink.append(path, start, length);
    for (let i = shared; i < length; i++) last[i] = path[i] ?? 0;
    this.#lastLength = length;
    this.#count++;
    return shared;
  }

  /** The list as it is written. */
  take(): Buffer {
    return this.#sink.take();
  }

  /** The list, to read, in steps. */
  *finishing(): Generator<undefined, PathList> {
    return new PathList(this.#count, yield* this.#sink.taking(), this.#blocks.take());
  }
}
