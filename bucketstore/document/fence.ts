/**
 * Where a leading front matter block ends. Decided by the fences and one line alone, so that
 * import, which reads the block, and section extraction, which skips it, always agree, whatever a
 * YAML parser makes of what is between.
 *
 *   [U+FEFF] "---" [spaces, tabs] newline     the first line of the body
 *   lines
 *   ("---" | "...") [spaces, tabs] (newline | end of the body)
 *
 * A newline is LF, CRLF or CR. The closing fence begins within the first 64 KiB; without one there
 * is no front matter. The first line between the fences that is neither blank nor a `#` comment
 * must look like `key: value` (a colon before a space, a tab or the end of the line, and no sign in
 * front that makes it Markdown): two thematic breaks around prose are text. Nothing but blank lines
 * is an empty block; nothing but comments is text, since to Markdown they are headings.
 */
import { COLON, DASH, DOT, HASH, NEWLINE, RETURN, SPACE, TAB } from '../base/ascii.ts';

/** The closing fence begins before this offset, which also bounds every scan. */
export const FRONT_MATTER_BYTES_MAX = 65_536;

/** What a body begins with. Offsets in bytes. */
export type Fenced =
  /** No opening fence. */
  | { readonly kind: 'none'; readonly bodyStart: 0 }
  /**
   * An opening fence and no closing one. `keyed` when what follows looked like front matter; `long`
   * when the body goes on where the search ends.
   */
  | {
      readonly kind: 'unclosed';
      readonly bodyStart: 0;
      readonly keyed: boolean;
      readonly long: boolean;
    }
  /** Two fences around something else; `line` is the one that says so, the first being line 1. */
  | { readonly kind: 'text'; readonly bodyStart: 0; readonly line: number }
  /**
   * Front matter: its lines are `[start, end)`; what the author wrote below begins at `bodyStart`.
   */
  | {
      readonly kind: 'block';
      readonly start: number;
      readonly end: number;
      readonly bodyStart: number;
    };

/** Looks for a leading front matter block. Reads at most 64 KiB and one line. */
export function findFrontMatter(body: Uint8Array): Fenced {
  let line = lineAt(body, startsWithMark(body) ? 3 : 0);
  if (!isFence(body, line, DASH) || line.next === line.end) return NONE;
  const start = line.next;
  let number = 1;
  let first: { readonly number: number; readonly keyed: boolean } | null = null;
  let comment = 0;
  while (line.next < body.length && line.next < FRONT_MATTER_BYTES_MAX) {
    line = lineAt(body, line.next);
    number++;
    if (isFence(body, line, DASH) || isFence(body, line, DOT)) {
      if (first !== null ? !first.keyed : comment > 0) {
        return { kind: 'text', bodyStart: 0, line: first?.number ?? comment };
      }
      return { kind: 'block', start, end: line.start, bodyStart: line.next };
    }
    if (first !== null) continue;
    const content = classify(body, line);
    if (content === 'comment') comment ||= number;
    else if (content !== 'blank') first = { number, keyed: content === 'key' };
  }
  const long = line.next < body.length;
  return { kind: 'unclosed', bodyStart: 0, keyed: first?.keyed ?? false, long };
}

const NONE: Fenced = { kind: 'none', bodyStart: 0 };

/** Signs that open something else in Markdown, alone or before a space: `> [ ! | < *` and `- +`. */
const MARKDOWN: ReadonlySet<number> = new Set(
  ['>', '[', '!', '|', '<', '*'].map((sign) => sign.charCodeAt(0)),
);
const MARKDOWN_BEFORE_SPACE: ReadonlySet<number> = new Set(
  ['-', '+'].map((sign) => sign.charCodeAt(0)),
);

/**
 * A line's text is `[start, end)`; the next line begins at `next`, which is `end` for the last one.
 */
interface Line {
  readonly start: number;
  readonly end: number;
  readonly next: number;
}

function lineAt(body: Uint8Array, start: number): Line {
  let end = start;
  while (end < body.length && body[end] !== NEWLINE && body[end] !== RETURN) end++;
  const pair = body[end] === RETURN && body[end + 1] === NEWLINE;
  return { start, end, next: Math.min(body.length, end + (pair ? 2 : 1)) };
}

/** U+FEFF in UTF-8. */
function startsWithMark(body: Uint8Array): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}

function isFence(body: Uint8Array, { start, end }: Line, sign: number): boolean {
  if (end - start < 3) return false;
  for (let i = start; i < start + 3; i++) if (body[i] !== sign) return false;
  for (let i = start + 3; i < end; i++) if (!isGap(body[i])) return false;
  return true;
}

function isGap(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

function classify(body: Uint8Array, { start, end }: Line): 'blank' | 'comment' | 'key' | 'other' {
  let first = start;
  while (first < end && isGap(body[first])) first++;
  if (first === end) return 'blank';
  const sign = body[first] ?? 0;
  if (sign === HASH) return 'comment';
  if (MARKDOWN.has(sign)) return 'other';
  if (MARKDOWN_BEFORE_SPACE.has(sign) && isGap(body[first + 1])) return 'other';
  for (let i = first + 1; i < end; i++) {
    if (body[i] === COLON && (i + 1 === end || isGap(body[i + 1]))) return 'key';
  }
  return 'other';
}
