/**
 * Chance for simulations: a small fast counter-based generator (the sfc32 scheme, public domain),
 * because a run draws tens of thousands of numbers. A fork has a stream of its own that depends on
 * the seed and the labels alone, never on what was drawn before: taking one part of a plan away
 * leaves the draws of the others as they were.
 */
import type { Random } from '../../bucketstore/base/random.ts';

/** Numbers that a seed replays on every machine. Good for simulations, worthless as a secret. */
export class SimRandom implements Random {
  readonly #high: number;
  readonly #low: number;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param seed any integer; @param branch what `fork` made of its labels, else 0 */
  constructor(seed: number, branch = 0) {
    this.#high = seed | 0;
    this.#low = branch | 0;
    this.#a = mix(this.#high ^ 0x5bd1e995);
    this.#b = mix(this.#low ^ Math.imul(this.#high, 0x9e3779b1));
    this.#c = mix(this.#a ^ this.#b);
    for (let i = 0; i < 12; i++) this.bits();
  }

  /** 32 random bits, as a signed integer. */
  bits(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum;
  }

  /** Uniform in [0, 1), in steps of 2^-32. */
  number(): number {
    return (this.bits() >>> 0) / 0x1_0000_0000;
  }

  /** A version 4 UUID. */
  uuid(): string {
    const hex = (): string => (this.bits() >>> 0).toString(16).padStart(8, '0');
    const [first, second, third, fourth] = [hex(), hex(), hex(), hex()];
    const variant = '89ab'[this.bits() & 3];
    const middle = `${second.slice(0, 4)}-4${second.slice(5)}`;
    return `${first}-${middle}-${variant}${third.slice(1, 4)}-${third.slice(4)}${fourth}`;
  }

  /** A whole number in [0, below). */
  integer(below: number): number {
    return Math.floor(this.number() * below);
  }

  /** Uniform in [from, to). */
  between(from: number, to: number): number {
    return from + this.number() * (to - from);
  }

  /** Whether an event of this probability happens. Always one draw. */
  chance(probability: number): boolean {
    return this.number() < probability;
  }

  /** One of `items`, which must not be empty. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.integer(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  /** An independent generator: the same seed, own label and labels before it give the same one. */
  fork(label: string): SimRandom {
    let high = this.#high;
    let low = this.#low ^ 0x2545f491;
    for (let i = 0; i < label.length; i++) {
      const unit = label.charCodeAt(i);
      high = Math.imul(high ^ unit, 0x85ebca6b);
      low = Math.imul((low ^ (low >>> 15)) + unit, 0xc2b2ae35);
    }
    return new SimRandom(mix(high ^ label.length), mix(low ^ this.#high));
  }
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}
