/**
 * Goal: whole worlds of schema 1 are read for what they are. Method: worlds made by the model of
 * the old store, which shares no code with the decoders: every object is decoded, all rules between
 * objects hold, and what was read is what the model says a reader must find.
 */
import { describe, expect, test } from 'vitest';
import { formatHash } from '../../bucketstore/document/body.ts';
import { normaliseMetadata } from '../../bucketstore/document/metadata.ts';
import { pathHash } from '../../bucketstore/document/path.ts';
import { formatTimestamp } from '../../bucketstore/document/timestamp.ts';
import { decodeSchema1Blob } from '../../migrate/schema1-blob.ts';
import { decodeChangeBlock } from '../../migrate/schema1-changes.ts';
import { decodeSchema1Head, encodeSchema1Head } from '../../migrate/schema1-head.ts';
import { decodeSchema1Block } from '../../migrate/schema1-history.ts';
import {
  CHANGES_PREFIX,
  HEAD_KEY,
  parseSchema1Key,
  type Schema1Name,
  schema1Key,
} from '../../migrate/schema1-keys.ts';
import { decodeSchema1Manifest } from '../../migrate/schema1-manifest.ts';
import type { Receipt, Schema1Entry, Schema1Version } from '../../migrate/schema1-records.ts';
import { decodeSchema1Root, shardLabel } from '../../migrate/schema1-root.ts';
import {
  chainProblem,
  entryManifestProblem,
  entryTipProblem,
  referenceBlockProblem,
  rootCountProblem,
} from '../../migrate/schema1-rules.ts';
import { decodeSchema1Shard } from '../../migrate/schema1-shard.ts';
import { Schema1Topology } from '../../migrate/schema1-topology.ts';
import type { OldDocument } from '../schema1/document.ts';
import { OldWorld, type OldWorldOptions } from '../schema1/old-world.ts';
import type { OldReceipt } from '../schema1/records.ts';

/** A world's objects, and which of them were read. */
class Bucket {
  readonly read = new Set<string>();
  readonly #objects: ReadonlyMap<string, Uint8Array>;

  constructor(objects: ReadonlyMap<string, Uint8Array>) {
    this.#objects = objects;
  }

  fetch<T>(name: Schema1Name, decode: (key: string, bytes: Uint8Array) => T): T {
    const key = schema1Key(name);
    const bytes = this.#objects.get(key);
    if (bytes === undefined) return expect.unreachable(`${key} is not there`);
    this.read.add(key);
    return decode(key, bytes);
  }
}

interface ReadDocument {
  readonly entry: Schema1Entry;
  readonly versions: readonly Schema1Version[];
}

function readEntries(bucket: Bucket, worldId: string): Schema1Entry[] {
  const head = bucket.fetch({ kind: 'head' }, (_, bytes) => decodeSchema1Head(bytes));
  const root = bucket.fetch({ kind: 'root', hash: head.rootHash }, (key, bytes) =>
    decodeSchema1Root(key, bytes, worldId),
  );
  const entries = root.shards.flatMap((hash, index) =>
    bucket.fetch({ kind: 'shard', shard: shardLabel(index), hash }, decodeSchema1Shard),
  );
  expect(rootCountProblem(root, entries.length)).toBeNull();
  const topology = new Schema1Topology();
  for (const { path, version } of entries) topology.add(path, version);
  expect([...topology.collisions()]).toEqual([]);
  return entries;
}

function readDocument(bucket: Bucket, entry: Schema1Entry): ReadDocument {
  const { path, manifestHash: hash } = entry;
  const name = { kind: 'manifest', pathHash: pathHash(path), hash } as const;
  const manifest = bucket.fetch(name, decodeSchema1Manifest);
  expect(entryManifestProblem(entry, manifest)).toBeNull();
  const versions = manifest.blocks.flatMap((reference) => {
    const block = bucket.fetch({ kind: 'history', hash: reference.hash }, decodeSchema1Block);
    expect(referenceBlockProblem(reference, block)).toBeNull();
    return block.versions;
  });
  const tip = versions.at(-1);
  expect(tip === undefined ? 'no version' : entryTipProblem(entry, tip)).toBeNull();
  for (const [index, record] of versions.entries()) {
    const stored = bucket.fetch({ kind: 'blob', hash: record.storedHash }, (key, bytes) =>
      decodeSchema1Blob(key, bytes, record),
    );
    const before = versions[index - 1]?.storedHash;
    if (before !== undefined || record.version === 1) {
      expect(chainProblem(stored, before ?? null)).toBeNull();
    }
    if (record === tip) expect(stored.metadata).toEqual(entry.catalog.metadata);
  }
  return { entry, versions };
}

/** What the model says of a document, as ours would put it. */
function expected({ path, archived, current, catalog, versions }: OldDocument): object {
  const tip = versions.at(-1);
  return {
    path,
    archived,
    version: current,
    title: catalog.title,
    metadata: normaliseMetadata(Object.fromEntries(catalog.metadata)),
    bodyHash: tip?.bodyHash,
    modified: tip?.modified,
    versions: versions.map(({ version, hash, bodyHash, modified }) => {
      return { version, hash, bodyHash, modified };
    }),
  };
}

function found({ entry, versions }: ReadDocument): object {
  const { path, archived, version, catalog, bodyHash, modified } = entry;
  return {
    path,
    archived,
    version,
    title: catalog.title,
    metadata: catalog.metadata,
    bodyHash: formatHash(bodyHash),
    modified: formatTimestamp(modified),
    versions: versions.map((one) => ({
      version: one.version,
      hash: one.storedHash,
      bodyHash: formatHash(one.bodyHash),
      modified: formatTimestamp(one.modified),
    })),
  };
}

function oldReceipt({ operationId, sequence, change }: Receipt): OldReceipt {
  if (change === null) return { operationId, sequence, change };
  return { operationId, sequence, change: { ...change, bodyHash: formatHash(change.bodyHash) } };
}

const WORLDS: readonly OldWorldOptions[] = [
  { seed: 1, documents: 257 },
  { seed: 2, documents: 60, spelling: 'long', receipts: 'named', changes: 'complete' },
  { seed: 3, documents: 3, fixtures: false, receipts: 'unnamed', changes: 'none' },
  { seed: 4, documents: 0 },
];

describe.each(WORLDS)('a world of the old store, seed $seed, $documents documents', (options) => {
  const world = new OldWorld(options);
  const objects = world.toMap();
  const bucket = new Bucket(objects);

  test('has the documents that were put in', () => {
    const read = readEntries(bucket, world.worldId).map((entry) => readDocument(bucket, entry));
    const byPath = new Map(read.map((document) => [document.entry.path, found(document)]));
    const wanted = [...world.documents()];
    expect(byPath.size).toBe(wanted.length);
    for (const document of wanted) {
      expect(byPath.get(document.path)).toEqual(expected(document));
    }
  });

  test('tells of the commits that were made, in its head and in its change blocks', () => {
    const head = bucket.fetch({ kind: 'head' }, (_, bytes) => decodeSchema1Head(bytes));
    expect(head.worldId).toBe(world.worldId);
    expect(head.sequence).toBe(world.sequence);
    expect(head.receipts.map(oldReceipt)).toEqual(world.receipts);
    for (const key of [...objects.keys()].filter((one) => one.startsWith(CHANGES_PREFIX))) {
      const name = parseSchema1Key(key);
      if (name === null) return expect.unreachable(key);
      const { first, receipts } = bucket.fetch(name, (of, bytes) =>
        decodeChangeBlock(of, bytes, world.worldId),
      );
      const last = first + receipts.length - 1;
      expect(receipts.map(oldReceipt)).toEqual(world.receiptsOf(first, last));
    }
  });

  test('holds no object without a meaning, and beside those read only superseded ones', () => {
    const kinds = new Set<string>();
    for (const key of objects.keys()) {
      const name = parseSchema1Key(key);
      if (name === null) return expect.unreachable(key);
      if (!bucket.read.has(key)) kinds.add(name.kind);
    }
    for (const kind of kinds) expect(['blob', 'history', 'manifest']).toContain(kind);
  });
});

describe('a head that was read', () => {
  test('is spelled again as the newer servers do', () => {
    const world = new OldWorld({ seed: 5, documents: 40, fixtures: false, spelling: 'short' });
    const bytes = world.toMap().get(HEAD_KEY) ?? new Uint8Array();
    expect(Buffer.compare(encodeSchema1Head(decodeSchema1Head(bytes)), bytes)).toBe(0);
  });
});
