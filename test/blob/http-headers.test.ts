// Goal: what a header does not say clearly is not known.
// Method: headers as services write them, and texts that are none.
import { describe, expect, test } from 'vitest';
import {
  formatRange,
  parseContentRange,
  parseDate,
  parseRetryAfter,
} from '../../blob/http-headers.ts';

test('a range of the port, whose end is exclusive, is asked for with an inclusive one', () => {
  expect(formatRange([0, 1])).toBe('bytes=0-0');
  expect(formatRange([65, 1_048_576])).toBe('bytes=65-1048575');
});

describe('`Content-Range`', () => {
  test('names the part, its end exclusive, and the size of the whole', () => {
    expect(parseContentRange('bytes 2-4/9')).toEqual({ range: [2, 5], size: 9 });
    expect(parseContentRange('bytes 0-0/1')).toEqual({ range: [0, 1], size: 1 });
  });

  test.each([
    undefined,
    '',
    'bytes */9',
    'bytes 2-4/*',
    'items 2-4/9',
    'bytes 2-4/9, bytes 5-6/9',
    `bytes 0-4/${'9'.repeat(16)}`,
  ])('%s is none', (header) => {
    expect(parseContentRange(header)).toBeNull();
  });
});

test('`Date` is in ms, and other text is no date', () => {
  expect(parseDate('Tue, 14 Nov 2023 22:13:20 GMT')).toBe(1_700_000_000_000);
  expect([undefined, '', 'soon'].map((header) => parseDate(header))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('`Retry-After` in seconds is in ms, and its other form is not used', () => {
  expect(parseRetryAfter('2')).toBe(2000);
  const unused = [undefined, '', '0', '-1', 'Tue, 14 Nov 2023 22:13:20 GMT'];
  for (const header of unused) expect(parseRetryAfter(header), header).toBeUndefined();
});
