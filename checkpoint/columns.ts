/**
 * The columns of a segment: what stays in memory of each of its documents, and what `list`,
 * `lookup` and look-ups by hash are answered from. Rows are the segment's entries, from 0.
 *
 * LAYOUT. Named ranges, numbers lowest byte first:
 *
 *     bodies             32 bytes a row: SHA-256 of the body
 *     firsts             32 bits a row: oldest retained version
 *     flags              8 bits a row: 1 archived, 2 a segment of the path is hidden
 *     importance_values  each distinct importance as `formatDecimal` spells it and a newline,
 *                        ascending
 *     importances        the place in these, from 0: 8, 16 or 32 bits a row, as few as the number
 *                        of values needs
 *     modified           32 bits a row: seconds, the low part
 *     modified_high      8 bits a row: seconds, the high part
 *     pair_counts        8 bits a row: how many distinct hashes the pairs of its metadata have
 *     pairs              32 bits each, ascending within a row: the first 32 bits of the SHA-256 of
 *                        `key=value`, as a big-endian number
 *     paths              see `path-list.ts`
 *     stored             32 bytes a row: SHA-256 of the current stored version
 *     tag_rows, tags     tags in lower case: see `word-list.ts`
 *     title_lengths      16 bits a row: bytes of the title
 *     titles             titles, UTF-8, one after another
 *     versions           32 bits a row: current version
 *     word_rows, words   the words of titles in lower case, split at white space: see
 *                        `word-list.ts`
 *
 * WHY. A document's row is a function of its path and state alone, and the words and values of a
 * segment one of its rows. So a merged segment's columns are made of those of its parts, row by
 * row, and are the same to the byte as if they had been made of its entries (I4).
 */
import { assert } from '../bucketstore/base/assert.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { formatDecimal } from '../bucketstore/document/decimal.ts';
import { importanceOf, type Metadata, splitTags } from '../bucketstore/document/metadata.ts';
import { lowerCase, splitSpace } from '../bucketstore/document/text.ts';
import type { DocumentState } from '../bucketstore/snapshot/state.ts';
import { HASH_BYTES } from './body-index.ts';
import { bytesOfNumbers, widthFor } from './column-bytes.ts';
import { ARCHIVED, COLUMN_NAMES, type ColumnName, HIDDEN } from './column-names.ts';
import { ByteSink, NumberSink } from './column-sinks.ts';
import { importanceAt, modifiedAt, type SegmentColumns } from './columns-reader.ts';
import { kindOfPath } from './path-bytes.ts';
import { PathListBuilder } from './path-list.ts';
import { WordListBuilder } from './word-list-builder.ts';

/** What a row says of a document. */
export type RowState = Omit<DocumentState, 'path'>;

/** The hash by which filters look for a pair; pairs may share one. */
export function pairHash(key: string, value: string): number {
  return Number.parseInt(sha256Hex(`${key}=${value}`).slice(0, 8), 16);
}

/** The distinct hashes of all pairs, ascending. */
function pairHashes(metadata: Metadata | null): Uint32Array {
  if (metadata === null) return new Uint32Array();
  const hashes = new Set<number>();
  for (const key of Object.keys(metadata)) hashes.add(pairHash(key, metadata[key] ?? ''));
  return Uint32Array.from(hashes).sort();
}

/** The words of a title that searches see, repeats included. */
export function titleWords(title: string): string[] {
  return splitSpace(lowerCase(title));
}

/** The tags that searches see, repeats included. */
export function searchTags(metadata: Metadata | null): string[] {
  return splitTags(metadata?.['tags'] ?? '').map(lowerCase);
}

/** The columns of documents that come in the order of their paths. */
export class ColumnsBuilder {
  readonly #paths = new PathListBuilder();
  readonly #versions = new NumberSink();
  readonly #firsts = new NumberSink();
  readonly #flags = new ByteSink();
  readonly #bodies = new ByteSink();
  readonly #stored = new ByteSink();
  readonly #importances: number[] = [];
  readonly #modified = new NumberSink();
  readonly #modifiedHigh = new ByteSink();
  readonly #titleLengths = new NumberSink();
  readonly #titles = new ByteSink();
  readonly #words = new WordListBuilder();
  readonly #tags = new WordListBuilder();
  readonly #pairCounts = new ByteSink();
  readonly #pairs = new NumberSink();

  /** Rows so far. */
  get rows(): number {
    return this.#paths.count;
  }

  /**
   * Appends a document's row.
   * @throws InvariantError unless `path` is a document path after the last one
   */
  add(path: string, state: RowState): void {
    const { current, first, archived, catalog } = state;
    const row = this.rows;
    const bytes = Buffer.from(path);
    const kind = kindOfPath(bytes, bytes.length);
    assert(kind !== 'invalid', () => `no document path: ${path}`);
    this.#addPath(bytes, bytes.length);
    this.#flags.byte((archived ? ARCHIVED : 0) | (kind === 'hidden' ? HIDDEN : 0));
    this.#addVersion(current.version, first, current.modified);
    this.#bodies.hex(current.bodyHash);
    this.#stored.hex(current.storedHash);
    this.#importances.push(importanceOf(catalog.metadata));
    this.#titleLengths.push(this.#titles.text(catalog.title));
    this.#words.add(row, titleWords(catalog.title));
    this.#tags.add(row, searchTags(catalog.metadata));
    this.#addPairs(pairHashes(catalog.metadata));
  }

  /**
   * Appends the row that other columns have of a document.
   * @throws InvariantError unless its path is after the last one
   */
  gather(columns: SegmentColumns, from: number): void {
    const row = this.rows;
    const { cursor } = columns;
    cursor.seek(from);
    this.#addPath(cursor.path, cursor.length);
    this.#flags.byte(columns.flags[from] ?? 0);
    const { versions, firsts } = columns;
    this.#addVersion(versions[from] ?? 0, firsts[from] ?? 0, modifiedAt(columns, from));
    this.#bodies.append(columns.bodies, from * HASH_BYTES, (from + 1) * HASH_BYTES);
    this.#stored.append(columns.stored, from * HASH_BYTES, (from + 1) * HASH_BYTES);
    this.#importances.push(importanceAt(columns, from));
    const title = columns.titles.bytesAt(from);
    this.#titles.append(title);
    this.#titleLengths.push(title.length);
    this.#words.copy(row, columns.words, from, columns.rows);
    this.#tags.copy(row, columns.tags, from, columns.rows);
    this.#addPairs(columns.pairs.at(from));
  }

  /** The columns by name, in the order of the names. No row comes after this. */
  finish(): ReadonlyMap<string, Uint8Array> {
    const values = [...new Set(this.#importances)].sort((a, b) => a - b);
    const places = new Map(values.map((value, place) => [value, place]));
    const importances = this.#importances.map((value) => places.get(value) ?? 0);
    const words = this.#words.finish();
    const tags = this.#tags.finish();
    const columns: Readonly<Record<ColumnName, Uint8Array>> = {
      bodies: this.#bodies.take(),
      firsts: bytesOfNumbers(this.#firsts.take(), 4),
      flags: this.#flags.take(),
      importance_values: Buffer.from(values.map((value) => `${formatDecimal(value)}\n`).join('')),
      importances: bytesOfNumbers(importances, widthFor(values.length)),
      modified: bytesOfNumbers(this.#modified.take(), 4),
      modified_high: this.#modifiedHigh.take(),
      pair_counts: this.#pairCounts.take(),
      pairs: bytesOfNumbers(this.#pairs.take(), 4),
      paths: this.#paths.take(),
      stored: this.#stored.take(),
      tag_rows: tags.rows,
      tags: tags.words,
      title_lengths: bytesOfNumbers(this.#titleLengths.take(), 2),
      titles: this.#titles.take(),
      versions: bytesOfNumbers(this.#versions.take(), 4),
      word_rows: words.rows,
      words: words.words,
    };
    return new Map(COLUMN_NAMES.map((name) => [name, columns[name]]));
  }

  #addPath(path: Uint8Array, length: number): void {
    assert(this.#paths.append(path, length) >= 0, 'paths of columns come in order');
  }

  #addVersion(version: number, first: number, modified: number): void {
    this.#versions.push(version);
    this.#firsts.push(first);
    this.#modified.push(modified % 2 ** 32);
    this.#modifiedHigh.byte(Math.floor(modified / 2 ** 32));
  }

  #addPairs(hashes: Uint32Array): void {
    this.#pairCounts.byte(hashes.length);
    this.#pairs.append(hashes);
  }
}
