/**
 * Live documents by the hash of their body: their rows in the order of (the first bits of the hash,
 * row), four bytes each. Made at load; the order of all 32 bytes is not needed to find one.
 */

/** Bytes of a hash. */
export const HASH_BYTES = 32;

/** Rows fit below the bits of a hash in a number of 53, for the engine to sort natively. */
const ROWS = 2 ** 24;
/** Bits of a hash that are sorted by. */
const PREFIX_BITS = 29;

export class BodyIndex {
  readonly #hashes: Uint8Array;
  readonly #order: Uint32Array;

  /**
   * @param hashes 32 bytes a row, at most 2^24 rows
   * @param isLive whether the document of a row is not archived
   */
  constructor(hashes: Uint8Array, isLive: (row: number) => boolean) {
    this.#hashes = hashes;
    const rows = hashes.length / HASH_BYTES;
    const keys = new Float64Array(rows);
    let live = 0;
    for (let row = 0; row < rows; row++) {
      if (isLive(row)) keys[live++] = prefixOf(hashes, row * HASH_BYTES) * ROWS + row;
    }
    const sorted = keys.subarray(0, live).sort();
    this.#order = Uint32Array.from(sorted, (key) => key % ROWS);
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
      if (prefixOf(this.#hashes, (this.#order[middle] ?? 0) * HASH_BYTES) < prefix)
        low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function prefixOf(hashes: Uint8Array, at: number): number {
  const [a, b] = [hashes[at] ?? 0, hashes[at + 1] ?? 0];
  const [c, d] = [hashes[at + 2] ?? 0, hashes[at + 3] ?? 0];
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> (32 - PREFIX_BITS)) >>> 0;
}

function equalAt(hashes: Uint8Array, at: number, hash: Uint8Array): boolean {
  for (let i = 0; i < HASH_BYTES; i++) if (hashes[at + i] !== hash[i]) return false;
  return true;
}
