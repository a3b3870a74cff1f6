/**
 * What the head of a schema 1 world leads to, by name, to be held against what lies in the bucket.
 * About 60 bytes for a version, 45 for a manifest or a history block.
 */
import { assertNever } from '../bucketstore/base/assert.ts';
import { NAME_BYTES, NameTable } from './name-table.ts';
import type { Schema1Name } from './schema1-keys.ts';

/** A version whose blob no listing showed. */
export interface MissingBlob {
  readonly hash: string;
  /** A document that has it, and as which version. */
  readonly path: string;
  readonly version: number;
}

export class Schema1Reached {
  readonly #roots = new Set<string>();
  readonly #shards = new Set<string>();
  readonly #manifests = new NameTable();
  readonly #blocks = new NameTable();
  readonly #blobs = new NameTable();
  readonly #paths: string[] = [];
  /** By place of the blob: the document that was the first to name it, as place in `#paths`. */
  readonly #owners: number[] = [];
  readonly #versions: number[] = [];
  readonly #listed: boolean[] = [];
  readonly #name: Buffer = Buffer.alloc(NAME_BYTES);

  /** Takes an object that is referred to. Blobs have their own. */
  add(name: Schema1Name): void {
    switch (name.kind) {
      case 'root':
        this.#roots.add(name.hash);
        return;
      case 'shard':
        this.#shards.add(shardName(name));
        return;
      case 'manifest':
        this.#manifests.add(this.#manifestName(name));
        return;
      case 'history':
        this.#blocks.add(this.#hashName(name.hash));
        return;
      default:
    }
  }

  /** Takes the blobs of a document. */
  addBlobs(
    path: string,
    versions: Iterable<{ readonly version: number; readonly storedHash: string }>,
  ): void {
    const owner = this.#paths.push(path) - 1;
    for (const { version, storedHash } of versions) {
      const before = this.#blobs.size;
      const place = this.#blobs.add(this.#hashName(storedHash));
      if (place < before) continue;
      this.#owners.push(owner);
      this.#versions.push(version);
      this.#listed.push(false);
    }
  }

  /**
   * Whether an object that was listed is one of those that were taken; a blob is then not missing.
   * The head and what nothing refers to by hash are always reached.
   */
  sees(name: Schema1Name): boolean {
    switch (name.kind) {
      case 'root':
        return this.#roots.has(name.hash);
      case 'shard':
        return this.#shards.has(shardName(name));
      case 'manifest':
        return this.#manifests.find(this.#manifestName(name)) >= 0;
      case 'history':
        return this.#blocks.find(this.#hashName(name.hash)) >= 0;
      case 'blob': {
        const place = this.#blobs.find(this.#hashName(name.hash));
        if (place >= 0) this.#listed[place] = true;
        return place >= 0;
      }
      case 'head':
      case 'changes':
      case 'pin':
        return true;
      default:
        return assertNever(name);
    }
  }

  /** The document and version of a blob that was taken. */
  ownerOf(hash: string): Omit<MissingBlob, 'hash'> | undefined {
    const place = this.#blobs.find(this.#hashName(hash));
    return place < 0 ? undefined : this.#owner(place);
  }

  /** The blobs that were taken and not seen. */
  *missing(): Generator<MissingBlob> {
    for (const [place, listed] of this.#listed.entries()) {
      if (!listed) yield { hash: this.#blobs.at(place).toString('hex'), ...this.#owner(place) };
    }
  }

  #owner(place: number): Omit<MissingBlob, 'hash'> {
    const path = this.#paths[this.#owners[place] ?? 0] ?? '';
    return { path, version: this.#versions[place] ?? 0 };
  }

  #hashName(hash: string): Uint8Array {
    this.#name.write(hash, 'hex');
    return this.#name;
  }

  /** Half of the path's hash and half of the manifest's: both are in its key. */
  #manifestName({ pathHash, hash }: { readonly pathHash: string; readonly hash: string }): Buffer {
    this.#name.write(pathHash.slice(0, NAME_BYTES), 0, 'hex');
    this.#name.write(hash.slice(0, NAME_BYTES), NAME_BYTES / 2, 'hex');
    return this.#name;
  }
}

function shardName({ shard, hash }: { readonly shard: string; readonly hash: string }): string {
  return `${shard}/${hash}`;
}
