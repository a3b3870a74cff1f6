/**
 * Goal: one set of rules for metadata, in one order. Method: the refused maps in both forms a write
 * has, the limits at and over the edge, and properties of normalisation.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkMetadata,
  checkStoredMetadata,
  formatTags,
  importanceOf,
  type Metadata,
  mergeForAppend,
  metadataEqual,
  normaliseMetadata,
  pairBytes,
  parseRetention,
  parseTags,
  splitTags,
  withDefaultType,
} from '../../bucketstore/document/metadata.ts';

const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

/** 1,024 bytes and `extra`. */
const full = (extra: number): Record<string, string> => ({ key: 'v'.repeat(1021 + extra) });

const INVALID: readonly [string, Record<string, string>, string][] = [
  ['reserved `version`', { version: '1' }, 'reserved'],
  ['reserved `previous-hash`', { 'previous-hash': 'x' }, 'reserved'],
  ['reserved `archived`', { archived: 'true' }, 'reserved'],
  ['empty key', { '': 'x' }, 'key'],
  ['upper case key', { Owner: 'x' }, 'key'],
  ['key with an underscore', { a_b: 'x' }, 'key'],
  ['key with a space', { 'a b': 'x' }, 'key'],
  ['key with a colon', { 'meta:x': 'x' }, 'key'],
  ['key with a newline', { 'a\n': 'x' }, 'key'],
  ['key beyond ASCII', { größe: 'x' }, 'key'],
  ['value with LF', { owner: 'a\nb' }, 'value'],
  ['value with CR', { owner: 'a\rb' }, 'value'],
  ['value that ends in a newline', { tags: 'a,b\n' }, 'value'],
  ['value that is not well formed', { owner: '\ud800' }, 'value'],
  ['retention 0', { retention: '0' }, 'retention'],
  ['retention below 0', { retention: '-1' }, 'retention'],
  ['retention with a fraction', { retention: '1.5' }, 'retention'],
  ['retention empty', { retention: '' }, 'retention'],
  ['retention as text', { retention: 'all' }, 'retention'],
  ['51 keys', many(51), 'count'],
  ['1,025 bytes', full(1), 'bytes'],
  ['tags over the limit only as a list', { tags: `a,${'b'.repeat(1016)}` }, 'bytes'],
];

describe('`checkMetadata()`', () => {
  it.each(INVALID)('refuses on a write: %s', (_, metadata, kind) => {
    expect(checkMetadata(metadata)?.kind).toBe(kind);
  });

  it.each(INVALID)('refuses on an append: %s', (_, request, kind) => {
    const old = { title: 'T' };
    expect(checkMetadata(request)?.kind).toBe(kind);
    expect(checkMetadata(mergeForAppend(old, request, '/a.md'))?.kind).toBe(
      // A merge normalises: the newline after the last tag is white space by then.
      'tags' in request && kind === 'value' ? undefined : kind,
    );
  });

  it.each([
    ['none', null],
    ['empty', {}],
    ['50 keys', many(50)],
    ['1,024 bytes', full(0)],
    ['tags that fit as a list', { tags: `a,${'b'.repeat(1015)}` }],
    ['an empty value', { owner: '' }],
    ['other line separators', { owner: 'a\u2028b\u0085c' }],
    ['names of object members', { constructor: 'x', valueof: 'y' }],
    ['control characters', { owner: '\u0000\t' }],
    ['a hyphen alone', { '-': 'x', '0': 'y' }],
  ])('takes: %s', (_, metadata) => {
    expect(checkMetadata(metadata)).toBeNull();
  });

  it('refuses a value that is no text, whatever the types say', () => {
    const untyped: Record<string, string> = JSON.parse('{"a":1}');
    expect(checkMetadata(untyped)).toMatchObject({ kind: 'value', key: 'a' });
  });

  it('looks at keys in byte order, each in full, then at the whole', () => {
    expect(checkMetadata({ b: '\n', A: 'x' })).toMatchObject({ kind: 'key', key: 'A' });
    expect(checkMetadata({ version: '1', a: '\n' })).toMatchObject({ kind: 'value', key: 'a' });
    expect(checkMetadata({ '\u{10000}': '', '\uffff': '' })?.key).toBe('\uffff');
    expect(checkMetadata({ ...many(51), z: '\n' })).toMatchObject({ kind: 'value', key: 'z' });
    expect(checkMetadata({ ...many(51), ...full(1) })).toMatchObject({ kind: 'count', key: null });
  });

  it('counts UTF-8 bytes', () => {
    expect(checkMetadata({ key: `${'ä'.repeat(510)}x` })).toBeNull();
    expect(checkMetadata({ key: 'ä'.repeat(511) })?.kind).toBe('bytes');
    expect(pairBytes('tags', 'a,b')).toBe('tags[a, b]'.length);
  });
});

describe('a retention that older servers took', () => {
  it.each([
    ['2147483648', true],
    ['+09223372036854775807', true],
    ['9223372036854775808', false],
    ['9'.repeat(400), false],
    ['0', false],
    ['-9223372036854775807', false],
  ])('of %j is one in what is stored: %j; in a write it is none', (retention, taken) => {
    expect(checkMetadata({ retention })?.kind).toBe('retention');
    expect(checkStoredMetadata({ retention })?.kind).toBe(taken ? undefined : 'retention');
    const kept = normaliseMetadata({ retention })?.['retention'];
    expect(kept).toBe(taken ? '2147483647' : retention);
  });

  it('is kept as it is spelled when it is no larger than ours', () => {
    for (const retention of ['+7', '007', '2147483647', '00002147483647']) {
      expect(checkStoredMetadata({ retention })).toBeNull();
      expect(normaliseMetadata({ retention })).toEqual({ retention });
    }
  });
});

describe('`normaliseMetadata()`', () => {
  it('makes empty and absent null', () => {
    expect([null, undefined, {}].map(normaliseMetadata)).toEqual([null, null, null]);
  });

  it('gives an object without prototype, from own keys only', () => {
    const inherited: Record<string, string> = Object.create({ title: 'T' });
    expect(normaliseMetadata(inherited)).toBeNull();
    const metadata = normaliseMetadata(JSON.parse('{"__proto__":"x","constructor":"y"}'));
    expect(Object.getPrototypeOf(metadata)).toBeNull();
    expect(Object.entries(metadata ?? {})).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
    expect(Object.keys(normaliseMetadata({ a: 'b' }) ?? {})).toEqual(['a']);
    expect(normaliseMetadata({ a: 'b' })?.['constructor']).toBeUndefined();
  });

  it('joins tags as they read back, and leaves other values alone', () => {
    const metadata = { tags: ' alpha , ,beta,alpha ', title: '  T ' };
    expect({ ...normaliseMetadata(metadata) }).toEqual({ tags: 'alpha,beta,alpha', title: '  T ' });
    expect(normaliseMetadata({ tags: ' , ' })?.['tags']).toBe('');
  });

  it('changes nothing the second time, and nothing that counts', () => {
    const any = fc.dictionary(
      fc.oneof(fc.constantFrom('tags', 'title', 'constructor'), fc.string()),
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(' a, b ', '[x]', ',', '[a, [b]]')),
    );
    fc.assert(
      fc.property(any, (input) => {
        const once = normaliseMetadata(input);
        expect(normaliseMetadata(once)).toEqual(once);
        expect(metadataEqual(input, once)).toBe(true);
        if (once?.['tags'] === undefined) return;
        expect(parseTags(formatTags(input['tags'] ?? ''))).toBe(once['tags']);
      }),
    );
  });

  it('`metadataEqual()` compares what is normalised', () => {
    expect(metadataEqual(null, {})).toBe(true);
    expect(metadataEqual({ tags: ' alpha,beta ' }, { tags: 'alpha, beta' })).toBe(true);
    expect(metadataEqual({ a: '1', b: '2' }, { b: '2', a: '1' })).toBe(true);
    expect(metadataEqual({ a: '1' }, null)).toBe(false);
    expect(metadataEqual(null, { a: '1' })).toBe(false);
    expect(metadataEqual({ a: '1' }, { b: '1' })).toBe(false);
    expect(metadataEqual({ a: '1' }, { a: '1', b: '2' })).toBe(false);
    expect(metadataEqual({ tags: 'a,b' }, { tags: 'b,a' })).toBe(false);
    expect(metadataEqual({ title: 'T' }, { title: 'T ' })).toBe(false);
  });
});

describe('tags', () => {
  it.each([
    ['a,b', ['a', 'b']],
    [' a ,\u3000b\u0085', ['a', 'b']],
    ['a,,a, ', ['a', 'a']],
    ['', []],
    ['two words', ['two words']],
  ])('`splitTags()` of %j', (value, tags) => {
    expect(splitTags(value)).toEqual(tags);
    expect(formatTags(value)).toBe(`[${tags.join(', ')}]`);
  });

  it.each([
    ['[a, b]', 'a,b'],
    ['a, b', 'a,b'],
    [' [ a ] ', 'a'],
    ['[]', ''],
    ['[', '['],
    ['[a', '[a'],
    ['[[a]]', '[a]'],
    ['', ''],
  ])('`parseTags()` of %j is %j', (stored, value) => {
    expect(parseTags(stored)).toBe(value);
  });
});

describe('meaningful keys', () => {
  it.each([
    ['1', 1],
    ['+7', 7],
    ['007', 7],
    ['2147483647', 2_147_483_647],
    ['2147483648', null],
    ['0', null],
    ['-0', null],
    ['-3', null],
    ['++1', null],
    ['+', null],
    ['', null],
    [' 1', null],
    ['1 ', null],
    ['1_000', null],
    ['0x10', null],
    ['1e3', null],
    ['1.0', null],
    ['٣', null],
    ['9'.repeat(400), null],
  ])('`parseRetention()` of %j is %j', (value, count) => {
    expect(parseRetention(value)).toBe(count);
  });

  it.each([
    ['0.75', 0.75],
    [' 0.80 ', 0.8],
    ['0', 0],
    ['1', 1],
    ['+1', 1],
    ['-0', 0],
    ['.5', 0.5],
    ['1.', 1],
    ['0.000001', 0.000001],
    ['', 0.5],
    ['  ', 0.5],
    ['high', 0.5],
    ['1.1', 0.5],
    ['-0.1', 0.5],
    ['1e-1', 0.5],
    ['0x1', 0.5],
    ['NaN', 0.5],
    ['.', 0.5],
    ['0.1.2', 0.5],
  ])('`importanceOf()` of %j is %d', (importance, number) => {
    expect(importanceOf({ importance })).toBe(number);
  });

  it('`importanceOf()` is a half where nothing is given', () => {
    expect([importanceOf(null), importanceOf({ title: 'T' })]).toEqual([0.5, 0.5]);
  });

  it('`withDefaultType()` types what has no type, but for index and log', () => {
    const typed = (metadata: Metadata | null, path: string): string | undefined =>
      withDefaultType(metadata, path)?.['type'];
    expect(typed(null, '/a.md')).toBe('Document');
    expect(typed({ type: ' ' }, '/a.md')).toBe('Document');
    expect(typed({ type: 'Note' }, '/a.md')).toBe('Note');
    expect(withDefaultType(null, '/x/index.md')).toBeNull();
    expect(typed({ type: ' ' }, '/log.md')).toBe(' ');
    expect(typed(null, '/index.md/a.md')).toBe('Document');
    expect(typed(null, '/Index.md')).toBe('Document');
  });

  it('`mergeForAppend()` inherits, overrides, and drops the retention', () => {
    const old = { title: 'T', type: 'Note', retention: '3', tags: 'a,b' };
    const request = { title: 'U', tags: 'c, d', agent: 'x' };
    expect({ ...mergeForAppend(old, request, '/a.md') }).toEqual({
      title: 'U',
      type: 'Note',
      tags: 'c,d',
      agent: 'x',
    });
    expect(old.retention).toBe('3');
    expect(mergeForAppend(old, { retention: '2' }, '/a.md')?.['retention']).toBe('2');
    expect({ ...mergeForAppend(null, null, '/a.md') }).toEqual({ type: 'Document' });
    expect(mergeForAppend(null, null, '/log.md')).toBeNull();
    expect(mergeForAppend({ retention: '1' }, null, '/log.md')).toBeNull();
  });

  it('`mergeForAppend()` may make two valid maps an invalid one', () => {
    const old = many(30);
    const request = Object.fromEntries(Object.keys(many(25)).map((key) => [`x${key}`, 'v']));
    expect([checkMetadata(old), checkMetadata(request)]).toEqual([null, null]);
    expect(checkMetadata(mergeForAppend(old, request, '/a.md'))?.kind).toBe('count');
    const long = { a: 'x'.repeat(1000) };
    expect(checkMetadata(mergeForAppend(long, { b: 'x'.repeat(20) }, '/a.md'))?.kind).toBe('bytes');
  });
});
