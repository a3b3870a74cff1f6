/**
 * Goal: a value has one canonical text, however it was put together. Method: any value is spelled
 * alike by the fast way and by the sorting encoder, also when its members were set in another
 * order; what has two spellings or none is refused.
 */

import fc from 'fast-check';
import stringify from 'fast-json-stable-stringify';
import { expect, test } from 'vitest';
import { canonicalText, type Json } from '../../bucketstore/base/canonical.ts';

const key = fc.oneof(
  fc.constantFrom('9', '10', 'a', '__proto__', 'toString'),
  fc.stringMatching(/^[a-z0-9-]{0,4}$/),
);
const { value: anyJson } = fc.letrec<{ value: Json; leaf: Json }>((tie) => ({
  leaf: fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.maxSafeInteger(),
    fc.string({ unit: 'binary' }),
  ),
  value: fc.oneof(
    { maxDepth: 4 },
    tie('leaf'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}));

/** The same value with all members set in the opposite order. */
function reversed(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  const members = Object.entries(value).reverse();
  const copy: { [name: string]: Json } = Object.create(null);
  for (const [name, item] of members) if (item !== undefined) copy[name] = reversed(item);
  return copy;
}

test('`canonicalText()` spells as the sorting encoder does, in any order of members', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      const text = canonicalText(value);
      expect(text).toBe(stringify(value));
      expect(canonicalText(reversed(value))).toBe(text);
      expect(canonicalText(JSON.parse(text) as Json)).toBe(text);
    }),
    { numRuns: 500, seed: 5 },
  );
});

test('a member that is undefined is absent', () => {
  expect(canonicalText({ b: undefined, a: 1 })).toBe('{"a":1}');
  expect(canonicalText({ c: 1, b: undefined, a: { d: undefined } })).toBe('{"a":{},"c":1}');
});

test('keys that look like indexes are sorted as text', () => {
  expect(canonicalText({ 9: 1, 10: 2 })).toBe('{"10":2,"9":1}');
});

test.each<[string, Json]>([
  ['a fraction', 0.5],
  ['minus zero', -0],
  ['more than 2^53', 2 ** 53],
  ['no number', Number.NaN],
  ['half a character', '\ud83d'],
  ['a key that is not ASCII', { é: 1 }],
  ['something of it deep inside', { a: [{ b: ['ok', -0] }] }],
])('%s is refused', (_, value) => {
  expect(() => canonicalText(value)).toThrow(TypeError);
});
