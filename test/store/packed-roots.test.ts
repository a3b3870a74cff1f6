/**
 * Goal: an inlined version whose slot is gone is looked for in the packs of every checkpoint that
 * counts, whether this store has loaded it or not; one that is nowhere is told as what it is.
 * Method: a store that opened a world before its checkpoints were made, and holds a view of it;
 * then slots, packs and roots are removed as a collector would, or worse. Requests are looked at.
 */
import { describe, expect, test } from 'vitest';
import { Checkpoints } from '../../bucketstore/log/checkpoints.ts';
import { LOG_PREFIX, WORLD_PREFIX } from '../../bucketstore/log/names.ts';
import { withGates } from '../support/gated-bucket.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

const PATH = '/packed.md';
const ROOTS = `${WORLD_PREFIX}roots/`;
const PACKS = `${WORLD_PREFIX}packs/`;

/** A reader that knows no checkpoint, and a world of one packed unit, its slots gone. */
async function scene(checkpoints = 1) {
  const bench = new WorldBench(3);
  const writer = await bench.open();
  await bench.run(writer.publish({ path: PATH, expected: 'absent', body: 'packed' }));
  const filler = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left -= 64) {
      const one = () =>
        ({
          kind: 'publish',
          path: '/filler.md',
          expected: 'any',
          body: bench.random.uuid(),
        }) as const;
      await bench.run(writer.commit(Array.from({ length: 64 }, one)));
    }
  };
  await filler(1088);
  const gated = withGates(bench.bucket);
  const settings = { bodyCacheBytes: 0 };
  const reader = await bench.open({ bucket: gated.store, settings });
  const view = reader.view();
  await bench.run(view.stat(PATH));
  for (let made = 0; made < checkpoints; made++) {
    await filler(64);
    await bench.run(writer.compact());
  }
  for (const key of (await bench.keys(LOG_PREFIX)).slice(0, 2)) await bench.bucket.delete(key);
  const get = async () => Buffer.from((await bench.run(view.get(PATH))).body).toString();
  const remove = async (prefix: string): Promise<void> => {
    for (const key of await bench.keys(prefix)) await bench.bucket.delete(key);
  };
  gated.calls.length = 0;
  return { bench, writer, gated, view, get, remove };
}

describe('a version whose slot is gone', () => {
  test('is found by the root of a checkpoint that was not loaded, and that alone', async () => {
    const { gated, get } = await scene();
    expect(await get()).toBe('packed');
    const keys = gated.calls.map(({ key }) => key);
    expect(keys.filter((key) => key.startsWith(ROOTS))).toHaveLength(1);
    expect(keys.filter((key) => key.includes('/index/'))).toEqual([]);
    gated.calls.length = 0;
    expect(await get()).toBe('packed');
    // The root is known by now.
    expect(gated.calls.filter(({ key }) => !key.startsWith(LOG_PREFIX))).toHaveLength(1);
  });

  test('is found by an older root when the newest is damaged, or gone', async () => {
    const { bench, get } = await scene(2);
    const places = [];
    const checkpoints = new Checkpoints(bench.bucket);
    for await (const place of checkpoints.all({})) places.push(place);
    const [newest] = places;
    if (newest === undefined) throw new Error('there is no checkpoint');
    const record = await checkpoints.read(newest, {});
    await bench.put(`${ROOTS}00000001/${record?.root.hash}.json`, 'damaged');
    expect(places).toHaveLength(2);
    expect(await get()).toBe('packed');
  });

  test('is an integrity error when no root’s pack has it and it is retained', async () => {
    const { get, remove } = await scene();
    await remove(PACKS);
    const error = await failureOf(get());
    expect(error).toMatchObject({ code: 'INTEGRITY' });
    expect(String(error)).toContain(LOG_PREFIX);
  });

  test('ends its view when no root’s pack has it and it is retained no more', async () => {
    const { bench, writer, view, get, remove } = await scene();
    await remove(PACKS);
    await bench.run(
      writer.publish({ path: PATH, expected: 1, body: 'next', metadata: { retention: '1' } }),
    );
    const versions = await bench.run(writer.view().versions(PATH));
    expect(versions.map(({ version }) => version)).toEqual([2]);
    expect(await failureOf(get())).toMatchObject({ code: 'VIEW_EXPIRED', details: { path: PATH } });
    const chain = await failureOf(bench.run(view.verifyChain(PATH)));
    expect(chain).toMatchObject({ code: 'VIEW_EXPIRED' });
  });

  test('is not looked for in a checkpoint that does not count', async () => {
    const { bench, gated, writer, get } = await scene();
    const [key = ''] = await bench.keys(`${WORLD_PREFIX}checkpoints/`);
    const dead = key.replace('.00000001.', '.00000002.');
    await bench.put(dead, await bench.bytes(key));
    await bench.bucket.delete(key);
    expect(await failureOf(get())).toMatchObject({ code: 'INTEGRITY' });
    expect(gated.calls.filter((call) => call.key === dead)).toEqual([]);
    expect((await bench.run(writer.stat())).epoch).toBe(1);
  });
});

test('a staged version that is gone ends its view once it is retained no more', async () => {
  const bench = new WorldBench(4);
  const world = await bench.open({ settings: { inlineBytes: 0, bodyCacheBytes: 0 } });
  await bench.run(world.publish({ path: PATH, expected: 'absent', body: 'first' }));
  const view = world.view();
  await bench.run(view.stat(PATH));
  const [blob = ''] = await bench.keys(`${WORLD_PREFIX}blobs/`);
  await bench.bucket.delete(blob);
  const early = await failureOf(bench.run(view.get(PATH)));
  expect(early).toMatchObject({ code: 'INTEGRITY', details: { object: blob } });
  const metadata = { retention: '1' };
  await bench.run(world.publish({ path: PATH, expected: 1, body: 'second', metadata }));
  expect(await failureOf(bench.run(view.get(PATH)))).toMatchObject({ code: 'VIEW_EXPIRED' });
});
