/**
 * Goal: a world with checkpoints is the world without them, for the store that made them and for
 * one that opens it: every document, version, body and listing, and what is written afterwards.
 * Method: real stores on one bucket in memory; `compact()` between writes; requests counted by
 * reading the keys that are asked for.
 */
import { describe, expect, test } from 'vitest';
import { isStoreError, type World } from '../../bucketstore/index.ts';
import { CHECKPOINTS_PREFIX, LOG_PREFIX, WORLD_PREFIX } from '../../bucketstore/log/names.ts';
import { withGates } from '../support/gated-bucket.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';

const DIRECTORIES = ['/', '/a', '/b', '/a/sub'];

function pathOf(n: number): string {
  return `${['', '/a', '/b', '/a/sub'][n % 4]}/document-${n}.md`;
}

/** Writes of every kind, many at once. */
async function scribble(bench: WorldBench, world: World, random: SeededRandom, writes: number) {
  const one = async (): Promise<void> => {
    const path = pathOf(random.integer(60));
    const body = `# ${random.uuid()}\n${'x'.repeat(random.integer(40) === 0 ? 20_000 : 50)}`;
    const kind = random.integer(10);
    try {
      if (kind === 0) await world.setArchived({ path, archived: random.integer(2) === 0 });
      else if (kind < 3) {
        const { version } = await world.view().stat(path);
        await world.append({ path, expected: version, content: body });
      } else {
        const metadata = random.integer(4) === 0 ? { retention: '3', tags: 'a, b' } : undefined;
        await world.publish({ path, expected: 'any', body, metadata });
      }
    } catch (error) {
      if (!isStoreError(error) || error.kind !== 'fix-the-call') throw error;
    }
  };
  for (let left = writes; left > 0; left -= 100) {
    await bench.run(Promise.all(Array.from({ length: Math.min(left, 100) }, one)));
  }
}

/** Everything that can be read of a world. */
async function contents(bench: WorldBench, world: World): Promise<unknown> {
  const view = world.view();
  const documents: unknown[] = [];
  const read = async (): Promise<void> => {
    for (let n = 0; n < 60; n++) {
      const path = pathOf(n);
      try {
        const versions = await view.versions(path);
        const document = await view.get(path);
        await view.verifyChain(path);
        const oldest = versions.at(-1)?.version;
        const { body } = await view.get(path, { version: oldest });
        documents.push({ document, versions, oldest: Buffer.from(body).toString() });
        documents.push(await view.lookupHash(document.bodyHash).catch(() => null));
      } catch (error) {
        if (!isStoreError(error) || error.code !== 'NOT_FOUND') throw error;
      }
    }
    for (const path of DIRECTORIES) {
      documents.push(await view.listEntries(path, { includeArchived: true }));
      documents.push(await view.listEntries(path));
    }
  };
  await bench.run(read());
  return documents;
}

describe('a world with checkpoints', () => {
  test.each([1, 2])(
    'reads as before in the store that made them and in any other (%i)',
    async (seed) => {
      const bench = new WorldBench(seed);
      const random = new SeededRandom(seed);
      const settings = { bodyCacheBytes: 0 };
      const first = await bench.open({ settings });
      for (const writes of [1100, 120, 10]) {
        await scribble(bench, first, random, writes);
        const before = await contents(bench, first);
        const { written } = await bench.run(first.compact());
        expect(written).toBe(1);
        expect(await contents(bench, first)).toEqual(before);
        const other = await bench.open({ settings });
        expect(await contents(bench, other)).toEqual(before);
        await scribble(bench, other, random, 20);
        expect(await contents(bench, other)).toEqual(await contents(bench, first));
      }
      expect(await bench.run(first.compact())).toMatchObject({ written: 1 });
      expect(await bench.run(first.compact())).toMatchObject({ written: 0 });
      // The log alone says everything (I3).
      const before = await contents(bench, first);
      for (const key of await bench.keys(WORLD_PREFIX)) {
        const kept = key.endsWith('head.json') || /\/(log|blobs)\//.test(key);
        if (!kept) await bench.bucket.delete(key);
      }
      expect(await contents(bench, await bench.open({ settings }))).toEqual(before);
    },
  );

  test('is opened with the slots behind its checkpoint alone', async () => {
    const bench = new WorldBench(3);
    const world = await bench.open();
    await scribble(bench, world, new SeededRandom(3), 1200);
    await bench.run(world.compact());
    await scribble(bench, world, new SeededRandom(4), 1);
    const { sequence } = await bench.run(world.stat());
    const gated = withGates(bench.bucket);
    const other = await bench.open({ bucket: gated.store });
    expect((await bench.run(other.stat())).sequence).toBe(sequence);
    expect((await bench.keys(CHECKPOINTS_PREFIX)).length).toBe(1);
    expect((await bench.keys(LOG_PREFIX)).length).toBeGreaterThan(5);
  });
});
