/**
 * Chance that one seed replays. The generator is xoshiro128** (Blackman and Vigna), its state
 * filled from the seed by a 32-bit mixing function; good enough for simulations, worthless as a
 * secret.
 */
import type { Random } from '../../bucketstore/base/random.ts';

export class SeededRandom implements Random {
  readonly #state = new Uint32Array(4);
  readonly #seed: number;

  /** @param seed any integer; equal seeds give equal sequences on every machine */
  constructor(seed: number) {
    this.#seed = seed >>> 0;
    let mixed = this.#seed;
    for (let i = 0; i < 4; i++) {
      mixed = (mixed + 0x9e3779b9) >>> 0;
      this.#state[i] = mix(mixed);
    }
  }

  /** 32 random bits. */
  bits(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.#state;
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const third = c ^ a;
    const fourth = d ^ b;
    this.#state.set([a ^ fourth, b ^ third, third ^ (b << 9), rotate(fourth, 11)]);
    return result;
  }

  number(): number {
    // 53 bits: 26 and 27 of two draws.
    return ((this.bits() >>> 6) * 2 ** 27 + (this.bits() >>> 5)) / 2 ** 53;
  }

  uuid(): string {
    const words = [this.bits(), this.bits(), this.bits(), this.bits()];
    const hex = words.map((word) => word.toString(16).padStart(8, '0')).join('');
    const variant = '89ab'[this.bits() & 3];
    const [time, middle, last] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16)];
    return `${time}-${middle}-4${last}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  /** A whole number in [0, below). */
  integer(below: number): number {
    return Math.floor(this.number() * below);
  }

  /** One of `items`, which must not be empty. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.integer(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /**
   * Another generator, of this one's seed and `label`: actors do not disturb each other's draws.
   */
  derive(label: string): SeededRandom {
    let hash = this.#seed;
    for (let i = 0; i < label.length; i++) hash = mix(hash ^ (label.charCodeAt(i) + i));
    return new SeededRandom(hash);
  }
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
