/** Stored versions out of packs, by sequence, when their slots are gone. */
import type { CallOptions } from '../blob/index.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import type { CheckpointCache } from './checkpoint-cache.ts';
import type { ObjectReader } from './objects.ts';
import { findPack, type PackRef, packKey } from './pack.ts';
import type { PackDirectory } from './pack-directory.ts';
import type { Root } from './root.ts';

/** Roots whose packs are looked into: as many as checkpoints are kept. */
const ROOTS_MAX = 3;

type Packs = Pick<Root, 'sequence' | 'packs'>;

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
  know({ sequence, packs }: Packs): void {
    const others = this.#roots.filter((root) => root.sequence !== sequence);
    const all = [{ sequence, packs }, ...others].sort((a, b) => b.sequence - a.sequence);
    this.#roots = all.slice(0, ROOTS_MAX);
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
      const ref = findPack(packs, at);
      if (ref === undefined || asked.has(packKey(ref))) continue;
      asked.add(packKey(ref));
      const bytes = await this.#readFrom(ref, at, storedHash, options);
      if (bytes !== null) return bytes;
    }
    return null;
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
