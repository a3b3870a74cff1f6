/**
 * Worlds of the old store in which one thing says what is not so, while every object is valid by
 * itself and every hash above it is right: as a server with a defect would have written them.
 */
import type { BlobStore } from '../../blob/blob.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { pathHash } from '../../bucketstore/document/path.ts';
import { decodeSchema1Head, encodeSchema1Head } from '../../migrate/schema1-head.ts';
import { decodeSchema1Block, encodeSchema1Block } from '../../migrate/schema1-history.ts';
import {
  HEAD_KEY,
  schema1BlobKey,
  schema1HistoryKey,
  schema1ManifestKey,
  schema1RootKey,
  schema1ShardKey,
} from '../../migrate/schema1-keys.ts';
import { decodeSchema1Manifest, encodeSchema1Manifest } from '../../migrate/schema1-manifest.ts';
import type {
  Schema1Block,
  Schema1Entry,
  Schema1Head,
  Schema1Manifest,
  Schema1Root,
} from '../../migrate/schema1-records.ts';
import type { Schema1Report } from '../../migrate/schema1-report.ts';
import { decodeSchema1Root, encodeSchema1Root } from '../../migrate/schema1-root.ts';
import { decodeSchema1Shard, encodeSchema1Shard, shardOf } from '../../migrate/schema1-shard.ts';
import { verifySchema1Bucket } from '../../migrate/schema1-verify.ts';
import { OldWorld, type OldWorldOptions } from '../schema1/old-world.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** What is said otherwise of one document: of its newest version, its last block, and so on up. */
export interface Forgery {
  /** The stored bytes; the record in the block then names what they are. */
  readonly blob?: (stored: string) => string;
  readonly block?: (block: Schema1Block) => Schema1Block;
  readonly manifest?: (manifest: Schema1Manifest) => Schema1Manifest;
  readonly entry?: (entry: Schema1Entry) => Schema1Entry;
  /** All of the shard's. */
  readonly entries?: (entries: readonly Schema1Entry[]) => readonly Schema1Entry[];
  readonly root?: (root: Schema1Root) => Schema1Root;
  readonly head?: (head: Schema1Head) => Schema1Head;
}

/** Where the objects of one document are. */
export interface Places {
  readonly blob: string;
  readonly block: string;
  readonly manifest: string;
  readonly shard: string;
  readonly root: string;
  readonly head: string;
}

/** A world in a bucket in memory that can be changed. */
export class ForgedWorld {
  readonly world: OldWorld;
  readonly bucket: BlobStore;
  readonly clock: ManualClock;
  readonly #objects: Map<string, Uint8Array>;

  private constructor(world: OldWorld, bucket: BlobStore, clock: ManualClock) {
    this.world = world;
    this.bucket = bucket;
    this.clock = clock;
    this.#objects = new Map(world.toMap());
  }

  static async of(options: OldWorldOptions): Promise<ForgedWorld> {
    const clock = new ManualClock();
    const world = new OldWorld(options);
    const bucket = createMemoryBucket({ timing: clock });
    await world.writeTo(bucket);
    return new ForgedWorld(world, bucket, clock);
  }

  get head(): Schema1Head {
    return decodeSchema1Head(this.bytes(HEAD_KEY));
  }

  bytes(key: string): Uint8Array {
    const bytes = this.#objects.get(key);
    if (bytes === undefined) throw new RangeError(`no object ${key}`);
    return bytes;
  }

  keys(): readonly string[] {
    return [...this.#objects.keys()];
  }

  async put(key: string, bytes: Uint8Array | string): Promise<void> {
    const stored = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    await this.bucket.delete(key);
    await this.bucket.create(key, stored);
    this.#objects.set(key, stored);
  }

  async remove(key: string): Promise<void> {
    await this.bucket.delete(key);
    this.#objects.delete(key);
  }

  /** Where the objects of a document are now. */
  placesOf(path: string): Places {
    const { places } = this.#find(path);
    return places;
  }

  /** Puts a forgery in the place of what is said of a document. Answers where it is. */
  async forge(path: string, forgery: Forgery): Promise<Places> {
    const found = this.#find(path);
    let { block, manifest, entry, root, head } = found;
    if (forgery.blob !== undefined) {
      const stored = Buffer.from(this.bytes(found.places.blob)).toString();
      const bytes = Buffer.from(forgery.blob(stored));
      await this.put(schema1BlobKey(sha256Hex(bytes)), bytes);
      const tip = { ...block.versions.at(-1), storedHash: sha256Hex(bytes) };
      block = { ...block, versions: [...block.versions.slice(0, -1), tip as never] };
    }
    block = forgery.block?.(block) ?? block;
    const blockHash = await this.#put(encodeSchema1Block(block), schema1HistoryKey);
    const last = manifest.blocks.at(-1);
    if (last === undefined) throw new RangeError('no block');
    manifest = {
      ...manifest,
      blocks: [...manifest.blocks.slice(0, -1), { ...last, hash: blockHash }],
    };
    manifest = forgery.manifest?.(manifest) ?? manifest;
    const ofPath = pathHash(path);
    const manifestHash = await this.#put(encodeSchema1Manifest(manifest), (hash) => {
      return schema1ManifestKey(ofPath, hash);
    });
    entry = { ...entry, manifestHash };
    entry = forgery.entry?.(entry) ?? entry;
    const changed = found.entries.map((one) => (one.path === path ? entry : one));
    const entries = forgery.entries?.(changed) ?? changed;
    const label = shardOf(path);
    const shardHash = await this.#put(encodeSchema1Shard(label, entries), (hash) => {
      return schema1ShardKey(label, hash);
    });
    const at = Number.parseInt(label, 16);
    root = { ...root, shards: root.shards.map((hash, i) => (i === at ? shardHash : hash)) };
    root = forgery.root?.(root) ?? root;
    const rootHash = await this.#put(encodeSchema1Root(root), schema1RootKey);
    head = { ...head, rootHash };
    await this.put(HEAD_KEY, encodeSchema1Head(forgery.head?.(head) ?? head));
    return {
      blob: schema1BlobKey(block.versions.at(-1)?.storedHash ?? ''),
      block: schema1HistoryKey(manifest.blocks.at(-1)?.hash ?? ''),
      manifest: schema1ManifestKey(ofPath, manifestHash),
      shard: schema1ShardKey(label, shardHash),
      root: schema1RootKey(rootHash),
      head: HEAD_KEY,
    };
  }

  async #put(bytes: Uint8Array, keyOf: (hash: string) => string): Promise<string> {
    const hash = sha256Hex(bytes);
    await this.put(keyOf(hash), bytes);
    return hash;
  }

  #find(path: string): Found {
    const { head } = this;
    const rootKey = schema1RootKey(head.rootHash);
    const root = decodeSchema1Root(rootKey, this.bytes(rootKey), head.worldId);
    const label = shardOf(path);
    const shard = schema1ShardKey(label, root.shards[Number.parseInt(label, 16)] ?? '');
    const entries = decodeSchema1Shard(shard, this.bytes(shard));
    const entry = entries.find((one) => one.path === path);
    if (entry === undefined) throw new RangeError(`no document ${path}`);
    const manifestKey = schema1ManifestKey(pathHash(path), entry.manifestHash);
    const manifest = decodeSchema1Manifest(manifestKey, this.bytes(manifestKey));
    const blockKey = schema1HistoryKey(manifest.blocks.at(-1)?.hash ?? '');
    const block = decodeSchema1Block(blockKey, this.bytes(blockKey));
    const blob = schema1BlobKey(block.versions.at(-1)?.storedHash ?? '');
    const places = {
      blob,
      block: blockKey,
      manifest: manifestKey,
      shard,
      root: rootKey,
      head: HEAD_KEY,
    };
    return { head, root, entries, entry, manifest, block, places };
  }
}

interface Found {
  readonly head: Schema1Head;
  readonly root: Schema1Root;
  readonly entries: readonly Schema1Entry[];
  readonly entry: Schema1Entry;
  readonly manifest: Schema1Manifest;
  readonly block: Schema1Block;
  readonly places: Places;
}

export const PREFIX = '_demarkus/v1/';
export const OTHER_HASH: string = 'f'.repeat(64);
export const OTHER_WORLD = '11111111-2222-4333-8444-555555555555';
/**
 * Of the world that `freshWorld` makes: enough for a change block that the head tells nothing of.
 */
export const DOCUMENTS = 24;

/** A small world that tells everything of its past. */
export function freshWorld(): Promise<ForgedWorld> {
  return ForgedWorld.of({ seed: 3, documents: DOCUMENTS, receipts: 'named', changes: 'complete' });
}

export function verifyForged({ bucket }: ForgedWorld, deep = false): Promise<Schema1Report> {
  return verifySchema1Bucket(bucket, { deep });
}

/** The objects that a report names, in order. */
export function namedBy({ problems }: Schema1Report): readonly string[] {
  return problems.map(({ object }) => object);
}

/** A document of two versions or more that is not archived and has no title in its metadata. */
export function pathOf(forged: ForgedWorld): string {
  const found = [...forged.world.documents()].find(({ archived, versions, catalog }) => {
    return !archived && versions.length > 1 && !catalog.metadata.has('title');
  });
  if (found === undefined) throw new RangeError('no document of two versions');
  return found.path;
}
