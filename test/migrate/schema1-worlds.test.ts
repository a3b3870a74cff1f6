/**
 * Goal: a world of the old store is read whole and exactly: every document, every retained version
 * byte for byte, every entry of the catalog; and nothing is found wrong with it.
 * Method: worlds of every kind of document, made by the model of the old store, in a bucket in
 * memory; what is read is compared with what the model says is there, request for request.
 */
import { describe, expect, test } from 'vitest';
import { type BlobStore, createCounter, withObserver } from '../../blob/index.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { formatHash } from '../../bucketstore/document/body.ts';
import { importanceOf, normaliseMetadata, splitTags } from '../../bucketstore/document/metadata.ts';
import { formatTimestamp } from '../../bucketstore/document/timestamp.ts';
import type { Schema1Cost } from '../../migrate/schema1-cost.ts';
import { Schema1Graph } from '../../migrate/schema1-graph.ts';
import { readSchema1Head } from '../../migrate/schema1-reader.ts';
import type { Schema1Counts, Schema1Report } from '../../migrate/schema1-report.ts';
import { statSchema1Bucket } from '../../migrate/schema1-stat.ts';
import { readSchema1Stored } from '../../migrate/schema1-stored.ts';
import { verifySchema1Bucket } from '../../migrate/schema1-verify.ts';
import type { OldDocument } from '../schema1/document.ts';
import { blobKey, manifestKey } from '../schema1/names.ts';
import { OldWorld } from '../schema1/old-world.ts';
import { ManualClock } from '../support/manual-clock.ts';

const SEED = 5;
const SIZES = [0, 1, 257, 5_000];

interface Filled {
  readonly world: OldWorld;
  readonly bucket: BlobStore;
  /** Objects, the head included; some documents share a blob. */
  readonly objects: number;
}

async function filled(documents: number): Promise<Filled> {
  const world = new OldWorld({ seed: SEED, documents });
  const bucket = createMemoryBucket({ timing: new ManualClock() });
  await world.writeTo(bucket);
  const keys = new Set(Array.from(world.objects(), ({ key }) => key));
  return { world, bucket, objects: keys.size };
}

/** A document and its versions as texts that compare at a glance. */
interface Shown {
  readonly facts: unknown;
  readonly versions: readonly unknown[];
}

async function readAll(bucket: BlobStore): Promise<ReadonlyMap<string, Shown>> {
  const { head } = await readSchema1Head(bucket);
  const graph = new Schema1Graph(bucket, head);
  const found = new Map<string, { facts: unknown; versions: unknown[] }>();
  for await (const version of readSchema1Stored(bucket, graph.documents())) {
    const { document, record, stored, bytes } = version;
    const { entry, manifest } = document;
    const { title, metadata } = entry.catalog;
    const facts = {
      archived: entry.archived,
      current: entry.version,
      title,
      metadata,
      tags: splitTags(metadata?.['tags'] ?? ''),
      importance: importanceOf(metadata),
      first: manifest.blocks[0]?.first,
    };
    const shown = found.get(entry.path) ?? { facts, versions: [] };
    found.set(entry.path, shown);
    expect(facts).toEqual(shown.facts);
    shown.versions.push({
      version: record.version,
      hash: record.storedHash,
      bodyHash: formatHash(record.bodyHash),
      modified: formatTimestamp(record.modified),
      stored: Buffer.from(bytes).toString('latin1'),
      body: Buffer.from(bytes.subarray(stored.bodyOffset)).toString('latin1'),
      metadata: stored.metadata,
    });
  }
  return found;
}

function shownBy({ archived, current, catalog, versions }: OldDocument): Shown {
  const metadata = normaliseMetadata(Object.fromEntries(catalog.metadata));
  // The new format takes no exponent: such a text is none of a number.
  const hasExponent = /^[\d.]+e/i.test(metadata?.['importance'] ?? '');
  return {
    facts: {
      archived,
      current,
      title: catalog.title,
      metadata,
      tags: catalog.tags,
      importance: hasExponent ? 0.5 : Number(catalog.importance),
      first: versions[0]?.version,
    },
    versions: versions.map(({ version, hash, bodyHash, modified, stored, body, ...rest }) => ({
      version,
      hash,
      bodyHash,
      modified,
      stored: Buffer.from(stored).toString('latin1'),
      body: Buffer.from(body).toString('latin1'),
      metadata: normaliseMetadata(Object.fromEntries(rest.metadata)),
    })),
  };
}

/** Objects that the model made and that its documents do not lead to. */
function unreachableOf(world: OldWorld): { readonly blob: number; readonly manifest: number } {
  const made = new Set<string>();
  const reached = new Set<string>();
  for (const { entry, document, objects } of world.built()) {
    for (const { key } of objects) made.add(key);
    reached.add(manifestKey(entry.pathHash, entry.manifestHash));
    for (const { hash } of document.versions) reached.add(blobKey(hash));
  }
  const dead = [...made].filter((key) => !reached.has(key));
  return {
    blob: dead.filter((key) => key.includes('/blobs/')).length,
    manifest: dead.filter((key) => key.includes('/manifests/')).length,
  };
}

describe.each(SIZES)('a world of %i documents', (documents) => {
  const made = filled(documents);

  test('is read to the last byte', async () => {
    const { world, bucket } = await made;
    const found = await readAll(bucket);
    expect(found.size).toBe(documents);
    for (const document of world.documents()) {
      expect(found.get(document.path), document.path).toEqual(shownBy(document));
    }
  });

  test('is verified without a finding, with and without its blobs', async () => {
    const { world, bucket, objects } = await made;
    const all = [...world.documents()];
    const versions = all.reduce((sum, one) => sum + one.versions.length, 0);
    const seen: Schema1Counts[] = [];
    const onProgress = (counts: Schema1Counts): unknown => seen.push({ ...counts });
    const deep = await verifySchema1Bucket(bucket, { deep: true, onProgress });
    expect(deep).toMatchObject({
      schema: 1,
      worldId: world.worldId,
      sequence: world.sequence,
      headAfter: world.sequence,
      documents,
      archived: all.filter(({ archived }) => archived).length,
      versions,
      blobs: versions,
      listed: objects,
      objects: { objects, others: [] },
      problems: [],
      problemCount: 0,
    });
    expect(seen.at(-1)?.listed).toBe(objects);
    const blobless = { ...deep, deep: false, blobs: 0 };
    expect(await verifySchema1Bucket(bucket)).toEqual(blobless);
    expectObjects(world, deep);
  });

  test('costs a request for each object below the head, and one list for a thousand', async () => {
    const { bucket, objects, world } = await made;
    const counter = createCounter();
    const counted = withObserver(bucket, counter, { timing: new ManualClock() });
    const { blocks, told, cost, versions } = await verifySchema1Bucket(counted);
    const { get, list } = costOf(cost).requests;
    const changeBlocks = told?.changeBlocks ?? 0;
    expect(get).toBe(2 + 1 + 256 + documents + blocks);
    expect(list).toBe(Math.ceil(objects / 1000));
    const none = { create: 0, replace: 0, head: 0, delete: 0 };
    expect(counter.snapshot().requests).toEqual({ ...none, get: get + changeBlocks, list });
    expect(changeBlocks).toBe(Math.floor(world.sequence / 8) - world.missingChangeBlocks.length);
    counter.reset();
    await verifySchema1Bucket(counted, { deep: true });
    const deepGets = get + changeBlocks + versions;
    expect(counter.snapshot().requests).toEqual({ ...none, get: deepGets, list });
  });

  test('tells the same of itself at a glance', async () => {
    const { bucket } = await made;
    const report = await verifySchema1Bucket(bucket);
    const facts = await statSchema1Bucket(bucket);
    const { objects, cost, ...same } = facts;
    expect(report).toMatchObject(same);
    expect(objects).toEqual(report.objects && { ...report.objects, unreachable: null });
    const {
      versions,
      blocks,
      requests,
      recordTables,
      bytes,
      objects: written,
      ...rest
    } = costOf(cost);
    const other = costOf(report.cost);
    expect(other).toMatchObject(rest);
    expect(versions).toBe(report.objects?.kinds.blob.objects);
    expect(blocks).toBe(report.objects?.kinds.history.objects);
    expect(requests.get).toBeGreaterThanOrEqual(other.requests.get);
    expect(recordTables).toBeGreaterThanOrEqual(other.recordTables);
    expect(written).toBeGreaterThanOrEqual(other.objects);
    expect(bytes).toBeGreaterThanOrEqual(other.bytes);
  });
});

function costOf(cost: Schema1Cost | null): Schema1Cost {
  if (cost === null) throw new RangeError('no cost');
  return cost;
}

/** What lies in the bucket and what of it is dead, by the model's own account. */
function expectObjects(world: OldWorld, { objects }: Schema1Report): void {
  const counts: Record<string, number> = {};
  for (const { key } of new Map(Array.from(world.objects(), (one) => [one.key, one])).values()) {
    const folder = key.split('/')[2] ?? '';
    counts[folder] = (counts[folder] ?? 0) + 1;
  }
  expect(objects?.kinds).toMatchObject({
    head: { objects: counts['head.json'] },
    root: { objects: counts['roots'] },
    shard: { objects: counts['index'] },
    manifest: { objects: counts['docs'] ?? 0 },
    history: { objects: counts['history'] ?? 0 },
    blob: { objects: counts['blobs'] ?? 0 },
    changes: { objects: counts['changes'] ?? 0 },
  });
  const dead = unreachableOf(world);
  expect(objects?.unreachable).toMatchObject({
    root: { objects: 0, bytes: 0 },
    shard: { objects: 0, bytes: 0 },
    manifest: { objects: dead.manifest },
    history: { objects: 0, bytes: 0 },
    blob: { objects: dead.blob },
  });
}

test.each(['named', 'unnamed', 'mixed'] as const)(
  'what can be told of the past is said of a world with %s receipts',
  async (receipts) => {
    const world = new OldWorld({ seed: SEED, documents: 60, receipts, changes: 'complete' });
    const bucket = createMemoryBucket({ timing: new ManualClock() });
    await world.writeTo(bucket);
    const { told } = await verifySchema1Bucket(bucket);
    const all = world.receiptsOf(2, world.sequence);
    const silent = all.filter(({ change }) => change === null).map(({ sequence }) => sequence);
    expect(told).toEqual({
      named: world.receipts.filter(({ change }) => change !== null).length,
      unnamed: world.receipts.filter(({ change }) => change === null).length,
      changeBlocks: Math.floor(world.sequence / 8),
      changeGaps: 0,
      resumesFrom: Math.max(1, ...silent),
    });
  },
);

test('a gap in the change blocks is where cursors resume behind', async () => {
  const world = new OldWorld({ seed: SEED, documents: 60, receipts: 'named' });
  const bucket = createMemoryBucket({ timing: new ManualClock() });
  await world.writeTo(bucket);
  const [missing = -1, ...others] = world.missingChangeBlocks;
  expect(others).toEqual([]);
  const { told } = await verifySchema1Bucket(bucket);
  expect(told).toMatchObject({ changeGaps: 1, resumesFrom: (missing + 1) * 8 });
});
