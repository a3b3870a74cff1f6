/**
 * Goal: what moving a world takes is told about right: what would be written and read, and how
 * long. Method: worlds whose base and record runs are encoded for real, with the codecs that a
 * migration will write them with; sizes from none to the largest that there can be.
 */
import { describe, expect, test } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import { TableCut } from '../../checkpoint/cut.ts';
import { encodeIndexEntry } from '../../checkpoint/index-entry.ts';
import { encodeRecordEntry } from '../../checkpoint/record-entry.ts';
import {
  baseEntryBytes,
  LATENCIES_LOCAL,
  LATENCIES_NEAR,
  migrationMs,
  type Schema1Size,
  schema1Cost,
} from '../../migrate/schema1-cost.ts';
import { type Schema1Document, Schema1Graph } from '../../migrate/schema1-graph.ts';
import { readSchema1Head } from '../../migrate/schema1-reader.ts';
import { OldWorld } from '../schema1/old-world.ts';
import { ManualClock } from '../support/manual-clock.ts';

const NOTHING: Schema1Size = {
  documents: 0,
  versions: 0,
  blocks: 0,
  objects: 258,
  entryBytes: 0,
  pathBytes: 0,
};

/** A world of so many documents of a usual size. */
function usual(documents: number): Schema1Size {
  const pathBytes = 40 * documents;
  const versions = 3 * documents;
  const objects = 12 * documents + 258;
  return {
    documents,
    versions,
    blocks: documents,
    objects,
    entryBytes: 700 * documents,
    pathBytes,
  };
}

test('of nothing is two manifests, a root and the marker in the place of the head', () => {
  expect(schema1Cost(NOTHING)).toMatchObject({
    segments: 0,
    recordTables: 0,
    objects: 3,
    requests: { get: 259, list: 1, head: 3, create: 3, replace: 1 },
  });
});

test('of the largest world is some thirty objects, and a read for each document and block', () => {
  const cost = schema1Cost(usual(100_000));
  // 70 MB of entries in segments of 3.4 MiB, 16 MB of version records.
  expect(cost.segments).toBe(20);
  expect(cost.recordTables).toBe(7);
  expect(cost.objects).toBe(30);
  expect(cost.requests).toMatchObject({ get: 200_259, list: 1201, create: 30 });
  expect(cost.bytes / 1e6).toBeGreaterThan(80);
  expect(cost.bytes / 1e6).toBeLessThan(120);
});

test('grows with the world, in every part', () => {
  let before = schema1Cost(NOTHING);
  for (const documents of [1, 10, 1_000, 10_000, 100_000]) {
    const cost = schema1Cost(usual(documents));
    for (const part of ['segments', 'recordTables', 'objects', 'bytes'] as const) {
      expect(cost[part]).toBeGreaterThanOrEqual(before[part]);
    }
    expect(cost.requests.get).toBeGreaterThan(before.requests.get);
    for (const latencies of [LATENCIES_NEAR, LATENCIES_LOCAL]) {
      expect(migrationMs(cost, latencies)).toBeGreaterThan(migrationMs(before, latencies));
    }
    before = cost;
  }
});

test('takes no less than the reads, so many at once, and no less than this machine', () => {
  const cost = schema1Cost(usual(100_000));
  const { get, list } = cost.requests;
  const ms = migrationMs(cost, LATENCIES_NEAR);
  expect(ms).toBeGreaterThan((get * 20) / 32 + list * 25);
  expect(ms).toBeLessThan(1.2 * ((get * 20) / 32 + list * 25));
  const fast = { ...LATENCIES_NEAR, getMs: 0, listMs: 0, headMs: 0, createMs: 0, bytesPerMs: 1e9 };
  expect(migrationMs(cost, fast)).toBe(Math.ceil(get * LATENCIES_NEAR.workMs + cost.bytes / 1e9));
});

describe('of a world that is there', () => {
  test.each([257, 3_000])(
    '%i documents: bytes within a fifth, and the number of tables',
    async (n) => {
      const bucket = createMemoryBucket({ timing: new ManualClock() });
      await new OldWorld({ seed: 6, documents: n }).writeTo(bucket);
      const { head } = await readSchema1Head(bucket);
      const documents: Schema1Document[] = [];
      for await (const one of new Schema1Graph(bucket, head).documents()) documents.push(one);
      documents.sort((a, b) =>
        Buffer.compare(Buffer.from(a.entry.path), Buffer.from(b.entry.path)),
      );
      const sums = { entryBytes: 0, pathBytes: 0, blocks: 0, versions: 0 };
      const real = { entries: 0, records: 0, segments: 0 };
      const cut = new TableCut();
      for (const { entry, manifest, versions } of documents) {
        sums.entryBytes += baseEntryBytes(entry);
        sums.pathBytes += Buffer.byteLength(entry.path);
        sums.blocks += manifest.blocks.length;
        sums.versions += versions.length;
        const bytes = entryBytesOf({ entry, manifest, versions });
        real.entries += bytes.entry;
        real.records += bytes.records;
        if (cut.endsBehind(Buffer.from(entry.path), bytes.entry)) real.segments++;
      }
      const objects = documents.length * 4;
      const cost = schema1Cost({ ...sums, documents: n, objects });
      expect(sums.entryBytes / real.entries).toBeGreaterThan(0.8);
      expect(sums.entryBytes / real.entries).toBeLessThan(1.2);
      expect(cost.segments).toBe(real.segments + 1);
      const columns = 120 * n + sums.pathBytes;
      expect((cost.bytes - sums.entryBytes - columns) / real.records).toBeGreaterThan(0.8);
      expect((cost.bytes - sums.entryBytes - columns) / real.records).toBeLessThan(1.2);
    },
  );
});

/** Bytes of a document's two entries, as the new format has them. */
function entryBytesOf({ entry, manifest, versions }: Omit<Schema1Document, 'shard'>): {
  readonly entry: number;
  readonly records: number;
} {
  const { path, archived } = entry;
  const tip = versions.at(-1);
  const first = versions[0]?.version ?? 0;
  if (tip === undefined) throw new Error(`${path} has no version`);
  const { title, metadata } = entry.catalog;
  const state = {
    path,
    archived,
    first,
    current: { ...tip, at: { epoch: 0 } },
    catalog: { title: title.slice(0, 200), metadata },
  };
  const blocks = manifest.blocks.map((block) => ({
    first: block.first,
    hash: block.hash,
    epoch: 0,
  }));
  const head = 6 + Buffer.byteLength(path);
  return {
    entry: head + encodeIndexEntry(state, 1).length,
    records: head + encodeRecordEntry(path, { first, blocks, records: [] }, 1).length,
  };
}
