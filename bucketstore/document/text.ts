/**
 * Text as the documents' rules see it: one fixed set of white space, UTF-8 lengths, lower case code
 * point by code point. JavaScript's own `trim`, `\s` and `toLowerCase` differ from these in places,
 * and what they differ in would change stored bytes and hashes.
 */
import { isUtf8 as isUtf8Bytes } from 'node:buffer';

/**
 * Whether a UTF-16 unit is white space: U+0009–000D, 0020, 0085, 00A0, 1680, 2000–200A, 2028, 2029,
 * 202F, 205F, 3000. U+FEFF is not, U+0085 is: `String.prototype.trim` has both the other way round.
 */
export function isSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x1680) return unit === 0x85 || unit === 0xa0;
  if (unit <= 0x200a) return unit >= 0x2000 || unit === 0x1680;
  switch (unit) {
    case 0x2028:
    case 0x2029:
    case 0x202f:
    case 0x205f:
    case 0x3000:
      return true;
    default:
      return false;
  }
}

/** `text` without white space at both ends. */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Whether `text` is absent, empty or nothing but white space. */
export function isBlank(text: string | undefined): boolean {
  if (text === undefined) return true;
  for (let i = 0; i < text.length; i++) if (!isSpace(text.charCodeAt(i))) return false;
  return true;
}

/** The runs of `text` between white space, in order; none of them is empty. */
export function splitSpace(text: string): string[] {
  const fields: string[] = [];
  let start = -1;
  for (let i = 0; i < text.length; i++) {
    if (isSpace(text.charCodeAt(i))) {
      if (start >= 0) fields.push(text.slice(start, i));
      start = -1;
    } else if (start < 0) {
      start = i;
    }
  }
  if (start >= 0) fields.push(text.slice(start));
  return fields;
}

/**
 * Lower case, one code point to one code point, whatever stands beside it: Σ is always σ, and
 * U+0130 is `i` alone. (Every other code point's full mapping is a single one already.)
 */
export function lowerCase(text: string): string {
  // Only these two depend on context or grow, so all other text takes the engine's fast path.
  if (!text.includes('\u03a3') && !text.includes('\u0130')) return text.toLowerCase();
  let lower = '';
  for (const point of text) lower += point === '\u0130' ? 'i' : point.toLowerCase();
  return lower;
}

/** Length of `text` as UTF-8, in bytes. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** `text`, or its longest beginning of whole code points that takes at most `bytesMax` as UTF-8. */
export function cutUtf8(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  let bytes = 0;
  let end = 0;
  for (const point of text) {
    bytes += utf8Length(point);
    if (bytes > bytesMax) return text.slice(0, end);
    end += point.length;
  }
  return text;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of exactly these bytes, a byte order mark included; null when they are not valid UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/** Whether bytes are valid UTF-8, without making text of them. */
export function isUtf8(bytes: Uint8Array): boolean {
  return isUtf8Bytes(bytes);
}
