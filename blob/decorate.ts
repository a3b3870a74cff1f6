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
import type { Cancel } from './cancel.ts';
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
 * What a decorator changes of a call's options. `cancel` stands for `signal`; beside it only the
 * deadline may be changed.
 */
export interface Changed extends CallOptions {
  readonly cancel?: Cancel | undefined;
}

/**
 * Makes the call on the store below, with these options changed. May be run again, or not at all.
 */
export type Send<T> = (changed?: Changed) => Promise<T>;

/** What a decorator does around every call. Never throws synchronously through `decorate`. */
export type Around = <T extends CallResult>(call: Call, send: Send<T>) => Promise<T>;

/**
 * `store` with `around` around each of its six requests; name and `close()` are the store's own.
 */
export function decorate(store: BlobStore, around: Around): BlobStore {
  return {
    name: store.name,
    create: (key, bytes, options = {}) =>
      promised(() =>
        around({ operation: 'create', key, bytesOut: bytes.length, options }, (changed) =>
          promised(() => store.create(key, bytes, merged(options, changed))),
        ),
      ),
    replace: (key, generation, bytes, options = {}) =>
      promised(() =>
        around({ operation: 'replace', key, bytesOut: bytes.length, options }, (changed) =>
          promised(() => store.replace(key, generation, bytes, merged(options, changed))),
        ),
      ),
    get: (key, options = {}) =>
      promised(() =>
        around({ operation: 'get', key, bytesOut: 0, options }, (changed) =>
          promised(() => store.get(key, merged(options, changed))),
        ),
      ),
    head: (key, options = {}) =>
      promised(() =>
        around({ operation: 'head', key, bytesOut: 0, options }, (changed) =>
          promised(() => store.head(key, merged(options, changed))),
        ),
      ),
    list: (query, options = {}) =>
      promised(() =>
        around({ operation: 'list', key: query.prefix, bytesOut: 0, options }, (changed) =>
          promised(() => store.list(query, merged(options, changed))),
        ),
      ),
    delete: (key, options = {}) =>
      promised(() =>
        around({ operation: 'delete', key, bytesOut: 0, options }, (changed) =>
          promised(() => store.delete(key, merged(options, changed))),
        ),
      ),
    close: () => store.close(),
  };
}

/** As an async function would, but without turns of its own: what is thrown is a rejection. */
function promised<T>(act: () => Promise<T>): Promise<T> {
  try {
    return Promise.resolve(act());
  } catch (error) {
    return Promise.reject(error);
  }
}

function merged<O extends CallOptions>(options: O, changed: Changed | undefined): O {
  if (changed === undefined) return options;
  const { cancel } = changed;
  if (cancel === undefined) return { ...options, ...changed };
  return cancel.carrierOf(options, changed.deadlineMs);
}
