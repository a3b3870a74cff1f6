/**
 * The one error a bucket call fails with. `code` and the two flags are the contract; the message is
 * for people.
 */

/**
 * | code | means |
 * |---|---|
 * | `throttled` | 429 or 503 slow-down: the service asks for less |
 * | `unavailable` | 5xx, reset connection, refused connection, unknown host |
 * | `timeout` | no answer, or no body byte, within its limit |
 * | `forbidden` | the credentials are known and lack a permission |
 * | `unauthenticated` | the credentials are missing, wrong or expired |
 * | `no-bucket` | the bucket or directory does not exist |
 * | `integrity` | an answer that contradicts itself: length, checksum, key, order |
 * | `invalid` | the call itself is wrong; nothing was sent |
 * | `unsupported` | the service or driver cannot do this |
 * | `aborted` | the caller's signal; `cause` is its reason |
 */
export type BlobErrorCode =
  | 'throttled'
  | 'unavailable'
  | 'timeout'
  | 'forbidden'
  | 'unauthenticated'
  | 'no-bucket'
  | 'integrity'
  | 'invalid'
  | 'unsupported'
  | 'aborted';

export type BlobOperation = 'create' | 'replace' | 'get' | 'head' | 'list' | 'delete';

/** Which call it was, as its caller made it. */
export interface CallName {
  readonly operation: BlobOperation;
  /** The key, or the prefix of a list. */
  readonly key: string;
}

export interface BlobErrorInit extends CallName {
  readonly code: BlobErrorCode;
  /** What happened and what to do about it, without the key. */
  readonly message: string;
  /** Default: what the code implies (throttled, unavailable, timeout and integrity are). */
  readonly retryable?: boolean;
  /** A write may have taken effect or may still. Default false; never true for a read. */
  readonly ambiguous?: boolean;
  /** The service's `Date`, ms, where the answer had one. */
  readonly date?: number | undefined;
  /** How long the service asked to wait, ms. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const RETRYABLE: ReadonlySet<BlobErrorCode> = new Set([
  'throttled',
  'unavailable',
  'timeout',
  'integrity',
]);

export class BlobError extends Error {
  override readonly name = 'BlobError';
  readonly code: BlobErrorCode;
  readonly operation: BlobOperation;
  readonly key: string;
  /**
   * Whether the same call may succeed later. Says nothing about whether it already has: see
   * `ambiguous`.
   */
  readonly retryable: boolean;
  /** Whether a write may have taken effect, or may still. Always false for reads. */
  readonly ambiguous: boolean;
  readonly date: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(init: BlobErrorInit) {
    super(`${init.operation} ${init.key}: ${init.message}`, { cause: init.cause });
    this.code = init.code;
    this.operation = init.operation;
    this.key = init.key;
    this.retryable = init.retryable ?? RETRYABLE.has(init.code);
    this.ambiguous = init.ambiguous ?? false;
    this.date = init.date;
    this.retryAfterMs = init.retryAfterMs;
  }
}

/** Whether an unknown thrown value is a `BlobError`, also one of a second copy of this package. */
export function isBlobError(error: unknown): error is BlobError {
  return error instanceof Error && error.name === 'BlobError' && 'ambiguous' in error;
}

/** Whether an operation changes the bucket, so that a lost answer leaves its outcome open. */
export function isWrite(operation: BlobOperation): boolean {
  return operation === 'create' || operation === 'replace' || operation === 'delete';
}
