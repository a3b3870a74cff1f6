/**
 * Words, and the rows of the documents that have them: the words of titles, and tags.
 *
 * LAYOUT. Two columns. *Words*: each distinct word and a newline, in byte order; none is empty, and
 * none has a newline. *Rows*: for each word, varint of how many rows have it (at least one), then
 * varints of the first row and of each further row's distance from the one before.
 *
 * WHY. A search for a part of a word is one run over the bytes of the words, which no match can
 * leave: what is looked for has no newline either.
 */
import { NEWLINE } from '../bucketstore/base/ascii.ts';
import { varintAt, varintBytes } from './column-bytes.ts';
import type { ByteSink } from './column-sinks.ts';

/** Which words each row has: the same as a `WordList`, the other way round. */
export interface WordsByRow {
  /** Row r has `words[starts[r], starts[r + 1])`, ascending. */
  readonly starts: Uint32Array;
  readonly words: Uint32Array;
}

/** How many rows have a word, the first of them, and the last. */
export interface RowsOfWord {
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

/** Immutable. Words are numbered from 0 in byte order. */
export class WordList {
  readonly size: number;
  readonly #bytes: Buffer;
  readonly #offsets: Uint32Array;
  readonly #rows: Uint8Array;
  readonly #starts: Uint32Array;
  #byRow: WordsByRow | undefined;

  /**
   * Of bytes that `readWordList` has checked, or that were made here.
   * @param bytes the words
   * @param offsets where each word begins, and where the last ends
   * @param rows the rows
   * @param starts where those of each word begin, and where the last ones end
   */
  constructor(bytes: Buffer, offsets: Uint32Array, rows: Uint8Array, starts: Uint32Array) {
    this.size = offsets.length - 1;
    this.#bytes = bytes;
    this.#offsets = offsets;
    this.#rows = rows;
    this.#starts = starts;
  }

  /** Bytes that it keeps. */
  get bytes(): number {
    const { byteLength } = this.#bytes;
    const words = byteLength + this.#offsets.byteLength;
    return words + this.#rows.byteLength + this.#starts.byteLength;
  }

  /** A word. */
  word(index: number): string {
    return this.#bytes.toString('utf8', this.#offsets[index], this.#end(index));
  }

  /** The number of a word, −1 when it is none of these. */
  find(word: string): number {
    const wanted = Buffer.from(word);
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = this.#offsets[middle] ?? 0;
      const order = this.#bytes.compare(wanted, 0, wanted.length, start, this.#end(middle));
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** Numbers of the words that have `part` in them, ascending. One run over all words. */
  *containing(part: string): Generator<number> {
    const wanted = Buffer.from(part);
    let index = 0;
    while (index < this.size && !wanted.includes(NEWLINE)) {
      const at = this.#bytes.indexOf(wanted, this.#offsets[index]);
      if (at < 0) return;
      index = this.#wordAt(at, index);
      if (index < this.size) yield index;
      index++;
    }
  }

  /** How many rows have a word. */
  count(index: number): number {
    return varintAt(this.#rows, this.#starts[index] ?? 0);
  }

  /** The rows that have a word, ascending. */
  rows(index: number): Uint32Array {
    const rows = new Uint32Array(this.count(index));
    let next = 0;
    this.visit(index, (row) => {
      rows[next++] = row;
    });
    return rows;
  }

  /** Calls `see` with each row that has a word, ascending. */
  visit(index: number, see: (row: number) => void): void {
    let at = this.#starts[index] ?? 0;
    const count = varintAt(this.#rows, at);
    at += varintBytes(count);
    let row = 0;
    for (let i = 0; i < count; i++) {
      const distance = varintAt(this.#rows, at);
      at += varintBytes(distance);
      row += distance;
      see(row);
    }
  }

  /** The words of each row; made at the first call and kept, so for lists that do not stay. */
  byRow(rowCount: number): WordsByRow {
    this.#byRow ??= this.#invert(rowCount);
    return this.#byRow;
  }

  /** Appends a word's bytes, its newline included. */
  copyWord(index: number, sink: ByteSink): void {
    sink.append(this.#bytes, this.#offsets[index], this.#offsets[index + 1]);
  }

  /** Appends the bytes of a word's rows after the first one. */
  copyRest(index: number, sink: ByteSink): RowsOfWord {
    let at = this.#starts[index] ?? 0;
    const count = varintAt(this.#rows, at);
    at += varintBytes(count);
    const first = varintAt(this.#rows, at);
    at += varintBytes(first);
    const end = this.#starts[index + 1] ?? 0;
    sink.append(this.#rows, at, end);
    let last = first;
    while (at < end) {
      const distance = varintAt(this.#rows, at);
      at += varintBytes(distance);
      last += distance;
    }
    return { count, first, last };
  }

  #end(index: number): number {
    return (this.#offsets[index + 1] ?? 1) - 1;
  }

  /** The word that holds a place in the bytes, at or after word `from`. */
  #wordAt(at: number, from: number): number {
    let low = from;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#offsets[middle + 1] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #invert(rowCount: number): WordsByRow {
    const starts = new Uint32Array(rowCount + 1);
    for (let word = 0; word < this.size; word++) {
      this.visit(word, (row) => {
        starts[row + 1] = (starts[row + 1] ?? 0) + 1;
      });
    }
    for (let row = 0; row < rowCount; row++) {
      starts[row + 1] = (starts[row + 1] ?? 0) + (starts[row] ?? 0);
    }
    const next = starts.slice(0, rowCount);
    const words = new Uint32Array(starts[rowCount] ?? 0);
    for (let word = 0; word < this.size; word++) {
      this.visit(word, (row) => {
        const place = next[row] ?? 0;
        words[place] = word;
        next[row] = place + 1;
      });
    }
    return { starts, words };
  }
}
