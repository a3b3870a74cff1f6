/**
 * Reads a world of schema 1 out of a bucket, from its head down:
 *
 *     const { head } = await readSchema1Head(bucket);
 *     const graph = new Schema1Graph(bucket, head);
 *     for await (const document of graph.documents()) …
 *     // with bytes: for await (const version of readSchema1Stored(bucket, graph.documents())) …
 *
 * What a head names never changes, so a reading is of one state whatever is committed meanwhile.
 *
 * DAMAGE. Every object is decoded strictly and held against what refers to it. What is not right is
 * thrown, in the order of the reading; with a `report` it is told instead and left out, and the
 * reading goes on with what there is.
 *
 * Whether one document lies below another, and how many there are, is known at the end of the
 * shards only: whoever needs a sound world reads that far.
 *
 * MEMORY. The paths of all documents (`schema1-topology.ts`), a few shards, and 32 documents, each
 * with about 200 bytes for a version. `Schema1Reader` bounds the bytes under way; a world of more
 * documents than a root may count is read no further.
 */
import type { BlobStore } from '../blob/blob.ts';
import { readAhead } from '../bucketstore/base/read-ahead.ts';
import { pathHash } from '../bucketstore/document/path.ts';
import type { Problem } from '../bucketstore/log/problems.ts';
import { SCHEMA1_DOCUMENTS_MAX } from './schema1-bounds.ts';
import { decodeSchema1Block } from './schema1-history.ts';
import { schema1HistoryKey, schema1Key, schema1RootKey, schema1ShardKey } from './schema1-keys.ts';
import { decodeSchema1Manifest } from './schema1-manifest.ts';
import { isProblem, type Read, Schema1Reader, type Schema1ReadOptions } from './schema1-reader.ts';
import type {
  BlockReference,
  Schema1Block,
  Schema1Entry,
  Schema1Head,
  Schema1Manifest,
  Schema1Root,
  Schema1Version,
} from './schema1-records.ts';
import { decodeSchema1Root, shardLabel } from './schema1-root.ts';
import {
  entryManifestProblem,
  entryTipProblem,
  referenceBlockProblem,
  rootCountProblem,
} from './schema1-rules.ts';
import { decodeSchema1Shard, shardOf } from './schema1-shard.ts';
import { Schema1Topology } from './schema1-topology.ts';

/** An entry and the key of the shard that holds it. */
export interface Schema1FoundEntry {
  readonly shard: string;
  readonly entry: Schema1Entry;
}

/** A document as its shard, its manifest and its history blocks tell of it. */
export interface Schema1Document extends Schema1FoundEntry {
  readonly manifest: Schema1Manifest;
  /** The retained ones, ascending; with a `report`, only those of blocks that could be read. */
  readonly versions: readonly Schema1Version[];
}

interface FoundDocument {
  /** Null when its manifest could not be read. */
  readonly document: Schema1Document | null;
  readonly problems: readonly Problem[];
}

/** Shards are some 300 KB in a full world. */
const SHARDS_AHEAD = 8;
const DOCUMENTS_AHEAD = 32;
/** Of one document; most have one. */
const BLOCKS_AHEAD = 8;

export class Schema1Graph {
  readonly #reader: Schema1Reader;
  readonly #head: Schema1Head;
  #topology = new Schema1Topology();
  #isWhole = false;

  constructor(bucket: BlobStore, head: Schema1Head, options: Schema1ReadOptions = {}) {
    this.#reader = new Schema1Reader(bucket, options);
    this.#head = head;
  }

  /** The paths that the last reading has met so far, with their current versions. */
  get topology(): Pick<Schema1Topology, 'size' | 'versionOf'> {
    return this.#topology;
  }

  /** Whether the last reading has read every shard, so that `topology` knows every document. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /**
   * All documents, archived ones included, by shard and path. As `entries`, and for each document
   * one `get` for its manifest and one for each of its history blocks.
   */
  async *documents(): AsyncGenerator<Schema1Document> {
    const found = readAhead(this.entries(), DOCUMENTS_AHEAD, (one) => this.#document(one));
    for await (const { document, problems } of found) {
      for (const problem of problems) this.#reader.report(problem);
      if (document !== null) yield document;
    }
  }

  /** Their entries alone, by shard and path. 257 `get`s: the root, and its shards. */
  async *entries(): AsyncGenerator<Schema1FoundEntry> {
    this.#topology = new Schema1Topology();
    this.#isWhole = false;
    const { rootHash, worldId } = this.#head;
    const root = await this.#reader.read({ kind: 'root', hash: rootHash }, (key, bytes) => {
      return decodeSchema1Root(key, bytes, worldId);
    });
    if (isProblem(root)) this.#reader.report(root);
    else yield* this.#entriesOf(root);
  }

  async *#entriesOf(root: Schema1Root): AsyncGenerator<Schema1FoundEntry> {
    const shards = readAhead(root.shards.entries(), SHARDS_AHEAD, async ([index, hash]) => {
      const name = { kind: 'shard', shard: shardLabel(index), hash } as const;
      return { key: schema1Key(name), entries: await this.#reader.read(name, decodeSchema1Shard) };
    });
    let damaged = false;
    let count = 0;
    for await (const { key, entries } of shards) {
      if (isProblem(entries)) {
        this.#reader.report(entries);
        damaged = true;
        continue;
      }
      count += entries.length;
      // More than any root counts: not taken in, for there may be any number of them.
      if (count > SCHEMA1_DOCUMENTS_MAX) break;
      for (const entry of entries) {
        this.#topology.add(entry.path, entry.version);
        yield { shard: key, entry };
      }
    }
    const isCut = count > SCHEMA1_DOCUMENTS_MAX;
    this.#isWhole = !damaged && !isCut;
    this.#reportCollisions(root);
    const problem = isCut || this.#isWhole ? rootCountProblem(root, count) : null;
    if (problem === null) return;
    this.#reader.report({ object: schema1RootKey(this.#head.rootHash), problem });
  }

  #reportCollisions({ shards }: Schema1Root): void {
    for (const { path, above } of this.#topology.collisions()) {
      const shard = shardOf(path);
      const hash = shards[Number.parseInt(shard, 16)] ?? '';
      const object = schema1ShardKey(shard, hash);
      this.#reader.report({ object, problem: `${path}: lies below the document ${above}` });
    }
  }

  async #document({ shard, entry }: Schema1FoundEntry): Promise<FoundDocument> {
    const { path, manifestHash: hash } = entry;
    const name = { kind: 'manifest', pathHash: pathHash(path), hash } as const;
    const manifest = await this.#reader.read(name, decodeSchema1Manifest);
    if (isProblem(manifest)) return { document: null, problems: [manifest] };
    const problems: Problem[] = [];
    const key = schema1Key(name);
    const odd = entryManifestProblem(entry, manifest);
    if (odd !== null) problems.push({ object: key, problem: `${odd}, in ${shard}` });
    const versions: Schema1Version[] = [];
    const { blocks } = manifest;
    for await (const block of readAhead(blocks, BLOCKS_AHEAD, (one) => this.#block(one, key))) {
      if (isProblem(block)) problems.push(block);
      else versions.push(...block.versions);
    }
    const last = blocks.at(-1);
    const tip = versions.at(-1);
    const wrong = tip?.version === last?.last && tip ? entryTipProblem(entry, tip) : null;
    if (wrong !== null) {
      const object = schema1HistoryKey(last?.hash ?? '');
      problems.push({ object, problem: `${wrong}, in ${shard}` });
    }
    return { document: { shard, entry, manifest, versions }, problems };
  }

  async #block(reference: BlockReference, manifest: string): Promise<Read<Schema1Block>> {
    const name = { kind: 'history', hash: reference.hash } as const;
    const block = await this.#reader.read(name, decodeSchema1Block);
    if (isProblem(block)) return block;
    const problem = referenceBlockProblem(reference, block);
    if (problem === null) return block;
    return { object: schema1Key(name), problem: `${problem}, in ${manifest}` };
  }
}
