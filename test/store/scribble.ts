/** Writes of every kind to a world, and everything that can then be read of it. */
import { isStoreError, type World } from '../../bucketstore/index.ts';
import { WORLD_PREFIX } from '../../bucketstore/log/names.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';

const DIRECTORIES = ['/', '/a', '/b', '/a/sub'];
/** Documents that are written to. */
export const PATHS = 60;

export function pathOf(n: number): string {
  return `${['', '/a', '/b', '/a/sub'][n % 4]}/document-${n}.md`;
}

/** Writes of every kind, many at once. Some are refused. */
export async function scribble(
  bench: WorldBench,
  world: World,
  random: SeededRandom,
  writes: number,
): Promise<void> {
  const one = async (): Promise<void> => {
    const path = pathOf(random.integer(PATHS));
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

/** What can be read of a world that was scribbled on; of some documents every version. */
export async function contents(bench: WorldBench, world: World): Promise<unknown> {
  const view = world.view();
  const documents: unknown[] = [];
  const read = async (): Promise<void> => {
    for (let n = 0; n < PATHS; n++) {
      const path = pathOf(n);
      try {
        const versions = await view.versions(path);
        const document = await view.get(path);
        // Every version of some in each directory, as each is a request or two.
        if (n % 5 === 0) await view.verifyChain(path);
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

/** Every object of a location. */
export async function objectsOf(bench: WorldBench): Promise<ReadonlyMap<string, string>> {
  const objects = new Map<string, string>();
  for (const key of await bench.keys(WORLD_PREFIX)) {
    objects.set(key, Buffer.from(await bench.bytes(key)).toString('latin1'));
  }
  return objects;
}

/** Another location with the same objects. */
export async function copyOf(objects: ReadonlyMap<string, string>, seed = 1): Promise<WorldBench> {
  const bench = new WorldBench(seed);
  for (const [key, text] of objects) await bench.bucket.create(key, Buffer.from(text, 'latin1'));
  return bench;
}
