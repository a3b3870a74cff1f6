/** Small parts that several decorators need to be cancelled without leaving anything behind. */
import type { Timing } from './blob.ts';
import { type AbortSource, Cancel } from './cancel.ts';
import { BlobError, type BlobOperation, isWrite } from './errors.ts';

/**
 * The reason internal timers are cancelled with; one object, so that cancelling costs no stack
 * trace.
 */
export const DONE: Error = new Error('no longer needed');

/** Runs `act` after `ms`. Answers the function that keeps it from that, and leaves no timer. */
export function after(timing: Timing, ms: number, act: () => void): () => void {
  if (timing.after !== undefined) return timing.after(ms, act);
  const timer = new AbortController();
  timing.sleep(ms, { signal: timer.signal }).then(act, () => {});
  return () => timer.abort(DONE);
}

/** Nobody listens: there is nothing to take away. */
const NOTHING = (): void => {};

/** Where a signal carries those who listen to it here. */
const LISTENERS = Symbol('bucketstore.blob.listeners');

interface Heard extends AbortSignal {
  [LISTENERS]?: Set<() => void>;
}

/**
 * Calls `listener` when `source` aborts, or now if it has. Answers the function that takes the
 * listener away again, which every caller runs when its call ends: a signal may outlive a million
 * calls.
 *
 * A signal has one event listener however many calls share it, and none when they have ended: Node
 * warns of a leak from the eleventh on, and walks all of them for each that comes and goes.
 */
export function onAbort(source: AbortSource | undefined, listener: () => void): () => void {
  if (source === undefined) return NOTHING;
  if (source.aborted) {
    listener();
    return NOTHING;
  }
  if (source instanceof Cancel) return source.onAbort(listener);
  const listeners = listenersOf(source);
  listeners.add(listener);
  return () => {
    if (listeners.delete(listener) && listeners.size === 0) release(source);
  };
}

function listenersOf(signal: Heard): Set<() => void> {
  signal[LISTENERS] ??= new Set();
  if (signal[LISTENERS].size === 0) signal.addEventListener('abort', tell, { once: true });
  return signal[LISTENERS];
}

function release(signal: Heard): void {
  signal.removeEventListener('abort', tell);
}

function tell(this: AbortSignal): void {
  const listeners = (this as Heard)[LISTENERS];
  // Each may take others away as it is told; those are then not told any more.
  for (const listener of listeners ?? []) listener();
  listeners?.clear();
}

/** The error of a call whose signal aborted. @param sent whether a write may have left by then */
export function abortedError(
  operation: BlobOperation,
  key: string,
  reason: unknown,
  sent: boolean,
): BlobError {
  const message = sent ? 'aborted while it was running' : 'aborted; nothing was changed';
  const ambiguous = sent && isWrite(operation);
  return new BlobError({ code: 'aborted', operation, key, message, ambiguous, cause: reason });
}

/** The error of a call that met its deadline. @param sent whether a write may have left by then */
export function timeoutError(
  operation: BlobOperation,
  key: string,
  message: string,
  sent: boolean,
): BlobError {
  const ambiguous = sent && isWrite(operation);
  return new BlobError({ code: 'timeout', operation, key, message, ambiguous });
}
