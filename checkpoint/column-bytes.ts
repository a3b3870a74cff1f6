/**
 * The bytes that columns are made of: numbers without sign as varints (seven bits a byte, the
 * lowest first, in the fewest bytes) or in a fixed width, lowest byte first, whatever the machine.
 */
import { assert } from '../bucketstore/base/assert.ts';

/** Numbers of one width: a view of the bytes they were read from, or a copy. */
export type Numbers = Uint8Array | Uint16Array | Uint32Array;

/** Bytes that a number of a width takes. */
export type Width = 1 | 2 | 4;

const U32_MAX = 0xffff_ffff;

/** Whether this machine's own numbers have the lowest byte first. */
const LOWEST_FIRST = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** The narrowest width for numbers below `count`. */
export function widthFor(count: number): Width {
  if (count <= 0x100) return 1;
  return count <= 0x1_0000 ? 2 : 4;
}

/** No numbers, to be set: `count` of the width. */
export function newNumbers(width: Width, count: number): Numbers {
  switch (width) {
    case 1:
      return new Uint8Array(count);
    case 2:
      return new Uint16Array(count);
    default:
      return new Uint32Array(count);
  }
}

/** Numbers of a width as bytes; each must fit it. */
export function bytesOfNumbers(numbers: ArrayLike<number>, width: Width): Uint8Array {
  const bytes = Buffer.alloc(numbers.length * width);
  for (let i = 0; i < numbers.length; i++) {
    bytes.writeUIntLE(numbers[i] ?? 0, i * width, width);
  }
  return bytes;
}

/** The bytes of `count` numbers, which are as many as that takes. Copies only where it must. */
export function numbersOfBytes(bytes: Uint8Array, width: 1): Uint8Array;
export function numbersOfBytes(bytes: Uint8Array, width: 2): Uint16Array;
export function numbersOfBytes(bytes: Uint8Array, width: 4): Uint32Array;
export function numbersOfBytes(bytes: Uint8Array, width: Width): Numbers;
export function numbersOfBytes(bytes: Uint8Array, width: Width): Numbers {
  assert(bytes.length % width === 0, () => `${bytes.length} bytes are no numbers of ${width}`);
  const count = bytes.length / width;
  if (width === 1) return bytes;
  if (LOWEST_FIRST && bytes.byteOffset % width === 0) {
    if (width === 2) return new Uint16Array(bytes.buffer, bytes.byteOffset, count);
    return new Uint32Array(bytes.buffer, bytes.byteOffset, count);
  }
  const numbers = newNumbers(width, count);
  const source = bufferOf(bytes);
  for (let i = 0; i < count; i++) numbers[i] = source.readUIntLE(i * width, width);
  return numbers;
}

/** The same bytes with a buffer's methods. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/**
 * The varint at `at`, or −1 when the bytes end before it does, it is beyond 32 bits, or fewer bytes
 * would do. Its length is `varintBytes` of it.
 */
export function varintAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === undefined) return -1;
  if (first < 0x80) return first;
  let value = first & 0x7f;
  for (let i = 1, unit = 0x80; i < 5; i++, unit *= 0x80) {
    const byte = bytes[at + i];
    if (byte === undefined || byte === 0) return -1;
    value += (byte & 0x7f) * unit;
    if (byte < 0x80) return value <= U32_MAX ? value : -1;
  }
  return -1;
}

/** Bytes of a varint. */
export function varintBytes(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

/** Bytes that grow. */
export class ByteSink {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity = 256) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  /** @param value of 32 bits at most */
  varint(value: number): void {
    this.#room(5);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Appends `source[start, end)`. */
  append(source: Uint8Array, start = 0, end: number = source.length): void {
    const length = end - start;
    this.#room(length);
    // A call costs more than a few bytes do.
    if (length < 24) {
      for (let i = 0; i < length; i++) this.#bytes[this.#length + i] = source[start + i] ?? 0;
    } else {
      this.#bytes.set(source.subarray(start, end), this.#length);
    }
    this.#length += length;
  }

  /** Appends well-formed text as UTF-8, and gives its length in bytes. */
  text(text: string): number {
    this.#room(text.length * 3);
    const length = this.#bytes.write(text, this.#length);
    this.#length += length;
    return length;
  }

  /** A copy of what was appended, no longer than that. */
  take(): Buffer {
    const bytes = Buffer.allocUnsafeSlow(this.#length);
    this.#bytes.copy(bytes, 0, 0, this.#length);
    return bytes;
  }

  #room(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** Numbers of 32 bits without sign that grow. */
export class NumberSink {
  #numbers: Uint32Array<ArrayBuffer> = new Uint32Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#numbers.length) this.#grow(this.#length + 1);
    this.#numbers[this.#length++] = value;
  }

  append(values: Uint32Array): void {
    if (this.#length + values.length > this.#numbers.length) {
      this.#grow(this.#length + values.length);
    }
    this.#numbers.set(values, this.#length);
    this.#length += values.length;
  }

  /** A copy of what was pushed, no longer than that. */
  take(): Uint32Array {
    return this.#numbers.slice(0, this.#length);
  }

  #grow(needed: number): void {
    const grown = new Uint32Array(Math.max(needed, this.#numbers.length * 2));
    grown.set(this.#numbers.subarray(0, this.#length));
    this.#numbers = grown;
  }
}
