/**
 * Makes a run's column set of its segments' columns. Holds of a segment, once it has been appended,
 * its words and tags and nothing else: these are merged at the end.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { HASH_BYTES } from './body-index.ts';
import { ByteSink, NumberSink, newNumbers, widthFor } from './column-bytes.ts';
import { importanceAt, type SegmentColumns } from './columns-reader.ts';
import { AncestorWatch } from './path-bytes.ts';
import { PathListBuilder } from './path-list.ts';
import { ResidentColumns, type ResidentParts } from './resident.ts';
import { PairList, Spans, TextList } from './spans.ts';
import { mergeWordLists, type WordListPart } from './word-list-builder.ts';

export class ResidentBuilder {
  readonly #rows: number;
  readonly #paths = new PathListBuilder();
  readonly #watch = new AncestorWatch();
  readonly #versions: Uint32Array;
  readonly #firsts: Uint32Array;
  readonly #flags: Uint8Array;
  readonly #bodies: Uint8Array;
  readonly #importances: Float64Array;
  readonly #modified: Uint32Array;
  readonly #modifiedHigh: Uint8Array;
  readonly #titleLengths: Uint16Array;
  readonly #titles = new ByteSink();
  readonly #pairCounts: Uint8Array;
  readonly #pairs = new NumberSink();
  readonly #words: WordListPart[] = [];
  readonly #tags: WordListPart[] = [];

  /** @param rows documents of the run, as its manifest says */
  constructor(rows: number) {
    this.#rows = rows;
    this.#versions = new Uint32Array(rows);
    this.#firsts = new Uint32Array(rows);
    this.#flags = new Uint8Array(rows);
    this.#bodies = new Uint8Array(rows * HASH_BYTES);
    this.#importances = new Float64Array(rows);
    this.#modified = new Uint32Array(rows);
    this.#modifiedHigh = new Uint8Array(rows);
    this.#titleLengths = new Uint16Array(rows);
    this.#pairCounts = new Uint8Array(rows);
  }

  /**
   * Appends the next segment's rows.
   * @throws StoreError INTEGRITY naming the segment when there are more than the run's rows, its
   *   paths do not follow the last one's, or a document lies below another
   */
  append(columns: SegmentColumns): void {
    const { object, rows, titles, pairs } = columns;
    const firstRow = this.#paths.count;
    if (firstRow + rows > this.#rows) {
      throw integrityError(object, `more than the ${this.#rows} documents of its run`);
    }
    this.#appendPaths(columns);
    this.#versions.set(columns.versions, firstRow);
    this.#firsts.set(columns.firsts, firstRow);
    this.#flags.set(columns.flags, firstRow);
    this.#bodies.set(columns.bodies, firstRow * HASH_BYTES);
    for (let row = 0; row < rows; row++) {
      this.#importances[firstRow + row] = importanceAt(columns, row);
    }
    this.#modified.set(columns.modified, firstRow);
    this.#modifiedHigh.set(columns.modifiedHigh, firstRow);
    this.#titleLengths.set(titles.spans.lengths, firstRow);
    this.#titles.append(titles.texts);
    this.#pairCounts.set(pairs.spans.lengths, firstRow);
    this.#pairs.append(pairs.hashes);
    this.#words.push({ list: columns.words.copy(), firstRow });
    this.#tags.push({ list: columns.tags.copy(), firstRow });
  }

  /**
   * The column set. Nothing is appended after this.
   * @throws InvariantError while rows are missing
   */
  finish(): ResidentColumns {
    const rows = this.#paths.count;
    assert(rows === this.#rows, () => `${rows} of ${this.#rows} documents of a run`);
    const isLate = this.#modifiedHigh.some((high) => high !== 0);
    return new ResidentColumns({
      paths: this.#paths.finish(),
      versions: this.#versions,
      firsts: this.#firsts,
      flags: this.#flags,
      bodies: this.#bodies,
      ...this.#placedImportances(),
      modified: this.#modified,
      modifiedHigh: isLate ? this.#modifiedHigh : new Uint8Array(),
      titles: new TextList(new Spans(this.#titleLengths), this.#titles.take()),
      words: mergeWordLists(this.#words),
      tags: mergeWordLists(this.#tags),
      pairs: new PairList(new Spans(this.#pairCounts), this.#pairs.take()),
    });
  }

  #appendPaths({ object, rows, paths }: SegmentColumns): void {
    const cursor = paths.cursor();
    for (let row = 0; row < rows; row++) {
      cursor.next();
      const { path, length } = cursor;
      const shared = this.#paths.append(path, length);
      if (shared < 0) throw integrityError(object, 'its paths are not behind those before it');
      if (this.#watch.isBelowDocument(path, length, shared)) {
        throw integrityError(object, `a document lies above ${cursor.text}`);
      }
    }
  }

  #placedImportances(): Pick<ResidentParts, 'importanceValues' | 'importances'> {
    const importanceValues = [...new Set(this.#importances)].sort((a, b) => a - b);
    const places = new Map(importanceValues.map((value, place) => [value, place]));
    const importances = newNumbers(widthFor(importanceValues.length), this.#rows);
    for (let row = 0; row < this.#rows; row++) {
      importances[row] = places.get(this.#importances[row] ?? 0) ?? 0;
    }
    return { importanceValues, importances };
  }
}
