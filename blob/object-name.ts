/** The names of a bucket's objects, for a store that keeps its keys under a prefix of them. */
import { KEY_BYTES_MAX } from './blob.ts';
import { BlobError, type CallName } from './errors.ts';
import { checkKey } from './validate.ts';

/** What stands before every key: nothing for the whole bucket, else the prefix and a slash. */
export function namePrefix(prefix: string): string {
  return prefix === '' ? '' : `${prefix}/`;
}

/**
 * The object of a key.
 * @param prefix as `namePrefix` makes it
 * @throws BlobError `invalid` for a bad key, or one that is too long with the prefix
 */
export function objectName(prefix: string, { operation, key }: CallName): string {
  checkKey(operation, key);
  const name = prefix + key;
  if (Buffer.byteLength(name) > KEY_BYTES_MAX) {
    const message = `longer than ${KEY_BYTES_MAX} bytes with the prefix`;
    throw new BlobError({ operation, key, code: 'invalid', message });
  }
  return name;
}
