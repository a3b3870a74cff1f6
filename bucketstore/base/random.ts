/** Chance and identity as an injected thing: the only file of the library that draws randomness. */
import { randomBytes, randomFillSync } from 'node:crypto';
import { DASH } from './ascii.ts';

export interface Random {
  /** Uniform in [0, 1); for jitter, never for identity. */
  number(): number;
  /** A random version 4 UUID, for identities: stores, worlds, operations. */
  uuid(): string;
}

const UUID_BYTES = 16;
const UUID_LENGTH = 36;
/** UUIDs for which the system is asked at once. */
const DRAWN_AT_ONCE = 256;
const DIGITS = Buffer.from('0123456789abcdef');

/**
 * UUIDs from the machine's cryptographic randomness, each of which is one flat text. That of
 * `randomUUID` is a rope of twenty pieces: to be put in a map it must be made flat, and until then
 * it is half a kilobyte.
 */
class UuidSource {
  readonly #drawn = Buffer.alloc(UUID_BYTES * DRAWN_AT_ONCE);
  readonly #text = Buffer.alloc(UUID_LENGTH, DASH);
  #used = this.#drawn.length;

  next(): string {
    if (this.#used === this.#drawn.length) {
      randomFillSync(this.#drawn);
      this.#used = 0;
    }
    let end = 0;
    for (let i = 0; i < UUID_BYTES; i++) {
      const byte = versioned(i, this.#drawn[this.#used++] ?? 0);
      if (i === 4 || i === 6 || i === 8 || i === 10) end++;
      this.#text[end++] = DIGITS[byte >> 4] ?? 0;
      this.#text[end++] = DIGITS[byte & 0x0f] ?? 0;
    }
    return this.#text.toString('latin1');
  }
}

/** A byte of a version 4 UUID: the two marked ones say the version, and the variant 10. */
function versioned(index: number, byte: number): number {
  if (index === 6) return (byte & 0x0f) | 0x40;
  return index === 8 ? (byte & 0x3f) | 0x80 : byte;
}

// What is drawn and not used yet is nobody's: sharing it couples no two stores.
const uuids = new UuidSource();

/** The machine's cryptographic randomness. */
export const systemRandom: Random = {
  number: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  uuid: () => uuids.next(),
};
