/**
 * Goal: the lists that columns are made of agree with what is plainly true of them, whatever bytes
 * they hold.
 * Method: random byte strings, chosen to share beginnings, against JavaScript's own sort by a
 * comparison and its own search; numbers at the ends of every width.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../../bucketstore/base/in-turns.ts';
import {
  bytesOfNumbers,
  numbersOfBytes,
  varintAt,
  varintBytes,
  widthFor,
} from '../../checkpoint/column-bytes.ts';
import { ByteSink, NumberSink } from '../../checkpoint/column-sinks.ts';
import { PathListBuilder } from '../../checkpoint/path-list.ts';
import { WordListBuilder } from '../../checkpoint/word-list-builder.ts';
import { orderWords } from '../../checkpoint/word-order.ts';

/** Few bytes, so that many agree for long; NUL and 0xff at the ends, no newline. */
const word = fc
  .array(fc.constantFrom(0, 1, 0x61, 0x62, 0xff), { maxLength: 12 })
  .map((bytes) => Buffer.from(bytes));

function joined(words: readonly Uint8Array[]): readonly [Uint8Array, Uint32Array] {
  const sink = new ByteSink(1);
  const offsets = new NumberSink();
  for (const bytes of words) {
    offsets.push(sink.length);
    sink.append(bytes);
    sink.byte(0x0a);
  }
  offsets.push(sink.length);
  return [sink.take(), offsets.take()];
}

describe('`orderWords()`', () => {
  test('orders by bytes, equal words as they came', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 200 }), (words) => {
        const plain = [...words.keys()].sort((a, b) => {
          return Buffer.compare(words[a] ?? Buffer.of(), words[b] ?? Buffer.of()) || a - b;
        });
        expect([...orderWords(...joined(words))]).toEqual(plain);
      }),
      { numRuns: 200, seed: 3 },
    );
  });

  test('orders many words that agree for hundreds of bytes', () => {
    const words = Array.from({ length: 3000 }, (_, i) => {
      return Buffer.from(`${'p'.repeat(500)}${String((i * 7) % 1000)}`);
    });
    const order = [...orderWords(...joined(words))];
    const plain = [...words.keys()].sort((a, b) => {
      return Buffer.compare(words[a] ?? Buffer.of(), words[b] ?? Buffer.of()) || a - b;
    });
    expect(order).toEqual(plain);
  });
});

describe('a `PathList`', () => {
  test('finds the paths that it was made of, and what lies between them', () => {
    fc.assert(
      fc.property(fc.uniqueArray(word, { selector: (w) => w.toString('hex') }), (words) => {
        const paths = words.map((bytes) => Buffer.concat([Buffer.from('/'), bytes]));
        paths.sort(Buffer.compare);
        const builder = new PathListBuilder();
        for (const path of paths) expect(builder.append(path, path.length)).toBeGreaterThan(-1);
        const list = atOnce(builder.finishing());
        const cursor = list.cursor();
        for (const [row, path] of paths.entries()) {
          expect(list.search(path)).toBe(row);
          cursor.seek(row);
          expect(Buffer.from(cursor.path.subarray(0, cursor.length))).toEqual(path);
          for (const other of [Buffer.concat([path, Buffer.of(0)]), path.subarray(0, -1)]) {
            const found = paths.findIndex((one) => Buffer.compare(one, other) >= 0);
            const bound = found < 0 ? paths.length : found;
            const isThere = paths[bound]?.equals(other) ?? false;
            expect(list.search(other)).toBe(isThere ? bound : ~bound);
          }
        }
      }),
      { numRuns: 100, seed: 4 },
    );
  });

  test('reads rows in any order', () => {
    const builder = new PathListBuilder();
    const paths = Array.from({ length: 100 }, (_, i) => `/${'d'.repeat(i * 40)}${i + 100}`).sort();
    for (const path of paths) builder.append(Buffer.from(path), path.length);
    const list = atOnce(builder.finishing());
    for (let i = 0; i < 300; i++) expect(list.at((i * 37) % 100)).toBe(paths[(i * 37) % 100]);
    expect(() => list.at(100)).toThrow('row 100 of 100');
  });
});

test('`WordListBuilder` makes the same bytes of words in any way they come', () => {
  const rows = [['b', 'a', 'b', ''], ['a'], [], ['c', 'a', '\u{1d4b3}'], ['\uffff', 'ab']];
  const plain = new WordListBuilder();
  for (const [row, words] of rows.entries()) plain.add(row, words);
  const turned = new WordListBuilder();
  for (const [row, words] of rows.entries()) turned.add(row, words.toReversed());
  expect(turned.finish()).toEqual(plain.finish());
});

describe('numbers', () => {
  const numbers = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, 0xfff_ffff, 2 ** 28];

  test('are the same as varints and back, each in the fewest bytes', () => {
    for (const value of [...numbers, 2 ** 32 - 1]) {
      const sink = new ByteSink(1);
      sink.varint(value);
      const bytes = sink.take();
      expect(bytes.length).toBe(varintBytes(value));
      expect(varintAt(bytes, 0)).toBe(value);
      for (let end = 0; end < bytes.length; end++) {
        expect(varintAt(bytes.subarray(0, end), 0)).toBe(-1);
      }
    }
  });

  test.each(['', '80', '8000', 'ff00', 'ffffffff10', 'ffffffffff01', '808080808000'])(
    'are not what "%s" spells',
    (hex) => {
      expect(varintAt(Buffer.from(hex, 'hex'), 0)).toBe(-1);
    },
  );

  test('have the narrowest width that counts them', () => {
    expect([1, 256, 257, 65_536, 65_537].map(widthFor)).toEqual([1, 1, 2, 2, 4]);
  });

  test.each([1, 2, 4] as const)('of %i bytes have the lowest byte first', (width) => {
    const values = [0, 1, 2 ** (8 * width) - 1, 2 ** (8 * width - 1)];
    const bytes = bytesOfNumbers(values, width);
    expect(bytes.subarray(width, width * 2)).toEqual(Buffer.from([1, 0, 0, 0].slice(0, width)));
    expect([...numbersOfBytes(bytes, width)]).toEqual(values);
    const odd = Buffer.alloc(bytes.length + 1);
    odd.set(bytes, 1);
    expect([...numbersOfBytes(odd.subarray(1), width)]).toEqual(values);
  });
});
