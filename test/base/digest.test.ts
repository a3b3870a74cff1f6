/**
 * Goal: the hash the whole project rests on is SHA-256, whichever library computes it.
 * Method: known answers of the standard, and the portable implementation as an independent check.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSha256Hex, sha256Hex, sha256HexPortable } from '../../bucketstore/base/digest.ts';

const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

test('`sha256Hex()` gives the known answers', () => {
  expect(sha256Hex(new Uint8Array())).toBe(EMPTY);
  expect(sha256Hex('abc')).toBe(ABC);
  expect(sha256HexPortable('abc')).toBe(ABC);
});

test('both implementations agree on any bytes and any text', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.string({ unit: 'grapheme' }),
      (bytes, text) => {
        expect(sha256Hex(bytes)).toBe(sha256HexPortable(bytes));
        expect(sha256Hex(text)).toBe(sha256HexPortable(text));
      },
    ),
  );
});

test('`isSha256Hex()` takes 64 lower-case hex digits and nothing else', () => {
  expect(isSha256Hex(ABC)).toBe(true);
  for (const bad of ['', ABC.toUpperCase(), ABC.slice(1), `${ABC}0`, `sha256-${ABC}`, `${ABC}\n`]) {
    expect(isSha256Hex(bad), bad).toBe(false);
  }
});
