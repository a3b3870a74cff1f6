/**
 * The bucket port: the only way any other layer touches a bucket.
 *
 * Seven calls over whole buffers. What the rest of the project builds on, and what the probe and
 * the contract suite (`bucketstore/testing`) check of every driver:
 *
 * - `create` is create-if-absent: of any number of concurrent creators of a name exactly one is
 *   told `created`, and the stored bytes are that creator's.
 * - Reads are strong: `get`, `head` and `list` see every write that was acknowledged before they
 *   began, and *not found* is as strong as *found*.
 * - Lists are in UTF-8 byte order of the whole key and honour an exclusive start that need not
 *   exist.
 * - *Not found* is a value. *Forbidden* is an error and never looks like *not found*.
 * - Bytes handed in or out are never aliased to the store's own memory.
 */

/** Attributes of one stored object. */
export interface Attributes {
  readonly key: string;
  /** Changes whenever the object is replaced, or deleted and created again. Equality only. */
  readonly generation: string;
  /** Length in bytes. */
  readonly size: number;
  /**
   * The service's modification time, ms since the epoch; may have second precision. No safety rule
   * uses it.
   */
  readonly modifiedMs: number;
}

/** Which queue a call waits in: commit traffic never waits behind bulk reads. */
export type Lane = 'commit' | 'read' | 'bulk';

/** What every call accepts. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time limit of the whole call, all its attempts included, in ms. Default 10,000. */
  readonly deadlineMs?: number | undefined;
  /** Default `read`. */
  readonly lane?: Lane | undefined;
}

export interface GetOptions extends CallOptions {
  /**
   * `[start, endExclusive]` in bytes; the end is clipped to the object, a start at or beyond its
   * end reads nothing.
   */
  readonly range?: readonly [start: number, endExclusive: number] | undefined;
}

export interface ListQuery {
  /** Only keys that begin with it; may be empty. */
  readonly prefix: string;
  /** Only keys greater than it by UTF-8 bytes; need not name an object. */
  readonly after?: string | undefined;
  /** 1 to 1000. */
  readonly limit: number;
}

/** The service's own clock when it answered (its `Date` header), ms since the epoch. */
interface Dated {
  readonly date?: number | undefined;
}

/** `exists`: the name was taken; by whom is not said, so read it back. */
export type CreateResult = Dated &
  (
    | { readonly outcome: 'created'; readonly attributes?: Attributes | undefined }
    | { readonly outcome: 'exists' }
  );

/** `changed`: the object has another generation, or is absent. */
export type ReplaceResult = Dated &
  (
    | { readonly outcome: 'replaced'; readonly attributes?: Attributes | undefined }
    | { readonly outcome: 'changed' }
  );

export type GetResult = Dated &
  (
    | { readonly found: true; readonly bytes: Uint8Array; readonly attributes: Attributes }
    | { readonly found: false }
  );

export type HeadResult = Dated &
  ({ readonly found: true; readonly attributes: Attributes } | { readonly found: false });

export interface ListResult extends Dated {
  /** Ascending by UTF-8 bytes of the key. */
  readonly objects: readonly Attributes[];
  /** Whether keys beyond the last of `objects` may exist; ask again with `after` = the last key. */
  readonly more: boolean;
}

export interface DeleteResult extends Dated {}

/**
 * A bucket, or a prefix of one. Every method throws `BlobError` (see `errors.ts`) and, for a call
 * that is no call at all (a bad key, a limit out of range), `BlobError` with code `invalid`.
 * When `signal` aborts, the call rejects with `BlobError` code `aborted` whose `cause` is the
 * reason; an aborted write that was sent is `ambiguous`.
 */
export interface BlobStore {
  /** The location as a person would write it, without credentials. */
  readonly name: string;

  /**
   * Stores `bytes` under `key` unless the key exists. One request. Never retried below this port.
   * An error with `ambiguous: true` means that the object may be stored now or may still land
   * later; resolve it by reading the key back and comparing bytes.
   */
  create(key: string, bytes: Uint8Array, options?: CallOptions): Promise<CreateResult>;

  /**
   * Stores `bytes` over the object whose generation is `generation`, and over no other.
   * One request. Used by migration and rollback only; a driver without it throws `unsupported`.
   */
  replace(
    key: string,
    generation: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<ReplaceResult>;

  /** Reads an object or a range of it, verified against its length and checksum. One request. */
  get(key: string, options?: GetOptions): Promise<GetResult>;

  /** Reads an object's attributes. One request, cheaper than `get`. */
  head(key: string, options?: CallOptions): Promise<HeadResult>;

  /** One page of keys with attributes. One request. */
  list(query: ListQuery, options?: CallOptions): Promise<ListResult>;

  /** Removes an object, whatever its generation; an absent one is success. One request. */
  delete(key: string, options?: CallOptions): Promise<DeleteResult>;

  /** Releases sockets and files. Idempotent. Calls after it reject with code `invalid`. */
  close(): Promise<void>;
}

/** Limits of the port, part of its contract. */
export const KEY_BYTES_MAX = 1024;
export const LIST_LIMIT_MAX = 1000;
export const DEADLINE_MS_DEFAULT = 10_000;
export const IDLE_BODY_MS_DEFAULT = 3_000;

/** The clock a driver or decorator is given; `bucketstore/base/clock.ts` satisfies it. */
export interface Timing {
  /** Wall clock, ms since the epoch. */
  now(): number;
  /** Monotonic clock, ms. */
  monotonic(): number;
  /**
   * Resolves after `ms`; rejects with the signal's reason when it aborts first, leaving no timer.
   */
  sleep(ms: number, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Runs `act` after `ms`; the function that it answers keeps it from running and leaves no timer.
   * Without it `sleep` is used, which costs an abort signal for each call of the bucket.
   */
  after?(ms: number, act: () => void): () => void;
}

/** The chance a driver or decorator is given; `bucketstore/base/random.ts` satisfies it. */
export interface Chance {
  /** Uniform in [0, 1). */
  number(): number;
  /** A random version 4 UUID. */
  uuid(): string;
}
