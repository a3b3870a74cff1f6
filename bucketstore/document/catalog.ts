/** What listings and look-ups know of a document without its body: a title, and the metadata. */
import { BACKTICK, HASH, NEWLINE, RETURN, SPACE, TILDE } from '../base/ascii.ts';
import { checkMetadata, type Metadata } from './metadata.ts';
import { nameOf } from './path.ts';
import { cutUtf8, decodeUtf8, isSpace, trimSpace, utf8Length } from './text.ts';

/** Longest title, UTF-8 bytes: a derived one is cut, one from metadata is shorter anyway. */
export const TITLE_BYTES_MAX = 1024;

/**
 * Tags and importance follow from the metadata (`splitTags`, `importanceOf`), so only it is kept.
 */
export interface Catalog {
  readonly title: string;
  /** As persisted; null when there is none. */
  readonly metadata: Metadata | null;
}

/** The catalog entry of a version. `metadata` is normalised. */
export function catalogOf(metadata: Metadata | null, body: Uint8Array, path: string): Catalog {
  return { title: deriveTitle(metadata, body, path), metadata };
}

/**
 * The title of a document: `title` of the metadata, trimmed; else the first level-1 heading of the
 * body; else the last segment of the path. A heading is a line of at most three spaces, `# ` and
 * some text, outside fences, which any trimmed line that begins with three backticks or tildes
 * opens and closes. A derived title is cut to `TITLE_BYTES_MAX` at a code point. Empty for no
 * document path.
 */
export function deriveTitle(metadata: Metadata | null, body: Uint8Array, path: string): string {
  const given = trimSpace(metadata?.['title'] ?? '');
  if (given !== '') return given;
  return firstHeading(body) ?? cutTitle(nameOf(path));
}

/** A derived title within `TITLE_BYTES_MAX`. */
export function cutTitle(title: string): string {
  return cutUtf8(title, TITLE_BYTES_MAX);
}

/** What is wrong with a catalog entry that was read; null when nothing is. */
export function catalogProblem({ title, metadata }: Catalog): string | null {
  if (title === '' || !title.isWellFormed()) return 'its title is empty or not well formed';
  if (utf8Length(title) > TITLE_BYTES_MAX) return `its title is over ${TITLE_BYTES_MAX} bytes`;
  if (metadata !== null && Object.keys(metadata).length === 0) return 'its metadata is empty';
  const problem = checkMetadata(metadata);
  if (problem !== null) return `metadata ${problem.key ?? 'as a whole'}: ${problem.reason}`;
  const given = trimSpace(metadata?.['title'] ?? '');
  return given === '' || given === title ? null : 'its title is not that of its metadata';
}

/** Runs on every write, so over bytes, and only the heading that is found becomes text. */
function firstHeading(body: Uint8Array): string | null {
  let fenced = false;
  let end: number;
  for (let start = 0; start < body.length; start = end + 1) {
    end = start;
    while (end < body.length && body[end] !== NEWLINE && body[end] !== RETURN) end++;
    const first = skipSpace(body, start, end);
    const byte = body[first];
    if (byte === BACKTICK || byte === TILDE) {
      if (first + 2 < end && body[first + 1] === byte && body[first + 2] === byte) fenced = !fenced;
    } else if (byte === HASH && !fenced && isHeading(body, start, first, end)) {
      const heading = headingText(body, first + 2, end);
      if (heading !== '') return heading;
    }
  }
  return null;
}

function isHeading(body: Uint8Array, start: number, first: number, end: number): boolean {
  if (first - start > 3 || first + 1 >= end || body[first + 1] !== SPACE) return false;
  for (let i = start; i < first; i++) if (body[i] !== SPACE) return false;
  return true;
}

/** The text from `from` to `end`, trimmed; never more of it is decoded than a title can hold. */
function headingText(body: Uint8Array, from: number, end: number): string {
  const start = skipSpace(body, from, end);
  let cut = Math.min(end, start + TITLE_BYTES_MAX);
  // 10xxxxxx is the inside of a code point, never the end of a line; a cut one goes as a whole.
  while (cut > start && ((body[cut] ?? 0) & 0xc0) === 0x80) cut--;
  return trimSpace(decodeUtf8(body.subarray(start, cut)) ?? '');
}

/** The first position in `[start, end)` that is not white space; `end` when all is. */
function skipSpace(body: Uint8Array, start: number, end: number): number {
  let i = start;
  while (i < end) {
    const byte = body[i] ?? 0;
    if (byte < 0x80) {
      if (!isSpace(byte)) return i;
      i++;
    } else {
      const length = wideSpace(body, i, end);
      if (length === 0) return i;
      i += length;
    }
  }
  return end;
}

/** Bytes of the white space beyond ASCII at `i`: two or three, 0 when there is none. */
function wideSpace(body: Uint8Array, i: number, end: number): number {
  const lead = body[i] ?? 0;
  const next = body[i + 1] ?? 0;
  if (lead === 0xc2 && i + 1 < end) return isSpace(next) ? 2 : 0;
  if (lead < 0xe1 || lead > 0xe3 || i + 2 >= end) return 0;
  const point = ((lead & 0x0f) << 12) | ((next & 0x3f) << 6) | ((body[i + 2] ?? 0) & 0x3f);
  return isSpace(point) ? 3 : 0;
}
