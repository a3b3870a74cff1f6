/**
 * Where the tables of a run end: by the hash of paths, not by how many came before, so that one new
 * document changes the table that it falls into and not all behind it. A pure function of the
 * entries since the last end, and part of the format (I4).
 *
 * A table ends
 *
 *  - behind the first entry with which it has 2 MiB of entries or more, and whose path has a
 *    SHA-256 with its first 32 bits divisible by 2048 (after 1.7 MB more, when entries are of 850
 *    bytes);
 *  - else before the entry with which it would have more than 8 MiB. An entry longer than that (a
 *    document of 20 million versions has one) is a table of its own.
 */
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN, SEGMENT_CUT_MODULUS } from './constants.ts';

/** Sizes of a cut. A world knows the format's only; others are for proofs. */
export interface CutSizes {
  readonly bytesMin: number;
  readonly bytesMax: number;
  readonly modulus: number;
}

/** The sizes of the format. */
export const FORMAT_CUT: CutSizes = {
  bytesMin: SEGMENT_BYTES_MIN,
  bytesMax: SEGMENT_BYTES_MAX,
  modulus: SEGMENT_CUT_MODULUS,
};

/**
 * Cuts one run: ask `endsBefore`, then `endsBehind`, once for each entry in order.
 *
 *     if (cut.endsBefore(bytes)) finish();
 *     add(entry);
 *     if (cut.endsBehind(path, bytes)) finish();
 */
export class TableCut {
  readonly #sizes: CutSizes;
  /** Bytes of the entries since the last end. */
  #bytes = 0;

  constructor(sizes: CutSizes = FORMAT_CUT) {
    this.#sizes = sizes;
  }

  /** Whether the table ends before an entry of so many bytes, which then begins the next. */
  endsBefore(entryBytes: number): boolean {
    if (this.#bytes === 0 || this.#bytes + entryBytes <= this.#sizes.bytesMax) return false;
    this.#bytes = 0;
    return true;
  }

  /**
   * Takes the entry; whether the table ends behind it.
   * @param path its UTF-8
   * @param entryBytes all of its bytes
   */
  endsBehind(path: Uint8Array, entryBytes: number): boolean {
    this.#bytes += entryBytes;
    if (this.#bytes < this.#sizes.bytesMin || !isCutPath(path, this.#sizes.modulus)) return false;
    this.#bytes = 0;
    return true;
  }
}

/** Whether a table may end behind this path, UTF-8. */
export function isCutPath(path: Uint8Array, modulus: number = SEGMENT_CUT_MODULUS): boolean {
  return Number.parseInt(sha256Hex(path).slice(0, 8), 16) % modulus === 0;
}
