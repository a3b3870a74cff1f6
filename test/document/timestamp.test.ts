/**
 * Goal: one spelling of each second. Method: the refused spellings, edges of the calendar, and a
 * property against the runtime's own dates.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTimestamp, parseTimestamp } from '../../bucketstore/document/timestamp.ts';

describe('timestamps', () => {
  it.each([
    [0, '1970-01-01T00:00:00Z'],
    [-1, '1969-12-31T23:59:59Z'],
    [951_782_400, '2000-02-29T00:00:00Z'],
    [4_107_542_400, '2100-03-01T00:00:00Z'],
    [-62_135_596_800, '0001-01-01T00:00:00Z'],
    [-62_167_219_200, '0000-01-01T00:00:00Z'],
    [253_402_300_799, '9999-12-31T23:59:59Z'],
  ])('%d is %s, both ways', (seconds, text) => {
    expect(formatTimestamp(seconds)).toBe(text);
    expect(parseTimestamp(text)).toBe(seconds);
  });

  it('agree with the runtime over all years', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200, max: 253_402_300_799 }), (seconds) => {
        const text = formatTimestamp(seconds);
        expect(text).toBe(new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'));
        expect(parseTimestamp(text)).toBe(seconds);
      }),
    );
  });

  it.each([
    ['fraction', '2026-08-22T12:34:56.0Z'],
    ['offset zero', '2026-08-22T12:34:56+00:00'],
    ['other zone', '2026-08-22T12:34:56+02:00'],
    ['no seconds', '2026-08-22T12:34Z'],
    ['impossible day', '2026-02-30T12:34:56Z'],
    ['no leap year', '1900-02-29T00:00:00Z'],
    ['day 0', '2026-08-00T12:34:56Z'],
    ['month 0', '2026-00-22T12:34:56Z'],
    ['month 13', '2026-13-22T12:34:56Z'],
    ['hour 24', '2026-08-22T24:00:00Z'],
    ['minute 60', '2026-08-22T12:60:00Z'],
    ['leap second', '2016-12-31T23:59:60Z'],
    ['lower case', '2026-08-22t12:34:56z'],
    ['no zone', '2026-08-22T12:34:56'],
    ['space', '2026-08-22 12:34:56Z'],
    ['newline', '2026-08-22T12:34:56Z\n'],
    ['other digits', '２０２６-08-22T12:34:56Z'],
    ['year 10000', '10000-01-01T00:00:00Z'],
    ['day beyond the last', '9999-12-32T00:00:00Z'],
    ['empty', ''],
  ])('`parseTimestamp()` refuses: %s', (_, text) => {
    expect(parseTimestamp(text)).toBeNull();
  });

  it.each([1.5, Number.NaN, Infinity, -62_167_219_201, 253_402_300_800])(
    '`formatTimestamp()` throws for %d',
    (seconds) => {
      expect(() => formatTimestamp(seconds)).toThrow(RangeError);
    },
  );
});
