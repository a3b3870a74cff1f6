/**
 * What rows have a varying amount of: texts of titles, hashes of metadata pairs. Only the lengths
 * are kept for each row; where a row begins is a sum from the last of the sparse marks.
 */
import type { Numbers } from './column-bytes.ts';

/** Rows from one mark to the next. */
const MARK_ROWS = 16;

/** Where each row begins in what all rows together have. */
export class Spans {
  readonly lengths: Numbers;
  /** The sum of all lengths. */
  readonly total: number;
  readonly #marks: Uint32Array;

  constructor(lengths: Numbers) {
    this.lengths = lengths;
    this.#marks = new Uint32Array(Math.ceil(lengths.length / MARK_ROWS));
    let total = 0;
    for (let row = 0; row < lengths.length; row++) {
      if (row % MARK_ROWS === 0) this.#marks[row / MARK_ROWS] = total;
      total += lengths[row] ?? 0;
    }
    this.total = total;
  }

  get bytes(): number {
    return this.lengths.byteLength + this.#marks.byteLength;
  }

  /** Where a row begins. */
  start(row: number): number {
    const mark = Math.floor(row / MARK_ROWS);
    let start = this.#marks[mark] ?? 0;
    for (let i = mark * MARK_ROWS; i < row; i++) start += this.lengths[i] ?? 0;
    return start;
  }

  /** Where a row ends. */
  end(row: number): number {
    return this.start(row) + (this.lengths[row] ?? 0);
  }
}

/** A text for each row. */
export class TextList {
  readonly spans: Spans;
  /** All of them, UTF-8, one after another. */
  readonly texts: Buffer;

  constructor(spans: Spans, texts: Buffer) {
    this.spans = spans;
    this.texts = texts;
  }

  get bytes(): number {
    return this.spans.bytes + this.texts.byteLength;
  }

  at(row: number): string {
    const start = this.spans.start(row);
    return this.texts.toString('utf8', start, start + (this.spans.lengths[row] ?? 0));
  }

  /** The text of a row as UTF-8. A view. */
  bytesAt(row: number): Uint8Array {
    return this.texts.subarray(this.spans.start(row), this.spans.end(row));
  }
}

/** Hashes of `key=value` for each row: 32 bits each, ascending. */
export class PairList {
  readonly spans: Spans;
  /** All of them, one row after another. */
  readonly hashes: Uint32Array;

  constructor(spans: Spans, hashes: Uint32Array) {
    this.spans = spans;
    this.hashes = hashes;
  }

  get bytes(): number {
    return this.spans.bytes + this.hashes.byteLength;
  }

  /** The hashes of a row. A view. */
  at(row: number): Uint32Array {
    return this.hashes.subarray(this.spans.start(row), this.spans.end(row));
  }

  /** Rows that have a hash, and so perhaps its pair; ascending. One run over all hashes. */
  *rowsWith(hash: number): Generator<number> {
    const { lengths } = this.spans;
    let row = 0;
    let end = lengths[0] ?? 0;
    let at = this.hashes.indexOf(hash);
    while (at >= 0) {
      while (at >= end) end += lengths[++row] ?? 0;
      yield row;
      at = this.hashes.indexOf(hash, end);
    }
  }
}
