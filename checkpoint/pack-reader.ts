/** Stored versions out of packs, by sequence, when their slots are gone. */
import type { CallOptions } from '../blob/index.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import type { CheckpointCache } from './checkpoint-cache.ts';
import type { ObjectReader } from './objects.ts';
import { findPack, type PackRef, packKey } from './pack.ts';
import type { PackDirectory } from './pack-directory.ts';
import { type Root, type RootRef, rootKey } from './root.ts';

/** Roots whose packs are looked into: as many as checkpoints are kept. */
const ROOTS_MAX = 3;

interface Packs extends Pick<Root, 'sequence' | 'packs'> {
  /** The root's. */
  readonly key: string;
}

export class PackReader {
  readonly #objects: ObjectReader;
  readonly #cache: CheckpointCache;
  /** Newest first. */
  #roots: readonly Packs[] = [];

  constructor(objects: ObjectReader, cache: CheckpointCache) {
    this.#objects = objects;
    this.#cache = cache;
  }

  /** From now on its packs are looked into, unless three newer ones are known. */
  know(ref: RootRef, { sequence, packs }: Pick<Root, 'sequence' | 'packs'>): void {
    const others = this.#roots.filter((root) => root.sequence !== sequence);
    const known = { key: rootKey(ref), sequence, packs };
    const all = [known, ...others].sort((a, b) => b.sequence - a.sequence);
    this.#roots = all.slice(0, ROOTS_MAX);
  }

  /** Whether `read` looks into its packs. */
  knows(ref: RootRef): boolean {
    const key = rootKey(ref);
    return this.#roots.some((root) => root.key === key);
  }

  /**
   * The stored version of a sequence, verified; null when no known pack has it. A pack that is
   * missing may have been written anew since: the next older root is asked. At most two `get`s for
   * each, one when its directory is kept.
   * @throws StoreError `INTEGRITY` naming the pack that is damaged, `UNSUPPORTED_FORMAT`,
   *   `UNAVAILABLE`, `LOCATION`; the signal's reason
   */
  async read(at: Sequence, storedHash: string, options: CallOptions): Promise<Uint8Array | null> {
    const asked = new Set<string>();
    for (const { packs } of this.#roots) {
      const bytes = await this.#readOf(packs, at, storedHash, options, asked);
      if (bytes !== null) return bytes;
    }
    return null;
  }

  /** As `read`, of one root, whether it is known or not. */
  readOf(
    { packs }: Pick<Root, 'packs'>,
    at: Sequence,
    storedHash: string,
    options: CallOptions,
  ): Promise<Uint8Array | null> {
    return this.#readOf(packs, at, storedHash, options, new Set());
  }

  /** @param asked packs that have been looked into */
  async #readOf(
    packs: readonly PackRef[],
    at: Sequence,
    storedHash: string,
    options: CallOptions,
    asked: Set<string>,
  ): Promise<Uint8Array | null> {
    const ref = findPack(packs, at);
    if (ref === undefined || asked.has(packKey(ref))) return null;
    asked.add(packKey(ref));
    return this.#readFrom(ref, at, storedHash, options);
  }

  async #readFrom(
    ref: PackRef,
    at: Sequence,
    storedHash: string,
    options: CallOptions,
  ): Promise<Uint8Array | null> {
    const directory = await this.#directory(ref, options);
    const version = directory?.find(at);
    if (version === undefined || version.hash !== storedHash) return null;
    return this.#objects.packed(ref, version, options);
  }

  #directory(ref: PackRef, { signal, lane }: CallOptions): Promise<PackDirectory | null> {
    return this.#cache.get(
      packKey(ref),
      // Whether one that is missing is so for good is not for a cache to say.
      (directory) => directory?.byteLength ?? Number.POSITIVE_INFINITY,
      () => this.#objects.packDirectory(ref, { lane }),
      signal,
    );
  }
}
