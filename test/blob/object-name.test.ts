// Goal: a key and its prefix together are a name that the service can store.
// Method: keys at the limit, with prefixes that leave room for them or do not.
import { expect, test } from 'vitest';
import { KEY_BYTES_MAX } from '../../blob/blob.ts';
import { namePrefix, objectName } from '../../blob/object-name.ts';

const get = (key: string) => ({ operation: 'get', key }) as const;

test('an object is named by its key alone, or below the prefix', () => {
  expect(objectName(namePrefix(''), get('a/b'))).toBe('a/b');
  expect(objectName(namePrefix('worlds/one'), get('a/b'))).toBe('worlds/one/a/b');
});

test('a name is as long as a key may be, its prefix and UTF-8 counted', () => {
  const prefix = namePrefix('p');
  const room = KEY_BYTES_MAX - prefix.length;
  for (const key of ['x'.repeat(room), 'é'.repeat(room / 2)]) {
    expect(objectName(prefix, get(key))).toBe(prefix + key);
    const error = { code: 'invalid', operation: 'get', key: `${key}y`, ambiguous: false };
    expect(() => objectName(prefix, get(`${key}y`))).toThrow(expect.objectContaining(error));
  }
});

test('a key that is none on its own is none below a prefix', () => {
  for (const key of ['', '.', '..', 'a\nb', '\ud800']) {
    const error = { code: 'invalid', key };
    expect(() => objectName('p/', get(key))).toThrow(expect.objectContaining(error));
  }
});
