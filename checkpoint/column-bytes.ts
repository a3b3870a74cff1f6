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

/** Writes a varint of 32 bits at most, and gives where it ends. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let end = at;
  let rest = value;
  while (rest >= 0x80) {
    bytes[end++] = (rest & 0x7f) | 0x80;
    // No shift: that would take the highest bit for a sign.
    rest = Math.floor(rest / 0x80);
  }
  bytes[end++] = rest;
  return end;
}
