/**
 * Goal: an entry of a segment gives back the state of a document, and nothing else passes for one.
 * Method: any state through bytes and back; every member of one removed, renamed and retyped; every
 * byte of its JSON flipped.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { canonicalText } from '../../bucketstore/base/canonical.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { DocumentState } from '../../bucketstore/snapshot/state.ts';
import { decodeIndexEntry, encodeIndexEntry } from '../../checkpoint/index-entry.ts';
import { tableKey } from '../../checkpoint/table-directory.ts';
import { changed, type Loose, placesOf, refusal } from '../log/forge.ts';
import { hashOf } from '../log/values.ts';
import { anyState, stateOf } from './state-values.ts';
import { EPOCH, text, utf8 } from './table-values.ts';

const KEY = tableKey('segment', { epoch: EPOCH, hash: hashOf(9) });

const decode = (json: string, path = stateOf().path): DocumentState =>
  decodeIndexEntry(KEY, { path: utf8(path), json: utf8(json) });

describe('an entry of a segment', () => {
  test('decode then encode gives the same bytes', () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const json = encodeIndexEntry(state, EPOCH);
        const decoded = decodeIndexEntry(KEY, { path: utf8(state.path), json });
        expect(decoded).toEqual(state);
        expect(text(encodeIndexEntry(decoded, EPOCH))).toBe(text(json));
      }),
      { numRuns: 200, seed: 3 },
    );
  });

  test('spells its members as the format says', () => {
    const { current, ...rest } = stateOf();
    const staged = { ...rest, current: { ...current, at: { epoch: 0 } } };
    expect(text(encodeIndexEntry(stateOf(), EPOCH))).toBe(
      `{"archived":false,"at":{"seq":7},"body_hash":"${hashOf(2)}",` +
        '"catalog":{"metadata":{"tags":"a,b","title":"A"},"title":"A"},' +
        `"first":2,"modified":1790000000,"stored_hash":"${hashOf(1)}","version":3}`,
    );
    expect(text(encodeIndexEntry(staged, EPOCH))).toContain('"at":{"epoch":0}');
  });

  test('is refused with a member missing, renamed or of another type', () => {
    const members = JSON.parse(text(encodeIndexEntry(stateOf(), EPOCH))) as Loose;
    for (const path of placesOf(members)) {
      const inMetadata = path[0] === 'catalog' && path.length === 3;
      const dropped = changed(members, path, (at, step) => Reflect.deleteProperty(at, step));
      if (!inMetadata) refusal(KEY, () => decode(canonicalText(dropped)));
      const renamed = changed(members, path, (at, step) => Object.assign(at, { [`${step}x`]: 1 }));
      refusal(KEY, () => decode(canonicalText(renamed)));
      for (const value of [null, 1.5, -1, 2 ** 53, [], [[[]]], {}]) {
        // A document without metadata is another valid one.
        if (value === null && path.join('.') === 'catalog.metadata') continue;
        const other = changed(members, path, (at, step) => Object.assign(at, { [step]: value }));
        refusal(KEY, () => decode(JSON.stringify(other)));
      }
    }
  });

  test('is refused in another spelling, cut, or with any byte flipped to what is no JSON', () => {
    const json = text(encodeIndexEntry(stateOf(), EPOCH));
    const spellings = [
      ` ${json}`,
      `${json}\n`,
      json.replace(',"', ', "'),
      json.replace('"first":2', '"first":2.0'),
      json.replace('"first":2', '"first":2,"first":2'),
      json.replace('{', '{"__proto__":{},'),
      '',
      'null',
      json.slice(0, -1),
    ];
    for (const spelling of spellings) refusal(KEY, () => decode(spelling));
    const bytes = utf8(json);
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x80;
      refusal(KEY, () => decodeIndexEntry(KEY, { path: utf8('/a'), json: damaged }));
    }
  });

  test('is refused for a path that no document has', () => {
    const json = text(encodeIndexEntry(stateOf(), EPOCH));
    for (const path of ['', '/', 'a', '/a/', '/a//b', '/..', '/a\n']) {
      refusal(KEY, () => decode(json, path));
    }
    const path = Uint8Array.from([0x2f, 0xff]);
    refusal(KEY, () => decodeIndexEntry(KEY, { path, json: utf8(json) }));
  });

  const { current } = stateOf();
  test.each<[string, Partial<DocumentState>, string]>([
    ['a version beyond the last', { current: { ...current, version: 2 ** 31 } }, 'version'],
    ['a first version beyond its own', { first: 4 }, 'first'],
    ['a hash that is none', { current: { ...current, bodyHash: 'x' } }, 'body_hash'],
    ['a place in no slot', { current: { ...current, at: { seq: 1 as never } } }, 'seq'],
    ['a blob younger than the table', { current: { ...current, at: { epoch: 4 } } }, 'at.epoch'],
    ['no title', { catalog: { title: '', metadata: null } }, 'catalog.title'],
    ['empty metadata', { catalog: { title: 'A', metadata: {} } }, 'catalog.metadata'],
    [
      'tags as no version has them',
      { catalog: { title: 'A', metadata: { tags: 'a, b' } } },
      'tags',
    ],
  ])('with %s is neither written nor read', (_, change, field) => {
    const state = stateOf(change);
    expect(() => encodeIndexEntry(state, EPOCH)).toThrow(InvariantError);
    const { version, storedHash, bodyHash, modified, at } = state.current;
    const forged = canonicalText({
      archived: state.archived,
      at: { ...at },
      body_hash: bodyHash,
      catalog: { ...state.catalog },
      first: state.first,
      modified,
      stored_hash: storedHash,
      version,
    });
    expect(refusal(KEY, () => decode(forged)).message).toContain(field);
  });

  test('names an inlined version of any sequence', () => {
    const at = { seq: sequence(2 ** 53 - 1) };
    const state = stateOf({ current: { ...current, at } });
    expect(decode(text(encodeIndexEntry(state, EPOCH)))).toEqual(state);
  });
});
