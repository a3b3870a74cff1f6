/**
 * Goal: no world begins on a bucket that ignores conditions, and one whose bucket forgets them
 * later stops instead of forking silently (B13).
 * Method: a bucket whose creates overwrite, from the start or from a moment on.
 */
import { expect, test } from 'vitest';
import type { World } from '../../bucketstore/index.ts';
import { LIES, withLie } from '../support/lying-bucket.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

const overwriting = LIES.filter(
  (lie) => lie === 'create-overwrites' || lie === 'racing-creates-win',
);

test.each(overwriting)('B13 no world is made on a bucket whose %s', async (lie) => {
  const bench = new WorldBench();
  const error = await bench.run(failureOf(bench.opening({ bucket: withLie(bench.bucket, lie) })));
  expect(error).toMatchObject({ code: 'LOCATION' });
  expect(String(error)).toMatch(/create/);
  expect(await bench.keys()).toEqual([]);
});

test('B13 two stores that overwrite each other find out, and take no more writes', async () => {
  const bench = new WorldBench();
  await bench.open();
  const bucket = withLie(bench.bucket, 'create-overwrites');
  const stores = [await bench.open({ bucket }), await bench.open({ bucket })];
  const refusals = new Set<World>();
  const note = (world: World, error: unknown): void => {
    expect(error).toMatchObject({ code: 'INTEGRITY' });
    refusals.add(world);
  };
  let acknowledged = 0;
  const write = async (world: World, path: string): Promise<void> => {
    try {
      await world.publish({ path, expected: 'absent', body: 'x' });
      acknowledged += 1;
    } catch (error) {
      note(world, error);
    }
  };
  const rounds = 50;
  for (let round = 0; round < rounds; round++) {
    // The first writes twice as often, so that it is ahead when the other looks.
    const paths = round % 2 === 0 ? stores : stores.slice(0, 1);
    await bench.run(
      Promise.all(paths.map((world, index) => write(world, `/${round}-${index}.md`))),
    );
    for (const world of stores) {
      await bench.run(
        world
          .view()
          .isDir('/')
          .catch((error: unknown) => note(world, error)),
      );
    }
  }
  expect(refusals.size).toBeGreaterThan(0);
  // Who has met the fork acknowledges nothing more.
  const before = acknowledged;
  for (const world of refusals) await bench.run(write(world, '/late.md'));
  expect(acknowledged).toBe(before);
});
