/**
 * Checks of successful answers against what was asked. Each throws `TypeError`, see `gcs-wire.ts`.
 */
import type { Attributes } from './blob.ts';
import type { CallName } from './errors.ts';
import { crc32cBase64 } from './gcs-crc32c.ts';
import { integrityError } from './gcs-errors.ts';
import type { WireResponse } from './gcs-send.ts';
import type { MediaHead } from './gcs-wire.ts';
import { compareKeys } from './order.ts';

/**
 * Fails unless the bytes are exactly those asked for: by length, by range, and whole ones by
 * checksum.
 */
export function checkMedia(
  media: MediaHead,
  { status, bytes }: WireResponse,
  range: readonly [number, number] | undefined,
): void {
  const { size } = media.attributes;
  if (range === undefined) {
    if (status !== 200) throw new TypeError('a part of an object that was asked for whole');
    if (bytes.length !== size) throw new TypeError(`${bytes.length} bytes of ${size}`);
    if (media.crc32c === undefined) throw new TypeError('no checksum in the answer');
    if (media.crc32c !== crc32cBase64(bytes)) throw new TypeError('the checksum does not match');
    return;
  }
  // An empty object has no ranges; some servers answer 416, some the empty whole.
  if (status === 200 && size === 0 && bytes.length === 0) return;
  const start = range[0];
  const end = Math.min(range[1], size);
  if (status !== 206 || media.range === undefined) throw new TypeError('the range was ignored');
  if (media.range[0] !== start || media.range[1] !== end) {
    throw new TypeError(`bytes ${media.range.join(' to ')} instead of ${start} to ${end}`);
  }
  if (bytes.length !== end - start) {
    throw new TypeError(`${bytes.length} bytes instead of ${end - start}`);
  }
}

/**
 * One page without the key of the offset, which GCS includes. Fails unless it ascends by bytes
 * and stays within prefix and offset: a list that loses its place must not look like the end of a
 * log.
 */
export function checkPage(
  objects: readonly Attributes[],
  prefix: string,
  after: string | undefined,
): readonly Attributes[] {
  const kept = objects[0]?.key === after ? objects.slice(1) : objects;
  let previous = after;
  for (const { key } of kept) {
    if (!key.startsWith(prefix)) throw new TypeError(`"${key}" is outside the prefix`);
    if (previous !== undefined && compareKeys(previous, key) >= 0) {
      throw new TypeError(`"${key}" is listed after "${previous}"`);
    }
    previous = key;
  }
  return kept;
}

/** Runs a decoder of a successful answer; what it misses makes the answer an `integrity` error. */
export function decode<T>(call: CallName, response: WireResponse, decoder: () => T): T {
  try {
    return decoder();
  } catch (error) {
    const message = error instanceof Error ? error.message : 'an answer that makes no sense';
    throw integrityError(call, response, message, error);
  }
}
