/**
 * Goal: text rules are those of the format, not JavaScript's. Method: each listed code point, and
 * each one that the two sides disagree on; every code point for lower case.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cutUtf8,
  decodeUtf8,
  isBlank,
  isSpace,
  isUtf8,
  lowerCase,
  splitSpace,
  trimSpace,
  utf8Length,
} from '../../bucketstore/document/text.ts';

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

const SPACES = [
  ...range(0x09, 0x0d),
  0x20,
  0x85,
  0xa0,
  0x1680,
  ...range(0x2000, 0x200a),
  0x2028,
  0x2029,
  0x202f,
  0x205f,
  0x3000,
];

describe('white space', () => {
  it('`isSpace()` holds for exactly the listed units', () => {
    expect(range(0, 0xffff).filter(isSpace)).toEqual(SPACES);
  });

  it('`trimSpace()` trims every listed unit and keeps U+FEFF', () => {
    for (const unit of SPACES) {
      const space = String.fromCharCode(unit);
      expect(trimSpace(`${space}${space}a${space}b${space}`)).toBe(`a${space}b`);
    }
    expect(trimSpace('\ufeff a \ufeff')).toBe('\ufeff a \ufeff');
    expect(trimSpace(' \t\n')).toBe('');
    expect(trimSpace('')).toBe('');
  });

  it('`splitSpace()` gives the runs between white space, none of them empty', () => {
    const text = SPACES.map((unit) => `${String.fromCharCode(unit)}w`).join('');
    expect(splitSpace(text)).toEqual(SPACES.map(() => 'w'));
    expect(splitSpace('  one \u0085 two\u3000')).toEqual(['one', 'two']);
    expect(splitSpace('a\ufeffb')).toEqual(['a\ufeffb']);
    expect(splitSpace('')).toEqual([]);
    expect(splitSpace(' \n ')).toEqual([]);
  });

  it('`isBlank()` holds for absent, empty and white text', () => {
    expect([undefined, '', ' \u2003', 'x', '\ufeff'].map(isBlank)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('`lowerCase()`', () => {
  it('maps each code point alone, to one code point', () => {
    for (let point = 0; point <= 0x10ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const text = String.fromCodePoint(point);
      const lower = lowerCase(text);
      if ([...lower].length !== 1) expect.fail(`U+${point.toString(16)}`);
      if (point !== 0x130 && lower !== text.toLowerCase()) expect.fail(point.toString(16));
    }
  });

  it('knows no context and no special cases', () => {
    expect(lowerCase('ΟΔΟΣ')).toBe('οδοσ');
    expect(lowerCase('İstanbul')).toBe('istanbul');
    expect(lowerCase('ÀÉ ẞ ǅ')).toBe('àé ß ǆ');
  });

  it('of a text is that of its code points', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(lowerCase(text)).toBe([...text].map((point) => lowerCase(point)).join(''));
      }),
    );
  });
});

describe('UTF-8', () => {
  it('`utf8Length()` is the length of the encoded text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });

  it('`decodeUtf8()` keeps a byte order mark and refuses what is not UTF-8', () => {
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toBe('\ufeffa');
    expect(decodeUtf8(new Uint8Array(0))).toBe('');
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82], [0xf5, 0x80]]) {
      expect(decodeUtf8(Uint8Array.from(bytes))).toBeNull();
      expect(isUtf8(Uint8Array.from(bytes))).toBe(false);
    }
    expect(isUtf8(new TextEncoder().encode('ä€😀'))).toBe(true);
  });

  it('`cutUtf8()` gives the longest beginning of whole code points that fits', () => {
    expect(cutUtf8('äää', 5)).toBe('ää');
    expect(cutUtf8('a😀', 4)).toBe('a');
    expect(cutUtf8('a😀', 5)).toBe('a😀');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, bytesMax) => {
        const cut = cutUtf8(text, bytesMax);
        const [next = ''] = text.slice(cut.length);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.isWellFormed()).toBe(true);
        expect(utf8Length(cut)).toBeLessThanOrEqual(bytesMax);
        if (next !== '') {
          const point = String.fromCodePoint(text.codePointAt(cut.length) ?? 0);
          expect(utf8Length(cut + point)).toBeGreaterThan(bytesMax);
        }
      }),
    );
  });
});
