/**
 * The one way a decorator is laid around a store: a function around each call.
 *
 * The stack, from the caller down to the driver, and what one call means at each level:
 *
 * | decorator | one call here is |
 * |---|---|
 * | `withRetry` | what the caller asked for; owns the total deadline, waits between attempts |
 * | `withLanes` | one attempt; waits for room in its lane, within what is left of the deadline |
 * | `withDeadline` | one attempt that has room; ends in time, whatever the driver does |
 * | `withHedge` | one attempt; becomes one or two requests on the wire |
 * | `withObserver` | one request on the wire: what the service bills |
 * | `withLatencyModel` | the pretended service in front of a `memory:` or `file:` driver |
 *
 * So waiting between attempts holds no room in a lane, a hedge shares the room and the deadline of
 * the request that it doubles, and counts are of requests, not of calls.
 */
import type {
  BlobStore,
  CallOptions,
  CreateResult,
  DeleteResult,
  GetResult,
  HeadResult,
  ListResult,
  ReplaceResult,
} from './blob.ts';
import type { BlobOperation } from './errors.ts';

/** One call as a decorator sees it. */
export interface Call {
  readonly operation: BlobOperation;
  /** The key, or the prefix of a list. */
  readonly key: string;
  /** Bytes of the object that a create or replace sends, else 0. */
  readonly bytesOut: number;
  readonly options: CallOptions;
}

export type CallResult =
  | CreateResult
  | ReplaceResult
  | GetResult
  | HeadResult
  | ListResult
  | DeleteResult;

/**
 * Makes the call on the store below, with these options changed. May be run again, or not at all.
 */
export type Send<T> = (changed?: CallOptions) => Promise<T>;

/** What a decorator does around every call. Never throws synchronously through `decorate`. */
export type Around = <T extends CallResult>(call: Call, send: Send<T>) => Promise<T>;

/**
 * `store` with `around` around each of its six requests; name and `close()` are the store's own.
 */
export function decorate(store: BlobStore, around: Around): BlobStore {
  return {
    name: store.name,
    async create(key, bytes, options = {}) {
      const call: Call = { operation: 'create', key, bytesOut: bytes.length, options };
      return around(call, async (changed) => store.create(key, bytes, { ...options, ...changed }));
    },
    async replace(key, generation, bytes, options = {}) {
      const call: Call = { operation: 'replace', key, bytesOut: bytes.length, options };
      return around(call, async (changed) =>
        store.replace(key, generation, bytes, { ...options, ...changed }),
      );
    },
    async get(key, options = {}) {
      const call: Call = { operation: 'get', key, bytesOut: 0, options };
      return around(call, async (changed) => store.get(key, { ...options, ...changed }));
    },
    async head(key, options = {}) {
      const call: Call = { operation: 'head', key, bytesOut: 0, options };
      return around(call, async (changed) => store.head(key, { ...options, ...changed }));
    },
    async list(query, options = {}) {
      const call: Call = { operation: 'list', key: query.prefix, bytesOut: 0, options };
      return around(call, async (changed) => store.list(query, { ...options, ...changed }));
    },
    async delete(key, options = {}) {
      const call: Call = { operation: 'delete', key, bytesOut: 0, options };
      return around(call, async (changed) => store.delete(key, { ...options, ...changed }));
    },
    close: () => store.close(),
  };
}
