/**
 * JSON as the old servers wrote it, byte for byte: the encoder of Go's standard library.
 *
 * LAYOUT. No white space; fields in the order given, maps by the bytes of their keys; integers in
 * decimal. In strings `"` and `\` stand behind a backslash, U+0008, 9, A, C and D are `\b \t \n \f
 * \r`, the other controls `\u00xx` in lower case, and `<` `>` `&` U+2028 U+2029 are `\u003c`
 * `\u003e` `\u0026` `\u2028` `\u2029`. Everything else is literal, DEL and `/` included.
 *
 * READER. Understand a value, spell it again, compare (`assertGoText`): whatever differs in more
 * than the spelling below was not written by such a server.
 *
 * WHY. Go before 1.22 wrote `\u0008` and `\u000c` where later ones write `\b` and `\f`. Worlds hold
 * both, so a reader accepts both for these two and nothing else, and hashes only the bytes that are
 * stored.
 */
import { integrityError } from '../bucketstore/base/errors.ts';
import { compareUtf8 } from '../bucketstore/base/order.ts';

/** What the objects of schema 1 are made of; nothing in them is null, and no number a fraction. */
export type GoJson = boolean | number | string | readonly GoJson[] | GoMap | GoFields;

/** A map: in the order of its keys' bytes, whatever order they were put in. */
export type GoMap = ReadonlyMap<string, string>;

/**
 * A record: in the order its fields were given; one that is undefined is absent. No name may look
 * like an array index, for those would come first.
 */
export interface GoFields {
  readonly [field: string]: GoJson | undefined;
}

/** A plain character is none of these, and no control. */
const ESCAPED = /[^\u0020-\uffff]|["\\<>&\u2028\u2029]/;
/** What Go escapes and `JSON.stringify` does not. */
const ESCAPED_BY_GO = /[<>&\u2028\u2029]/g;
/** What older servers spelled out, and how newer ones and `goText` spell it. */
const OLDER_SPELLINGS: readonly (readonly [older: string, newer: string])[] = [
  ['\\u0008', '\\b'],
  ['\\u000c', '\\f'],
];

/**
 * The text of a value, in the newer spelling.
 * @throws TypeError for a number that is no safe integer, or text that is not well formed
 */
export function goText(value: GoJson): string {
  switch (typeof value) {
    case 'string':
      return goString(value);
    case 'number':
      if (!Number.isSafeInteger(value)) {
        throw new TypeError(`the old format holds safe integers only, got ${value}`);
      }
      return String(value);
    case 'boolean':
      return value ? 'true' : 'false';
    default:
      if (isItems(value)) return `[${value.map(goText).join(',')}]`;
      return value instanceof Map ? mapText(value) : fieldsText(value as GoFields);
  }
}

/** The bytes of `goText`. */
export function goBytes(value: GoJson): Uint8Array {
  return new TextEncoder().encode(goText(value));
}

/**
 * Refuses a text that spells `value` in no way that an old server did.
 * @param object key of the object that holds `text`, for errors
 * @throws StoreError INTEGRITY naming the first place of the text that differs
 */
export function assertGoText(object: string, text: string, value: GoJson): void {
  const encoded = goText(value);
  if (text === encoded) return;
  const at = firstDifference(text, encoded);
  if (at !== null) throw integrityError(object, `not canonical JSON, first at character ${at}`);
}

/** Where a text first differs from one that `goText` made in more than the two spellings. */
function firstDifference(text: string, encoded: string): number | null {
  let at = 0;
  let other = 0;
  while (at < text.length && other < encoded.length) {
    if (text[at] !== encoded[other]) return at;
    const spelling = text[at] === '\\' ? spellingAt(text, at, encoded, other) : null;
    at += spelling?.older ?? 1;
    other += spelling?.newer ?? 1;
  }
  return at === text.length && other === encoded.length ? null : at;
}

/** Lengths of one escape in both texts where they spell the same, the first in either way. */
function spellingAt(
  text: string,
  at: number,
  encoded: string,
  other: number,
): { readonly older: number; readonly newer: number } | null {
  for (const [older, newer] of OLDER_SPELLINGS) {
    if (text.startsWith(older, at) && encoded.startsWith(newer, other)) {
      return { older: older.length, newer: newer.length };
    }
  }
  // Whole, so that the second half of an escaped backslash never begins an escape.
  return text[at + 1] === encoded[other + 1] ? { older: 2, newer: 2 } : null;
}

function goString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('the old format holds well-formed text only');
  if (!ESCAPED.test(text)) return `"${text}"`;
  return JSON.stringify(text).replace(
    ESCAPED_BY_GO,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function mapText(map: GoMap): string {
  const keys = [...map.keys()].sort(compareUtf8);
  return `{${keys.map((key) => `${goString(key)}:${goString(map.get(key) ?? '')}`).join(',')}}`;
}

function fieldsText(fields: GoFields): string {
  let text = '';
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${goText(value)}`;
  }
  return `{${text}}`;
}

function isItems(value: GoJson): value is readonly GoJson[] {
  return Array.isArray(value);
}
