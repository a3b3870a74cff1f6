/**
 * Goal: objects that are each good but do not belong together are told apart. Method: two that do,
 * then one value of one of them changed.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { bodyHash } from '../../bucketstore/document/body.ts';
import { pathHash } from '../../bucketstore/document/path.ts';
import { inspectStored, storeVersion } from '../../bucketstore/document/stored.ts';
import { decodeSchema1Blob } from '../../migrate/schema1-blob.ts';
import { schema1BlobKey } from '../../migrate/schema1-keys.ts';
import type {
  Schema1Entry,
  Schema1Manifest,
  Schema1Version,
} from '../../migrate/schema1-records.ts';
import {
  chainProblem,
  entryManifestProblem,
  entryTipProblem,
  recordStoredProblem,
  referenceBlockProblem,
  rootCountProblem,
} from '../../migrate/schema1-rules.ts';
import { refusal } from '../log/forge.ts';
import { block, entryOf, hashOf, MODIFIED, manifest, root } from './schema1-values.ts';

describe('root and entries', () => {
  test('count mismatch told', () => {
    expect(rootCountProblem(root, 3)).toBeNull();
    for (const count of [0, 2, 4]) {
      expect(rootCountProblem(root, count)).toBe(`document_count: 3, its shards hold ${count}`);
    }
    expect(rootCountProblem(root, 100_257)).toBe(
      'document_count: 3, its shards hold more than 100000',
    );
  });
});

describe('entry and manifest', () => {
  const entry: Schema1Entry = entryOf('/a.md', { version: 300 });
  const fitting: Schema1Manifest = { ...manifest, pathHash: pathHash('/a.md') };

  test('that agree fit', () => {
    expect(entryManifestProblem(entry, fitting)).toBeNull();
    const archived = { archived: true };
    expect(entryManifestProblem({ ...entry, ...archived }, { ...fitting, ...archived })).toBeNull();
  });

  test.each([
    ['path hash', { pathHash: hashOf(1) }, 'path_hash: '],
    ['current', { version: 301 }, 'current: 301, the entry of /a.md says 300'],
    ['archived', { archived: true }, 'archived: true, the entry of /a.md says false'],
  ])('%s mismatch told', (_, change, problem) => {
    expect(entryManifestProblem(entry, { ...fitting, ...change })).toContain(problem);
  });
});

describe('reference and block', () => {
  const reference = { pathHash: block.pathHash, first: 254, last: 256, hash: hashOf(1) };

  test('that agree fit', () => {
    expect(referenceBlockProblem(reference, block)).toBeNull();
  });

  test.each([
    ['path hash', { pathHash: hashOf(2) }, 'path_hash: '],
    ['first', { first: 253 }, 'first: 254, the manifest says 253'],
    ['last', { last: 255 }, 'last: 256, the manifest says 255'],
  ])('%s mismatch told', (_, change, problem) => {
    expect(referenceBlockProblem({ ...reference, ...change }, block)).toContain(problem);
  });
});

describe('entry and newest version', () => {
  const entry = entryOf('/a.md');
  const tip: Schema1Version = {
    version: 3,
    storedHash: hashOf(1),
    bodyHash: entry.bodyHash,
    modified: MODIFIED,
  };

  test('that agree fit', () => {
    expect(entryTipProblem(entry, tip)).toBeNull();
  });

  test.each([
    ['version', { version: 2 }],
    ['body_hash', { bodyHash: hashOf(2) }],
    ['modified', { modified: MODIFIED + 1 }],
  ])('%s mismatch told', (field, change) => {
    expect(entryTipProblem(entry, { ...tip, ...change })).toContain(`${field} of the newest: `);
  });
});

describe('record and stored version', () => {
  const body = Buffer.from('---\nnot ours\n---\n');
  const previousHash = hashOf(6);
  const bytes = storeVersion({ version: 2, previousHash, metadata: { owner: 'ann' }, body });
  const stored = inspectStored(bytes);
  const record: Schema1Version = {
    version: 2,
    storedHash: sha256Hex(bytes),
    bodyHash: bodyHash(body),
    modified: MODIFIED,
  };
  const key = schema1BlobKey(record.storedHash);

  test('that agree fit', () => {
    expect(recordStoredProblem(record, stored, bytes)).toBeNull();
    expect(decodeSchema1Blob(key, bytes, record)).toEqual(stored);
  });

  test.each([
    ['version', { version: 3 }, 'version: 2, its record says 3'],
    ['body hash', { bodyHash: sha256Hex(bytes) }, 'body: its hash is '],
  ])('%s mismatch told', (_, change, problem) => {
    const other = { ...record, ...change };
    expect(recordStoredProblem(other, stored, bytes)).toContain(problem);
    const error = refusal(key, () => decodeSchema1Blob(key, bytes, other));
    expect(error.message).toContain(problem);
  });

  test('bytes of another hash refused', () => {
    const corrupt = Buffer.from(bytes);
    corrupt[corrupt.length - 1] = 0;
    const error = refusal(key, () => decodeSchema1Blob(key, corrupt, record));
    expect(error.message).toContain('its bytes have the hash');
  });

  test.each([
    ['nothing', ''],
    ['a bare body', '# A\n'],
    ['version 0', '---\nversion: 0\narchived: false\n---\n'],
    ['no link to the version before', '---\nversion: 2\narchived: false\n---\n'],
    ['an unknown line', '---\nversion: 1\narchived: false\nowner: ann\n---\n'],
    ['no closing fence', '---\nversion: 1\narchived: false\n---'],
  ])('%s is no stored version', (_, text) => {
    const wrong = Buffer.from(text);
    const under = schema1BlobKey(sha256Hex(wrong));
    const error = refusal(under, () => decodeSchema1Blob(under, wrong, record));
    expect(error.message).toMatch(/line \d+: /);
  });

  test('archived in its own block, and tags behind `meta.`, are read', () => {
    const older = Buffer.from(
      '---\nversion: 1\narchived: true\nmeta.owner: ann\nmeta.tags: [a, b]\n---\nbody',
    );
    const first = { ...record, version: 1, bodyHash: bodyHash(Buffer.from('body')) };
    const read = decodeSchema1Blob(schema1BlobKey(sha256Hex(older)), older, first);
    expect({ ...read.metadata }).toEqual({ owner: 'ann', tags: 'a,b' });
    expect(chainProblem(read, null)).toBeNull();
  });

  test('a version that names another before it told', () => {
    expect(chainProblem(stored, previousHash)).toBeNull();
    expect(chainProblem(stored, hashOf(7))).toContain(`previous-hash: ${previousHash}`);
    expect(chainProblem(stored, null)).toContain('the version before is none');
  });
});
