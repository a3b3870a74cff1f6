/**
 * Which paths a run cannot have, for most of those that it has not, in a step or two: a state has
 * tens of runs, and most questions are about paths that are in one of them or in none.
 *
 * A Bloom filter in blocks: a path's hash names one block of 256 bits and one bit in each of its
 * eight words, so that a look stays in one line of memory, and ends at the first word that lacks
 * its bit (after two, mostly). At 12 bits a path it takes one in two hundred for another. Made at
 * load, of nothing but the paths; whoever makes paths that collide wins a binary search.
 */
import type { PathCursor } from './path-list.ts';

const BITS_PER_PATH = 12;
const BLOCK_WORDS = 8;
const BLOCK_BITS = BLOCK_WORDS * 32;

/** Odd numbers that spread one hash over the words. */
const SALTS: readonly number[] = [
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
];

/** Two hashes of a path, 32 bits each; made once for a look into many filters. */
export interface PathHash {
  block: number;
  bits: number;
}

/** The hashes of the path in `bytes[0, length)`, put into `hash`. */
export function hashPath(bytes: Uint8Array, length: number, hash: PathHash): void {
  let a = 0x811c9dc5;
  let b = 0x2545f491;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] ?? 0;
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b + byte, 0x9e3779b1) ^ (b >>> 15);
  }
  hash.block = mix(a);
  hash.bits = mix(b);
}

export class PathFilter {
  readonly #words: Uint32Array;
  readonly #blocks: number;

  /** @param paths how many it is made for */
  constructor(paths: number) {
    this.#blocks = Math.max(1, Math.ceil((paths * BITS_PER_PATH) / BLOCK_BITS));
    this.#words = new Uint32Array(this.#blocks * BLOCK_WORDS);
  }

  /** The filter of all rows of a cursor that stands before the first. */
  static of(cursor: PathCursor, rows: number): PathFilter {
    const filter = new PathFilter(rows);
    const hash: PathHash = { block: 0, bits: 0 };
    for (let row = 0; row < rows; row++) {
      cursor.next();
      hashPath(cursor.path, cursor.length, hash);
      filter.add(hash);
    }
    return filter;
  }

  /** Bytes that it keeps. */
  get bytes(): number {
    return this.#words.byteLength;
  }

  add({ block, bits }: PathHash): void {
    const start = this.#start(block);
    for (let i = 0; i < BLOCK_WORDS; i++) {
      const word = this.#words[start + i] ?? 0;
      this.#words[start + i] = word | (1 << (Math.imul(bits, SALTS[i] ?? 1) >>> 27));
    }
  }

  /** Whether the path may have been added; certain when it says no. */
  mayHave({ block, bits }: PathHash): boolean {
    const start = this.#start(block);
    for (let i = 0; i < BLOCK_WORDS; i++) {
      const bit = 1 << (Math.imul(bits, SALTS[i] ?? 1) >>> 27);
      if (((this.#words[start + i] ?? 0) & bit) === 0) return false;
    }
    return true;
  }

  /** Where the block that a hash falls into begins. */
  #start(hash: number): number {
    return Math.floor((hash / 2 ** 32) * this.#blocks) * BLOCK_WORDS;
  }
}

/** Spreads every bit over all. */
function mix(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
