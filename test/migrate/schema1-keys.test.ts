/**
 * Goal: a key has one meaning in schema 1 and a meaning one key. Method: any name goes to a key and
 * back; keys that no name has are null, whatever they are.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { parseKey } from '../../bucketstore/log/names.ts';
import { parseSchema1Key, type Schema1Name, schema1Key } from '../../migrate/schema1-keys.ts';
import { hashOf } from './schema1-values.ts';

const INDEX_MAX = Math.floor((2 ** 53 - 2) / 8);
const hash = fc.stringMatching(/^[0-9a-f]{64}$/);
const anyName: fc.Arbitrary<Schema1Name> = fc.oneof(
  fc.constant({ kind: 'head' as const }),
  fc.record({ kind: fc.constantFrom('root' as const, 'history' as const), hash }),
  fc.record({ kind: fc.constant('blob' as const), hash }),
  fc.record({
    kind: fc.constant('shard' as const),
    shard: fc.stringMatching(/^[0-9a-f]{2}$/),
    hash,
  }),
  fc.record({ kind: fc.constant('manifest' as const), pathHash: hash, hash }),
  fc.record({
    kind: fc.constant('changes' as const),
    index: fc.integer({ min: 0, max: INDEX_MAX }),
  }),
  fc.record({ kind: fc.constant('pin' as const), id: fc.stringMatching(/^[^/]+$/) }),
);

describe('keys of schema 1', () => {
  test('`parseSchema1Key()` is the inverse of `schema1Key()`', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        expect(parseSchema1Key(schema1Key(name))).toEqual(name);
      }),
      { numRuns: 1000, seed: 3 },
    );
  });

  test('are spelled as the format says', () => {
    const [a, b] = [hashOf(0xa), hashOf(0xb)];
    const spelled: [Schema1Name, string][] = [
      [{ kind: 'head' }, 'head.json'],
      [{ kind: 'root', hash: a }, `roots/${a}.json`],
      [{ kind: 'shard', shard: '0f', hash: a }, `index/0f/${a}.json`],
      [{ kind: 'manifest', pathHash: b, hash: a }, `docs/${b}/manifests/${a}.json`],
      [{ kind: 'history', hash: a }, `history/${a}.json`],
      [{ kind: 'blob', hash: a }, `blobs/${a}`],
      [{ kind: 'changes', index: 0 }, 'changes/0000000000000000.json'],
      [{ kind: 'changes', index: 26 }, 'changes/000000000000001a.json'],
      [{ kind: 'pin', id: 'nightly-7' }, 'pins/nightly-7.json'],
    ];
    for (const [name, key] of spelled) expect(schema1Key(name)).toBe(`_demarkus/v1/${key}`);
  });

  test('say nothing when they are of no object of schema 1', () => {
    const a = hashOf(0xa);
    for (const key of [
      '',
      'head.json',
      `roots/${a}.json`,
      ...[
        '',
        'head',
        'head.json/',
        'head.json.bak',
        a,
        `roots/${a}`,
        `roots/${a.toUpperCase()}.json`,
        `roots/sha256-${a}.json`,
        `roots/${a.slice(1)}.json`,
        `roots/00000001/${a}.json`,
        `blobs/${a}.json`,
        `blobs/00000001/${a}`,
        `blobs/${a}/`,
        `history/x/${a}.json`,
        `index/${a}.json`,
        `index/0/${a}.json`,
        `index/0F/${a}.json`,
        `index/00000001/${a}.seg`,
        `index/00/00/${a}.json`,
        `docs/${a}/${a}.json`,
        `docs/${a}/manifest/${a}.json`,
        `docs/${a.slice(1)}/manifests/${a}.json`,
        `docs/${a}/manifests/x/${a}.json`,
        'changes/0.json',
        'changes/000000000000001A.json',
        'changes/ffffffffffffffff.json',
        'changes/0000000000000000',
        'pins/.json',
        'pins/a/b.json',
        'log/0000000000000002.slot',
        `plans/${a}.json`,
      ].map((key) => `_demarkus/v1/${key}`),
    ]) {
      expect(parseSchema1Key(key), key).toBeNull();
    }
  });

  test("are the new format's for blobs and history, which stay, and for the head alone", () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const shared = ['head', 'blob', 'history'].includes(name.kind);
        expect(parseKey(schema1Key(name)) !== null).toBe(shared);
      }),
      { numRuns: 500, seed: 4 },
    );
  });

  test('`parseSchema1Key()` answers any text', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      hash,
      fc.constantFrom('roots', 'index', 'docs', 'manifests', '00', 'changes', '.json', '..'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const key = `_demarkus/v1/${parts.join('/')}`;
        const name = parseSchema1Key(key);
        if (name !== null) expect(schema1Key(name)).toBe(key);
      }),
      { numRuns: 1000, seed: 5 },
    );
  });

  test('are not made of what they cannot hold', () => {
    const wrong: Schema1Name[] = [
      { kind: 'root', hash: 'x' },
      { kind: 'blob', hash: hashOf(1).toUpperCase().replace('1', 'A') },
      { kind: 'history', hash: '' },
      { kind: 'shard', shard: '0', hash: hashOf(1) },
      { kind: 'shard', shard: 'FF', hash: hashOf(1) },
      { kind: 'manifest', pathHash: 'x', hash: hashOf(1) },
      { kind: 'changes', index: -1 },
      { kind: 'changes', index: 0.5 },
      { kind: 'changes', index: INDEX_MAX + 1 },
      { kind: 'pin', id: '' },
      { kind: 'pin', id: 'a/b' },
    ];
    for (const name of wrong) expect(() => schema1Key(name)).toThrow(InvariantError);
  });
});
