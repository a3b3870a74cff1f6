/**
 * Goal: one spelling of each number. Method: the format's rows, and a round trip of random numbers.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatDecimal,
  isCanonicalDecimal,
  parseDecimal,
} from '../../bucketstore/document/decimal.ts';

describe('decimals', () => {
  it.each(['0', '1', '0.75', '0.000001', '0.0000001', '0.5'])('%s is canonical', (text) => {
    expect(isCanonicalDecimal(text)).toBe(true);
  });

  it.each(['0.50', '00.5', '5e-1', '-0', '+0.5', '.5', '1.', '1.0', '1.1', '-1', '', ' 1', '1\n'])(
    '%j is not canonical',
    (text) => {
      expect(isCanonicalDecimal(text)).toBe(false);
    },
  );

  it('`parseDecimal()` takes decimal syntax only', () => {
    expect(['2.5', '-2.5', '+.5', '7.'].map(parseDecimal)).toEqual([2.5, -2.5, 0.5, 7]);
    for (const text of [
      '',
      '.',
      '+',
      '1e5',
      '0x1',
      'Infinity',
      'NaN',
      '1_0',
      '1 ',
      '1..2',
      '- 1',
    ]) {
      expect(parseDecimal(text)).toBeNull();
    }
  });

  it('print shortest, without exponent, and read back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (number) => {
        const text = formatDecimal(number === 0 ? 0 : number);
        expect(text).toMatch(/^(0|1|0\.[0-9]+)$/);
        expect(Number(text)).toBe(number === 0 ? 0 : number);
        expect(isCanonicalDecimal(text)).toBe(true);
      }),
    );
    expect(formatDecimal(1.5e-7)).toBe('0.00000015');
  });

  it.each([-0.1, 1.1, Number.NaN])('`formatDecimal()` throws for %d', (number) => {
    expect(() => formatDecimal(number)).toThrow(RangeError);
  });
});
