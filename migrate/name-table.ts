/**
 * A set of 32-byte names in the order in which they were added, without an object for each: 32
 * bytes a name and 5 to 11 for finding it. Names are hashes, or halves of two: thousands of them
 * may share either half, and are found as fast as others.
 */
import { assert } from '../bucketstore/base/assert.ts';

export const NAME_BYTES = 32;

/** Names of one piece of memory: what is there never moves. */
const CHUNK_NAMES = 65_536;
const SLOTS_MIN = 1024;

export class NameTable {
  readonly #chunks: Buffer[] = [];
  #size = 0;
  /** Place + 1 of a name, 0 where there is none; as many as a power of two. */
  #slots = new Uint32Array(SLOTS_MIN);
  #probes = 0;

  /** Slots looked at so far: what finding names has cost, some two for each call of `add`. */
  get probes(): number {
    return this.#probes;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a name that may be there already. Answers its place: names are counted from 0. */
  add(name: Uint8Array): number {
    assert(name.length === NAME_BYTES, () => `a name of ${name.length} bytes`);
    const slot = this.#slotOf(name);
    const found = this.#slots[slot] ?? 0;
    if (found > 0) return found - 1;
    const place = this.#size++;
    const within = place % CHUNK_NAMES;
    if (within === 0) this.#chunks.push(Buffer.allocUnsafe(CHUNK_NAMES * NAME_BYTES));
    this.#chunks.at(-1)?.set(name, within * NAME_BYTES);
    this.#slots[slot] = place + 1;
    if (this.#size * 4 > this.#slots.length * 3) this.#grow();
    return place;
  }

  /** The name at a place: a view. */
  at(place: number): Buffer {
    const chunk = this.#chunks[Math.floor(place / CHUNK_NAMES)];
    assert(chunk !== undefined && place < this.#size, () => `no name at ${place}`);
    const start = (place % CHUNK_NAMES) * NAME_BYTES;
    return chunk.subarray(start, start + NAME_BYTES);
  }

  /** The slot that has a name, or the free one where it belongs. */
  #slotOf(name: Uint8Array): number {
    const mask = this.#slots.length - 1;
    // Any bytes of a hash spread, and one of each half do where a half is shared.
    let slot = (wordAt(name, 0) ^ wordAt(name, NAME_BYTES / 2)) & mask;
    for (;;) {
      this.#probes++;
      const found = this.#slots[slot] ?? 0;
      if (found === 0 || this.#isAt(found - 1, name)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** In place, and a byte of each half first: most names that are met on the way are others. */
  #isAt(place: number, name: Uint8Array): boolean {
    const chunk = this.#chunks[Math.floor(place / CHUNK_NAMES)];
    const start = (place % CHUNK_NAMES) * NAME_BYTES;
    const last = NAME_BYTES - 1;
    if (chunk === undefined || chunk[start] !== name[0]) return false;
    if (chunk[start + last] !== name[last]) return false;
    return chunk.compare(name, 0, NAME_BYTES, start, start + NAME_BYTES) === 0;
  }

  #grow(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let place = 0; place < this.#size; place++) {
      this.#slots[this.#slotOf(this.at(place))] = place + 1;
    }
  }
}

/** Four bytes of a name as one number. */
function wordAt(name: Uint8Array, at: number): number {
  return (
    (name[at] ?? 0) |
    ((name[at + 1] ?? 0) << 8) |
    ((name[at + 2] ?? 0) << 16) |
    ((name[at + 3] ?? 0) << 24)
  );
}
