/**
 * What can be asked of a state whose documents are not in memory yet: current versions at once,
 * everything else of the same state when it is there.
 */
import type { CallOptions } from '../../blob/index.ts';
import type { Clock } from '../base/clock.ts';
import { integrityError } from '../base/errors.ts';
import { inTime, rest } from '../base/in-time.ts';
import { canonicalPath } from '../document/path.ts';
import type { Log } from '../log/log.ts';
import { slotKey } from '../log/names.ts';
import type { BodyReader } from './body-reader.ts';
import type { EarlyFollower } from './early-follower.ts';
import { isDoubt } from './early-load.ts';
import type { EarlyState } from './early-state.ts';
import type { ListQuery } from './listing.ts';
import {
  type Document,
  type DocumentInfo,
  describe,
  documentOf,
  type GetOptions,
  notFound,
  type StateReader,
  type VersionInfo,
} from './reader.ts';
import { readInSlot } from './slot-body.ts';
import type { DocumentState, ListEntry, VersionRecord } from './state.ts';
import { openStored } from './stored-version.ts';

export interface EarlyReaderParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly bodies: Pick<BodyReader, 'read' | 'remember'>;
  readonly follower: EarlyFollower;
  /** The same state, when all of it is in memory. @throws StoreError why it will not be */
  readonly whole: (state: EarlyState) => Promise<StateReader>;
}

/** Reads one state. `get` and `stat` of a current version wait for nothing; the rest does. */
export class EarlyReader implements StateReader {
  readonly #parts: EarlyReaderParts;
  readonly #state: EarlyState;

  constructor(parts: EarlyReaderParts, state: EarlyState) {
    this.#parts = parts;
    this.#state = state;
  }

  /**
   * As `StateReader`. For a current version at most two `get`s for each run of the checkpoint that
   * can hold the path, all at once, and two requests for the body.
   */
  async get(path: string, options: GetOptions = {}): Promise<Document> {
    const { version, ...call } = options;
    const early = version === undefined ? await this.#early(this.#get(path, call)) : null;
    return early ?? this.#later(options, (reader, left) => reader.get(path, left));
  }

  async stat(path: string, options: CallOptions = {}): Promise<DocumentInfo> {
    const early = await this.#early(this.#document(path, options).then(describe));
    return early ?? this.#later(options, (reader, left) => reader.stat(path, left));
  }

  listEntries(path: string, query: ListQuery & CallOptions = {}): Promise<readonly ListEntry[]> {
    return this.#later(query, (reader, left) => reader.listEntries(path, left));
  }

  isDir(path: string, options: CallOptions = {}): Promise<boolean> {
    return this.#later(options, (reader, left) => reader.isDir(path, left));
  }

  versions(path: string, options: CallOptions = {}): Promise<readonly VersionInfo[]> {
    return this.#later(options, (reader, left) => reader.versions(path, left));
  }

  lookupHash(bodyHash: string, options: CallOptions = {}): Promise<string> {
    return this.#later(options, (reader, left) => reader.lookupHash(bodyHash, left));
  }

  verifyChain(path: string, options: CallOptions = {}): Promise<void> {
    return this.#later(options, (reader, left) => reader.verifyChain(path, left));
  }

  /** null when what it read is missing, damaged or odd: the whole state knows better. */
  async #early<T>(read: Promise<T>): Promise<T | null> {
    try {
      return await this.#parts.follower.reading(read);
    } catch (error) {
      if (!isDoubt(error)) throw error;
      return null;
    }
  }

  async #later<T, O extends CallOptions>(
    options: O,
    ask: (reader: StateReader, options: O) => Promise<T>,
  ): Promise<T> {
    const { clock, whole } = this.#parts;
    const began = clock.monotonic();
    const reader = await inTime(clock, whole(this.#state), options);
    return ask(reader, rest(options, clock.monotonic() - began));
  }

  async #get(path: string, options: CallOptions): Promise<Document> {
    const document = await this.#document(path, options);
    const { path: canonical, current, archived } = document;
    const stored = await this.#stored(current, options);
    const { body, metadata } = openStored(canonical, current, stored);
    return documentOf(canonical, current, archived, metadata, body);
  }

  async #document(path: string, options: CallOptions): Promise<DocumentState> {
    const canonical = canonicalPath(path);
    const document = canonical === null ? null : await this.#state.document(canonical, options);
    if (document === null) throw notFound(path);
    return document;
  }

  async #stored(record: VersionRecord, options: CallOptions): Promise<Uint8Array> {
    const { at } = record;
    const { base, from } = this.#state;
    const isUnpacked = 'seq' in at && at.seq > base.packedThrough && at.seq <= from.sequence;
    if (isUnpacked) return this.#inSlot(at, record, options);
    return this.#parts.bodies.read(this.#state, record, options);
  }

  /** A version of before the checkpoint that is in no pack yet: its slot is looked for. */
  async #inSlot(
    { seq }: Extract<VersionRecord['at'], { readonly seq: number }>,
    { storedHash }: VersionRecord,
    options: CallOptions,
  ): Promise<Uint8Array> {
    const { log, bodies } = this.#parts;
    const { first, bytes } = await readInSlot(log, seq, storedHash, options);
    if (bytes === null) {
      throw integrityError(slotKey(first), `does not hold stored version ${storedHash}`);
    }
    bodies.remember(storedHash, bytes);
    return bytes;
  }
}
