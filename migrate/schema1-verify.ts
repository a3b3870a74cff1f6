/**
 * Verification of a world of schema 1: everything that its head leads to is read and held against
 * everything else, and all that lies in the bucket is listed.
 */
import type { BlobStore } from '../blob/blob.ts';
import { onAbort } from '../bucketstore/base/abortable.ts';
import { STORED_BYTES_MAX } from '../bucketstore/document/stored.ts';
import { Problems } from '../bucketstore/log/problems.ts';
import { type BesideParts, checkLogBeside, readHeadAfter, tryHead } from './schema1-beside.ts';
import { baseEntryBytes, schema1Cost } from './schema1-cost.ts';
import { type Schema1Document, Schema1Graph } from './schema1-graph.ts';
import { Schema1Inventory } from './schema1-inventory.ts';
import { schema1BlobKey } from './schema1-keys.ts';
import { listSchema1, type Schema1Listing } from './schema1-listing.ts';
import { readTold } from './schema1-past.ts';
import { Schema1Present } from './schema1-present.ts';
import type { Schema1ReadOptions } from './schema1-reader.ts';
import type { Schema1Head } from './schema1-records.ts';
import {
  objectsOf,
  type Schema1Counts,
  type Schema1Report,
  type Schema1Told,
} from './schema1-report.ts';
import { readSchema1Stored } from './schema1-stored.ts';

export interface Schema1VerifyOptions {
  readonly signal?: AbortSignal | undefined;
  /** The world that must be there. Default any. */
  readonly worldId?: string | undefined;
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
 * one `get` for each retained version instead. The head is read once more at the end, and the last
 * slot of a log where one lies beside.
 *
 * It is of the state that the head named when it was read. Old servers that go on writing do no
 * harm; what they have made since is told as unreachable.
 *
 * Memory: 60 bytes for an object in the bucket, 50 more for a version, 200 for a document, as much
 * for the newest receipt of each that change blocks tell of, and what `Schema1Graph` holds.
 * @throws StoreError `LOCATION` for another world than `worldId`; as `readSchema1Head`, damage
 *   apart: what is wrong with the world itself is not thrown
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
  readonly #inventory = new Schema1Inventory();
  readonly #present = new Schema1Present();
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
  }

  async run(): Promise<void> {
    const head = await tryHead(this.#beside, this.#options.worldId);
    if (head === null) return;
    this.#head = head;
    // What the head leads to was there before the head was, so a listing that begins now has it.
    await together(this.#options.signal, [
      (signal) => this.#read(head, signal),
      (signal) => this.#list(signal),
    ]);
    if (this.#options.deep !== true) this.#noteOddBlobs();
    await this.#readPast(head);
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
      objects: listing && objectsOf(listing, this.#inventory),
      cost: this.#head && schema1Cost(size),
      problems: this.#problems.named,
      problemCount: this.#problems.count,
    };
  }

  get #beside(): BesideParts {
    return { bucket: this.#bucket, signal: this.#options.signal, problems: this.#problems };
  }

  /** Counts documents on their way. */
  async *#documents(documents: AsyncIterable<Schema1Document>): AsyncGenerator<Schema1Document> {
    for await (const document of documents) {
      const { entry, manifest, versions } = document;
      this.#counts.documents++;
      this.#counts.blocks += manifest.blocks.length;
      this.#counts.versions += versions.length;
      if (entry.archived) this.#archived++;
      this.#bytes.entryBytes += baseEntryBytes(entry);
      this.#bytes.pathBytes += Buffer.byteLength(entry.path);
      this.#inventory.reachBlobs(entry.path, versions);
      this.#present.take(entry, versions);
      yield document;
    }
  }

  async #read(head: Schema1Head, signal: AbortSignal): Promise<void> {
    const options: Schema1ReadOptions = {
      signal,
      report: ({ object, problem }) => this.#problems.note(object, problem),
      onReference: (name) => this.#inventory.reach(name),
    };
    const graph = new Schema1Graph(this.#bucket, head, options);
    this.#graph = graph;
    const documents = this.#documents(graph.documents());
    const { deep = false } = this.#options;
    const steps = deep ? readSchema1Stored(this.#bucket, documents, options) : documents;
    for await (const _ of steps) {
      signal.throwIfAborted();
      if (deep) this.#counts.blobs++;
      if (++this.#steps % PROGRESS_EACH === 0) this.#options.onProgress?.(this.#counts);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const onPage = (objects: number): void => {
      this.#counts.listed = objects;
      this.#options.onProgress?.(this.#counts);
    };
    this.#listing = await listSchema1(this.#bucket, {
      signal,
      inventory: this.#inventory,
      onPage,
    });
  }

  /** Where blobs were read, all this has been told of already. */
  #noteOddBlobs(): void {
    for (const { hash, path, version, size } of this.#inventory.oddBlobs(STORED_BYTES_MAX)) {
      const where = `${path} version ${version} is in it`;
      const sizes = `${size} bytes, and a stored version has 1 to ${STORED_BYTES_MAX}`;
      const problem = size === null ? `missing, and ${where}` : `${sizes}; ${where}`;
      this.#problems.note(schema1BlobKey(hash), problem);
    }
  }

  async #readPast(head: Schema1Head): Promise<void> {
    const parts = this.#beside;
    const headAfter = await readHeadAfter(head, parts);
    this.#headAfter = headAfter;
    const graph = this.#graph;
    const listing = this.#listing;
    if (graph === null || listing === null) return;
    await checkLogBeside(head, listing, headAfter, parts);
    const present = this.#present;
    const isThere = (path: string): boolean => graph.topology.versionOf(path) !== undefined;
    const known = { present, isThere: graph.isWhole ? isThere : null };
    this.#told = await readTold(head, { ...parts, ...known, listing, headAfter });
  }
}

/**
 * Does several things at once; when one fails the others are ended, and its failure is thrown once
 * all have.
 */
async function together(
  signal: AbortSignal | undefined,
  works: readonly ((signal: AbortSignal) => Promise<void>)[],
): Promise<void> {
  signal?.throwIfAborted();
  const ended = new AbortController();
  const end = (reason: unknown): void => ended.abort(reason);
  const forget = signal === undefined ? null : onAbort(signal, () => end(signal.reason));
  try {
    await Promise.allSettled(
      works.map((work) => {
        return work(ended.signal).catch(end);
      }),
    );
    ended.signal.throwIfAborted();
  } finally {
    forget?.();
  }
}
