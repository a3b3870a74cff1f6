/**
 * Goal: one order everywhere, that of UTF-8 bytes (B19).
 * Method: compare with the bytes themselves, on text rich in code points where UTF-16 differs.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareUtf8, KeyOrder } from '../../bucketstore/base/order.ts';
import { OrderedMap } from '../../bucketstore/snapshot/ordered-map.ts';

const text = fc.string({
  unit: fc.constantFrom(
    'A',
    '/',
    '.',
    '\u{ff21}',
    '\u{1d400}',
    '\u{d7ff}',
    '\u{e000}',
    'é',
    'e\u{301}',
  ),
  maxLength: 8,
});

test('`compareUtf8()` orders as the bytes do', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
    { numRuns: 2000 },
  );
});

test('it differs from the order of JavaScript where it must', () => {
  const names = ['\u{1d400}.md', '\u{ff21}.md', 'A.md'];
  expect([...names].sort(compareUtf8)).toEqual(['A.md', '\u{ff21}.md', '\u{1d400}.md']);
  expect([...names].sort()).toEqual(['A.md', '\u{1d400}.md', '\u{ff21}.md']);
});

test('`KeyOrder` is the same order of any key and any text, whatever keys came before', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1 }), text, (keys, other) => {
      const order = new KeyOrder();
      for (const key of keys) {
        order.note(key);
        for (const [a, b] of [[key, other] as const, [other, key] as const]) {
          expect(Math.sign(order.compare(a, b))).toBe(Math.sign(compareUtf8(a, b)));
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('a map keeps its order when the first key comes that JavaScript puts elsewhere', () => {
  fc.assert(
    fc.property(fc.uniqueArray(text), fc.nat(), (keys, at) => {
      let map = OrderedMap.byText<number>();
      for (const [index, key] of keys.entries()) {
        if (index === at) map = map.copy();
        map.set(key, index);
      }
      expect([...map.from()].map(([key]) => key)).toEqual([...keys].sort(compareUtf8));
    }),
  );
});
