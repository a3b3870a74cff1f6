/**
 * Stored versions that must lie in packs, and which of them do not. About 60 bytes for each
 * version.
 */
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import { findPack, type PackRef } from './pack.ts';
import type { PackDirectory } from './pack-directory.ts';

const HASH_BYTES = 32;

export class PackedSet {
  #sequences: number[] = [];
  #hashes: Buffer = Buffer.alloc(1024 * HASH_BYTES);

  /** @param storedHash 64 hex */
  add(at: Sequence, storedHash: string): void {
    const start = this.#sequences.push(at) * HASH_BYTES - HASH_BYTES;
    if (start === this.#hashes.length) {
      this.#hashes = Buffer.concat([this.#hashes, Buffer.alloc(this.#hashes.length)]);
    }
    this.#hashes.write(storedHash, start, 'hex');
  }

  /**
   * The first version that no pack has, and how many there are; null when all are there. Each
   * directory is asked for once, in the order of the packs.
   * @param directoryOf null for a pack that cannot be read: what it should have is not counted
   */
  async missing(
    packs: readonly PackRef[],
    directoryOf: (ref: PackRef) => Promise<PackDirectory | null>,
  ): Promise<{ readonly first: Sequence; readonly count: number } | null> {
    const order = [...this.#sequences.keys()].sort((a, b) => this.#at(a) - this.#at(b));
    let opened: PackRef | undefined;
    let directory: PackDirectory | null = null;
    let first: Sequence | null = null;
    let count = 0;
    for (const index of order) {
      const at = sequence(this.#at(index));
      const ref = findPack(packs, at);
      if (ref !== undefined && ref !== opened) {
        opened = ref;
        directory = await directoryOf(ref);
      }
      if (ref !== undefined && directory === null) continue;
      const row = ref === undefined ? undefined : directory?.find(at);
      if (row?.hash === this.#hash(index)) continue;
      first ??= at;
      count += 1;
    }
    return first === null ? null : { first, count };
  }

  #at(index: number): number {
    return this.#sequences[index] ?? 0;
  }

  #hash(index: number): string {
    return this.#hashes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
  }
}
