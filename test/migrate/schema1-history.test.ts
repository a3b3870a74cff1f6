/**
 * Goal: manifests and history blocks that do not fit together from version to version are refused
 * by name. Method: one thing changed, under the hash of the new bytes.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { decodeSchema1Block, encodeSchema1Block } from '../../migrate/schema1-history.ts';
import { schema1HistoryKey, schema1ManifestKey } from '../../migrate/schema1-keys.ts';
import { encodeSchema1Manifest } from '../../migrate/schema1-manifest.ts';
import type {
  BlockReference,
  Schema1Manifest,
  Schema1Version,
} from '../../migrate/schema1-records.ts';
import { refusal } from '../log/forge.ts';
import {
  accepted,
  altered,
  block,
  HISTORY,
  hashOf,
  MANIFEST,
  MODIFIED,
  manifest,
  refused,
} from './schema1-values.ts';

describe('manifest', () => {
  const keyed = (pathHash: string): BlockReference => ({
    pathHash,
    first: 1,
    last: 1,
    hash: hashOf(1),
  });
  /** A manifest with blocks of these ranges, as its text says it, whatever the rules. */
  const textOf = (current: number, ranges: readonly (readonly [number, number])[]): string => {
    const history = ranges.map(([first, last], index) => {
      const hash = hashOf(index + 1);
      const of = `"path_hash":"${manifest.pathHash}","first":${first},"last":${last}`;
      return `{${of},"key":"${schema1HistoryKey(hash)}","hash":"${hash}"}`;
    });
    const of = `"path_hash":"${manifest.pathHash}","current":${current},"archived":false`;
    return `{"schema":1,${of},"history":[${history.join(',')}]}`;
  };

  test.each([
    ['one version', 1, [[1, 1]]],
    ['a full block', 256, [[1, 256]]],
    [
      'two blocks',
      257,
      [
        [1, 256],
        [257, 257],
      ],
    ],
    [
      'current 300, blocks 100-256 and 257-300',
      300,
      [
        [100, 256],
        [257, 300],
      ],
    ],
    ['pruned to the end of a block', 256, [[254, 256]]],
    ['pruned to one version', 700, [[700, 700]]],
    [
      'three blocks',
      513,
      [
        [256, 256],
        [257, 512],
        [513, 513],
      ],
    ],
    ['the last version of all', 2_147_483_647, [[2_147_483_647, 2_147_483_647]]],
  ] as [string, number, [number, number][]][])('%s accepted', (_, current, ranges) => {
    const decoded = accepted(MANIFEST, textOf(current, ranges)) as Schema1Manifest;
    expect(decoded.blocks.map(({ first, last }) => [first, last])).toEqual(ranges);
    expect(decoded.version).toBe(current);
  });

  test.each([
    ['null history', 1, null],
    ['no blocks', 1, []],
    ['one block 256-257 (crosses)', 257, [[256, 257]]],
    [
      '100-250 then 257-300 (gap)',
      300,
      [
        [100, 250],
        [257, 300],
      ],
    ],
    [
      'one block in two parts',
      200,
      [
        [1, 100],
        [101, 200],
      ],
    ],
    [
      'overlap',
      300,
      [
        [1, 256],
        [256, 300],
      ],
    ],
    [
      'a block left out',
      600,
      [
        [1, 256],
        [513, 600],
      ],
    ],
    [
      'wrong order',
      300,
      [
        [257, 300],
        [1, 256],
      ],
    ],
    [
      'ends before current',
      300,
      [
        [100, 256],
        [257, 299],
      ],
    ],
    [
      'ends after current',
      299,
      [
        [100, 256],
        [257, 300],
      ],
    ],
    ['first above last', 2, [[2, 1]]],
    ['version 0', 1, [[0, 1]]],
    ['above the most', 2_147_483_648, [[2_147_483_648, 2_147_483_648]]],
  ] as [string, number, [number, number][] | null][])('%s refused', (_, current, ranges) => {
    const text = ranges === null ? textOf(1, []).replace('[]', 'null') : textOf(current, ranges);
    expect(refused(MANIFEST, text)).toMatch(/^(history|current)/);
  });

  test('of another path refused, wherever it says so', () => {
    const good = Buffer.from(MANIFEST.bytes).toString();
    const [was, is] = [manifest.pathHash, hashOf(99)];
    expect(refused(MANIFEST, good.replaceAll(was, is))).toBe('path_hash: not the one of its key');
    expect(refused(MANIFEST, good.replace(was, is))).toBe(
      'history[0].path_hash: not the one of the manifest',
    );
    const key = schema1ManifestKey(
      is,
      /([0-9a-f]{64})\.json/.exec(MANIFEST.keyOf(MANIFEST.bytes))?.[1] ?? '',
    );
    refusal(key, () => MANIFEST.decode(key, MANIFEST.bytes));
  });

  test('is not made of what it cannot hold', () => {
    for (const change of [
      { version: 0 },
      { pathHash: 'x' },
      { blocks: [] },
      { version: 1, blocks: [keyed(hashOf(99))] },
      { version: 1, blocks: [{ ...keyed(manifest.pathHash), hash: 'x' }] },
    ]) {
      expect(() => encodeSchema1Manifest({ ...manifest, ...change })).toThrow(InvariantError);
    }
  });
});

describe('history block', () => {
  const versions = (first: number, last: number): Schema1Version[] =>
    Array.from({ length: last - first + 1 }, (_, index) => ({
      version: first + index,
      storedHash: hashOf(1),
      bodyHash: hashOf(2),
      modified: MODIFIED,
    }));

  test.each([
    [1, 1],
    [1, 256],
    [254, 256],
    [257, 512],
    [2_147_483_647, 2_147_483_647],
  ])('versions %d to %d accepted', (first, last) => {
    const one = { pathHash: hashOf(3), first, last, versions: versions(first, last) };
    const bytes = encodeSchema1Block(one);
    expect(decodeSchema1Block(HISTORY.keyOf(bytes), bytes)).toEqual(one);
  });

  test.each([
    ['null entries', /\[.*\]/, 'null', 'entries: not an array'],
    ['no entries', /\[.*\]/, '[]', 'entries: 0, not 3'],
    ['one too few', /,\{"version":256.*\}(?=\]\}$)/, '', 'entries: 2, not 3'],
    ['a version twice', '"version":255', '"version":254', 'entries[1].version: 254 is not 255'],
    ['a version left out', '"version":255', '"version":256', 'entries[1].version'],
    ['begins elsewhere', '"first":254', '"first":253', 'entries: 3, not 4'],
    ['crosses a block', '"last":256', '"last":257', 'last: 257 is not in the block of 254'],
    ['first above last', '"last":256', '"last":253', 'last: '],
    ['version 0', '"first":254', '"first":0', 'first: '],
    ['blob under another key', 'blobs/', 'blobs/00000001/', 'entries[0].blob.key'],
    ['blob with an extension', /(?<=blobs\/[0-9a-f]{64})/, '.json', 'entries[0].blob.key'],
    ['blob of another hash', /"hash":"0/, '"hash":"1', 'entries[0].blob.key'],
  ] as const)('%s refused', (_, from, to, problem) => {
    expect(refused(HISTORY, altered(HISTORY, from, to))).toContain(problem);
  });

  test('is not made of what it cannot hold', () => {
    for (const change of [
      { pathHash: 'x' },
      { first: 253 },
      { last: 257 },
      { versions: [] },
      { versions: versions(255, 257) },
      { versions: versions(254, 256).map((one) => ({ ...one, storedHash: 'x' })) },
      { versions: versions(254, 256).map((one) => ({ ...one, bodyHash: 'x' })) },
    ]) {
      expect(() => encodeSchema1Block({ ...block, ...change })).toThrow(InvariantError);
    }
  });
});
