/** One request's reads: the first chooses the snapshot, and all that follow use the same (I15). */
import type { CallOptions } from '../blob/index.ts';
import type { Clock } from './base/clock.ts';
import { StoreError } from './base/errors.ts';
import { inTime, rest } from './base/in-time.ts';
import type { BodySource } from './snapshot/body-reader.ts';
import type { Follower } from './snapshot/follower.ts';
import type { ListQuery } from './snapshot/listing.ts';
import {
  type Document,
  type DocumentInfo,
  type GetOptions,
  SnapshotReader,
  type StateReader,
  type VersionInfo,
} from './snapshot/reader.ts';
import type { ListEntry } from './snapshot/state.ts';

/** Reads of single documents while a world is still being loaded. */
export interface EarlyReads {
  /**
   * A reader of the state of now. null, at once or later: only the whole state tells.
   * @param path what will be read first
   * @throws StoreError `UNAVAILABLE`, `LOCATION`
   */
  reader(path: string): Promise<StateReader | null> | null;
}

export interface ViewParts {
  readonly follower: Pick<Follower, 'atTip' | 'within'>;
  readonly bodies: BodySource;
  readonly clock: Clock;
  /** How long a view may be read, ms. */
  readonly lifeMs: number;
  /** How old the state may be that lists and hash lookups choose, ms. */
  readonly freshMs: number;
  /** Whether the bucket has been closed with the world. */
  readonly isReleased: () => boolean;
  /** Answers what it can while the world is being loaded. */
  readonly early?: EarlyReads | undefined;
  /** When the world was loaded, ms on the monotonic clock; before that the time of now. */
  readonly loadedAt?: (() => number) | undefined;
}

/**
 * Opened without a request. `get`, `stat`, `isDir`, `versions` and `verifyChain` are exact: chosen
 * by one of them, the snapshot holds every commit acknowledged before, on any replica, at the price
 * of one `head`, two when nothing was written or read for 10 s. `listEntries` and `lookupHash` may
 * choose a state confirmed current within the last second. Every method rejects with `VIEW_CLOSED`
 * after `close`, with `VIEW_EXPIRED` after its life, and with `UNAVAILABLE` when the state has not
 * been chosen within its `deadlineMs`, whoever else waits for it. While its world is being loaded,
 * a view waits for that before anything but `get` and `stat` of current versions; its life begins
 * behind it.
 */
export class View implements StateReader, AsyncDisposable {
  readonly #parts: ViewParts;
  readonly #openedAt: number;
  #reader: Promise<StateReader> | null = null;
  #closed = false;

  constructor(parts: ViewParts) {
    this.#parts = parts;
    this.#openedAt = parts.clock.monotonic();
  }

  async get(path: string, options: GetOptions = {}): Promise<Document> {
    const began = this.#parts.clock.monotonic();
    const reader = await this.#exact(options, path);
    return reader.get(path, rest(options, this.#parts.clock.monotonic() - began));
  }

  async stat(path: string, options: CallOptions = {}): Promise<DocumentInfo> {
    return (await this.#exact(options, path)).stat(path, options);
  }

  async isDir(path: string, options: CallOptions = {}): Promise<boolean> {
    return (await this.#exact(options)).isDir(path, options);
  }

  async versions(path: string, options: CallOptions = {}): Promise<readonly VersionInfo[]> {
    return (await this.#exact(options)).versions(path, options);
  }

  async verifyChain(path: string, options: CallOptions = {}): Promise<void> {
    return (await this.#exact(options)).verifyChain(path, options);
  }

  async listEntries(
    path: string,
    query: ListQuery & CallOptions = {},
  ): Promise<readonly ListEntry[]> {
    return (await this.#fresh(query)).listEntries(path, query);
  }

  async lookupHash(bodyHash: string, options: CallOptions = {}): Promise<string> {
    return (await this.#fresh(options)).lookupHash(bodyHash, options);
  }

  /** Refuses every read from now on. Idempotent. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#reader = null;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @param path of a document that is read first: the only thing that may be told early */
  #exact(options: CallOptions, path?: string): Promise<StateReader> {
    return this.#choose(options, () => {
      const early = path === undefined ? null : (this.#parts.early?.reader(path) ?? null);
      const whole = () => this.#readerOf(this.#parts.follower.atTip());
      return early === null ? whole() : early.then((reader) => reader ?? whole());
    });
  }

  #fresh(options: CallOptions): Promise<StateReader> {
    const { follower, freshMs } = this.#parts;
    return this.#choose(options, () => this.#readerOf(follower.within(freshMs)));
  }

  #readerOf(snapshot: ReturnType<Follower['atTip']>): Promise<StateReader> {
    return snapshot.then((chosen) => new SnapshotReader(chosen, this.#parts.bodies));
  }

  /**
   * Reads that are made at once share the choice, so it hears to none of their signals alone, and
   * each waits for it no longer than its own time.
   */
  async #choose(options: CallOptions, choose: () => Promise<StateReader>): Promise<StateReader> {
    this.#check();
    options.signal?.throwIfAborted();
    const choice = this.#reader ?? this.#start(choose());
    const chosen = await inTime(this.#parts.clock, choice, options);
    this.#check();
    return chosen;
  }

  #start(reader: Promise<StateReader>): Promise<StateReader> {
    this.#reader = reader;
    // A failed choice is none: the next read may choose again.
    reader.catch(() => {
      if (this.#reader === reader) this.#reader = null;
    });
    return reader;
  }

  #check(): void {
    if (this.#parts.isReleased()) throw releasedError();
    if (this.#closed) throw new StoreError('VIEW_CLOSED', 'the view is closed; open another');
    const from = Math.max(this.#openedAt, this.#parts.loadedAt?.() ?? 0);
    if (this.#parts.clock.monotonic() - from > this.#parts.lifeMs) {
      // Whoever keeps an expired view must not keep its state (I17).
      this.#reader = null;
      throw new StoreError(
        'VIEW_EXPIRED',
        `a view lives ${this.#parts.lifeMs} ms; open another for the next request`,
      );
    }
  }
}

/** What a read is told when the world has let go of its bucket. */
export function releasedError(): StoreError {
  return new StoreError('CLOSED', 'the world is closed; open it again to read it');
}
