/**
 * Goal: an entry of a record run gives back the versions of a document, and nothing else passes for
 * one.
 * Method: entries with blocks and records through bytes and back; members removed, renamed and
 * retyped; rows of versions that no interval has.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { canonicalText } from '../../bucketstore/base/canonical.ts';
import type { VersionRecord } from '../../bucketstore/snapshot/state.ts';
import {
  decodeRecordEntry,
  encodeRecordEntry,
  type RecordEntry,
} from '../../checkpoint/record-entry.ts';
import { tableKey } from '../../checkpoint/table-directory.ts';
import { versionRecordJson } from '../../checkpoint/version-record.ts';
import { changed, type Loose, placesOf, refusal } from '../log/forge.ts';
import { hashOf } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { drawVersions } from './state-values.ts';
import { EPOCH, text, utf8 } from './table-values.ts';

const PATH = '/log.md';
const KEY = tableKey('records', { epoch: EPOCH, hash: hashOf(9) });

function versions(from: number, to: number): VersionRecord[] {
  return drawVersions(new SeededRandom(1), 1, 1100).slice(from - 1, to);
}

function block(first: number, epoch = 2): RecordEntry['blocks'][number] {
  return { first, hash: hashOf(first), epoch };
}

function decode(json: string, path = PATH): RecordEntry {
  return decodeRecordEntry(KEY, { path: utf8(path), json: utf8(json) });
}

/** Any members, as the format spells them. */
function forge({ first, blocks, records }: RecordEntry): string {
  return canonicalText({
    first,
    blocks: blocks.map((one) => [one.first, one.hash, one.epoch]),
    records: records.map(versionRecordJson),
  });
}

const ENTRIES: [string, RecordEntry][] = [
  ['one version', { first: 1, blocks: [], records: versions(1, 1) }],
  ['versions over the end of a range', { first: 1, blocks: [], records: versions(250, 260) }],
  ['a range but its first', { first: 1, blocks: [], records: versions(2, 256) }],
  ['a block alone', { first: 1, blocks: [block(1)], records: [] }],
  [
    'versions before and behind a block',
    { first: 9, blocks: [block(257)], records: [...versions(200, 256), ...versions(513, 600)] },
  ],
  [
    'blocks of several epochs',
    { first: 5, blocks: [block(1, 3), block(257, 1)], records: versions(513, 513) },
  ],
  [
    'a block that retention has entered',
    { first: 256, blocks: [block(1)], records: versions(257, 300) },
  ],
  ['blocks of schema 1', { first: 77, blocks: [block(77, 0), block(257, 0)], records: [] }],
  [
    'a block of schema 1 and versions in its range',
    { first: 1, blocks: [block(257, 0)], records: versions(300, 600) },
  ],
];

describe('an entry of a record run', () => {
  test.each(ENTRIES)('with %s: decode then encode gives the same bytes', (_, entry) => {
    const json = encodeRecordEntry(PATH, entry, EPOCH);
    expect(text(json)).toBe(forge(entry));
    const decoded = decode(text(json));
    expect(decoded).toEqual(entry);
    expect(text(encodeRecordEntry(PATH, decoded, EPOCH))).toBe(text(json));
  });

  const REFUSED: [string, RecordEntry][] = [
    ['nothing', { first: 1, blocks: [], records: [] }],
    ['a first version of 0', { first: 0, blocks: [], records: versions(1, 3) }],
    ['a gap', { first: 1, blocks: [], records: [...versions(1, 3), ...versions(5, 6)] }],
    ['a version twice', { first: 1, blocks: [], records: [...versions(1, 3), ...versions(3, 4)] }],
    ['a gap behind a block', { first: 1, blocks: [block(1)], records: versions(258, 260) }],
    ['a gap between blocks', { first: 1, blocks: [block(1), block(513)], records: [] }],
    ['a version that a block has', { first: 1, blocks: [block(1)], records: versions(256, 260) }],
    ['a gap before a block', { first: 1, blocks: [block(257)], records: versions(200, 255) }],
    ['blocks out of order', { first: 1, blocks: [block(257), block(1)], records: [] }],
    ['a block inside a range', { first: 1, blocks: [block(2)], records: [] }],
    ['two blocks in a range', { first: 1, blocks: [block(1, 0), block(9, 0)], records: [] }],
    ['a complete range', { first: 1, blocks: [], records: versions(1, 256) }],
    ['a complete range among others', { first: 1, blocks: [], records: versions(200, 600) }],
    ['versions that fell away', { first: 257, blocks: [], records: versions(250, 260) }],
    ['a block that fell away', { first: 257, blocks: [block(1)], records: versions(257, 260) }],
    ['a first version beyond all', { first: 513, blocks: [], records: versions(257, 300) }],
    ['a block younger than the table', { first: 1, blocks: [block(1, 4)], records: [] }],
    ['a hash that is none', { first: 1, blocks: [{ ...block(1), hash: 'x' }], records: [] }],
    ['a block beyond the last version', { first: 1, blocks: [block(2 ** 31 + 1)], records: [] }],
  ];
  test.each(REFUSED)('with %s is neither written nor read', (_, entry) => {
    expect(() => encodeRecordEntry(PATH, entry, EPOCH)).toThrow(InvariantError);
    refusal(KEY, () => decode(forge(entry)));
  });

  test('is refused with a member missing, renamed or of another type', () => {
    const blocks = [block(1), block(257)];
    const entry: RecordEntry = { first: 200, blocks, records: versions(513, 515) };
    const members = JSON.parse(forge(entry)) as Loose;
    expect(decode(canonicalText(members))).toEqual(entry);
    for (const path of placesOf(members)) {
      const dropped = changed(members, path, (at, step) =>
        Array.isArray(at) ? at.splice(Number(step), 1) : Reflect.deleteProperty(at, step),
      );
      // The row may begin later, or end sooner: other valid entries.
      const isItem = path.length === 2;
      if (!isItem) refusal(KEY, () => decode(canonicalText(dropped)));
      const more = changed(members, path, (at, step) =>
        Array.isArray(at) ? at.push(0) : Object.assign(at, { [`${step}x`]: 1 }),
      );
      refusal(KEY, () => decode(canonicalText(more)));
      for (const value of [null, true, '', 1.5, -1, 2 ** 53, {}, [[[]]]]) {
        const other = changed(members, path, (at, step) => Object.assign(at, { [step]: value }));
        refusal(KEY, () => decode(JSON.stringify(other)));
      }
    }
  });

  test('is refused in another spelling, with bytes flipped, or for no path', () => {
    const json = forge({ first: 1, blocks: [block(1)], records: versions(257, 260) });
    const spellings = [
      ` ${json}`,
      `${json}\n`,
      json.replace(',"', ', "'),
      json.replace('"first":1', '"first":1,"first":1'),
      json.replace('{', '{"__proto__":{},'),
      json.slice(0, -1),
      `{"blocks":${'['.repeat(100_000)}`,
      `{"blocks":[${'0,'.repeat(100_000)}0]}`,
      '',
    ];
    for (const spelling of spellings) refusal(KEY, () => decode(spelling));
    const bytes = utf8(json);
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x80;
      refusal(KEY, () => decodeRecordEntry(KEY, { path: utf8(PATH), json: damaged }));
    }
    for (const path of ['', '/', 'a', '/a/']) refusal(KEY, () => decode(json, path));
  });
});
