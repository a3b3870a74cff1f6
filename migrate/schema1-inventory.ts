/**
 * What the head of a schema 1 world leads to, and what lies in its bucket, held against each other
 * by name, whichever is known first. About 60 bytes for an object.
 */
import type { Attributes } from '../blob/blob.ts';
import { NAME_BYTES, NameTable } from './name-table.ts';
import type { Schema1Name } from './schema1-keys.ts';

/** Kinds of objects that are referred to by hash. */
export type AddressedKind = 'root' | 'shard' | 'manifest' | 'history' | 'blob';

export interface Count {
  readonly objects: number;
  readonly bytes: number;
}

/** A version whose blob is not there, or not as it can be. */
export interface OddBlob {
  readonly hash: string;
  /** A document that has it, and as which version. */
  readonly path: string;
  readonly version: number;
  /** Null when it was not listed. */
  readonly size: number | null;
}

type AddressedName = Extract<Schema1Name, { readonly kind: AddressedKind }>;

/** Sizes stand for what is not known of a name. */
const NOT_LISTED = -1;

/** The names of one kind. */
interface Names {
  readonly table: NameTable;
  /** By place. */
  readonly sizes: number[];
  readonly reached: boolean[];
}

export class Schema1Inventory {
  readonly #names: Readonly<Record<AddressedKind, Names>> = {
    root: noNames(),
    shard: noNames(),
    manifest: noNames(),
    history: noNames(),
    blob: noNames(),
  };
  readonly #paths: string[] = [];
  /** By place of the blob: the document that was the first to name it, as place in `#paths`. */
  readonly #owners: number[] = [];
  readonly #versions: number[] = [];
  readonly #buffer: Buffer = Buffer.alloc(NAME_BYTES);

  /** Slots of its tables looked at so far: some two for each name that was taken. */
  get probes(): number {
    return Object.values(this.#names).reduce((sum, { table }) => sum + table.probes, 0);
  }

  /** Takes an object that is referred to; blobs have `reachBlobs`. */
  reach(name: Schema1Name): void {
    if (isAddressed(name)) this.#place(name, true);
  }

  /** Takes the blobs of a document. */
  reachBlobs(
    path: string,
    versions: Iterable<{ readonly version: number; readonly storedHash: string }>,
  ): void {
    const owner = this.#paths.push(path) - 1;
    for (const { version, storedHash } of versions) {
      const place = this.#place({ kind: 'blob', hash: storedHash }, true);
      if ((this.#versions[place] ?? 0) > 0) continue;
      this.#owners[place] = owner;
      this.#versions[place] = version;
    }
  }

  /** Takes an object that was listed. */
  list(name: Schema1Name, { size }: Pick<Attributes, 'size'>): void {
    if (!isAddressed(name)) return;
    const place = this.#place(name, false);
    this.#names[name.kind].sizes[place] = size;
  }

  /** Objects of a kind that were listed and that nothing refers to. */
  unreachable(kind: AddressedKind): Count {
    const { sizes, reached } = this.#names[kind];
    let objects = 0;
    let bytes = 0;
    for (const [place, size] of sizes.entries()) {
      if (reached[place] === true || size === NOT_LISTED) continue;
      objects++;
      bytes += size;
    }
    return { objects, bytes };
  }

  /** The blobs that are referred to and were not listed, or not of a size that they can have. */
  *oddBlobs(sizeMax: number): Generator<OddBlob> {
    const { table, sizes, reached } = this.#names.blob;
    for (const [place, size] of sizes.entries()) {
      if (reached[place] !== true || (size >= 1 && size <= sizeMax)) continue;
      yield {
        hash: table.at(place).toString('hex'),
        path: this.#paths[this.#owners[place] ?? 0] ?? '',
        version: this.#versions[place] ?? 0,
        size: size === NOT_LISTED ? null : size,
      };
    }
  }

  #place(name: AddressedName, isReached: boolean): number {
    const { table, sizes, reached } = this.#names[name.kind];
    const place = table.add(this.#bytesOf(name));
    if (place === sizes.length) {
      sizes.push(NOT_LISTED);
      reached.push(false);
      if (name.kind === 'blob') {
        this.#owners.push(0);
        this.#versions.push(0);
      }
    }
    if (isReached) reached[place] = true;
    return place;
  }

  /**
   * All of a key: where it says more than a hash, that has its part. A manifest's is half of each
   * hash, 128 bits.
   */
  #bytesOf(name: AddressedName): Buffer {
    const bytes = this.#buffer;
    bytes.write(name.hash, 'hex');
    if (name.kind === 'manifest') {
      bytes.write(name.pathHash, NAME_BYTES / 2, NAME_BYTES / 2, 'hex');
    }
    if (name.kind === 'shard') bytes[0] = (bytes[0] ?? 0) ^ Number.parseInt(name.shard, 16);
    return bytes;
  }
}

function noNames(): Names {
  return { table: new NameTable(), sizes: [], reached: [] };
}

function isAddressed(name: Schema1Name): name is AddressedName {
  return 'hash' in name;
}
