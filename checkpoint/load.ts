/**
 * Loads the states of checkpoints: root, manifests, and the columns of all runs, which then stay in
 * memory. Entries and version records stay in the bucket until they are asked for, bodies in packs.
 */
import type { BlobStore, CallOptions } from '../blob/index.ts';
import type { Clock } from '../bucketstore/base/clock.ts';
import { publish } from '../bucketstore/base/diagnostics.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { inTurns, type Turn } from '../bucketstore/base/in-turns.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import type { CheckpointRecord, Marker, Start } from '../bucketstore/log/records.ts';
import { controlOf, tipOf } from '../bucketstore/snapshot/checkpoint-state.ts';
import {
  type EarlyBase,
  type EarlySource,
  emptyEarlyBase,
} from '../bucketstore/snapshot/early-base.ts';
import type { CheckpointSource } from '../bucketstore/snapshot/load.ts';
import { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import { CheckpointCache } from './checkpoint-cache.ts';
import { DocumentCounter } from './document-counter.ts';
import { type DecodeOldHistory, ObjectReader } from './objects.ts';
import { OpenedRuns } from './opened-runs.ts';
import { PackReader } from './pack-reader.ts';
import { lifeStart, type Root, type RootRef, rootKey } from './root.ts';
import { type OpenedManifests, RunLoader } from './run-loader.ts';
import { RunsState } from './runs-state.ts';
import { TableReader } from './table-reader.ts';

export interface LoaderParts {
  readonly bucket: BlobStore;
  /** Of the marker: what roots are judged by. */
  readonly start: Start;
  /** Whose `turn` is taken between the steps of a load. Without it a load goes on at once. */
  readonly clock?: Pick<Clock, 'turn'> | undefined;
  /** Default one of 32 MiB. */
  readonly cache?: CheckpointCache | undefined;
  /** Without it, history blocks of schema 1 are refused. */
  readonly decodeOldHistory?: DecodeOldHistory | undefined;
}

/** What a root must agree with. */
interface Expected {
  readonly sequence: Sequence;
  readonly documents: number;
}

/** A root and its manifests, as far as a load reads before the columns. */
interface Opened {
  readonly root: Root;
  readonly manifests: OpenedManifests;
}

/** The checkpoints of one world, for one store. */
export class CheckpointLoader implements CheckpointSource, EarlySource {
  /** What is kept of entries, version records and directories. */
  readonly cache: CheckpointCache;
  readonly #start: Start;
  readonly #objects: ObjectReader;
  readonly #turn: Turn;
  readonly #runs: RunLoader;
  readonly #tables: TableReader;
  readonly #packs: PackReader;
  readonly #counter = new DocumentCounter();
  /** The newest checkpoint that was loaded. */
  #newest = 0;
  /** What was opened last, by the key of its root, until it is loaded. */
  #opened: readonly [key: string, opened: Opened] | null = null;

  constructor({ bucket, start, clock, cache, decodeOldHistory }: LoaderParts) {
    this.cache = cache ?? new CheckpointCache();
    this.#start = start;
    this.#objects = new ObjectReader({ bucket, decodeOldHistory });
    this.#turn = async () => clock?.turn?.();
    this.#runs = new RunLoader(this.#objects, this.#turn);
    this.#tables = new TableReader(this.#objects, this.cache);
    this.#packs = new PackReader(this.#objects, this.cache);
  }

  /**
   * The state at a checkpoint. One `get` for the root, one for each run manifest, two for each
   * segment, 16 at a time; none for runs that the newest state loaded before has too.
   * @throws StoreError `INTEGRITY` naming the object that is missing, damaged, or says otherwise
   *   than the record; `UNSUPPORTED_FORMAT`, `UNAVAILABLE`, `LOCATION`; the signal's reason
   */
  async load(record: CheckpointRecord, options: CallOptions = {}): Promise<Snapshot> {
    const { worldId, incarnationId, root } = record;
    const state = await this.#load(root, { ...record, world: worldId }, options);
    return Snapshot.atBase({ worldId, incarnationId }, state, tipOf(record), controlOf(record));
  }

  /**
   * The documents at a record, to be read one by one: one `get` for the root and one for each run
   * manifest, which a `load` of the same record does not read again.
   * @throws StoreError as `load`
   */
  async open(record: CheckpointRecord, options: CallOptions = {}): Promise<EarlyBase> {
    return this.#openEarly(record.root, record, options);
  }

  /** The same of what a marker starts from. No request when it has no root. */
  async openStart(start: Start, options: CallOptions = {}): Promise<EarlyBase> {
    if (start.root === null) return emptyEarlyBase(start);
    return this.#openEarly(start.root, start, options);
  }

  /**
   * The state that a marker starts from. No request when it has no root, else as `load`.
   * @param markerHash SHA-256 of the marker's bytes
   */
  async loadStart(
    marker: Marker,
    markerHash: string,
    options: CallOptions = {},
  ): Promise<Snapshot> {
    const empty = Snapshot.atStart(marker, markerHash);
    const { start } = marker;
    if (start.root === null) return empty;
    const state = await this.#load(start.root, { ...start, world: marker.worldId }, options);
    return Snapshot.atBase(empty.identity, state, empty.tip, empty.control);
  }

  /**
   * The stored version of an inlined entry, verified, out of the packs of the three newest
   * checkpoints that were loaded; null when none has it. At most two `get`s for each of them,
   * mostly one in all.
   * @throws StoreError `INTEGRITY` naming the pack that is damaged; as `load`
   */
  readPacked(
    at: Sequence,
    storedHash: string,
    options: CallOptions = {},
  ): Promise<Uint8Array | null> {
    return this.#packs.read(at, storedHash, options);
  }

  /**
   * The same out of the packs of one checkpoint, of which only the root is read; null when it is
   * one of those three. From now on it is one of them when it is new enough.
   * @throws StoreError `INTEGRITY` naming the root or the pack that is damaged; as `load`
   */
  async readPackedAt(
    record: CheckpointRecord,
    at: Sequence,
    storedHash: string,
    options: CallOptions,
  ): Promise<Uint8Array | null> {
    if (this.#packs.knows(record.root)) return null;
    const root = await this.#root(record.root, record, options);
    this.#packs.know(record.root, root);
    return this.#packs.readOf(root, at, storedHash, options);
  }

  async #openEarly(ref: RootRef, expected: Expected, options: CallOptions): Promise<EarlyBase> {
    const opened = await this.#open(ref, expected, options);
    this.#opened = [rootKey(ref), opened];
    const { root, manifests } = opened;
    this.#packs.know(ref, root);
    return new OpenedRuns(root.packedThrough, manifests.runs, this.#tables);
  }

  async #open(ref: RootRef, expected: Expected, options: CallOptions): Promise<Opened> {
    const [key, opened] = this.#opened ?? [];
    if (opened !== undefined && key === rootKey(ref)) {
      this.#opened = null;
      return opened;
    }
    const root = await this.#root(ref, expected, options);
    return { root, manifests: await this.#runs.open(root, options) };
  }

  async #root(
    ref: RootRef,
    { sequence }: Pick<Expected, 'sequence'>,
    options: CallOptions,
  ): Promise<Root> {
    const root = await this.#objects.root(ref, lifeStart(this.#start), options);
    if (root.sequence === sequence) return root;
    const problem = `sequence: ${root.sequence}, the checkpoint is of ${sequence}`;
    throw integrityError(rootKey(ref), problem);
  }

  async #load(
    ref: RootRef,
    { world, ...expected }: Expected & { readonly world: string },
    options: CallOptions,
  ): Promise<RunsState> {
    const { root, manifests } = await this.#open(ref, expected, options);
    const loaded = await this.#runs.load(manifests, options, (read, of) => {
      publish('bucketstore:load', () => ({ world, read, of }));
    });
    const documents = await inTurns(this.#counter.counting(loaded.runs), this.#turn);
    if (documents !== expected.documents) {
      throw integrityError(
        rootKey(ref),
        `runs: of ${documents} documents, the checkpoint has ${expected.documents}`,
      );
    }
    this.#packs.know(ref, root);
    if (root.sequence >= this.#newest) {
      this.#newest = root.sequence;
      this.#runs.keep(loaded);
    }
    return new RunsState({ ...loaded, root, documents, tables: this.#tables });
  }
}
