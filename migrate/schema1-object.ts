/**
 * What the objects of schema 1 have in common: they are named by the SHA-256 of their bytes, refer
 * to each other by key and hash, and spell hashes of bodies and times as users see them.
 *
 * VALIDITY. A reference is `{ key, hash }`, and the key is the one that follows from the hash.
 *
 * READER. `openObject`, a reader below for each field, `Fields.end`, the rules of the record, and
 * `assertGoText` on the record spelled again.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { isSha256Hex, sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { parseHash } from '../bucketstore/document/body.ts';
import { parseTimestamp } from '../bucketstore/document/timestamp.ts';
import type { Fields } from '../bucketstore/log/strict.ts';
import { parseSchema1Key, type Schema1Name } from './schema1-keys.ts';

type AddressedName = Extract<Schema1Name, { readonly hash: string }>;

/**
 * What the key of an object says, once its bytes have been found to be the ones it names. The one
 * place where bytes are checked against a hash.
 * @param kind what the caller takes the object for
 * @throws StoreError INTEGRITY when the bytes are others
 * @throws InvariantError when the key is of another kind
 */
export function openObject<K extends AddressedName['kind']>(
  kind: K,
  key: string,
  bytes: Uint8Array,
): Extract<AddressedName, { readonly kind: K }> {
  const name = parseSchema1Key(key);
  assert(isOfKind(name, kind), () => `${key} is not the key of a ${kind}`);
  const found = sha256Hex(bytes);
  if (found !== name.hash) throw integrityError(key, `its bytes have the hash ${found}`);
  return name;
}

function isOfKind<K extends AddressedName['kind']>(
  name: Schema1Name | null,
  kind: K,
): name is Extract<AddressedName, { readonly kind: K }> {
  return name?.kind === kind;
}

/** Reads `schema`, which is 1. */
export function readSchema(fields: Fields): void {
  const schema = fields.integer('schema');
  if (schema !== 1) fields.fail('schema', `${schema} is not 1`);
}

/** The 64 hex digits behind `sha256-`. */
export function readBodyHash(fields: Fields, name: string): string {
  const hash = parseHash(fields.string(name));
  return hash ?? fields.fail(name, 'not "sha256-" and 64 lower-case hex digits');
}

/**
 * Seconds since the epoch, negative before 1970: old servers took every second of the years 0000
 * to 9999. The new format begins with 1970; `schema1-versions.ts` says what becomes of the others.
 */
export function readTime(fields: Fields, name: string): number {
  const seconds = parseTimestamp(fields.string(name));
  return seconds ?? fields.fail(name, 'not a time as YYYY-MM-DDTHH:MM:SSZ');
}

/**
 * The hash of a reference.
 * @param keyOf the key of what is referred to
 */
export function readReference(
  fields: Fields,
  name: string,
  keyOf: (hash: string) => string,
): string {
  const reference = fields.object(name);
  const hash = readReferred(reference, keyOf);
  reference.end();
  return hash;
}

/** The hash in the `key` and `hash` of an object that says more. */
export function readReferred(fields: Fields, keyOf: (hash: string) => string): string {
  const key = fields.string('key');
  const hash = fields.string('hash');
  if (!isSha256Hex(hash)) fields.fail('hash', 'not 64 lower-case hex digits');
  return key === keyOf(hash) ? hash : fields.fail('key', 'not the key of its hash');
}
