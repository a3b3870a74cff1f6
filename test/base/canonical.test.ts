/**
 * Goal: a value has one spelling, or is refused.
 * Method: keys in any order give the same text; what JSON would spell in two ways, or not at all,
 * throws.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText, type Json } from '../../bucketstore/base/canonical.ts';

test('the order of keys does not show', () => {
  expect(canonicalText({ b: 1, a: [true, null, 'x'] })).toBe('{"a":[true,null,"x"],"b":1}');
  expect(canonicalText({ a: [true, null, 'x'], b: 1 })).toBe('{"a":[true,null,"x"],"b":1}');
});

test('what was written reads back as the same value', () => {
  const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      fc.maxSafeInteger().filter((n) => !Object.is(n, -0)),
      fc.string({ unit: 'grapheme' }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.stringMatching(/^[a-z0-9_-]{1,8}$/), tie('tree'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      expect(JSON.parse(canonicalText(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

test('values without one spelling are refused', () => {
  for (const bad of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -0, '\ud800']) {
    expect(() => canonicalText({ a: [bad] }), String(bad)).toThrow(TypeError);
  }
  expect(() => canonicalText({ ü: 1 })).toThrow(TypeError);
});
