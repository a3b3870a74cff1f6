/** What a failed bucket call means to whoever asked the store for something. */
import { type BlobError, isBlobError } from '../../blob/index.ts';
import { StoreError } from '../base/errors.ts';

/**
 * The store's error for a failure below it. Not for a write that was sent and is unresolved: that
 * is `UNKNOWN_OUTCOME`, and only the committer may say it.
 * An aborted call gives the signal's own reason; what is no `BlobError` is returned as it is.
 */
export function bucketFailure(error: unknown): unknown {
  if (!isBlobError(error)) return error;
  switch (error.code) {
    case 'aborted':
      return error.cause;
    case 'throttled':
    case 'unavailable':
    case 'timeout':
      return new StoreError('UNAVAILABLE', `the bucket does not answer: ${error.message}`, {
        cause: error,
        details: retryAfter(error),
      });
    case 'integrity':
      return new StoreError('INTEGRITY', error.message, {
        cause: error,
        details: { object: error.key },
      });
    case 'forbidden':
    case 'unauthenticated':
    case 'no-bucket':
    case 'unsupported':
    case 'invalid':
      return new StoreError('LOCATION', error.message, { cause: error });
    default:
      return error.code satisfies never;
  }
}

function retryAfter(error: BlobError): { readonly retryAfterMs?: number } {
  return error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs };
}
