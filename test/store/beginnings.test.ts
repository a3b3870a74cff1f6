/**
 * Goal: whoever makes a world where others do so too, or where somebody died doing it, gets one.
 * Method: names that a killed probe leaves, and eight stores that open an empty location at once.
 */
import { expect, test } from 'vitest';
import { WorldBench } from '../support/world-bench.ts';

test('what a killed probe has left does not occupy a location', async () => {
  const bench = new WorldBench();
  await bench.put('_demarkus/v1/probe/57119338-3fac-41c8-b195-73b5f461367b/one', 'x');
  const world = await bench.open();
  expect((await bench.run(world.stat())).documents).toBe(0);
});

test('of eight that make a world at once all have the same one', async () => {
  const bench = new WorldBench();
  const opening = Array.from({ length: 8 }, async (_, index) => {
    const world = await bench.opening();
    await world.publish({ path: `/${index}.md`, expected: 'absent', body: 'x' });
    return world;
  });
  const worlds = await bench.run(Promise.all(opening));
  expect(new Set(worlds.map(({ worldId }) => worldId)).size).toBe(1);
  const [first] = worlds;
  expect(await bench.run(first?.stat() ?? Promise.reject(new Error('none')))).toMatchObject({
    documents: worlds.length,
  });
});
