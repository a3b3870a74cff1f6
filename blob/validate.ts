/** Checks of the arguments of a bucket call, shared by every driver so that all refuse the same. */
import { KEY_BYTES_MAX, LIST_LIMIT_MAX, type ListQuery } from './blob.ts';
import type { AbortSource } from './cancel.ts';
import { BlobError, type BlobOperation, type CallName } from './errors.ts';

function invalid(operation: BlobOperation, key: string, message: string): BlobError {
  return new BlobError({ code: 'invalid', operation, key, message });
}

/**
 * Refuses a key that not every service stores as it is: 1 to 1024 bytes of well-formed UTF-8, no
 * control characters, not `.` or `..`.
 */
export function checkKey(operation: BlobOperation, key: string): void {
  if (key === '' || key === '.' || key === '..') {
    throw invalid(operation, key, 'a key is 1 to 1024 bytes and not "." or ".."');
  }
  checkText(operation, key);
}

/** Refuses a list that no service answers alike. A prefix may be empty, `.` or `..`. */
export function checkList(query: ListQuery): void {
  checkText('list', query.prefix);
  if (query.after !== undefined) checkText('list', query.after);
  if (!Number.isInteger(query.limit) || query.limit < 1 || query.limit > LIST_LIMIT_MAX) {
    throw invalid('list', query.prefix, `limit is an integer of 1 to 1000, got ${query.limit}`);
  }
}

/** Refuses a range that is not two integers in order. */
export function checkRange(key: string, range: readonly [number, number] | undefined): void {
  if (range === undefined) return;
  const [start, end] = range;
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) {
    throw invalid('get', key, `range is [start, endExclusive], got [${start}, ${end}]`);
  }
}

/** Refuses an empty generation: it would mean "unconditionally" to some services. */
export function checkGeneration(key: string, generation: string): void {
  if (generation === '') throw invalid('replace', key, 'generation is empty');
}

/** Refuses a call of a closed store, or whose signal has already aborted; nothing was changed. */
export function checkStart(
  { operation, key }: CallName,
  signal: AbortSource | undefined,
  closed: boolean,
): void {
  if (closed) throw invalid(operation, key, 'the store is closed; nothing was changed');
  checkSignal(operation, key, signal);
}

/** Refuses a call whose signal has already aborted, before anything is sent. */
export function checkSignal(
  operation: BlobOperation,
  key: string,
  signal: AbortSource | undefined,
): void {
  if (signal?.aborted) {
    throw new BlobError({
      code: 'aborted',
      operation,
      key,
      message: 'aborted before it was sent; nothing was changed',
      cause: signal.reason,
    });
  }
}

function checkText(operation: BlobOperation, text: string): void {
  if (!text.isWellFormed()) throw invalid(operation, text, 'not well-formed Unicode');
  if (Buffer.byteLength(text) > KEY_BYTES_MAX) {
    throw invalid(operation, text, `longer than ${KEY_BYTES_MAX} bytes`);
  }
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit === 0x7f) throw invalid(operation, text, 'has a control character');
  }
}
