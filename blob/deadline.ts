/**
 * Deadlines. Stands below the lanes and above the hedge, so it bounds one attempt, its hedge
 * included, and not the time spent waiting for room (`lanes.ts` bounds that).
 *
 * A driver that honours its signal and its own limits needs none of this. It is here because client
 * libraries have returned promises that never settle: whatever the driver does, the caller goes on.
 */
import { type BlobStore, DEADLINE_MS_DEFAULT, type Timing } from './blob.ts';
import { type Call, type CallResult, decorate, type Send } from './decorate.ts';
import { abortedError, DONE, onAbort, timeoutError } from './signal.ts';
import { checkSignal } from './validate.ts';

export interface DeadlineOptions {
  readonly timing: Timing;
}

/**
 * `store` with every call ended at its `deadlineMs` (default 10,000) or when its signal aborts,
 * also when the promise below never settles. The signal handed down is then aborted, and a late
 * answer is dropped without an unhandled rejection. No timer and no listener outlives its call.
 *
 * Adds the errors `timeout` and `aborted`: ambiguous for writes that were sent; a call that comes
 * with an aborted signal or no time left is not sent and not ambiguous. Adds no request.
 */
export function withDeadline(store: BlobStore, { timing }: DeadlineOptions): BlobStore {
  return decorate(store, (call, send) => bounded(timing, call, send));
}

function bounded<T extends CallResult>(timing: Timing, call: Call, send: Send<T>): Promise<T> {
  const { operation, key } = call;
  const { signal, deadlineMs = DEADLINE_MS_DEFAULT } = call.options;
  checkSignal(operation, key, signal);
  if (!(deadlineMs > 0)) {
    throw timeoutError(operation, key, 'its deadline had passed; nothing was sent', false);
  }
  return new Promise((resolve, reject) => {
    const attempt = new AbortController();
    const timer = new AbortController();
    let ended = false;
    const end = (settle: () => void): void => {
      if (ended) return;
      ended = true;
      timer.abort(DONE);
      forget();
      settle();
    };
    const fail = (error: unknown): void =>
      end(() => {
        reject(error);
        attempt.abort(error);
      });
    const forget = onAbort(signal, () => fail(abortedError(operation, key, signal?.reason, true)));
    send({ signal: attempt.signal, deadlineMs }).then(
      (result) => end(() => resolve(result)),
      (error: unknown) => end(() => reject(error)),
    );
    timing.sleep(deadlineMs, { signal: timer.signal }).then(
      () => fail(timeoutError(operation, key, `no answer within ${deadlineMs} ms`, true)),
      () => {},
    );
  });
}
