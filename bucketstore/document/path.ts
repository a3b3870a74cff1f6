/**
 * Paths of documents. A canonical path has one leading slash, no trailing one, no empty, `.` or
 * `..` segment; `/` is the root. Paths are bytes: NFC and NFD spellings name two documents, nothing
 * is decoded (`%2F` is three characters) and case counts.
 */
import { DELETE, DOT, SLASH, TAB } from '../base/ascii.ts';
import { sha256Hex } from '../base/digest.ts';
import { utf8Length } from './text.ts';

/** Longest canonical path, UTF-8 bytes: it and its verb fit the 4,096 bytes of a request line. */
export const PATH_BYTES_MAX = 4087;

/**
 * The canonical form of a requested path; a missing leading slash is added, and nothing is
 * resolved. Null when there is none: a `..` segment, a control character other than TAB, DEL, text
 * that is not well formed, or more than `PATH_BYTES_MAX` bytes. The caller decides how to answer
 * that.
 */
export function canonicalPath(request: string): string | null {
  const shape = shapeOf(request);
  if (shape === 'refused') return null;
  if (shape === 'canonical') return request;
  const segments = request.split('/').filter((segment) => segment !== '' && segment !== '.');
  const path = `/${segments.join('/')}`;
  return fits(path) ? path : null;
}

/** Whether a document may have this path as it stands: canonical, and not the root. */
export function isDocumentPath(path: string): boolean {
  return path !== '/' && shapeOf(path) === 'canonical';
}

/** The directories above a canonical path, topmost first, without the root. */
export function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let i = path.indexOf('/', 1); i !== -1; i = path.indexOf('/', i + 1)) {
    found.push(path.slice(0, i));
  }
  return found;
}

/** The directory of a canonical path; the root is its own. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

/** The last segment of a canonical path; empty for the root. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Whether listings leave a segment out: it begins with a dot, or is exactly `versions`. */
export function isHiddenName(segment: string): boolean {
  return segment.charCodeAt(0) === DOT || segment === 'versions';
}

/** SHA-256 of a canonical path, leading slash included; 64 hex. */
export function pathHash(path: string): string {
  return sha256Hex(path);
}

/** One pass: what `canonicalPath` must do with a request. */
function shapeOf(text: string): 'canonical' | 'loose' | 'refused' {
  if (!text.isWellFormed()) return 'refused';
  let canonical = text.charCodeAt(0) === SLASH;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const unit = i < text.length ? text.charCodeAt(i) : SLASH;
    if (unit === SLASH) {
      const length = i - start;
      if (length === 2 && text.startsWith('..', start)) return 'refused';
      const empty = length === 0 && i > 0 && text !== '/';
      if (empty || (length === 1 && text.charCodeAt(start) === DOT)) canonical = false;
      start = i + 1;
    } else if ((unit < 0x20 && unit !== TAB) || unit === DELETE) {
      return 'refused';
    }
  }
  if (!canonical) return 'loose';
  return fits(text) ? 'canonical' : 'refused';
}

function fits(path: string): boolean {
  // A UTF-16 unit takes at most three bytes, so most paths need no count.
  return path.length * 3 <= PATH_BYTES_MAX || utf8Length(path) <= PATH_BYTES_MAX;
}
