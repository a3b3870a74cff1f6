/** The rows of a pack's directory, searched as they lie. `pack.ts` has the format. */
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import { rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { INLINE_BYTES_MAX } from '../bucketstore/log/records.ts';

/** Sequence, offset, length and hash. */
export const ROW_BYTES = 48;
const OFFSET = 8;
const LENGTH = 12;
const HASH = 16;

/** What the first line of a pack says of its rows. */
export interface PackHead {
  /** Sequences of its first and last stored version. */
  readonly first: Sequence;
  readonly last: Sequence;
  /** How many it holds. */
  readonly versions: number;
}

/** A stored version in a pack. */
export interface PackedVersion {
  readonly sequence: Sequence;
  /** From the start of the pack, in bytes. */
  readonly offset: number;
  readonly length: number;
  /** SHA-256 of the stored version, 64 hex. */
  readonly hash: string;
}

/** The stored versions of a pack, ascending by sequence. */
export class PackDirectory implements Iterable<PackedVersion> {
  readonly #rows: Buffer;

  /** @param rows valid ones; kept, not copied */
  constructor(rows: Uint8Array) {
    this.#rows = asBuffer(rows);
  }

  /** How many stored versions there are. */
  get versions(): number {
    return this.#rows.length / ROW_BYTES;
  }

  /** Bytes that this holds in memory. */
  get byteLength(): number {
    return this.#rows.length;
  }

  /** The stored version of a sequence, undefined when the pack has none. Binary search. */
  find(at: Sequence): PackedVersion | undefined {
    let low = 0;
    let high = this.versions;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sequenceAt(this.#rows, middle) >= at) high = middle;
      else low = middle + 1;
    }
    return low < this.versions && sequenceAt(this.#rows, low) === at
      ? this.#version(low)
      : undefined;
  }

  *[Symbol.iterator](): Generator<PackedVersion, void> {
    for (let index = 0; index < this.versions; index++) yield this.#version(index);
  }

  #version(index: number): PackedVersion {
    const rows = this.#rows;
    const row = index * ROW_BYTES;
    return {
      sequence: sequence(sequenceAt(rows, index)),
      offset: rows.readUInt32BE(row + OFFSET),
      length: rows.readUInt32BE(row + LENGTH),
      hash: rows.toString('hex', row + HASH, row + ROW_BYTES),
    };
  }
}

/** What is wrong with what the first line of a pack says, or null. */
export function headProblem({ first, last, versions }: PackHead): string | null {
  return (
    // 1 is genesis: no slot holds it.
    rangeProblem('first', first, 2, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('last', last, first, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('versions', versions, 1, last - first + 1)
  );
}

/**
 * What is wrong with the rows behind a valid first line, or null.
 * @param from where the first stored version must begin, in bytes of the object
 * @param to where the last must end
 */
export function rowsProblem(
  bytes: Uint8Array,
  head: PackHead,
  from: number,
  to: number,
): string | null {
  const rows = asBuffer(bytes);
  if (rows.length !== head.versions * ROW_BYTES) {
    return `versions: ${head.versions} rows are not ${rows.length} bytes`;
  }
  let before = head.first - 1;
  let end = from;
  for (let index = 0; index < head.versions; index++) {
    const at = sequenceAt(rows, index);
    const offset = rows.readUInt32BE(index * ROW_BYTES + OFFSET);
    const length = rows.readUInt32BE(index * ROW_BYTES + LENGTH);
    // Messages are made when there is one: a pack may have tens of thousands of rows.
    const problem =
      at > before && at <= head.last && offset === end && length >= 1 && length <= INLINE_BYTES_MAX
        ? null
        : (rangeProblem(`rows[${index}].sequence`, at, before + 1, head.last) ??
          rangeProblem(`rows[${index}].offset`, offset, end, end) ??
          rangeProblem(`rows[${index}].length`, length, 1, INLINE_BYTES_MAX));
    if (problem !== null) return problem;
    if (index === 0 && at !== head.first) return `first: ${head.first}, the first row says ${at}`;
    before = at;
    end += length;
  }
  if (before !== head.last) return `last: ${head.last}, the last row says ${before}`;
  return end === to ? null : `rows: end at ${end} of ${to} bytes`;
}

/** A number beyond 2^53 − 1 comes out as one, rounded: no valid sequence. */
function sequenceAt(rows: Buffer, index: number): number {
  const row = index * ROW_BYTES;
  return rows.readUInt32BE(row) * 2 ** 32 + rows.readUInt32BE(row + 4);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
