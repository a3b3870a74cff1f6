/** Small parts that several decorators need to be cancelled without leaving anything behind. */
import { BlobError, type BlobOperation, isWrite } from './errors.ts';

/**
 * The reason internal timers are cancelled with; one object, so that cancelling costs no stack
 * trace.
 */
export const DONE: Error = new Error('no longer needed');

/** Where a signal carries those who listen to it here. */
const LISTENERS = Symbol('bucketstore.blob.listeners');

interface Heard extends AbortSignal {
  [LISTENERS]?: Set<() => void>;
}

/**
 * Calls `listener` when `signal` aborts, or now if it has. Answers the function that takes the
 * listener away again, which every caller runs when its call ends: a signal may outlive a million
 * calls.
 *
 * A signal has one event listener however many calls share it, and none when they have ended: Node
 * warns of a leak from the eleventh on, and walks all of them for each that comes and goes.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const listeners = listenersOf(signal);
  listeners.add(listener);
  return () => {
    if (listeners.delete(listener) && listeners.size === 0) release(signal);
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
