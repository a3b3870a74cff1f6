/**
 * The column set of a run: the columns of its segments, one after another, as few flat arrays.
 * Immutable; what is kept is in proportion to the documents, without an object for any, and none of
 * the segments' own bytes.
 *
 * A document may be in several runs, of which the newest tells: `runs-state.ts` asks them in order.
 */
import { type BodyIndex, HASH_BYTES } from './body-index.ts';
import { bufferOf, type Numbers } from './column-bytes.ts';
import { ARCHIVED, HIDDEN } from './column-names.ts';
import { importanceAt, modifiedAt } from './columns-reader.ts';
import type { PathCursor, PathList } from './path-list.ts';
import type { PairList, TextList } from './spans.ts';
import type { WordList } from './word-list.ts';

/** What a run's column set is made of; see `columns.ts`. */
export interface ResidentParts {
  readonly paths: PathList;
  readonly versions: Uint32Array;
  readonly firsts: Uint32Array;
  readonly flags: Uint8Array;
  readonly bodies: Uint8Array;
  readonly stored: Uint8Array;
  readonly bodyIndex: BodyIndex;
  readonly importanceValues: readonly number[];
  readonly importances: Numbers;
  readonly modified: Uint32Array;
  /** Empty when all are 0. */
  readonly modifiedHigh: Uint8Array;
  readonly titles: TextList;
  readonly words: WordList;
  readonly tags: WordList;
  readonly pairs: PairList;
}

export class ResidentColumns {
  /** Documents of the run, archived ones included. */
  readonly rows: number;
  /** Titles as they are. */
  readonly titles: TextList;
  /** Words of titles in lower case, with the rows that have them. */
  readonly words: WordList;
  /** Tags in lower case, with the rows that have them. */
  readonly tags: WordList;
  /** Hashes of metadata pairs (`pairHash`). */
  readonly pairs: PairList;
  readonly #parts: ResidentParts;
  readonly #bodies: BodyIndex;

  /** `ResidentBuilder` makes one. */
  constructor(parts: ResidentParts) {
    this.rows = parts.paths.length;
    this.titles = parts.titles;
    this.words = parts.words;
    this.tags = parts.tags;
    this.pairs = parts.pairs;
    this.#parts = parts;
    this.#bodies = parts.bodyIndex;
  }

  /** Bytes that it keeps in memory. */
  get bytes(): number {
    const { paths, versions, firsts, flags, bodies, stored, ...rest } = this.#parts;
    const { importanceValues, importances, modified, modifiedHigh } = rest;
    const lists = [paths, this.titles, this.words, this.tags, this.pairs, this.#bodies];
    const numbers = [versions, firsts, flags, importances, modified, modifiedHigh];
    const arrays = [...numbers, bodies, stored];
    const sum = (total: number, bytes: number): number => total + bytes;
    return (
      lists.map(({ bytes }) => bytes).reduce(sum, 0) +
      arrays.map(({ byteLength }) => byteLength).reduce(sum, 0) +
      importanceValues.length * Float64Array.BYTES_PER_ELEMENT
    );
  }

  /** The row of a path, −1 when the run has no such document. */
  find(path: string): number {
    return this.#parts.paths.find(path);
  }

  /** The same of a path as UTF-8. */
  findBytes(path: Uint8Array): number {
    return Math.max(-1, this.#parts.paths.search(path));
  }

  /** The first row whose path is at or after `path` by bytes; `rows` when there is none. */
  lowerBound(path: string): number {
    return this.#parts.paths.lowerBound(path);
  }

  /** A reader of paths as bytes, for whoever goes along the rows, or through several runs. */
  cursor(): PathCursor {
    return this.#parts.paths.cursor();
  }

  path(row: number): string {
    return this.#parts.paths.at(row);
  }

  /** The current version. */
  version(row: number): number {
    return this.#parts.versions[row] ?? 0;
  }

  /** The oldest retained version. */
  first(row: number): number {
    return this.#parts.firsts[row] ?? 0;
  }

  archived(row: number): boolean {
    return ((this.#parts.flags[row] ?? 0) & ARCHIVED) !== 0;
  }

  /** Whether a segment of the path is hidden. */
  hidden(row: number): boolean {
    return ((this.#parts.flags[row] ?? 0) & HIDDEN) !== 0;
  }

  /** SHA-256 of the body, 64 hex. */
  bodyHash(row: number): string {
    return hashAt(this.#parts.bodies, row);
  }

  /** SHA-256 of the current stored version, 64 hex. */
  storedHash(row: number): string {
    return hashAt(this.#parts.stored, row);
  }

  /** Seconds since the epoch. */
  modified(row: number): number {
    return modifiedAt(this.#parts, row);
  }

  /** 0 to 1. */
  importance(row: number): number {
    return importanceAt(this.#parts, row);
  }

  /** The rows of live documents whose body has a hash (32 bytes), ascending. */
  rowsWithBody(bodyHash: Uint8Array): Iterable<number> {
    return this.#bodies.rows(bodyHash);
  }
}

function hashAt(hashes: Uint8Array, row: number): string {
  return bufferOf(hashes).toString('hex', row * HASH_BYTES, (row + 1) * HASH_BYTES);
}
