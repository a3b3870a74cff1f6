/**
 * Observation. Stands right above the driver (or the latency model), below retry and hedge: one
 * event is one request on the wire, which is what the service bills.
 */
import type { BlobStore, Timing } from './blob.ts';
import { abortOf } from './cancel.ts';
import { type Call, type CallResult, decorate } from './decorate.ts';
import { type BlobErrorCode, type BlobOperation, isBlobError } from './errors.ts';
import { onAbort } from './signal.ts';
import { checkSignal } from './validate.ts';

/** How a request ended. `abandoned`: the caller gave up before the driver answered. */
export type RequestOutcome =
  | 'created'
  | 'exists'
  | 'replaced'
  | 'changed'
  | 'found'
  | 'absent'
  | 'listed'
  | 'deleted'
  | 'failed'
  | 'abandoned';

/** One request on the wire. */
export interface RequestEvent {
  readonly operation: BlobOperation;
  /** The key, or the prefix of a list. */
  readonly key: string;
  readonly outcome: RequestOutcome;
  /** Object bytes received; 0 for everything but a `get`. */
  readonly bytesIn: number;
  /** Object bytes sent; 0 for everything but `create` and `replace`. Counted also when refused. */
  readonly bytesOut: number;
  /** Monotonic ms from the request to its end. */
  readonly durationMs: number;
  /** Only when `failed`; `undefined` then means that the driver threw something else. */
  readonly code?: BlobErrorCode | undefined;
  /** Only when `failed`: the outcome of a write is not known. */
  readonly ambiguous?: boolean | undefined;
}

/** Is told of every request when it ends. What it throws is dropped: it never changes an answer. */
export interface Observer {
  observe(event: RequestEvent): void;
}

export interface ObserveOptions {
  readonly timing: Timing;
}

/**
 * `store` that reports each request to `observer` exactly once: when the driver settles, or when
 * the call's signal aborts first, so that a driver that never answers is counted too. A call that
 * sends nothing, for it is invalid or already aborted, is no event. Changes no answer, adds no
 * request.
 */
export function withObserver(
  store: BlobStore,
  observer: Observer,
  { timing }: ObserveOptions,
): BlobStore {
  return decorate(store, async (call, send) => {
    const source = abortOf(call.options);
    checkSignal(call.operation, call.key, source);
    const startedMs = timing.monotonic();
    let reported = false;
    const report = (end: End): void => {
      if (reported) return;
      reported = true;
      forget();
      tell(observer, call, timing.monotonic() - startedMs, end);
    };
    const forget = onAbort(source, () => report({ outcome: 'abandoned' }));
    try {
      const result = await send();
      report(endOf(result, call.operation));
      return result;
    } catch (error) {
      const known = isBlobError(error) ? { code: error.code, ambiguous: error.ambiguous } : {};
      // An invalid call is refused before anything is sent.
      if (known.code === 'invalid') forget();
      else report({ outcome: 'failed', ...known });
      throw error;
    }
  });
}

type End = Pick<RequestEvent, 'outcome' | 'code' | 'ambiguous'> & { readonly bytesIn?: number };

function endOf(result: CallResult, operation: BlobOperation): End {
  if ('outcome' in result) return { outcome: result.outcome };
  if ('objects' in result) return { outcome: 'listed' };
  if (!('found' in result)) return { outcome: 'deleted' };
  if (!result.found) return { outcome: 'absent' };
  const bytesIn = operation === 'get' && 'bytes' in result ? result.bytes.length : 0;
  return { outcome: 'found', bytesIn };
}

function tell(observer: Observer, call: Call, durationMs: number, end: End): void {
  const { operation, key, bytesOut } = call;
  try {
    observer.observe({ operation, key, bytesOut, durationMs, bytesIn: 0, ...end });
  } catch {
    // A bug in someone's metrics must not turn a stored object into a failed create.
  }
}
