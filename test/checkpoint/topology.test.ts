/**
 * Goal: no document comes to lie above or below another, in whatever run of a checkpoint that is,
 * archived or not, and nothing is refused that lies beside one.
 * Method: a world in which documents and directories lie in the base, in runs between, in the
 * newest run and in the log since; a store that opens it cold, writes beside, above and below.
 */
import { expect, test } from 'vitest';
import { isStoreError, type World } from '../../bucketstore/index.ts';
import { RunsState } from '../../checkpoint/runs-state.ts';
import { RealLog } from '../support/real-log.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';

const bench = new WorldBench();
const log = new RealLog(bench, new SeededRandom(3), { paths: 40, batch: 200, hot: 0 });
await log.begin();

/** What was written in each interval: a document, and one that makes a directory. */
const made: { readonly document: string; readonly directory: string }[] = [];

async function publish(world: World, path: string): Promise<string> {
  try {
    await bench.run(world.publish({ path, expected: 'any', body: path }));
    return 'committed';
  } catch (error) {
    if (isStoreError(error)) return error.code;
    throw error;
  }
}

for (const end of [300, 1100, 2200, 2600]) {
  await log.writeTo(end);
  const names = { document: `/alone-${end}.md`, directory: `/dir-${end}` };
  await log.write(names.document);
  await log.write(`${names.directory}/in/it.md`);
  made.push(names);
  const world = await bench.open({ create: false });
  await bench.run(world.compact());
  await bench.run(world.close());
}
await log.write('/alone-since.md');
await log.write('/dir-since/in/it.md');
made.push({ document: '/alone-since.md', directory: '/dir-since' });

test('a write above or below a document is refused, in whatever run it lies', async () => {
  const { world, parts } = await bench.store({ create: false });
  const { base } = parts.follower.snapshot;
  if (!(base instanceof RunsState)) throw new Error('the store rests on no checkpoint');
  const filled = base.runs.filter(({ columns }) => columns.rows > 0);
  const runOf = (path: string) => filled.findLast(({ columns }) => columns.find(path) >= 0);
  const runs = made.flatMap(({ document }) => runOf(document) ?? []);
  expect(new Set(runs).size).toBeGreaterThanOrEqual(3);
  for (const { document, directory } of made) {
    expect(await publish(world, `${document}/below.md`)).toBe('PATH_COLLISION');
    expect(await publish(world, `${document}/a/b/c.md`)).toBe('PATH_COLLISION');
    expect(await publish(world, directory)).toBe('PATH_COLLISION');
    expect(await publish(world, `${directory}/in`)).toBe('PATH_COLLISION');
    const archived = { path: document, archived: true };
    await bench.run(world.setArchived(archived));
    expect(await publish(world, `${document}/below.md`)).toBe('PATH_COLLISION');
    expect(await publish(world, `${document}-beside`)).toBe('committed');
    expect(await publish(world, `${directory}/in/beside.md`)).toBe('committed');
    expect(await publish(world, `${directory}-beside`)).toBe('committed');
  }
  await bench.run(world.close());
});
