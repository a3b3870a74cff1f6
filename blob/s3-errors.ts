/**
 * From what S3 answered, or did not, to `BlobError`. Decided by status numbers, the documented
 * `Code` of error documents and socket facts; a message is read for one thing only, whether it is
 * about checksums.
 */
import {
  BlobError,
  type BlobErrorCode,
  type BlobOperation,
  type CallName,
  isWrite,
} from './errors.ts';
import { parseRetryAfter } from './http-headers.ts';
import { type Answer, BodyError, type Exchange } from './s3-exchange.ts';

/** What an error document says; empty where there is none. */
export interface Fault {
  readonly code: string;
  readonly message: string;
}

interface Verdict {
  readonly code: BlobErrorCode;
  readonly says: string;
  readonly retryable?: boolean;
  /** Whether a write answered like this may have been applied all the same. Default false. */
  readonly ambiguous?: boolean;
}

/** Reads an error document without trusting that it is one. */
export function decodeFault({ bytes }: Answer): Fault {
  const text = Buffer.from(bytes.subarray(0, 65_536)).toString();
  const part = (name: string): string => new RegExp(`<${name}>([^<]*)<`).exec(text)?.[1] ?? '';
  return { code: part('Code'), message: part('Message') };
}

/** An answer that is no success and no expected outcome of its call. */
export function answerError(call: CallName, exchange: Exchange, answer: Answer): BlobError {
  const fault = decodeFault(answer);
  const verdict = judge(call.operation, answer, fault);
  const text = [fault.code, fault.message].filter((part) => part !== '').join(': ');
  return new BlobError({
    ...call,
    code: verdict.code,
    message: `${verdict.says} (status ${answer.status}${text === '' ? '' : `, ${text}`})`,
    ...(verdict.retryable === undefined ? {} : { retryable: verdict.retryable }),
    ambiguous: verdict.ambiguous === true && isWrite(call.operation),
    date: exchange.date,
    retryAfterMs: parseRetryAfter(answer.headers['retry-after']),
  });
}

/** An answer that contradicts itself or the call. */
export function integrityError(
  call: CallName,
  exchange: Exchange,
  message: string,
  cause?: unknown,
): BlobError {
  const ambiguous = isWrite(call.operation);
  return new BlobError({
    ...call,
    code: 'integrity',
    message,
    ambiguous,
    date: exchange.date,
    cause,
  });
}

/** No whole answer. @param error what the client threw */
export function sendError(call: CallName, exchange: Exchange, error: unknown): BlobError {
  if (!exchange.sent) return unsentError(call, error);
  const cause = exchange.failure ?? error;
  const init = { ...call, cause, date: exchange.date };
  const ambiguous = isWrite(call.operation);
  if (cause instanceof BodyError) {
    const code = cause.kind === 'idle' ? 'timeout' : 'integrity';
    return new BlobError({ ...init, code, message: cause.message, ambiguous });
  }
  const connect = connectFailure(cause);
  if (connect !== undefined) {
    return new BlobError({
      ...init,
      code: 'unavailable',
      message: `no connection (${connect}); check the endpoint and the network; nothing was sent`,
      retryable: !isCertificate(connect),
    });
  }
  const name = errorCode(cause) ?? String(cause);
  return new BlobError({
    ...init,
    code: 'unavailable',
    message: `the connection broke (${name})`,
    ambiguous,
  });
}

/** Credentials that could not be had, or a client that is not set up; nothing was sent. */
export function unsentError(call: CallName, cause: unknown, retryable = false): BlobError {
  const text = cause instanceof Error ? cause.message : String(cause);
  if (/region is missing|invalid (configuration|endpoint|url)/i.test(text)) {
    const message = `the client is not set up: ${text}; nothing was sent`;
    return new BlobError({ ...call, code: 'invalid', message, cause });
  }
  return new BlobError({
    ...call,
    code: 'unauthenticated',
    message: `no usable credentials: ${text}; nothing was sent`,
    retryable,
    cause,
  });
}

/** Codes of credentials that were good once: asking their source again may help. */
const EXPIRED: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'TokenRefreshRequired',
  'InvalidToken',
]);

const UNKNOWN_CREDENTIALS: ReadonlySet<string> = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidSecurity',
  'MissingSecurityHeader',
  'AuthorizationHeaderMalformed',
  'NotSignedUp',
]);

const DAMAGED: ReadonlySet<string> = new Set([
  'BadDigest',
  'IncompleteBody',
  'InvalidDigest',
  'XAmzContentSHA256Mismatch',
]);

const SLOW_DOWN: ReadonlySet<string> = new Set([
  'SlowDown',
  'RequestLimitExceeded',
  'ThrottlingException',
  'TooManyRequests',
]);

/**
 * Whether credentials should be fetched anew before the next call. A head carries no code, only
 * 400.
 */
export function areCredentialsStale(answer: Answer): boolean {
  const { code } = decodeFault(answer);
  if (EXPIRED.has(code)) return true;
  return answer.status === 401 || (answer.status === 400 && code === '');
}

function judge(operation: BlobOperation, answer: Answer, fault: Fault): Verdict {
  const { status } = answer;
  const { code } = fault;
  if (status === 501 || ((status === 400 || status === 403) && isAboutChecksums(fault))) {
    return { code: 'unsupported', says: CHECKSUM_HINT };
  }
  if (areCredentialsStale(answer)) {
    return {
      code: 'unauthenticated',
      says: 'the credentials have expired; they are fetched again before the next call',
      retryable: true,
    };
  }
  if (code === 'RequestTimeTooSkewed') {
    const says = "this machine's clock differs too much from the service's; set it";
    return { code: 'unauthenticated', says, retryable: true };
  }
  if (UNKNOWN_CREDENTIALS.has(code)) {
    const says = 'the service does not accept the credentials; check key, secret and region';
    return { code: 'unauthenticated', says };
  }
  if (DAMAGED.has(code)) return { code: 'integrity', says: 'the bytes were damaged on the way' };
  if (code === 'RequestTimeout') return GAVE_UP;
  return judgeStatus(operation, answer, code);
}

const GAVE_UP: Verdict = { code: 'timeout', says: 'the service gave up waiting', ambiguous: true };

const CHECKSUM_HINT =
  'the server cannot do this; if it does not know checksum headers, set checksums: ' +
  "'required' (in a location: ?checksums=required)";

function judgeStatus(operation: BlobOperation, answer: Answer, code: string): Verdict {
  const { status } = answer;
  switch (status) {
    case 301:
    case 308: {
      const region = answer.headers['x-amz-bucket-region'];
      const where = region === undefined ? 'elsewhere' : `in region ${region}`;
      return { code: 'no-bucket', says: `the bucket is ${where}; set region and endpoint` };
    }
    case 403:
      return { code: 'forbidden', says: `no permission to ${PERMISSIONS[operation]}` };
    case 404:
      return code === 'NoSuchBucket'
        ? { code: 'no-bucket', says: 'the bucket does not exist; create it or correct its name' }
        : { code: 'integrity', says: 'not found, but by no S3 service', ambiguous: true };
    case 408:
      return GAVE_UP;
    case 409:
      return {
        code: 'unavailable',
        says: 'it conflicts with another request; stored or not is unknown: read and repeat',
        ambiguous: true,
      };
    case 429:
      return { code: 'throttled', says: 'too many requests', ambiguous: true };
    default:
      return judgeClass(status, code);
  }
}

function judgeClass(status: number, code: string): Verdict {
  if (status === 503 && SLOW_DOWN.has(code)) {
    return { code: 'throttled', says: 'too many requests', ambiguous: true };
  }
  if (status >= 500 || status === 307) {
    return { code: 'unavailable', says: 'the service failed', ambiguous: status !== 307 };
  }
  if (status >= 400) return { code: 'unsupported', says: 'the service refused the request' };
  return { code: 'integrity', says: 'an answer that was not asked for', ambiguous: true };
}

function isAboutChecksums({ code, message }: Fault): boolean {
  if (DAMAGED.has(code)) return false;
  return /x-amz-(sdk-)?checksum|checksum.(algorithm|header|mode)|aws-chunked|x-amz-trailer/i.test(
    `${code} ${message}`,
  );
}

/** The permission that a person has to grant. */
const PERMISSIONS: Readonly<Record<BlobOperation, string>> = {
  create: 'write (s3:PutObject)',
  replace: 'write (s3:PutObject)',
  get: 'read (s3:GetObject; and s3:ListBucket, without which absent reads as forbidden)',
  head: 'read (s3:GetObject; and s3:ListBucket, without which absent reads as forbidden)',
  list: 'list (s3:ListBucket)',
  delete: 'delete (s3:DeleteObject)',
};

const CONNECT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** The code of an error that happened before any byte could leave. */
function connectFailure(error: unknown): string | undefined {
  const code = errorCode(error);
  if (code === undefined) return undefined;
  if (CONNECT_CODES.has(code) || isCertificate(code)) return code;
  const { syscall } = error as { readonly syscall?: unknown };
  return syscall === 'connect' || syscall === 'getaddrinfo' ? code : undefined;
}

function isCertificate(code: string): boolean {
  return /CERT|^ERR_TLS|^UNABLE_TO_/.test(code);
}

function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
