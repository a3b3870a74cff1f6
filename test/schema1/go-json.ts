/**
 * JSON as the old store spelled it: the defaults of Go's encoder, written from its rules.
 *
 * Compact, no newline at the end. A record keeps the order of its members, which is that of the
 * fields of a Go structure; a `Map` is sorted by the bytes of its keys, as Go sorts a map. A member
 * that is undefined is left out (`omitempty`). Besides `"` and `\`, the characters `<`, `>`, `&`,
 * U+2028, U+2029 and those below U+0020 are escaped; everything else stands for itself.
 */
import { byBytes } from './names.ts';

/**
 * How U+0008 and U+000C are spelled: `\b` and `\f` since Go 1.22 (`short`), `\u0008` and `\u000c`
 * by an older one (`long`).
 */
export type Spelling = 'short' | 'long';

/** What can be encoded. Numbers are integers: the old store has no others. */
export type GoJson =
  | string
  | number
  | boolean
  | readonly GoJson[]
  | ReadonlyMap<string, GoJson>
  | GoRecord;

export interface GoRecord {
  readonly [field: string]: GoJson | undefined;
}

/** The bytes of a value. */
export function encodeGoJson(value: GoJson, spelling: Spelling = 'short'): Uint8Array {
  return new TextEncoder().encode(spell(value, spelling));
}

function spell(value: GoJson, spelling: Spelling): string {
  if (typeof value === 'string') return quote(value, spelling);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no integer`);
    return String(value);
  }
  if (isList(value)) return `[${value.map((item) => spell(item, spelling)).join(',')}]`;
  const members = [];
  const entries =
    value instanceof Map
      ? [...value].sort(([a], [b]) => byBytes(a, b))
      : Object.entries(value as GoRecord);
  for (const [name, member] of entries) {
    if (member === undefined) continue;
    members.push(`${quote(name, spelling)}:${spell(member, spelling)}`);
  }
  return `{${members.join(',')}}`;
}

function isList(value: GoJson): value is readonly GoJson[] {
  return Array.isArray(value);
}

/** Text of which no character is escaped, and which is most of it. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/;

function quote(text: string, spelling: Spelling): string {
  if (PLAIN.test(text)) return `"${text}"`;
  let quoted = '';
  for (const character of text) quoted += escaped(character, spelling);
  return `"${quoted}"`;
}

function escaped(character: string, spelling: Spelling): string {
  switch (character) {
    case '"':
    case '\\':
      return `\\${character}`;
    case '\n':
      return '\\n';
    case '\r':
      return '\\r';
    case '\t':
      return '\\t';
    case '\b':
      return spelling === 'short' ? '\\b' : '\\u0008';
    case '\f':
      return spelling === 'short' ? '\\f' : '\\u000c';
    case '<':
    case '>':
    case '&':
    case '\u2028':
    case '\u2029':
      return unicode(character);
    default:
      if (character < ' ') return unicode(character);
      return character.isWellFormed() ? character : '\\ufffd';
  }
}

function unicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
