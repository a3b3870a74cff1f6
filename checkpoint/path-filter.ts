/**
 * Which paths a run cannot have, and under which directories it has nothing, for most of those, in
 * a step or two: a state has tens of runs, and most questions are about paths that are in one of
 * them or in none. A directory goes in with a slash behind it.
 *
 * A Bloom filter in blocks: a path's hash names one block of 256 bits and one bit in each of its
 * eight words, so that a look stays in one line of memory, and ends at the first word that lacks
 * its bit (after two, mostly). At 12 bits a key it takes one in two hundred for another. Made at
 * load, of nothing but the paths; whoever makes paths that collide wins a binary search.
 */
import { SLASH } from '../bucketstore/base/ascii.ts';
import { NumberSink } from './column-sinks.ts';
import type { PathCursor } from './path-list.ts';

const BITS_PER_KEY = 12;
const SEED_BLOCK = 0x811c9dc5;
const SEED_BITS = 0x2545f491;
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
  let a = SEED_BLOCK;
  let b = SEED_BITS;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] ?? 0;
    a = nextBlock(a, byte);
    b = nextBits(b, byte);
  }
  hash.block = mix(a);
  hash.bits = mix(b);
}

/** Rows of a step. */
const STEP_ROWS = 2_048;

export class PathFilter {
  readonly #words: Uint32Array;
  readonly #blocks: number;

  /** @param keys how many it is made for */
  private constructor(keys: number) {
    this.#blocks = Math.max(1, Math.ceil((keys * BITS_PER_KEY) / BLOCK_BITS));
    this.#words = new Uint32Array(this.#blocks * BLOCK_WORDS);
  }

  /**
   * The filter of all paths of a run and of the directories above them, in steps.
   * @param cursor stands before the first row
   */
  static *making(cursor: PathCursor, rows: number): Generator<undefined, PathFilter> {
    const keys = new KeyHashes();
    for (let row = 0; row < rows; row++) {
      cursor.next();
      keys.add(cursor.path, cursor.length);
      if (row % STEP_ROWS === STEP_ROWS - 1) yield;
    }
    const blocks = yield* keys.blocks.taking();
    const bits = yield* keys.bits.taking();
    const filter = new PathFilter(blocks.length);
    for (let key = 0; key < blocks.length; key++) {
      filter.#add(blocks[key] ?? 0, bits[key] ?? 0);
      if (key % STEP_ROWS === STEP_ROWS - 1) yield;
    }
    return filter;
  }

  /** Bytes that it keeps. */
  get bytes(): number {
    return this.#words.byteLength;
  }

  #add(block: number, bits: number): void {
    const start = this.#start(block);
    for (let i = 0; i < BLOCK_WORDS; i++) {
      const word = this.#words[start + i] ?? 0;
      this.#words[start + i] = word | (1 << (Math.imul(bits, SALTS[i] ?? 1) >>> 27));
    }
  }

  /** Whether the run may have the path, or documents under it; certain when it says no. */
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

/** The hashes of paths that come in order, and of each directory above them once. */
class KeyHashes {
  readonly blocks = new NumberSink();
  readonly bits = new NumberSink();
  /** Hashes of the directories above the last path, by depth, before they are mixed. */
  readonly #above: PathHash[] = [];

  add(path: Uint8Array, length: number): void {
    let depth = 0;
    let a = SEED_BLOCK;
    let b = SEED_BITS;
    for (let i = 0; i < length; i++) {
      const byte = path[i] ?? 0;
      a = nextBlock(a, byte);
      b = nextBits(b, byte);
      if (byte === SLASH) this.#addAbove(depth++, a, b);
    }
    this.#push(a, b);
  }

  #addAbove(depth: number, block: number, bits: number): void {
    const last = this.#above[depth];
    if (last?.block === block && last.bits === bits) return;
    this.#above[depth] = { block, bits };
    this.#push(block, bits);
  }

  #push(block: number, bits: number): void {
    this.blocks.push(mix(block));
    this.bits.push(mix(bits));
  }
}

function nextBlock(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

function nextBits(hash: number, byte: number): number {
  return Math.imul(hash + byte, 0x9e3779b1) ^ (hash >>> 15);
}

/** Spreads every bit over all. */
function mix(hash: number): number {
  let h = hash ^ (hash >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
