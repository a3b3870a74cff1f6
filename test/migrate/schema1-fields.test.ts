/**
 * Goal: IDs, hashes, times and decimals have one spelling each in schema 1, JSON has one, and a
 * collection is never null. Method: one good object of the kind, with one spelling changed.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { pathHash } from '../../bucketstore/document/path.ts';
import { encodeSchema1Block } from '../../migrate/schema1-history.ts';
import type {
  ChangeBlock,
  Schema1Block,
  Schema1Entry,
  Schema1Head,
} from '../../migrate/schema1-records.ts';
import { decodeOldHistory } from '../../migrate/schema1-versions.ts';
import {
  accepted,
  altered,
  block,
  CHANGES,
  entryOf,
  HEAD,
  HISTORY,
  hashOf,
  headOf,
  KINDS,
  MANIFEST,
  operation,
  ROOT,
  refused,
  SHARD_KIND,
  shardWith,
  WORLD,
} from './schema1-values.ts';

const UUIDS_REFUSED: [string, string][] = [
  ['nil UUID (variant 0)', '00000000-0000-0000-0000-000000000000'],
  ['non-RFC variant', '52b471f7-8d38-4c89-c44a-6f4f8b1a4f48'],
  ['no hyphens', '52b471f78d384c89b44a6f4f8b1a4f48'],
  ['upper case', WORLD.toUpperCase()],
  ['wrong separator', '52b471f7_8d38_4c89_b44a_6f4f8b1a4f48'],
  ['separator at another place', '52b471f78-d38-4c89-b44a-6f4f8b1a4f48'],
  ['non-hex', '52b471f7-8d38-4c89-b44a-6f4f8b1a4f4g'],
  ['empty', ''],
];

describe('world and operation IDs', () => {
  test.each(['62b471f7-8d38-4c89-b44a-6f4f8b1a4f48', '52b471f7-8d38-0c89-844a-6f4f8b1a4f48'])(
    'canonical, of any version, accepted: %s',
    (id) => {
      const ofWorld = accepted(HEAD, altered(HEAD, WORLD, id)) as Schema1Head;
      expect(ofWorld.worldId).toBe(id);
      const text = altered(HEAD, operation(20), id);
      expect((accepted(HEAD, text) as Schema1Head).receipts.at(-1)?.operationId).toBe(id);
    },
  );

  test.each(UUIDS_REFUSED)('%s refused', (_, id) => {
    for (const kind of [HEAD, ROOT, CHANGES]) {
      expect(refused(kind, altered(kind, WORLD, id))).toBe('world_id: not a UUID');
    }
    expect(refused(HEAD, altered(HEAD, operation(20), id))).toMatch(
      /^receipts\[15\]\.operation_id/,
    );
    expect(refused(CHANGES, altered(CHANGES, operation(9), id))).toMatch(
      /^receipts\[0\]\.operation_id/,
    );
  });
});

describe('hashes', () => {
  const hash = hashOf(0xab);
  test.each([
    ['prefix', `sha256-${hash}`],
    ['upper case', hash.toUpperCase()],
    ['short', hash.slice(1)],
    ['long', `${hash}0`],
    ['non-hex', `g${hash.slice(1)}`],
    ['empty', ''],
  ])('%s refused in a reference', (_, wrong) => {
    const good = hashOf(7);
    expect(refused(HEAD, altered(HEAD, new RegExp(`${good}(?!\\.)`), wrong))).toMatch(
      /^root\.hash/,
    );
    const both = altered(HEAD, good, wrong).replace(good, wrong);
    expect(refused(HEAD, both)).toMatch(/^root\.hash/);
  });

  test.each([
    ['no prefix', hash],
    ['another prefix', `sha512-${hash}`],
    ['upper case', `sha256-${hash.toUpperCase()}`],
    ['prefix in upper case', `SHA256-${hash}`],
    ['short', `sha256-${hash.slice(1)}`],
    ['non-hex', `sha256-g${hash.slice(1)}`],
    ['empty', ''],
  ])('%s refused in a body hash', (_, wrong) => {
    for (const [kind, field] of [
      [HISTORY, 'entries[0].body_hash'],
      [SHARD_KIND, 'entries[0].body_hash'],
      [HEAD, 'receipts[1].hash'],
      [CHANGES, 'receipts[1].hash'],
    ] as const) {
      expect(refused(kind, altered(kind, /sha256-[0-9a-f]{64}/, wrong))).toMatch(
        `${field}: not "sha256-"`,
      );
    }
  });

  test.each([
    ['prefix', `sha256-${hash}`],
    ['upper case', hash.toUpperCase()],
    ['short', hash.slice(1)],
    ['non-hex', `g${hash.slice(1)}`],
  ])('%s refused as a path hash', (_, wrong) => {
    for (const kind of [SHARD_KIND, MANIFEST, HISTORY]) {
      const text = altered(kind, /"path_hash":"[0-9a-f]{64}"/, `"path_hash":"${wrong}"`);
      expect(refused(kind, text)).toContain('path_hash: not');
    }
  });
});

describe('timestamps', () => {
  const good = '2026-08-22T12:34:56Z';
  test.each([
    ['fraction', '2026-08-22T12:34:56.000Z'],
    ['+00:00', '2026-08-22T12:34:56+00:00'],
    ['other zone', '2026-08-22T14:34:56+02:00'],
    ['missing seconds', '2026-08-22T12:34Z'],
    ['impossible date', '2026-02-30T12:34:56Z'],
    ['lower case', '2026-08-22t12:34:56z'],
    ["24 o'clock", '2026-08-22T24:00:00Z'],
    ['a leap second', '2026-06-30T23:59:60Z'],
    ['no zone', '2026-08-22T12:34:56'],
    ['empty', ''],
  ])('%s refused', (_, wrong) => {
    const kind = shardWith(entryOf('/a.md'));
    // The entry's own, then its catalog's, then both.
    for (const text of [
      altered(kind, good, wrong),
      altered(kind, /2026-08-22T12:34:56Z(?=","metadata)/, wrong),
      altered(kind, good, wrong).replace(good, wrong),
    ]) {
      expect(refused(kind, text)).toContain('modified: not a time');
    }
    expect(refused(HISTORY, altered(HISTORY, /2026-[^"]*Z/, wrong))).toBe(
      'entries[0].modified: not a time as YYYY-MM-DDTHH:MM:SSZ',
    );
  });

  test.each([
    ['a leap day', '2028-02-29T00:00:00Z', 1_835_395_200],
    ['the last second', '9999-12-31T23:59:59Z', 253_402_300_799],
    ['the epoch', '1970-01-01T00:00:00Z', 0],
    ['the second before it', '1969-12-31T23:59:59Z', -1],
    ["Go's zero", '0001-01-01T00:00:00Z', -62_135_596_800],
    ['the first second', '0000-01-01T00:00:00Z', -62_167_219_200],
  ])('of %s accepted', (_, text, seconds) => {
    const { versions } = accepted(HISTORY, altered(HISTORY, /2026-[^"]*Z/, text)) as Schema1Block;
    expect(versions[0]?.modified).toBe(seconds);
    const kind = shardWith(entryOf('/a.md', { modified: seconds }));
    const spelled = Buffer.from(kind.bytes).toString();
    expect(spelled.split(text)).toHaveLength(3);
    expect(accepted(kind, spelled)).toMatchObject([{ modified: seconds }]);
  });

  test('before 1970 are 1970 in the new format, in blocks that it reads as they are', () => {
    const path = '/a.md';
    const times = [-62_135_596_800, -1, 5];
    const versions = block.versions.map((version, index) => {
      return { ...version, modified: times[index] ?? 0 };
    });
    const bytes = encodeSchema1Block({ ...block, pathHash: pathHash(path), versions });
    const reference = { first: block.first, hash: sha256Hex(bytes), epoch: 0 };
    const read = decodeOldHistory(path, reference, bytes);
    expect(read.map(({ modified }) => modified)).toEqual([0, 0, 5]);
    expect(read[0]).toEqual({ ...versions[0], modified: 0, at: { epoch: 0 } });
  });
});

describe('importance', () => {
  const kindOf = (importance: string) =>
    shardWith(entryOf('/a.md', { catalog: { title: 'A', metadata: { importance } } }));

  test.each(['0', '1', '0.75', '0.000001'])('%s accepted', (importance) => {
    const kind = kindOf(importance);
    const text = Buffer.from(kind.bytes).toString();
    expect(text).toContain(`"importance":"${importance}","modified"`);
    expect(accepted(kind, text)).toHaveLength(1);
  });

  test.each([
    ['0.50', '0.5'],
    ['00.5', '0.5'],
    ['5e-1', '0.5'],
    ['.5', '0.5'],
    ['+0.5', '0.5'],
    ['-0', '0'],
    ['0.0', '0'],
    ['1.1', '1'],
    ['1.0', '1'],
    ['', '0.5'],
    ['0.6', '0.5'],
  ])('%s refused for %s', (wrong, importance) => {
    const kind = kindOf(importance);
    const text = altered(kind, `"importance":"${importance}","mod`, `"importance":"${wrong}","mod`);
    expect(refused(kind, text)).toMatch(/^entries\[0\]\.catalog\.importance: not "/);
  });

  test.each(['0x1p-2', '0.2_5'])('0.25 refused for %s, which is no number here', (importance) => {
    const text = altered(kindOf(importance), '"importance":"0.5","mod', '"importance":"0.25","mod');
    expect(refused(kindOf(importance), text)).toBe(
      'entries[0].catalog.importance: not "0.5", which its metadata gives',
    );
  });

  test.each([
    [' 0.80 ', '0.8'],
    ['.5', '0.5'],
    ['+1.', '1'],
    ['-0', '0'],
    ['1e-1', '0.1'],
    ['2.5E-1', '0.25'],
    ['75e-2', '0.75'],
    ['1e1', '0.5'],
    ['1.1', '0.5'],
    ['-0.1', '0.5'],
    ['0x1', '0.5'],
    ['0x1p-2', '0.5'],
    ['0X.4p0', '0.5'],
    ['1_0', '0.5'],
    ['0.2_5', '0.5'],
    ['1_0e-2', '0.5'],
    ['1e-400', '0'],
    ['1e400', '0.5'],
    ['1e', '0.5'],
    ['0.7,', '0.5'],
    ['NaN', '0.5'],
    ['nan', '0.5'],
    ['+Inf', '0.5'],
    ['Infinity', '0.5'],
    ['e-1', '0.5'],
    ['high', '0.5'],
    ['  ', '0.5'],
  ])('of metadata "%s" is %s', (importance, derived) => {
    const kind = kindOf(importance);
    const text = Buffer.from(kind.bytes).toString();
    expect(text).toContain(`"importance":"${derived}","modified"`);
    expect(accepted(kind, text)).toHaveLength(1);
  });
});

describe('canonical JSON', () => {
  test.each(KINDS.map((kind) => [kind.name, kind] as const))('of a %s', (_, kind) => {
    const text = Buffer.from(kind.bytes).toString();
    accepted(kind, text);
    const end = text.length - 1;
    const variants: [string, string, string][] = [
      ['leading whitespace', ` ${text}`, 'not canonical JSON, first at character 0'],
      ['trailing newline', `${text}\n`, 'not canonical JSON'],
      ['inner whitespace', text.replace(',', ', '), 'not canonical JSON'],
      ['trailing value', `${text}{}`, 'not JSON'],
      ['trailing comma', `${text.slice(0, end)},}`, 'not JSON'],
      ['byte order mark', `\ufeff${text}`, 'not JSON'],
      ['unknown field', `${text.slice(0, end)},"extra":1}`, 'extra: unknown field'],
      ['field in another case', text.replace('"schema"', '"Schema"'), 'schema: missing'],
      [
        'field order',
        text.replace(/^\{("schema":1),("[^"]*":[^,]*),/, '{$2,$1,'),
        'not canonical JSON',
      ],
      ['field twice', text.replace('{"schema":1', '{"schema":1,"schema":1'), 'not canonical JSON'],
      ['needless escape', text.replace('000', '\\u003000'), 'not canonical JSON'],
      ['number with a fraction', text.replace('"schema":1', '"schema":1.0'), 'not canonical JSON'],
      ['number with an exponent', text.replace('"schema":1', '"schema":1e0'), 'not canonical JSON'],
      ['another schema', text.replace('"schema":1', '"schema":2'), 'schema: 2 is not 1'],
      ['schema as text', text.replace('"schema":1', '"schema":"1"'), 'schema: not a safe integer'],
      ['cut short', text.slice(0, end), 'not JSON'],
      ['empty', '', 'not JSON'],
      [
        'only a part',
        text.slice(text.indexOf('['), text.lastIndexOf(']') + 1),
        'JSON: not an object',
      ],
    ];
    for (const [name, variant, problem] of variants) {
      expect(variant, name).not.toBe(text);
      expect(refused(kind, variant), name).toContain(problem);
    }
  });

  test('is UTF-8', () => {
    for (const kind of KINDS) {
      const bytes = Buffer.from(kind.bytes);
      bytes[bytes.length - 3] = 0xff;
      const key = kind.keyOf(bytes);
      expect(() => kind.decode(key, bytes)).toThrow(`${key}: not well-formed UTF-8`);
    }
  });

  test('holds well-formed text only', () => {
    const kind = shardWith(entryOf('/a.md', { catalog: { title: 'A', metadata: { owner: 'x' } } }));
    for (const [from, to, field] of [
      ['"title":"A"', '"title":"\\ud800"', 'catalog.title'],
      ['"owner":"x"', '"owner":"\\udfff"', 'catalog.metadata.owner'],
    ] as const) {
      expect(refused(kind, altered(kind, from, to))).toContain(`${field}: `);
    }
    expect(refused(HEAD, altered(HEAD, '"agent":"ann"', '"agent":"\\ud800"'))).toContain('agent: ');
    expect(refused(HEAD, altered(HEAD, '"/notes/', '"/\\udc00notes/'))).toContain('path: ');
  });

  test('spells what HTML would mind as Go does, and U+0008 and U+000C either way', () => {
    const title = '<b>&\u2028\u2029\b\f"\\u0008';
    const entry = entryOf('/<a>&é.md', { catalog: { title, metadata: { note: title } } });
    const kind = shardWith(entry);
    const text = Buffer.from(kind.bytes).toString();
    const spelled = '\\u003cb\\u003e\\u0026\\u2028\\u2029\\b\\f\\"\\\\u0008';
    expect(text).toContain(`"title":"${spelled}"`);
    expect(text).toContain('"path":"/\\u003ca\\u003e\\u0026é.md"');
    const older = text.replaceAll('\\b\\f', '\\u0008\\u000c');
    expect(older).not.toBe(text);
    for (const spelling of [text, older, text.replace('\\b', '\\u0008')]) {
      expect(accepted(kind, spelling)).toEqual([entry]);
    }
    for (const [from, to] of [
      ['\\u003c', '<'],
      ['\\u0026', '&'],
      ['\\u2028', '\u2028'],
      ['\\f', '\\u000C'],
    ] as const) {
      const forged = altered(kind, from, to);
      expect(refused(kind, forged)).toMatch(/not (canonical JSON|the one of its)/);
    }
  });
});

describe('collections', () => {
  test.each([
    ['receipts of a head', HEAD, 'receipts'],
    ['receipts of a change block', CHANGES, 'receipts'],
    ['shards of a root', ROOT, 'shards'],
    ['entries of a shard', SHARD_KIND, 'entries'],
    ['entries of a history block', HISTORY, 'entries'],
    ['history of a manifest', MANIFEST, 'history'],
  ] as const)('null %s refused', (_, kind, field) => {
    const text = altered(kind, new RegExp(`"${field}":\\[.*\\]`), `"${field}":null`);
    expect(refused(kind, text)).toBe(`${field}: not an array`);
    const absent = altered(kind, new RegExp(`,"${field}":\\[.*\\]`), '');
    expect(refused(kind, absent)).toBe(`${field}: missing`);
  });

  test('null tags refused, also where there are none', () => {
    const kind = shardWith(entryOf('/a.md'));
    expect(refused(kind, altered(kind, '"tags":[]', '"tags":null'))).toBe(
      'entries[0].catalog.tags: not an array',
    );
  });

  test('null metadata refused, and none is an empty map', () => {
    const kind = shardWith(entryOf('/a.md'));
    expect(refused(kind, altered(kind, '"metadata":{}', '"metadata":null'))).toBe(
      'entries[0].catalog.metadata: not an object',
    );
    const [entry] = accepted(kind, Buffer.from(kind.bytes).toString()) as Schema1Entry[];
    expect(entry?.catalog.metadata).toBeNull();
  });

  test('of a genesis head and of an empty shard are empty', () => {
    const head = accepted(HEAD, Buffer.from(HEAD.encode(headOf(1) as never)).toString());
    expect((head as Schema1Head).receipts).toEqual([]);
    expect(accepted(SHARD_KIND, '{"schema":1,"shard":"1d","entries":[]}')).toEqual([]);
    const block = accepted(CHANGES, Buffer.from(CHANGES.bytes).toString()) as ChangeBlock;
    expect(block.receipts).toHaveLength(8);
  });
});
