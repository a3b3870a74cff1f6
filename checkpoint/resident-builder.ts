/**
 * Makes a run's column set of its segments' columns, in steps of some milliseconds: a segment is
 * one, and what is left when all have come can be done in steps too. Keeps no view of a segment.
 */

import { assert } from '../bucketstore/base/assert.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { atOnce } from '../bucketstore/base/in-turns.ts';
import { BodyIndex, HASH_BYTES } from './body-index.ts';
import { newNumbers, widthFor } from './column-bytes.ts';
import { ARCHIVED } from './column-names.ts';
import { ByteSink, NumberSink } from './column-sinks.ts';
import type { SegmentColumns } from './columns-reader.ts';
import { AncestorWatch } from './path-bytes.ts';
import { PathListBuilder } from './path-list.ts';
import { ResidentColumns, type ResidentParts } from './resident.ts';
import { PairList, Spans, TextList } from './spans.ts';
import { WordMerge } from './word-merge.ts';

export class ResidentBuilder {
  readonly #rows: number;
  readonly #paths = new PathListBuilder();
  readonly #watch = new AncestorWatch();
  readonly #versions: Uint32Array;
  readonly #firsts: Uint32Array;
  readonly #flags: Uint8Array;
  readonly #bodies: Uint8Array;
  readonly #stored: Uint8Array;
  /** Distinct values, and of each row the number of its own. */
  readonly #values = new Map<number, number>();
  readonly #importances: Uint32Array;
  readonly #modified: Uint32Array;
  readonly #modifiedHigh: Uint8Array;
  readonly #titleLengths: Uint16Array;
  readonly #titles = new ByteSink();
  readonly #pairCounts: Uint8Array;
  readonly #pairs = new NumberSink();
  readonly #words = new WordMerge();
  readonly #tags = new WordMerge();

  /** @param rows documents of the run, as its manifest says */
  constructor(rows: number) {
    this.#rows = rows;
    this.#versions = new Uint32Array(rows);
    this.#firsts = new Uint32Array(rows);
    this.#flags = new Uint8Array(rows);
    this.#bodies = new Uint8Array(rows * HASH_BYTES);
    this.#stored = new Uint8Array(rows * HASH_BYTES);
    this.#importances = new Uint32Array(rows);
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
    this.#stored.set(columns.stored, firstRow * HASH_BYTES);
    this.#appendImportances(columns, firstRow);
    this.#modified.set(columns.modified, firstRow);
    this.#modifiedHigh.set(columns.modifiedHigh, firstRow);
    this.#titleLengths.set(titles.spans.lengths, firstRow);
    this.#titles.append(titles.texts);
    this.#pairCounts.set(pairs.spans.lengths, firstRow);
    this.#pairs.append(pairs.hashes);
    this.#words.append(columns.words, firstRow);
    this.#tags.append(columns.tags, firstRow);
  }

  /** `finishing` at once. */
  finish(): ResidentColumns {
    return atOnce(this.finishing());
  }

  /**
   * The column set, in steps; nothing is appended after this.
   * @throws InvariantError while rows are missing
   */
  *finishing(): Generator<undefined, ResidentColumns> {
    const rows = this.#paths.count;
    assert(rows === this.#rows, () => `${rows} of ${this.#rows} documents of a run`);
    const flags = this.#flags;
    const words = yield* this.#words.finish();
    const tags = yield* this.#tags.finish();
    const bodyIndex = yield* BodyIndex.make(this.#bodies, (row) => {
      return ((flags[row] ?? 0) & ARCHIVED) === 0;
    });
    const paths = yield* this.#paths.finishing();
    const titles = new TextList(new Spans(this.#titleLengths), yield* this.#titles.taking());
    const pairs = new PairList(new Spans(this.#pairCounts), yield* this.#pairs.taking());
    const isLate = this.#modifiedHigh.some((high) => high !== 0);
    return new ResidentColumns({
      paths,
      versions: this.#versions,
      firsts: this.#firsts,
      flags,
      bodies: this.#bodies,
      stored: this.#stored,
      bodyIndex,
      ...this.#placedImportances(),
      modified: this.#modified,
      modifiedHigh: isLate ? this.#modifiedHigh : new Uint8Array(),
      titles,
      words,
      tags,
      pairs,
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

  #appendImportances(
    { rows, importances, importanceValues }: SegmentColumns,
    firstRow: number,
  ): void {
    const numbers = importanceValues.map((value) => {
      const number = this.#values.get(value) ?? this.#values.size;
      this.#values.set(value, number);
      return number;
    });
    for (let row = 0; row < rows; row++) {
      this.#importances[firstRow + row] = numbers[importances[row] ?? 0] ?? 0;
    }
  }

  #placedImportances(): Pick<ResidentParts, 'importanceValues' | 'importances'> {
    const importanceValues = [...this.#values.keys()].sort((a, b) => a - b);
    const places = new Uint32Array(importanceValues.length);
    for (const [place, value] of importanceValues.entries()) {
      places[this.#values.get(value) ?? 0] = place;
    }
    const importances = newNumbers(widthFor(places.length), this.#rows);
    for (let row = 0; row < this.#rows; row++) {
      importances[row] = places[this.#importances[row] ?? 0] ?? 0;
    }
    return { importanceValues, importances };
  }
}
