/** Small parts that several decorators need to be cancelled without leaving anything behind. */
import { BlobError, type BlobOperation, isWrite } from './errors.ts';

/**
 * The reason internal timers are cancelled with; one object, so that cancelling costs no stack
 * trace.
 */
export const DONE: Error = new Error('no longer needed');

/**
 * Calls `listener` when `signal` aborts, or now if it has. Answers the function that takes the
 * listener away again, which every caller runs when its call ends: a signal may outlive a million
 * calls.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    listener();
    return () => {};
  }
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
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
