/**
 * Reads the columns of one segment, strictly: what is accepted is what `ColumnsBuilder` makes of
 * some documents, as far as lengths, orders and ranges tell, so that no later read leaves a column.
 * (That the bytes are those that were written is for the hashes of their blocks to say.)
 */
import { integrityError } from '../bucketstore/base/errors.ts';
import { TITLE_BYTES_MAX } from '../bucketstore/document/catalog.ts';
import { isCanonicalDecimal } from '../bucketstore/document/decimal.ts';
import { METADATA_KEYS_MAX } from '../bucketstore/document/metadata.ts';
import { isUtf8 } from '../bucketstore/document/text.ts';
import { SECONDS_MAX } from '../bucketstore/log/entry-rules.ts';
import { VERSION_MAX } from '../bucketstore/log/records.ts';
import { HASH_BYTES } from './body-index.ts';
import { bufferOf, type Numbers, numbersOfBytes, type Width, widthFor } from './column-bytes.ts';
import { ARCHIVED, COLUMN_NAMES, type ColumnName, HIDDEN } from './column-names.ts';
import { readPathList, readWordList } from './list-readers.ts';
import type { PathCursor, PathList } from './path-list.ts';
import { PairList, Spans, TextList } from './spans.ts';
import type { WordList } from './word-list.ts';

/** The columns of one segment. */
export interface SegmentColumns {
  /** Key of the segment, for errors. */
  readonly object: string;
  readonly rows: number;
  readonly paths: PathList;
  /** For whoever reads paths row by row. */
  readonly cursor: PathCursor;
  readonly versions: Uint32Array;
  readonly firsts: Uint32Array;
  readonly flags: Uint8Array;
  /** 32 bytes a row. */
  readonly bodies: Uint8Array;
  /** 32 bytes a row. */
  readonly stored: Uint8Array;
  /** Ascending. */
  readonly importanceValues: readonly number[];
  /** Places in these. */
  readonly importances: Numbers;
  readonly modified: Uint32Array;
  readonly modifiedHigh: Uint8Array;
  readonly titles: TextList;
  readonly words: WordList;
  readonly tags: WordList;
  readonly pairs: PairList;
}

/**
 * The columns in the named ranges of a segment. Keeps views of them where it can.
 * @param object key of the segment, for errors
 * @param rows entries of the segment
 * @param ranges the bytes of each column by name
 * @throws StoreError INTEGRITY naming the object and the column
 */
export function readColumns(
  object: string,
  rows: number,
  ranges: ReadonlyMap<string, Uint8Array>,
): SegmentColumns {
  const reader = new Reader(object, rows, ranges);
  reader.checkNames();
  const flags = reader.flags();
  const paths = readPathList(reader.column('paths'), rows, flags, reader.refusalOf('paths'));
  return {
    object,
    rows,
    paths,
    cursor: paths.cursor(),
    ...reader.versions(),
    flags,
    bodies: reader.ofRows('bodies', HASH_BYTES),
    stored: reader.ofRows('stored', HASH_BYTES),
    ...reader.importances(),
    ...reader.modified(),
    titles: reader.titles(),
    words: reader.wordList('words', 'word_rows'),
    tags: reader.wordList('tags', 'tag_rows'),
    pairs: reader.pairs(),
  };
}

/** Seconds at which the document of a row was modified. */
export function modifiedAt(
  { modified, modifiedHigh }: Pick<SegmentColumns, 'modified' | 'modifiedHigh'>,
  row: number,
): number {
  return (modifiedHigh[row] ?? 0) * 2 ** 32 + (modified[row] ?? 0);
}

/** The importance of the document of a row. */
export function importanceAt(
  { importanceValues, importances }: Pick<SegmentColumns, 'importanceValues' | 'importances'>,
  row: number,
): number {
  return importanceValues[importances[row] ?? 0] ?? 0;
}

class Reader {
  readonly #object: string;
  readonly #rows: number;
  readonly #ranges: ReadonlyMap<string, Uint8Array>;

  constructor(object: string, rows: number, ranges: ReadonlyMap<string, Uint8Array>) {
    this.#object = object;
    this.#rows = rows;
    this.#ranges = ranges;
  }

  checkNames(): void {
    const names: readonly string[] = COLUMN_NAMES;
    for (const name of this.#ranges.keys()) {
      if (!names.includes(name)) throw integrityError(this.#object, `columns: unknown, ${name}`);
    }
  }

  column(name: ColumnName): Uint8Array {
    return this.#ranges.get(name) ?? this.#refuse(name, 'missing');
  }

  /** How to refuse a column. */
  refusalOf(name: ColumnName): (problem: string) => never {
    return (problem) => this.#refuse(name, problem);
  }

  /** A column of so many bytes a row. */
  ofRows(name: ColumnName, rowBytes: number): Uint8Array {
    const bytes = this.column(name);
    if (bytes.length === this.#rows * rowBytes) return bytes;
    return this.#refuse(name, `${bytes.length} bytes for ${this.#rows} rows`);
  }

  flags(): Uint8Array {
    const flags = this.ofRows('flags', 1);
    this.#each('flags', flags, (value) => value <= (ARCHIVED | HIDDEN));
    return flags;
  }

  versions(): Pick<SegmentColumns, 'versions' | 'firsts'> {
    const versions = numbersOfBytes(this.ofRows('versions', 4), 4);
    const firsts = numbersOfBytes(this.ofRows('firsts', 4), 4);
    this.#each('versions', versions, (version) => version >= 1 && version <= VERSION_MAX);
    this.#each('firsts', firsts, (first, row) => first >= 1 && first <= (versions[row] ?? 0));
    return { versions, firsts };
  }

  modified(): Pick<SegmentColumns, 'modified' | 'modifiedHigh'> {
    const modified = numbersOfBytes(this.ofRows('modified', 4), 4);
    const modifiedHigh = this.ofRows('modified_high', 1);
    const columns = { modified, modifiedHigh };
    this.#each('modified', modified, (_, row) => modifiedAt(columns, row) <= SECONDS_MAX);
    return columns;
  }

  importances(): Pick<SegmentColumns, 'importanceValues' | 'importances'> {
    const text = bufferOf(this.column('importance_values')).toString('latin1');
    const lines = text === '' ? [] : text.split('\n');
    if (lines.pop() !== '' && text !== '')
      this.#refuse('importance_values', 'no newline at the end');
    const importanceValues = lines.map(Number);
    for (const [i, line] of lines.entries()) {
      const ascends = i === 0 || (importanceValues[i - 1] ?? 0) < (importanceValues[i] ?? 0);
      if (!isCanonicalDecimal(line) || !ascends) this.#refuse('importance_values', `value ${i}`);
    }
    const width: Width = widthFor(lines.length);
    const importances = numbersOfBytes(this.ofRows('importances', width), width);
    this.#each('importances', importances, (place) => place < lines.length);
    if (new Set(importances).size < lines.length)
      this.#refuse('importance_values', 'one is unused');
    return { importanceValues, importances };
  }

  titles(): TextList {
    const lengths = numbersOfBytes(this.ofRows('title_lengths', 2), 2);
    this.#each('title_lengths', lengths, (length) => length >= 1 && length <= TITLE_BYTES_MAX);
    const spans = new Spans(lengths);
    const titles = this.#ofTotal('titles', spans.total);
    if (!isUtf8(titles)) this.#refuse('titles', 'not well-formed UTF-8');
    let start = 0;
    for (const length of lengths) {
      // 10xxxxxx is the inside of a code point.
      if (((titles[start] ?? 0) & 0xc0) === 0x80) this.#refuse('titles', 'a code point is cut');
      start += length;
    }
    return new TextList(spans, bufferOf(titles));
  }

  pairs(): PairList {
    const counts = this.ofRows('pair_counts', 1);
    this.#each('pair_counts', counts, (count) => count <= METADATA_KEYS_MAX);
    const spans = new Spans(counts);
    const hashes = numbersOfBytes(this.#ofTotal('pairs', spans.total * 4), 4);
    let start = 0;
    for (const count of counts) {
      for (let i = start + 1; i < start + count; i++) {
        if ((hashes[i - 1] ?? 0) >= (hashes[i] ?? 0))
          this.#refuse('pairs', `hash ${i} out of order`);
      }
      start += count;
    }
    return new PairList(spans, hashes);
  }

  wordList(words: ColumnName, rows: ColumnName): WordList {
    const refusals = { words: this.refusalOf(words), rows: this.refusalOf(rows) };
    return readWordList(this.column(words), this.column(rows), this.#rows, refusals);
  }

  #ofTotal(name: ColumnName, total: number): Uint8Array {
    const bytes = this.column(name);
    return bytes.length === total
      ? bytes
      : this.#refuse(name, `${bytes.length} bytes, not ${total}`);
  }

  #each(name: ColumnName, numbers: Numbers, fits: (value: number, row: number) => boolean): void {
    for (let row = 0; row < numbers.length; row++) {
      const value = numbers[row] ?? 0;
      if (!fits(value, row)) this.#refuse(name, `row ${row}: ${value} is out of range`);
    }
  }

  #refuse(name: ColumnName, problem: string): never {
    throw integrityError(this.#object, `column ${name}: ${problem}`);
  }
}
