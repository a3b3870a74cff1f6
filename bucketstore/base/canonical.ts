/**
 * Canonical JSON: the one spelling of a value, so that equal values have equal bytes and equal
 * hashes. Object keys are sorted; they are fixed ASCII names or metadata keys (`[a-z0-9-]`), never
 * user text, so JavaScript's key order equals byte order.
 */
import stringify from 'fast-json-stable-stringify';

/** What canonical JSON can hold. Numbers are safe integers. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/**
 * The canonical text of a value.
 * @throws TypeError for a number that is no safe integer, text that is not well formed, or a key
 * that
 *   is not ASCII: each would have two spellings, or none
 */
export function canonicalText(value: Json): string {
  check(value);
  return stringify(value);
}

function check(value: Json): void {
  switch (typeof value) {
    case 'number':
      if (!Number.isSafeInteger(value) || Object.is(value, -0)) {
        throw new TypeError(`canonical JSON holds safe integers only, got ${value}`);
      }
      return;
    case 'string':
      if (!value.isWellFormed()) throw new TypeError('canonical JSON holds well-formed text only');
      return;
    case 'boolean':
      return;
    default:
      if (value === null) return;
      if (Array.isArray(value)) {
        for (const item of value) check(item);
        return;
      }
      for (const [key, item] of Object.entries(value)) {
        if (!/^[\x20-\x7e]*$/.test(key)) throw new TypeError(`key is not ASCII: ${key}`);
        check(item);
      }
  }
}
