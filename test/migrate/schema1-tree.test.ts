/**
 * Goal: roots and shards are refused by name when they say what they must not. Method: one thing
 * changed, under the hash of the new bytes; and good bytes of any kind under the hash of others.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { pathHash } from '../../bucketstore/document/path.ts';
import { schema1ShardKey } from '../../migrate/schema1-keys.ts';
import type { Schema1Entry } from '../../migrate/schema1-records.ts';
import { decodeSchema1Root, encodeSchema1Root } from '../../migrate/schema1-root.ts';
import { decodeSchema1Shard, encodeSchema1Shard, shardOf } from '../../migrate/schema1-shard.ts';
import { refusal } from '../log/forge.ts';
import {
  accepted,
  altered,
  entries,
  entryOf,
  hashOf,
  KINDS,
  type Kind,
  PATHS,
  ROOT,
  refused,
  root,
  SHARD,
  SHARD_KIND,
  shardWith,
  WORLD,
} from './schema1-values.ts';

const addressed = KINDS.filter((kind) => kind.keyOf(Buffer.from('a')) !== kind.keyOf(kind.bytes));

describe('objects under their hash', () => {
  test('are all but head and change blocks', () => {
    expect(addressed.map(({ name }) => name)).toEqual([
      'root',
      'shard',
      'manifest',
      'history block',
    ]);
  });

  test.each(addressed.map((kind) => [kind.name, kind] as const))(
    'corrupt bytes of a %s → integrity',
    (_, kind) => {
      const key = kind.keyOf(kind.bytes);
      for (let at = 0; at < kind.bytes.length; at += 97) {
        const bytes = Buffer.from(kind.bytes);
        bytes[at] = (bytes[at] ?? 0) ^ 1;
        const { message } = refusal(key, () => kind.decode(key, bytes));
        expect(message).toContain('its bytes have the hash');
      }
      for (const bytes of [kind.bytes.subarray(0, -1), Buffer.alloc(0)]) {
        refusal(key, () => kind.decode(key, bytes));
      }
    },
  );

  test.each(addressed.map((kind) => [kind.name, kind] as const))(
    'a %s is read under a key of its kind only',
    (_, kind) => {
      for (const other of KINDS.filter((one) => one !== kind)) {
        const key = other.keyOf(kind.bytes);
        expect(() => kind.decode(key, kind.bytes)).toThrow(InvariantError);
      }
    },
  );
});

describe('root', () => {
  const shards = [...root.shards];

  test('comes back as it was', () => {
    expect(decodeSchema1Root(ROOT.keyOf(ROOT.bytes), ROOT.bytes, WORLD)).toEqual(root);
  });

  test.each([
    ['null shards', /\[.*\]/, 'null', 'shards: not an array'],
    ['no shards', /\[.*\]/, '[]', 'shards: 0, not 256'],
    ['one too few', /,\{"shard":"ff".*\}(?=\]\}$)/, '', 'shards: 255, not 256'],
    ['wrong order', '"shard":"00"', '"shard":"01"', 'shards[0].shard: not "00"'],
    ['label in upper case', '"shard":"0a"', '"shard":"0A"', 'shards[10].shard: not "0a"'],
    ['shard of another label', 'index/02/', 'index/03/', 'shards[2].key: not the key'],
    ['too many documents', '"document_count":3', '"document_count":100001', 'document_count: '],
    ['fewer than none', '"document_count":3', '"document_count":-1', 'document_count: -1'],
    ['no world', WORLD, 'w', 'world_id: not a UUID'],
    ['wrong world', '52b4', '62b4', 'world_id: 62b4'],
    ['documents instead of a count', '"document_count":3', '"document_count":[]', 'document_count'],
  ] as const)('%s refused', (_, from, to, problem) => {
    expect(refused(ROOT, altered(ROOT, from, to))).toContain(problem);
  });

  test('one shard too many refused, however it is called', () => {
    const last =
      /\{"shard":"ff"[^}]*\}(?=\]\}$)/.exec(Buffer.from(ROOT.bytes).toString())?.[0] ?? '';
    const next = last.replaceAll('"ff"', '"100"').replace('index/ff/', 'index/100/');
    expect(next).toMatch(/^\{"shard":"100","key":"_demarkus\/v1\/index\/100\/[0-9a-f]{64}\.json",/);
    for (const more of [next, last, 'null']) {
      const text = altered(ROOT, /\]\}$/, `,${more}]}`);
      expect(refused(ROOT, text)).toBe('shards: 257, not 256');
    }
  });

  test('up to 100,000 documents accepted', () => {
    for (const documents of [0, 100_000]) {
      const bytes = encodeSchema1Root({ ...root, documents });
      expect(decodeSchema1Root(ROOT.keyOf(bytes), bytes, WORLD).documents).toBe(documents);
    }
  });

  test('is not made of what it cannot hold', () => {
    for (const change of [
      { worldId: 'w' },
      { documents: -1 },
      { documents: 100_001 },
      { shards: shards.slice(1) },
      { shards: [...shards, hashOf(1)] },
      { shards: ['x', ...shards.slice(1)] },
    ]) {
      expect(() => encodeSchema1Root({ ...root, ...change })).toThrow(InvariantError);
    }
  });
});

describe('shard', () => {
  const bytesOf = (value: Kind) => Buffer.from(value.bytes).toString();

  test('comes back as it was', () => {
    expect(accepted(SHARD_KIND, bytesOf(SHARD_KIND))).toEqual(entries);
  });

  test.each([
    ['null entries', /\[\{.*\]/, 'null', 'entries: not an array'],
    ['wrong label', '"shard":"1d"', '"shard":"1e"', 'shard: not the one of its key'],
    [
      'bad path hash',
      pathHash(PATHS[0] ?? ''),
      pathHash('/x'),
      'entries[0].path_hash: not the one',
    ],
    [
      'manifest of another path',
      `docs/${pathHash(PATHS[0] ?? '')}`,
      `docs/${hashOf(1)}`,
      'entries[0].manifest.key',
    ],
    ['manifest of another hash', /"hash":"0/, '"hash":"1', 'entries[0].manifest.key'],
    ['version 0', '"current":1', '"current":0', 'entries[0].current: 0 is not 1 to 2147483647'],
    ['version above the most', '"current":1', '"current":2147483648', 'entries[0].current'],
    ['archived in words', '"archived":false', '"archived":"no"', 'entries[0].archived'],
  ] as const)('%s refused', (_, from, to, problem) => {
    expect(refused(SHARD_KIND, altered(SHARD_KIND, from, to))).toContain(problem);
  });

  test('unsorted, or with one document twice, refused and not made', () => {
    const [a, b] = entries as [Schema1Entry, Schema1Entry];
    expect(() => encodeSchema1Shard(SHARD, [b, a])).toThrow(InvariantError);
    expect(() => encodeSchema1Shard(SHARD, [a, a])).toThrow(InvariantError);
    const single = (entry: Schema1Entry) =>
      bytesOf(shardWith(entry))
        .replace(/^.*?\[/, '')
        .replace(/\]\}$/, '');
    const shard = (...items: string[]) =>
      `{"schema":1,"shard":"${SHARD}","entries":[${items.join(',')}]}`;
    expect(accepted(SHARD_KIND, shard(single(a), single(b)))).toEqual([a, b]);
    for (const text of [shard(single(b), single(a)), shard(single(a), single(a))]) {
      expect(refused(SHARD_KIND, text)).toBe('entries[1].path: not ascending');
    }
  });

  test('more entries than a world has documents refused, before any is read', () => {
    const shard = (count: number) =>
      `{"schema":1,"shard":"${SHARD}","entries":[${Array(count).fill('{}').join(',')}]}`;
    expect(refused(SHARD_KIND, shard(100_001))).toBe(
      'entries: 100001, more than the 100000 of a world',
    );
    expect(refused(SHARD_KIND, shard(100_000))).toBe('entries[0].path: missing');
  });

  test('sorts by bytes: U+FFEE before U+1F600', () => {
    // Both in one shard, found by counting up.
    const found: Record<string, string> = {};
    let pair: [string, string] | undefined;
    for (let number = 0; pair === undefined; number++) {
      const astral = `/${number}\u{1f600}`;
      found[shardOf(astral)] = astral;
      const wide = found[shardOf(`/${number}\uffee`)];
      if (wide?.startsWith(`/${number}\u{1f600}`)) pair = [`/${number}\uffee`, wide];
    }
    const [before, after] = pair;
    const shard = shardOf(before);
    const bytes = encodeSchema1Shard(shard, [entryOf(before), entryOf(after)]);
    expect(decodeSchema1Shard(shardWith(entryOf(before)).keyOf(bytes), bytes)).toHaveLength(2);
    expect(() => encodeSchema1Shard(shard, [entryOf(after), entryOf(before)])).toThrow(
      InvariantError,
    );
  });

  test('an entry of another shard refused', () => {
    const elsewhere = shardWith(entryOf('/b.md'));
    const other = shardOf('/b.md');
    expect(other).not.toBe(SHARD);
    const text = bytesOf(elsewhere).replace(`"shard":"${other}"`, `"shard":"${SHARD}"`);
    expect(refused(SHARD_KIND, text)).toBe(`entries[0].path: of shard ${other}`);
    expect(() => encodeSchema1Shard(SHARD, [entryOf('/b.md')])).toThrow(InvariantError);
  });

  test('good bytes under the label of another shard refused', () => {
    const [, hash] = /([0-9a-f]{64})/.exec(SHARD_KIND.keyOf(SHARD_KIND.bytes)) ?? [];
    const key = schema1ShardKey('1e', hash ?? '');
    refusal(key, () => decodeSchema1Shard(key, SHARD_KIND.bytes));
  });
});

describe('shard entry paths', () => {
  const forgedPath = (path: string): [Kind, string] => {
    // The hashes are those of the forged path, so that only the path itself is wrong.
    const good = shardWith(entryOf('/good.md'));
    const [was, is] = [pathHash('/good.md'), pathHash(path)];
    const text = Buffer.from(good.bytes)
      .toString()
      .replaceAll('"/good.md"', JSON.stringify(path))
      .replaceAll(was, is)
      .replace(`"shard":"${was.slice(0, 2)}"`, `"shard":"${is.slice(0, 2)}"`);
    const keyOf = (bytes: Uint8Array) =>
      good.keyOf(bytes).replace(`/${was.slice(0, 2)}/`, `/${is.slice(0, 2)}/`);
    return [{ ...good, keyOf }, text];
  };
  const longest = `/${'a'.repeat(4086)}`;

  test.each([
    ['line break', '/a\nb.md'],
    ['carriage return', '/a\rb.md'],
    ['NUL', '/a\0b.md'],
    ['DEL', '/a\u007fb.md'],
    ['over the length limit', `${longest}a`],
    ['over the length limit in bytes', `/${'é'.repeat(2044)}`],
    ['no leading slash', 'a.md'],
    ['trailing slash', '/a/'],
    ['doubled slash', '/a//b.md'],
    ['`.` segment', '/a/./b.md'],
    ['`..` segment', '/a/../b.md'],
    ['the root', '/'],
    ['empty', ''],
  ])('%s refused', (_, path) => {
    const [kind, text] = forgedPath(path);
    expect(refused(kind, text)).toBe('entries[0].path: not a canonical document path');
  });

  test.each([
    ['at the length limit', longest],
    ['at the length limit in bytes', `/${'é'.repeat(2043)}`],
    ['TAB', '/a\tb.md'],
    ['hidden', '/.well-known/versions/...md'],
    ['not ASCII', '/\u{1f600}/ä.md'],
  ])('%s accepted', (_, path) => {
    const [kind, text] = forgedPath(path);
    expect(accepted(kind, text)).toEqual([entryOf(path)]);
  });
});

describe('catalog self-consistency', () => {
  const metadata = { title: '  Spaced  ', tags: 'go, storage', importance: ' 0.80 ' };
  const kind = shardWith(entryOf('/a.md', { catalog: { title: 'Spaced', metadata } }));

  test('metadata may hold unnormalised spellings while the record holds the derived forms', () => {
    const text = Buffer.from(kind.bytes).toString();
    expect(text).toContain(
      '"catalog":{"path":"/a.md","title":"Spaced","tags":["go","storage"],"importance":"0.8",',
    );
    expect(text).toContain(
      '"metadata":{"importance":" 0.80 ","tags":"go, storage","title":"  Spaced  "}',
    );
    const [entry] = accepted(kind, text) as Schema1Entry[];
    // What comes out is normalised.
    expect(entry?.catalog).toEqual({
      title: 'Spaced',
      metadata: { ...metadata, tags: 'go,storage' },
    });
  });

  test('a body/file-derived title may start with a space, and be of any length', () => {
    for (const title of [' Notes', ' ', 'T'.repeat(20_000), 'two\nlines']) {
      for (const given of [null, { title: '  ' }]) {
        const derived = entryOf('/a.md', { catalog: { title, metadata: given } });
        const shard = shardWith(derived);
        expect(accepted(shard, Buffer.from(shard.bytes).toString())).toEqual([derived]);
      }
    }
  });

  test.each([
    ['record importance `0.80`', '"importance":"0.8"', '"importance":"0.80"', 'importance'],
    ['importance mismatch', '"importance":"0.8"', '"importance":"0.5"', 'importance'],
    ['importance as a number', '"importance":"0.8"', '"importance":0.8', 'importance'],
    ['tag mismatch', '["go","storage"]', '["go","storages"]', 'tags'],
    ['tag missing', '["go","storage"]', '["go"]', 'tags'],
    ['tag too many', '["go","storage"]', '["go","storage",""]', 'tags'],
    ['tags in another order', '["go","storage"]', '["storage","go"]', 'tags'],
    ['tags untrimmed', '["go","storage"]', '["go"," storage"]', 'tags'],
    ['tags as text', '["go","storage"]', '"go,storage"', 'tags'],
    ['title mismatch', '"title":"Spaced"', '"title":"spaced"', 'title'],
    ['title untrimmed', '"title":"Spaced"', '"title":"  Spaced  "', 'title'],
    ['title empty', '"title":"Spaced"', '"title":""', 'title'],
    ['path mismatch', '"catalog":{"path":"/a.md"', '"catalog":{"path":"/b.md"', 'path'],
    ['modified mismatch', /56Z(?=","metadata)/, '57Z', 'modified'],
    ['reserved key', '"metadata":{', '"metadata":{"archived":"true",', 'metadata.archived'],
    ['key of other characters', '"metadata":{', '"metadata":{"A":"x",', 'metadata.A'],
    ['empty key', '"metadata":{', '"metadata":{"":"x",', 'metadata.'],
    ['newline', '"go, storage"', '"go, storage\\n"', 'metadata.tags'],
    ['carriage return', '"  Spaced  "', '"\\rSpaced"', 'metadata.title'],
    ['retention 0', '"tags":"go', '"retention":"0","tags":"go', 'metadata.retention'],
    [
      'retention of more than 64 bits',
      '"tags":"go',
      '"retention":"9223372036854775808","tags":"go',
      'metadata.retention',
    ],
    ['value that is no text', '" 0.80 "', '0.8', 'metadata.importance'],
    ['too many bytes', '"metadata":{', `"metadata":{"a":"${'x'.repeat(1024)}",`, 'metadata'],
  ] as const)('%s refused', (_, from, to, field) => {
    const problem = refused(kind, altered(kind, from, to));
    expect(problem.startsWith(`entries[0].catalog.${field}: `), problem).toBe(true);
  });

  test('metadata out of order refused', () => {
    const text = altered(
      kind,
      /"metadata":\{("importance":"[^"]*"),("tags":"[^"]*")/,
      '"metadata":{"tags":"go, storage","importance":" 0.80 "',
    );
    expect(refused(kind, text)).toContain('not canonical JSON');
  });

  test('metadata of 50 keys accepted, of 51 refused', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [String(index), 'v']));
    const full = entryOf('/a.md', { catalog: { title: 'A', metadata: many(50) } });
    const shard = shardWith(full);
    const text = Buffer.from(shard.bytes).toString();
    expect(text).toContain('{"0":"v","1":"v","10":"v","11":"v"');
    expect(accepted(shard, text)).toEqual([full]);
    const more = { ...full, catalog: { title: 'A', metadata: many(51) } };
    expect(() => shardWith(more)).toThrow(InvariantError);
    expect(refused(shard, text.replace('"9":"v"', '"9":"v","99":"v"'))).toContain('51 keys');
  });
});
