/**
 * From what went wrong on the wire to `BlobError`. Decided by status numbers, socket facts and the
 * documented `reason`s of rate limits; never by a message.
 */
import {
  BlobError,
  type BlobErrorCode,
  type BlobOperation,
  type CallName,
  isWrite,
} from './errors.ts';
import type { SendError, WireResponse } from './gcs-send.ts';
import { decodeError } from './gcs-wire.ts';
import { parseDate, parseRetryAfter } from './http-headers.ts';

interface Verdict {
  readonly code: BlobErrorCode;
  readonly says: string;
  /** Whether a write answered like this may have been applied all the same. */
  readonly ambiguous: boolean;
}

/** An answer that is no success and no expected outcome of its call. */
export function statusError(call: CallName, response: WireResponse): BlobError {
  const { message, reason } = decodeError(response.bytes);
  const verdict = judge(call.operation, response.status, reason);
  return new BlobError({
    ...call,
    code: verdict.code,
    message: `${verdict.says} (status ${response.status}${message ? `: ${message}` : ''})`,
    ambiguous: verdict.ambiguous && isWrite(call.operation),
    date: parseDate(response.headers.date),
    retryAfterMs: parseRetryAfter(response.headers['retry-after']),
  });
}

/** No whole answer. */
export function sendError(call: CallName, error: SendError): BlobError {
  const ambiguous = error.sent && isWrite(call.operation);
  const init = { ...call, ambiguous, date: parseDate(error.date), cause: error.cause };
  switch (error.kind) {
    case 'network': {
      const code = errorCode(error.cause) ?? 'unknown cause';
      const message = error.sent
        ? `the connection broke (${code})`
        : `no connection (${code}); check the endpoint and the network; nothing was sent`;
      return new BlobError({ ...init, code: 'unavailable', message });
    }
    case 'short':
      return new BlobError({ ...init, code: 'integrity', message: 'the answer was cut short' });
    case 'long':
      return new BlobError({ ...init, code: 'integrity', message: 'the answer is too long' });
    case 'idle':
      return new BlobError({ ...init, code: 'timeout', message: 'the body of the answer stalled' });
    case 'stopped':
      return new BlobError({ ...init, code: 'timeout', message: 'no answer within the deadline' });
    default:
      return error.kind satisfies never;
  }
}

/** The credentials could not be turned into a header; nothing was sent. */
export function authError(call: CallName, cause: unknown): BlobError {
  const code = errorCode(cause);
  const status = typeof code === 'number' ? code : Number(code);
  const network = typeof code === 'string' && /^E(?!RR_|NOENT)[A-Z_]+$/.test(code);
  return network || status >= 500 || status === 429 || status === 408
    ? new BlobError({
        ...call,
        code: 'unavailable',
        message: `no access token (${code}): the token service is not reachable; nothing was sent`,
        cause,
      })
    : new BlobError({
        ...call,
        code: 'unauthenticated',
        message: 'no usable credentials; set up application default credentials; nothing was sent',
        cause,
      });
}

/** An answer that contradicts itself or the call. */
export function integrityError(
  call: CallName,
  response: WireResponse,
  message: string,
  cause?: unknown,
): BlobError {
  const ambiguous = isWrite(call.operation);
  const date = parseDate(response.headers.date);
  return new BlobError({ ...call, code: 'integrity', message, ambiguous, date, cause });
}

const RATE_REASONS: ReadonlySet<string> = new Set(['rateLimitExceeded', 'userRateLimitExceeded']);

function judge(operation: BlobOperation, status: number, reason: string | undefined): Verdict {
  switch (status) {
    case 400:
      // All we send is well formed, so a refused upload was damaged on the way: its checksum.
      return operation === 'create' || operation === 'replace'
        ? { code: 'integrity', says: 'the service refused the bytes', ambiguous: false }
        : { code: 'unsupported', says: 'the service refused the request', ambiguous: false };
    case 401:
      return { code: 'unauthenticated', says: 'missing or expired credentials', ambiguous: false };
    case 403:
      return reason !== undefined && RATE_REASONS.has(reason)
        ? { code: 'throttled', says: 'too many requests', ambiguous: true }
        : { code: 'forbidden', says: `no permission to ${VERBS[operation]}`, ambiguous: false };
    case 404:
      return { code: 'no-bucket', says: 'the bucket does not exist', ambiguous: false };
    case 408:
      return { code: 'timeout', says: 'the service gave up waiting', ambiguous: true };
    case 429:
      return { code: 'throttled', says: 'too many requests', ambiguous: true };
    default:
      return status >= 500
        ? { code: 'unavailable', says: 'the service failed', ambiguous: true }
        : { code: 'integrity', says: 'an answer that was not asked for', ambiguous: true };
  }
}

/** The permission that a person has to grant. */
const VERBS: Readonly<Record<BlobOperation, string>> = {
  create: 'create (storage.objects.create)',
  replace: 'replace (storage.objects.create and storage.objects.delete)',
  get: 'read (storage.objects.get; storage.objects.list, without which absent reads as forbidden)',
  head: 'read (storage.objects.get; storage.objects.list, without which absent reads as forbidden)',
  list: 'list (storage.objects.list)',
  delete: 'delete (storage.objects.delete)',
};

function errorCode(error: unknown): string | number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  if ('code' in error && (typeof error.code === 'string' || typeof error.code === 'number')) {
    return error.code;
  }
  return 'cause' in error ? errorCode(error.cause) : undefined;
}
