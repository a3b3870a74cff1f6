/** Document paths as UTF-8 bytes: what is read of them by the million, so without making text. */
import { DELETE, DOT, SLASH, TAB } from '../bucketstore/base/ascii.ts';
import { PATH_BYTES_MAX } from '../bucketstore/document/path.ts';
import { isUtf8 } from '../bucketstore/document/text.ts';

/** No document path, or one without or with a hidden segment. */
export type PathKind = 'invalid' | 'plain' | 'hidden';

const HIDDEN_NAME: Uint8Array = Buffer.from('versions');

/**
 * The kind of the path in `bytes[0, length)`: as `isDocumentPath` and `isHiddenName` of its
 * segments say of the text.
 */
export function kindOfPath(bytes: Uint8Array, length: number): PathKind {
  if (length < 2 || length > PATH_BYTES_MAX || bytes[0] !== SLASH) return 'invalid';
  let hidden = false;
  let wide = false;
  let start = 1;
  for (let i = 1; i <= length; i++) {
    const byte = i < length ? (bytes[i] ?? SLASH) : SLASH;
    if (byte === SLASH) {
      if (i === start || isDots(bytes, start, i)) return 'invalid';
      hidden ||= bytes[start] === DOT || isHiddenName(bytes, start, i);
      start = i + 1;
    } else if ((byte < 0x20 && byte !== TAB) || byte === DELETE) {
      return 'invalid';
    } else if (byte >= 0x80) {
      wide = true;
    }
  }
  if (wide && !isUtf8(bytes.subarray(0, length))) return 'invalid';
  return hidden ? 'hidden' : 'plain';
}

/** Whether a segment is `.` or `..`. */
function isDots(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== DOT || end - start > 2) return false;
  return end - start === 1 || bytes[start + 1] === DOT;
}

function isHiddenName(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== HIDDEN_NAME.length) return false;
  for (let i = 0; i < HIDDEN_NAME.length; i++) {
    if (bytes[start + i] !== HIDDEN_NAME[i]) return false;
  }
  return true;
}

/**
 * Finds a document that lies above another, path after path in order: the documents that may still
 * have one below them are those whose path the current one begins with.
 */
export class AncestorWatch {
  /** Their lengths, ascending. */
  readonly #lengths: number[] = [];

  /**
   * Whether a document seen before is an ancestor of this path.
   * @param shared bytes that it has in common with the path before it
   */
  isBelowDocument(path: Uint8Array, length: number, shared: number): boolean {
    const lengths = this.#lengths;
    while ((lengths.at(-1) ?? 0) > shared) lengths.pop();
    const below = lengths.some((end) => path[end] === SLASH);
    lengths.push(length);
    return below;
  }
}
