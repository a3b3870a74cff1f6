/**
 * Goal: the table of codes is the agreed one, and every error of a write says what became of it.
 * Method: the table in the tests' own words, and errors as a caller meets them.
 */
import { expect, test } from 'vitest';
import { ERROR_CODES, isStoreError, StoreError } from '../../bucketstore/base/errors.ts';

test('HTTP and exit status of each code', () => {
  const table = Object.fromEntries(
    Object.entries(ERROR_CODES).map(([code, { http, exit }]) => [code, `${http} ${exit}`]),
  );
  expect(table).toEqual({
    NOT_FOUND: '404 3',
    CONFLICT: '409 1',
    ARCHIVED: '409 1',
    PATH_COLLISION: '409 1',
    QUOTA: '403 1',
    READ_ONLY: '403 1',
    NOT_MODIFIED: '200 0',
    SIZE_LIMIT: '413 1',
    INVALID_PATH: '400 1',
    INVALID_CONTENT: '400 1',
    INVALID_META: '400 1',
    POLICY_BLOCKED: '422 1',
    APPROVAL_REQUIRED: '422 1',
    INVALID_POLICY: '422 1',
    REJECTED: '422 1',
    OVERLOADED: '503 7',
    CLOSED: '503 7',
    UNAVAILABLE: '503 7',
    VIEW_CLOSED: '503 7',
    VIEW_EXPIRED: '503 7',
    BODY_MATCH_UNAVAILABLE: '503 7',
    TOO_OLD: '410 1',
    UNKNOWN_OUTCOME: '504 4',
    RESYNC: '410 1',
    SEALED: '410 1',
    INTEGRITY: '500 6',
    UNSUPPORTED_FORMAT: '500 6',
    LOCATION: '503 5',
    USAGE: '400 2',
    INTERRUPTED: '499 130',
  });
});

test('only UNKNOWN_OUTCOME and TOO_OLD leave the outcome of a write open', () => {
  const open = Object.entries(ERROR_CODES)
    .filter(([, { outcome }]) => outcome?.startsWith('unknown'))
    .map(([code]) => code);
  expect(open).toEqual(['TOO_OLD', 'UNKNOWN_OUTCOME']);
});

test('an error is plain data to a program, and keeps its cause', () => {
  const cause = new Error('below');
  const error = new StoreError('CONFLICT', 'no', { cause, details: { currentVersion: 3 } });
  expect(error.toJSON()).toEqual({
    code: 'CONFLICT',
    message: 'no',
    outcome: 'not committed',
    details: { currentVersion: 3 },
  });
  expect(error.cause).toBe(cause);
  expect(isStoreError(error)).toBe(true);
  expect(isStoreError(cause)).toBe(false);
});
