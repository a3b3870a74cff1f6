/**
 * Goal: a world of more documents than a root can count is read no further than that. Method: the
 * bound is 20 here; worlds with as many, and with one more, of which the root says what it may.
 */
import { describe, expect, test, vi } from 'vitest';
import type { BlobStore } from '../../blob/index.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import type { Problem } from '../../bucketstore/log/problems.ts';
import { SCHEMA1_DOCUMENTS_MAX } from '../../migrate/schema1-bounds.ts';
import { Schema1Graph } from '../../migrate/schema1-graph.ts';
import { schema1RootKey, schema1ShardKey } from '../../migrate/schema1-keys.ts';
import { encodeSchema1Root, shardLabel } from '../../migrate/schema1-root.ts';
import { encodeSchema1Shard, shardOf } from '../../migrate/schema1-shard.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { entryOf, headOf, WORLD } from './schema1-values.ts';

vi.mock(import('../../migrate/schema1-bounds.ts'), async (importOriginal) => {
  return { ...(await importOriginal()), SCHEMA1_DOCUMENTS_MAX: 20 as 100_000 };
});

/** A world of these documents, whose root counts as many as one may. */
async function worldOf(paths: readonly string[]): Promise<{ bucket: BlobStore; rootHash: string }> {
  const bucket = createMemoryBucket({ timing: new ManualClock() });
  const shards: string[] = [];
  for (let index = 0; index < 256; index++) {
    const shard = shardLabel(index);
    const own = paths.filter((path) => shardOf(path) === shard).sort();
    const bytes = encodeSchema1Shard(
      shard,
      own.map((path) => entryOf(path)),
    );
    shards.push(sha256Hex(bytes));
    await bucket.create(schema1ShardKey(shard, sha256Hex(bytes)), bytes);
  }
  const root = encodeSchema1Root({ worldId: WORLD, documents: 20, shards });
  await bucket.create(schema1RootKey(sha256Hex(root)), root);
  return { bucket, rootHash: sha256Hex(root) };
}

describe('a world', () => {
  const paths = Array.from({ length: 21 }, (_, index) => `/${index}`);
  const last = paths.map(shardOf).sort().at(-1);

  test('of as many documents as there may be is read whole', async () => {
    expect(SCHEMA1_DOCUMENTS_MAX).toBe(20);
    const { bucket, rootHash } = await worldOf(paths.slice(1));
    const graph = new Schema1Graph(bucket, { ...headOf(1), rootHash });
    let count = 0;
    for await (const _ of graph.entries()) count++;
    expect(count).toBe(20);
    expect(graph.isWhole).toBe(true);
  });

  test('of more is read no further, and its root is named', async () => {
    const { bucket, rootHash } = await worldOf(paths);
    const problems: Problem[] = [];
    const report = (problem: Problem): unknown => problems.push(problem);
    const graph = new Schema1Graph(bucket, { ...headOf(1), rootHash }, { report });
    const read: string[] = [];
    for await (const { entry } of graph.entries()) read.push(entry.path);
    expect(problems).toEqual([
      {
        object: schema1RootKey(rootHash),
        problem: 'document_count: 20, its shards hold more than 20',
      },
    ]);
    expect(read.sort()).toEqual(paths.filter((path) => shardOf(path) !== last).sort());
    expect(graph.topology.size).toBe(read.length);
    expect(graph.isWhole).toBe(false);
  });
});
