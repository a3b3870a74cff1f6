/** Bytes and numbers that grow while columns are made. */
import { atOnce } from '../bucketstore/base/in-turns.ts';
import { writeVarint } from './column-bytes.ts';

/** What a sink adds at once when it is large: growing never copies more than that. */
const CHUNK_BYTES_MAX = 1_048_576;

/** Bytes that grow. */
export class ByteSink {
  /** Full ones. */
  readonly #chunks: Uint8Array[] = [];
  #chunksLength = 0;
  #chunk: Buffer;
  #at = 0;

  constructor(capacity = 256) {
    this.#chunk = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#chunksLength + this.#at;
  }

  byte(value: number): void {
    this.#room(1);
    this.#chunk[this.#at++] = value;
  }

  /** @param value of 32 bits at most */
  varint(value: number): void {
    this.#room(5);
    this.#at = writeVarint(this.#chunk, this.#at, value);
  }

  /** Appends `source[start, end)`. */
  append(source: Uint8Array, start = 0, end: number = source.length): void {
    const length = end - start;
    this.#room(length);
    // A call costs more than a few bytes do.
    if (length < 24) {
      for (let i = 0; i < length; i++) this.#chunk[this.#at + i] = source[start + i] ?? 0;
    } else {
      this.#chunk.set(source.subarray(start, end), this.#at);
    }
    this.#at += length;
  }

  /** Appends well-formed text as UTF-8, and gives its length in bytes. */
  text(text: string): number {
    this.#room(text.length * 3);
    const length = this.#chunk.write(text, this.#at);
    this.#at += length;
    return length;
  }

  /** Appends hexadecimal digits as bytes. */
  hex(digits: string): void {
    this.#room(digits.length / 2);
    this.#at += this.#chunk.write(digits, this.#at, 'hex');
  }

  /** A copy of what was appended, no longer than that. */
  take(): Buffer {
    return atOnce(this.taking());
  }

  /** The same in steps, for much. */
  *taking(): Generator<undefined, Buffer> {
    const bytes = Buffer.allocUnsafeSlow(this.length);
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.length;
      yield;
    }
    bytes.set(this.#chunk.subarray(0, this.#at), at);
    return bytes;
  }

  #room(more: number): void {
    if (this.#at + more <= this.#chunk.length) return;
    if (this.#at > 0) {
      this.#chunks.push(this.#chunk.subarray(0, this.#at));
      this.#chunksLength += this.#at;
    }
    this.#chunk = Buffer.allocUnsafeSlow(
      Math.max(more, Math.min(this.#chunk.length * 2, CHUNK_BYTES_MAX)),
    );
    this.#at = 0;
  }
}

/** Numbers of 32 bits without sign that grow. */
export class NumberSink {
  /** Full ones. */
  readonly #chunks: Uint32Array[] = [];
  #chunksLength = 0;
  #chunk: Uint32Array<ArrayBuffer> = new Uint32Array(64);
  #at = 0;

  get length(): number {
    return this.#chunksLength + this.#at;
  }

  push(value: number): void {
    if (this.#at === this.#chunk.length) this.#grow(1);
    this.#chunk[this.#at++] = value;
  }

  append(values: Uint32Array): void {
    if (this.#at + values.length > this.#chunk.length) this.#grow(values.length);
    this.#chunk.set(values, this.#at);
    this.#at += values.length;
  }

  /** A copy of what was pushed, no longer than that. */
  take(): Uint32Array {
    return atOnce(this.taking());
  }

  /** The same in steps, for many. */
  *taking(): Generator<undefined, Uint32Array> {
    const numbers = new Uint32Array(this.length);
    let at = 0;
    for (const chunk of this.#chunks) {
      numbers.set(chunk, at);
      at += chunk.length;
      yield;
    }
    numbers.set(this.#chunk.subarray(0, this.#at), at);
    return numbers;
  }

  #grow(more: number): void {
    this.#chunks.push(this.#chunk.subarray(0, this.#at));
    this.#chunksLength += this.#at;
    const doubled = Math.min(this.#chunk.length * 2, CHUNK_BYTES_MAX / 4);
    this.#chunk = new Uint32Array(Math.max(more, doubled));
    this.#at = 0;
  }
}
