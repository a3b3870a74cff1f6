/**
 * Cuts a stream of inlined stored versions into packs. `pack.ts` has their format.
 *
 * The packs of a unit follow from the unit's stored versions alone: so compactors that race write
 * the same ones (I4), and one that goes on from another's checkpoint begins at any unit end.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import { INLINE_BYTES_MAX } from '../bucketstore/log/records.ts';
import { PACK_BYTES_MAX, UNIT } from './constants.ts';
import { multipleFrom } from './interval.ts';
import { directoryBytes, type EncodedPack, encodePack } from './pack.ts';
import type { PackedVersion } from './pack-directory.ts';

/** A stored version on its way into a pack. */
export interface PackInput {
  readonly sequence: Sequence;
  /** SHA-256 that the log says the bytes have, 64 hex. */
  readonly storedHash: string;
  /** Copied: they need not stay. */
  readonly bytes: Uint8Array;
}

/**
 * Where packs end: `unit`s are packed as the log completes them; what is `rewritten` of several
 * packs is one row of stored versions, cut by size only.
 */
export type PackCut = 'unit' | 'rewritten';

/**
 * Takes stored versions in the order of their sequences and gives packs as they are full. Holds at
 * most one pack in memory.
 */
export class PackCutter {
  readonly #epoch: number;
  readonly #cut: PackCut;
  readonly #bodies: Buffer = Buffer.allocUnsafe(PACK_BYTES_MAX);
  #versions: Omit<PackedVersion, 'offset'>[] = [];
  #bytes = 0;
  #last = 0;

  /** @param epoch that the packs are written in */
  constructor(epoch: number, cut: PackCut) {
    this.#epoch = epoch;
    this.#cut = cut;
  }

  /**
   * Puts a stored version in, after a check of its hash.
   * @param source key of the slot or pack that it was read from, for errors
   * @returns the pack that ended before it, if one did
   * @throws StoreError INTEGRITY naming the source when the bytes are others; then nothing has
   *   changed. InvariantError when it does not ascend, or is larger than a slot inlines
   */
  add(source: string, version: PackInput): EncodedPack | null {
    const { sequence, storedHash, bytes } = version;
    const { length } = bytes;
    assert(sequence > this.#last, () => `sequence ${sequence} after ${this.#last}`);
    assert(length > 0, () => `no bytes of sequence ${sequence}`);
    // So one always fits into a pack, beside a directory of one row.
    assert(length <= INLINE_BYTES_MAX, () => `${length} bytes of sequence ${sequence}`);
    if (sha256Hex(bytes) !== storedHash) {
      throw integrityError(
        source,
        `the ${length} bytes of sequence ${sequence} are not stored version ${storedHash}`,
      );
    }
    const ended = this.#endsBefore(sequence, length) ? this.finish() : null;
    this.#bodies.set(bytes, this.#bytes);
    this.#versions.push({ sequence, length, hash: storedHash });
    this.#bytes += length;
    this.#last = sequence;
    return ended;
  }

  /** The pack of what is still there, null when nothing is. More may be added behind it. */
  finish(): EncodedPack | null {
    if (this.#versions.length === 0) return null;
    const bodies = this.#bodies.subarray(0, this.#bytes);
    const pack = encodePack(this.#epoch, this.#versions, bodies);
    this.#versions = [];
    this.#bytes = 0;
    return pack;
  }

  #endsBefore(next: Sequence, length: number): boolean {
    const first = this.#versions[0]?.sequence;
    if (first === undefined) return false;
    if (this.#cut === 'unit' && next > multipleFrom(first, UNIT)) return true;
    const head = { first, last: next, versions: this.#versions.length + 1 };
    return directoryBytes(head) + this.#bytes + length > PACK_BYTES_MAX;
  }
}
