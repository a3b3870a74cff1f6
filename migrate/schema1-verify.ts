/**
 * Verification of a world of schema 1: everything that its head leads to is read and held against
 * everything else, and all that lies in the bucket is listed.
 */
import type { BlobStore } from '../blob/blob.ts';
import { isStoreError } from '../bucketstore/base/errors.ts';
import { STORED_BYTES_MAX } from '../bucketstore/document/stored.ts';
import { Problems } from '../bucketstore/log/problems.ts';
import { baseEntryBytes, schema1Cost } from './schema1-cost.ts';
import { type Schema1Document, Schema1Graph } from './schema1-graph.ts';
import { HEAD_KEY, schema1BlobKey } from './schema1-keys.ts';
import { listSchema1, type Schema1Listing } from './schema1-listing.ts';
import { checkLogBeside, readTold } from './schema1-past.ts';
import { Schema1Reached } from './schema1-reached.ts';
import { readSchema1Head, type Schema1ReadOptions } from './schema1-reader.ts';
import type { Schema1Entry, Schema1Head } from './schema1-records.ts';
import type { Schema1Counts, Schema1Report, Schema1Told } from './schema1-report.ts';
import { readSchema1Stored } from './schema1-stored.ts';
import { headReceiptsProblem } from './schema1-told.ts';

export interface Schema1VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Read blobs too, instead of looking for them in the listing. Default false. */
  readonly deep?: boolean | undefined;
  /** Told now and then how far it is. */
  readonly onProgress?: ((done: Schema1Counts) => void) | undefined;
}

/** Documents or blobs between two words of progress. */
const PROGRESS_EACH = 64;

/**
 * Reads a world of schema 1 whole and says what is wrong with it. One `get` for the head, the root,
 * each of 256 shards, each document's manifest and each of its history blocks, and each change
 * block; one list for a thousand objects, which also shows whether the blobs are there; when `deep`
 * one `get` for each retained version instead. The head is read once more at the end.
 *
 * It is of the state that the head named when it was read. Old servers that go on writing do no
 * harm; what they have made since is told as unreachable.
 *
 * Memory: 60 bytes for a version, 300 for a document with a usual path, and what `Schema1Graph`
 * holds.
 * @throws StoreError as `readSchema1Head`, damage apart: what is wrong with the world itself is
 *   not thrown
 */
export async function verifySchema1Bucket(
  bucket: BlobStore,
  options: Schema1VerifyOptions = {},
): Promise<Schema1Report> {
  const verifier = new Verifier(bucket, options);
  await verifier.run();
  return verifier.report();
}

class Verifier {
  readonly #bucket: BlobStore;
  readonly #options: Schema1VerifyOptions;
  readonly #reading: Schema1ReadOptions;
  readonly #reached = new Schema1Reached();
  readonly #problems = new Problems();
  readonly #counts = { documents: 0, blocks: 0, versions: 0, blobs: 0, listed: 0 };
  readonly #bytes = { entryBytes: 0, pathBytes: 0 };
  #archived = 0;
  #steps = 0;
  #head: Schema1Head | null = null;
  #graph: Schema1Graph | null = null;
  #listing: Schema1Listing | null = null;
  #told: Schema1Told | null = null;
  #headAfter: Schema1Report['headAfter'] = null;

  constructor(bucket: BlobStore, options: Schema1VerifyOptions) {
    this.#bucket = bucket;
    this.#options = options;
    this.#reading = {
      signal: options.signal,
      report: ({ object, problem }) => this.#problems.note(object, problem),
      onReference: (name) => this.#reached.add(name),
    };
  }

  async run(): Promise<void> {
    const head = await this.#readHead();
    if (head === null) return;
    const graph = new Schema1Graph(this.#bucket, head, this.#reading);
    this.#head = head;
    this.#graph = graph;
    await this.#drain(this.#documents(head, graph.documents()));
    this.#listing = await this.#list();
    this.#headAfter = await this.#readHeadAfter(head);
    const { topology, isWhole } = graph;
    const parts = {
      bucket: this.#bucket,
      signal: this.#options.signal,
      problems: this.#problems,
      listing: this.#listing,
      versionOf: isWhole ? (path: string) => topology.versionOf(path) : null,
      headAfter: this.#headAfter,
    };
    await checkLogBeside(head, parts);
    this.#told = await readTold(head, parts);
  }

  report(): Schema1Report {
    const listing = this.#listing;
    // Those whose manifest is damaged count too.
    const counts = { ...this.#counts, documents: this.#graph?.topology.size ?? 0 };
    const size = { ...counts, ...this.#bytes, objects: listing?.objects ?? 0 };
    return {
      schema: 1,
      worldId: this.#head?.worldId ?? null,
      sequence: this.#head?.sequence ?? null,
      ...counts,
      archived: this.#archived,
      deep: this.#options.deep ?? false,
      told: this.#told,
      headAfter: this.#headAfter,
      listing,
      cost: schema1Cost(size),
      problems: this.#problems.named,
      problemCount: this.#problems.count,
    };
  }

  async #readHead(): Promise<Schema1Head | null> {
    try {
      return (await readSchema1Head(this.#bucket, this.#options)).head;
    } catch (error) {
      this.#problems.noteIntegrity(error, HEAD_KEY);
      return null;
    }
  }

  /** Counts documents on their way, and holds the head's receipts against them in the end. */
  async *#documents(
    head: Schema1Head,
    documents: AsyncIterable<Schema1Document>,
  ): AsyncGenerator<Schema1Document> {
    const told = new Map<string, Schema1Entry | undefined>();
    for (const { change } of head.receipts) if (change !== null) told.set(change.path, undefined);
    for await (const document of documents) {
      const { entry, manifest, versions } = document;
      this.#counts.documents++;
      this.#counts.blocks += manifest.blocks.length;
      this.#counts.versions += versions.length;
      if (entry.archived) this.#archived++;
      this.#bytes.entryBytes += baseEntryBytes(entry);
      this.#bytes.pathBytes += Buffer.byteLength(entry.path);
      this.#reached.addBlobs(entry.path, versions);
      if (told.has(entry.path)) told.set(entry.path, entry);
      this.#progress();
      yield document;
    }
    const problem = headReceiptsProblem(head, (path) => told.get(path));
    if (problem !== null) this.#problems.note(HEAD_KEY, problem);
  }

  async #drain(documents: AsyncGenerator<Schema1Document>): Promise<void> {
    if (this.#options.deep !== true) {
      for await (const _ of documents);
      return;
    }
    for await (const _ of readSchema1Stored(this.#bucket, documents, this.#reading)) {
      this.#counts.blobs++;
      this.#progress();
    }
  }

  async #list(): Promise<Schema1Listing> {
    const { signal, deep = false, onProgress } = this.#options;
    const listing = await listSchema1(this.#bucket, {
      signal,
      reached: this.#reached,
      onBlob: ({ key, size }) => {
        if (size >= 1 && size <= STORED_BYTES_MAX) return;
        const problem = `${size} bytes, and a stored version has 1 to ${STORED_BYTES_MAX}`;
        if (!deep) this.#problems.note(key, problem);
      },
      onPage: (objects) => {
        this.#counts.listed = objects;
        onProgress?.(this.#counts);
      },
    });
    // What is missing has been told of already where blobs were read.
    if (deep) return listing;
    for (const { hash, path, version } of this.#reached.missing()) {
      const problem = `missing, and ${path} version ${version} is in it`;
      this.#problems.note(schema1BlobKey(hash), problem);
    }
    return listing;
  }

  async #readHeadAfter(before: Schema1Head): Promise<Schema1Report['headAfter']> {
    try {
      const { head } = await readSchema1Head(this.#bucket, this.#options);
      const { worldId, sequence } = head;
      if (worldId !== before.worldId) this.#problems.note(HEAD_KEY, `now of world ${worldId}`);
      if (sequence < before.sequence) {
        this.#problems.note(HEAD_KEY, `went back from ${before.sequence} to ${sequence}`);
      }
      return sequence;
    } catch (error) {
      if (isStoreError(error) && error.code === 'UNSUPPORTED_FORMAT') return 'migrated';
      if (isStoreError(error) && error.code === 'NOT_FOUND') {
        this.#problems.note(HEAD_KEY, 'was there, and is gone');
      } else {
        this.#problems.noteIntegrity(error, HEAD_KEY);
      }
      return null;
    }
  }

  #progress(): void {
    this.#options.signal?.throwIfAborted();
    if (++this.#steps % PROGRESS_EACH === 0) this.#options.onProgress?.(this.#counts);
  }
}
