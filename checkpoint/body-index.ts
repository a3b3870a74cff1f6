/**
 * Live documents by the hash of their body: their rows in the order of (the first bits of the hash,
 * row), four bytes each. Made at load; the order of all 32 bytes is not needed to find one.
 */

/** Bytes of a hash. */
export const HASH_BYTES = 32;

/** Rows fit below the bits of a hash in a number of 53, for the engine to sort natively. */
const ROWS = 2 ** 24;
/** Bits of a hash that rows are in the order of. */
const PREFIX_BITS = 29;
/** Values of the first byte. */
const BUCKETS = 256;
/** Buckets that are sorted in one step. */
const STEP_BUCKETS = 16;

export class BodyIndex {
  readonly #hashes: Uint8Array;
  readonly #order: Uint32Array;

  private constructor(hashes: Uint8Array, order: Uint32Array) {
    this.#hashes = hashes;
    this.#order = order;
  }

  /**
   * Makes one in steps of some milliseconds.
   * @param hashes 32 bytes a row, at most 2^24 rows
   * @param isLive whether the document of a row is not archived
   */
  static *make(
    hashes: Uint8Array,
    isLive: (row: number) => boolean,
  ): Generator<undefined, BodyIndex> {
    const rows = hashes.length / HASH_BYTES;
    const ends = new Uint32Array(BUCKETS + 1);
    for (let row = 0; row < rows; row++) {
      const bucket = (hashes[row * HASH_BYTES] ?? 0) + 1;
      if (isLive(row)) ends[bucket] = (ends[bucket] ?? 0) + 1;
    }
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      ends[bucket + 1] = (ends[bucket + 1] ?? 0) + (ends[bucket] ?? 0);
    }
    yield;
    const keys = new Float64Array(ends[BUCKETS] ?? 0);
    const starts = ends.slice(0, BUCKETS);
    for (let row = 0; row < rows; row++) {
      if (!isLive(row)) continue;
      const bucket = hashes[row * HASH_BYTES] ?? 0;
      const place = starts[bucket] ?? 0;
      keys[place] = prefixOf(hashes, row * HASH_BYTES) * ROWS + row;
      starts[bucket] = place + 1;
    }
    const order = new Uint32Array(keys.length);
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      if (bucket % STEP_BUCKETS === 0) yield;
      const end = ends[bucket + 1] ?? 0;
      const start = ends[bucket] ?? 0;
      keys.subarray(start, end).sort();
      for (let i = start; i < end; i++) {
        const key = keys[i] ?? 0;
        order[i] = key - Math.floor(key / ROWS) * ROWS;
      }
    }
    return new BodyIndex(hashes, order);
  }

  /** Bytes that it keeps, the hashes aside. */
  get bytes(): number {
    return this.#order.byteLength;
  }

  /** Rows of live documents whose body has a hash (32 bytes), ascending. */
  *rows(hash: Uint8Array): Generator<number> {
    const prefix = prefixOf(hash, 0);
    for (let i = this.#lowerBound(prefix); i < this.#order.length; i++) {
      const row = this.#order[i] ?? 0;
      const start = row * HASH_BYTES;
      if (prefixOf(this.#hashes, start) !== prefix) return;
      if (equalAt(this.#hashes, start, hash)) yield row;
    }
  }

  #lowerBound(prefix: number): number {
    let low = 0;
    let high = this.#order.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = (this.#order[middle] ?? 0) * HASH_BYTES;
      if (prefixOf(this.#hashes, start) < prefix) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function prefixOf(hashes: Uint8Array, at: number): number {
  const high = ((hashes[at] ?? 0) << 8) | (hashes[at + 1] ?? 0);
  const low = ((hashes[at + 2] ?? 0) << 8) | (hashes[at + 3] ?? 0);
  return ((high << 16) | low) >>> (32 - PREFIX_BITS);
}

function equalAt(hashes: Uint8Array, at: number, hash: Uint8Array): boolean {
  for (let i = 0; i < HASH_BYTES; i++) if (hashes[at + i] !== hash[i]) return false;
  return true;
}
