/**
 * Deadlines. Stands below the lanes and above the hedge, so it bounds one attempt, its hedge
 * included, and not the time spent waiting for room (`lanes.ts` bounds that).
 *
 * A driver that honours its signal and its own limits needs none of this. It is here because client
 * libraries have returned promises that never settle: whatever the driver does, the caller goes on.
 */
import { type BlobStore, DEADLINE_MS_DEFAULT, type Timing } from './blob.ts';
import { abortOf, Cancel } from './cancel.ts';
import { type Call, type CallResult, decorate, type Send } from './decorate.ts';
import { abortedError, after, onAbort, timeoutError } from './signal.ts';
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
  const { operation, key, options } = call;
  const { deadlineMs = DEADLINE_MS_DEFAULT } = options;
  const source = abortOf(options);
  checkSignal(operation, key, source);
  if (!(deadlineMs > 0)) {
    throw timeoutError(operation, key, 'its deadline had passed; nothing was sent', false);
  }
  return new Promise((resolve, reject) => {
    const cancel = new Cancel();
    let ended = false;
    let stop = (): void => {};
    /** @returns whether it is the first to end the call */
    const end = (): boolean => {
      if (ended) return false;
      ended = true;
      stop();
      forget();
      return true;
    };
    const fail = (error: unknown): void => {
      if (!end()) return;
      reject(error);
      cancel.abort(error);
    };
    const forget = onAbort(source, () => fail(abortedError(operation, key, source?.reason, true)));
    send({ cancel, deadlineMs }).then(
      (result) => {
        if (end()) resolve(result);
      },
      (error: unknown) => {
        if (end()) reject(error);
      },
    );
    if (ended) return;
    stop = after(timing, deadlineMs, () =>
      fail(timeoutError(operation, key, `no answer within ${deadlineMs} ms`, true)),
    );
  });
}
