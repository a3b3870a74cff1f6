/**
 * Goal: every failure of an S3 service or of the way to it has one code, and a write is in doubt
 * exactly when it may have been stored.
 * Method: a table of answers and socket errors over every call, with the real SDK and no socket.
 */
import { describe, expect, test } from 'vitest';
import { failureOf } from '../support/outcome.ts';
import {
  BYTES,
  CALLS,
  DATE_MS,
  failed,
  OPERATIONS,
  scripted,
  WRITES,
} from '../support/s3-scripted.ts';

describe('errors', () => {
  const rows: readonly (readonly [
    number,
    string | undefined,
    { readonly code: string; readonly retryable: boolean; readonly inDoubt: boolean },
  ])[] = [
    [400, 'ExpiredToken', { code: 'unauthenticated', retryable: true, inDoubt: false }],
    [401, 'ExpiredToken', { code: 'unauthenticated', retryable: true, inDoubt: false }],
    [403, 'ExpiredToken', { code: 'unauthenticated', retryable: true, inDoubt: false }],
    [403, 'InvalidAccessKeyId', { code: 'unauthenticated', retryable: false, inDoubt: false }],
    [403, 'SignatureDoesNotMatch', { code: 'unauthenticated', retryable: false, inDoubt: false }],
    [403, 'RequestTimeTooSkewed', { code: 'unauthenticated', retryable: true, inDoubt: false }],
    [403, 'AccessDenied', { code: 'forbidden', retryable: false, inDoubt: false }],
    [403, undefined, { code: 'forbidden', retryable: false, inDoubt: false }],
    [404, 'NoSuchBucket', { code: 'no-bucket', retryable: false, inDoubt: false }],
    [301, 'PermanentRedirect', { code: 'no-bucket', retryable: false, inDoubt: false }],
    [400, 'BadDigest', { code: 'integrity', retryable: true, inDoubt: false }],
    [400, 'InvalidArgument', { code: 'unsupported', retryable: false, inDoubt: false }],
    [400, 'RequestTimeout', { code: 'timeout', retryable: true, inDoubt: true }],
    [408, undefined, { code: 'timeout', retryable: true, inDoubt: true }],
    [409, 'ConditionalRequestConflict', { code: 'unavailable', retryable: true, inDoubt: true }],
    [429, 'TooManyRequests', { code: 'throttled', retryable: true, inDoubt: true }],
    [503, 'SlowDown', { code: 'throttled', retryable: true, inDoubt: true }],
    [503, 'ServiceUnavailable', { code: 'unavailable', retryable: true, inDoubt: true }],
    [500, 'InternalError', { code: 'unavailable', retryable: true, inDoubt: true }],
    [502, undefined, { code: 'unavailable', retryable: true, inDoubt: true }],
    [501, 'NotImplemented', { code: 'unsupported', retryable: false, inDoubt: false }],
    [304, undefined, { code: 'integrity', retryable: true, inDoubt: true }],
  ];
  const cases = rows.flatMap(([status, code, verdict]) =>
    OPERATIONS.filter((operation) => operation !== 'head' || status !== 404).map(
      (operation) => [status, code, verdict.code, operation, verdict] as const,
    ),
  );
  test.each(cases)('%i %s is %s for `%s()`', async (status, code, _, operation, verdict) => {
    const { store, requests } = scripted(failed(status, code));
    const error = await failureOf(CALLS[operation](store));
    expect(error).toMatchObject({
      name: 'BlobError',
      code: verdict.code,
      operation,
      key: operation === 'list' ? '' : 'k',
      retryable: verdict.retryable,
      ambiguous: verdict.inDoubt && WRITES.has(operation),
      date: DATE_MS,
    });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['a header', 403, 'x-amz-checksum-crc32 is not allowed'],
    ['an encoding', 400, 'aws-chunked encoding is not supported'],
    ['an algorithm', 400, 'x-amz-sdk-checksum-algorithm'],
  ])('a refusal that names %s names the setting', async (_, status, message) => {
    const { store } = scripted(failed(status, 'AccessDenied', message));
    const error = await failureOf(store.create('k', BYTES));
    expect(error).toMatchObject({ code: 'unsupported', ambiguous: false });
    expect(String(error)).toContain("checksums: 'required'");
  });

  const failures: readonly (readonly [Error, boolean])[] = [
    [network('ECONNREFUSED', 'connect'), false],
    [network('ENOTFOUND', 'getaddrinfo'), false],
    [network('ETIMEDOUT', 'connect'), false],
    [network('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), false],
    [network('ECONNRESET', 'read'), true],
    [network('EPIPE', 'write'), true],
    [network('ETIMEDOUT', 'read'), true],
    [new Error('something else'), true],
  ];
  test.each(failures)('%s is `unavailable`, a write in doubt: %s', async (error, inDoubt) => {
    for (const operation of OPERATIONS) {
      const failure = await failureOf(CALLS[operation](scripted(error).store));
      const ambiguous = inDoubt && WRITES.has(operation);
      expect(failure).toMatchObject({ code: 'unavailable', ambiguous, cause: error });
    }
  });
});

function network(code: string, syscall?: string): Error {
  return Object.assign(new Error('as written'), { code, syscall });
}
