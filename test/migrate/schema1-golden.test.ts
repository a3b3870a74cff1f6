/**
 * Goal: schema 1 is what the old servers wrote, to the byte. Method: hashes and sizes of objects of
 * known content, of which the first agrees with one that such a server's own tests hold.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { bodyHash, formatHash } from '../../bucketstore/document/body.ts';
import { pathHash } from '../../bucketstore/document/path.ts';
import { storeVersion } from '../../bucketstore/document/stored.ts';
import { decodeSchema1Blob } from '../../migrate/schema1-blob.ts';
import { decodeSchema1Head } from '../../migrate/schema1-head.ts';
import { encodeSchema1Block } from '../../migrate/schema1-history.ts';
import {
  HEAD_KEY,
  schema1BlobKey,
  schema1RootKey,
  schema1ShardKey,
} from '../../migrate/schema1-keys.ts';
import { decodeSchema1Root, shardLabel } from '../../migrate/schema1-root.ts';
import { decodeSchema1Shard, shardOf } from '../../migrate/schema1-shard.ts';
import { genesis, MODIFIED, WORLD } from './schema1-values.ts';

const EMPTY_00 = '8bac25453e76d8fe3e1559a2e32aa9a43caf9cb7015637b46b8c3105d6139863';
const EMPTY_FF = 'c123530adfa799a95a6d3174230c7b46b7bc61e348c9efa213747f76e4d3113f';
const ROOT_HASH = 'd5a8d6f45f98a7cff85a55ac943f6ca9663f2e06a749f66b84734ae794691c71';
const HEAD_HASH = 'a3268f1b6cbadd5f811956078e39108d88951c1089dd5c1edf6a25581b457e76';
const text = (value: string) => Buffer.from(value);

describe('golden objects of schema 1', () => {
  const objects = genesis(WORLD);

  test('history block of one version', () => {
    const bytes = encodeSchema1Block({
      pathHash: '1'.repeat(64),
      first: 257,
      last: 257,
      versions: [
        {
          version: 257,
          storedHash: '2'.repeat(64),
          bodyHash: '3'.repeat(64),
          modified: MODIFIED,
        },
      ],
    });
    expect(sha256Hex(bytes)).toBe(
      '5e05909fff72d37f900610461db9d4b779fe075d2e68239c7cb73a1f31b12c02',
    );
  });

  test('empty shards 00 and ff', () => {
    for (const [label, hash] of [
      ['00', EMPTY_00],
      ['ff', EMPTY_FF],
    ] as const) {
      const key = schema1ShardKey(label, hash);
      expect(decodeSchema1Shard(key, objects.get(key) ?? text(''))).toEqual([]);
    }
  });

  test('root of genesis', () => {
    const key = schema1RootKey(ROOT_HASH);
    const bytes = objects.get(key) ?? text('');
    expect(bytes.length).toBe(48_476);
    const root = decodeSchema1Root(key, bytes, WORLD);
    expect(root.documents).toBe(0);
    expect(root.shards.map((hash, index) => schema1ShardKey(shardLabel(index), hash))).toEqual(
      [...objects.keys()].slice(0, 256),
    );
  });

  test('head of genesis', () => {
    const bytes = objects.get(HEAD_KEY) ?? text('');
    expect(bytes.length).toBe(269);
    expect(sha256Hex(bytes)).toBe(HEAD_HASH);
    expect(decodeSchema1Head(bytes)).toEqual({
      worldId: WORLD,
      sequence: 1,
      rootHash: ROOT_HASH,
      receipts: [],
    });
  });

  test('genesis is 258 objects', () => {
    expect(objects.size).toBe(258);
  });
});

describe('golden stored versions', () => {
  const first = storeVersion({
    version: 1,
    previousHash: null,
    metadata: { tags: 'alpha,beta', importance: '0.5' },
    body: text('# A\n'),
  });
  const second = storeVersion({
    version: 2,
    previousHash: sha256Hex(first),
    metadata: { tags: 'alpha,beta', type: 'Document' },
    body: text('# A\nmore\n'),
  });

  test('version 1 with metadata', () => {
    expect(first.length).toBe(80);
    expect(sha256Hex(first)).toBe(
      '6b2081134bf6a2ae4b8113fda34ff19c80662a9f3285c66b28e2f19a9bf04b75',
    );
  });

  test('version 2, chained to it', () => {
    expect(second.length).toBe(166);
    expect(sha256Hex(second)).toBe(
      'f84688ce7f8303e4ea030dbfb7f93e34c10ed2519665abcf150dca6a7ceff384',
    );
  });

  test('both are read as their records describe them', () => {
    for (const [index, bytes] of [first, second].entries()) {
      const storedHash = sha256Hex(bytes);
      const body = index === 0 ? '# A\n' : '# A\nmore\n';
      const record = {
        version: index + 1,
        storedHash,
        bodyHash: bodyHash(text(body)),
        modified: MODIFIED,
      };
      const stored = decodeSchema1Blob(schema1BlobKey(storedHash), bytes, record);
      expect(Buffer.from(bytes.subarray(stored.bodyOffset)).toString()).toBe(body);
    }
  });

  test('hash of a body, of a path, and its shard', () => {
    expect(formatHash(bodyHash(text('# A\n')))).toBe(
      'sha256-aa1237b773c38dbddef583c4868aaea7a44c5237ea7923aecca5513764b42d80',
    );
    expect(pathHash('/a.md')).toBe(
      '1dcfc3ccd7bd35720bfad027ac2b7760a5b502c14404584d8ecdc7f77e566007',
    );
    expect(shardOf('/a.md')).toBe('1d');
  });
});
