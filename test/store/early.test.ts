/**
 * Goal: a world that is opened early answers reads of single documents before the columns of its
 * checkpoint are in memory, in few requests one after another, with exactly what the whole state
 * says, and with nothing that it cannot be sure of.
 * Method: one world with a base, runs behind it and slots behind those; stores that open it early
 * on a bucket that holds the columns back, counts requests in a row, or has been damaged.
 */
import { describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import type { Call } from '../../blob/decorate.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { isStoreError, openWorld, type View, type World } from '../../bucketstore/index.ts';
import { slotKey, WORLD_PREFIX } from '../../bucketstore/log/names.ts';
import { FENCE_MS } from '../../bucketstore/log/sighting.ts';
import { withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { oneByOne } from '../support/one-by-one.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';
import { copyOf, objectsOf, PATHS, pathOf, scribble } from './scribble.ts';

const REQUESTS_MAX = 10;

/** Objects of a world of which versions lie in packs, in slots before and behind a checkpoint. */
async function made(seed: number, packed = false): Promise<ReadonlyMap<string, string>> {
  const bench = new WorldBench(seed);
  const random = new SeededRandom(seed);
  const world = await bench.open();
  for (let unit = packed ? 1024 : 0; unit > 0; unit -= 64) {
    const path = (): string => pathOf(random.integer(PATHS));
    const body = (): string => random.uuid();
    const one = () => ({ kind: 'publish', path: path(), expected: 'any', body: body() }) as const;
    await bench.run(world.commit(Array.from({ length: 64 }, one)));
  }
  await scribble(bench, world, random, 100);
  await bench.run(world.compact());
  await scribble(bench, world, random, 60);
  await bench.run(world.compact());
  for (let slots = 8; slots > 0; slots--) await scribble(bench, world, random, 2);
  return objectsOf(bench);
}

const OBJECTS = made(1, true);

/** The same world in a bucket of its own, and a store that has all of it in memory. */
async function scene(objects = OBJECTS) {
  const bench = await copyOf(await objects, 7);
  const writer = await bench.open();
  const gated = withGates(bench.bucket);
  const isOfColumns = ({ key, options }: Call): boolean =>
    key.endsWith('.seg') && options.lane === 'bulk';
  const early = (bucket: BlobStore = gated.store): Promise<World> => {
    const { clock, random } = bench;
    const components = { clock, random, bucket };
    const settings = { compact: false };
    return bench.run(openWorld('memory:bench', { early: true, settings, components }));
  };
  return { bench, writer, gated, early, hold: () => gated.hold('request', isOfColumns) };
}

async function isLive(view: View, path: string): Promise<boolean> {
  return view.stat(path).then(
    ({ archived }) => !archived,
    () => false,
  );
}

/** What a view tells of every document: its body or its code. */
async function told(view: View): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (let n = 0; n < PATHS + 2; n++) {
    for (const ask of [view.get(pathOf(n)), view.stat(pathOf(n))]) {
      all.push(await ask.catch((error: unknown) => (isStoreError(error) ? error.code : error)));
    }
  }
  for (const path of ['/', '/a', 'no path']) {
    all.push(await view.get(path).catch((error: unknown) => isStoreError(error) && error.code));
  }
  return all;
}

describe('reads before the columns are in', () => {
  test.each([1, 2])('tell what the whole state tells, of every document (%i)', async (seed) => {
    const { bench, writer, early, hold } = await scene(seed === 1 ? OBJECTS : made(seed));
    const held = hold();
    const world = await early();
    const found = await bench.run(told(world.view()));
    expect(held.waiting).toBeGreaterThan(0);
    expect(found).toEqual(await bench.run(told(writer.view())));
    expect(new Set(found.filter((one) => typeof one === 'string'))).toEqual(new Set(['NOT_FOUND']));
    const documents = found.filter((one) => typeof one === 'object') as { archived: boolean }[];
    expect(new Set(documents.map(({ archived }) => archived)).size).toBe(2);
    await held.open();
    await bench.run(world.loaded());
    expect(await bench.run(told(world.view()))).toEqual(found);
    await bench.run(world.close());
  });

  test(`need at most ${REQUESTS_MAX} requests in a row, opening included`, async () => {
    const { bench, gated, early, hold } = await scene();
    const counts = new Set<number>();
    for (let n = 0; n < PATHS; n += 3) {
      const held = hold();
      const began = bench.clock.monotonic();
      const world = await early(oneByOne(gated.store, bench.clock));
      await bench.run(
        world
          .view()
          .get(pathOf(n))
          .catch(() => null),
      );
      counts.add(bench.clock.monotonic() - began);
      await held.open();
      await bench.run(world.close());
    }
    expect(Math.max(...counts)).toBeLessThanOrEqual(REQUESTS_MAX);
    expect(Math.max(...counts)).toBeGreaterThan(5);
  });

  test('wait for the whole state when they are of anything but current versions', async () => {
    const { bench, writer, early, hold } = await scene();
    const held = hold();
    const world = await early();
    const view = world.view();
    let live = 0;
    while (!(await bench.run(isLive(view, pathOf(live))))) live++;
    const { bodyHash } = await bench.run(view.stat(pathOf(live)));
    const later = [
      view.listEntries('/'),
      view.lookupHash(bodyHash),
      view.versions(pathOf(1)),
      view.isDir('/a'),
      view.get(pathOf(1), { version: 1 }).catch(() => null),
      world.stat(),
      world.loaded(),
    ];
    let settled = 0;
    for (const one of later) void one.then(() => settled++);
    await drain();
    await bench.run(view.get(pathOf(2)).catch(() => null));
    expect([held.waiting > 0, settled]).toEqual([true, 0]);
    await held.open();
    const [listed, found] = await bench.run(Promise.all(later));
    const whole = writer.view();
    expect(listed).toEqual(await bench.run(whole.listEntries('/')));
    expect(found).toBe(await bench.run(whole.lookupHash(bodyHash)));
  });
});

describe('a commit', () => {
  test('of another store that was acknowledged before is seen, again and again', async () => {
    const { bench, writer, early, hold } = await scene();
    hold();
    const world = await early();
    for (const body of ['one', 'two', 'three']) {
      await bench.run(writer.publish({ path: '/new.md', expected: 'any', body }));
      await bench.run(writer.publish({ path: '/other.md', expected: 'any', body }));
      const document = await bench.run(world.view().get('/new.md'));
      expect(Buffer.from(document.body).toString()).toBe(body);
    }
    await bench.run(writer.setArchived({ path: '/new.md', archived: true }));
    expect(await bench.run(world.view().stat('/new.md'))).toMatchObject({ archived: true });
  });

  test('that came after the first read of a view is never in that view', async () => {
    const { bench, writer, early, hold } = await scene();
    const held = hold();
    const world = await early();
    await bench.run(writer.publish({ path: '/before.md', expected: 'any', body: 'b' }));
    const view = world.view();
    await bench.run(view.get('/before.md'));
    await bench.run(writer.publish({ path: '/after.md', expected: 'any', body: 'a' }));
    expect(await failureOf(bench.run(view.get('/after.md')))).toMatchObject({ code: 'NOT_FOUND' });
    await held.open();
    const names = async (one: View) =>
      (await bench.run(one.listEntries('/'))).map(({ name }) => name);
    expect(await names(view)).toContain('before.md');
    expect(await names(view)).not.toContain('after.md');
    expect(await names(world.view())).toContain('after.md');
  });

  test('of this store waits until the world is loaded', async () => {
    const { bench, early, hold } = await scene();
    const held = hold();
    const world = await early();
    const writing = world.publish({ path: '/mine.md', expected: 'absent', body: 'mine' });
    await drain();
    await held.open();
    expect(await bench.run(writing)).toMatchObject({ committed: true });
    const mine = await bench.run(world.view().get('/mine.md'));
    expect(Buffer.from(mine.body).toString()).toBe('mine');
  });
});

describe('what cannot be sure is left to the whole state:', () => {
  /** Objects of a kind, of all checkpoints: the log alone is left then. */
  async function damaged(isKind: (key: string) => boolean, place: number | null) {
    const all = await scene();
    const { bench, writer } = all;
    const expected = await bench.run(told(writer.view()));
    const keys = (await bench.keys(WORLD_PREFIX)).filter(isKind);
    for (const key of keys) {
      const bytes = Buffer.from(await bench.bytes(key));
      const at = place ?? 0;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      if (place === null) await bench.bucket.delete(key);
      else await bench.put(key, bytes);
    }
    expect(keys.length).toBeGreaterThan(0);
    return { ...all, expected };
  }

  test.each([
    ['a root is missing', '/roots/', null],
    ['a run manifest is missing', '.run', null],
    ['a segment is missing', '.seg', null],
    ['a segment is damaged', '.seg', 30],
    ['a record is damaged', '/checkpoints/', 30],
    ['a pack is missing', '/packs/', null],
  ])('%s', async (_, part, place) => {
    const { bench, early, expected } = await damaged((key) => key.includes(part), place);
    const found = await bench.run(told((await early()).view()));
    expect(found).toEqual(await bench.run(told((await bench.open()).view())));
    expect(found).toEqual(expected);
  });

  test('a pack is missing, and slots that it was made of', async () => {
    const { bench, early } = await damaged((key) => key.includes('/packs/'), null);
    for (const { first, last } of await bench.slots()) {
      if (last <= 1024) await bench.bucket.delete(slotKey(first));
    }
    const found = await bench.run(told((await early()).view()));
    expect(found).toEqual(await bench.run(told((await bench.open()).view())));
    expect(found).toContain('INTEGRITY');
  });

  test('an answer about a name after a sleep longer than the fence', async () => {
    const { bench, writer, early, hold } = await scene();
    const held = hold();
    const world = await early();
    await bench.run(world.view().stat(pathOf(1)));
    bench.clock.shiftMonotonic(FENCE_MS + 1);
    const late = world.view().stat(pathOf(1));
    let settled = false;
    void late.then(() => {
      settled = true;
    });
    await drain();
    expect(settled).toBe(false);
    await held.open();
    expect(await bench.run(late)).toEqual(await bench.run(writer.view().stat(pathOf(1))));
  });
});

test('a world that is closed while it is loaded lets go, and answers nothing more', async () => {
  const { bench, early, hold } = await scene();
  hold();
  const world = await early();
  await bench.run(world.view().stat(pathOf(1)));
  const listing = failureOf(world.view().listEntries('/'));
  await bench.run(world.close());
  expect(await bench.run(listing)).toMatchObject({ code: 'CLOSED' });
  expect(await failureOf(bench.run(world.loaded()))).toMatchObject({ code: 'CLOSED' });
  expect(bench.clock.sleeping).toBe(0);
});

test('an empty location has no world, early or not; a new one is opened early too', async () => {
  const bench = new WorldBench(9);
  const { clock, random } = bench;
  const bucket = createMemoryBucket({ timing: clock, name: 'memory:empty' });
  const components = { clock, random, bucket };
  const settings = { compact: false };
  const options = { early: true, settings, components };
  const none = await failureOf(bench.run(openWorld('memory:empty', options)));
  expect(none).toMatchObject({ code: 'NOT_FOUND' });
  const world = await bench.run(openWorld('memory:empty', { ...options, create: true }));
  const view = world.view();
  expect(await failureOf(bench.run(view.get('/a.md')))).toMatchObject({ code: 'NOT_FOUND' });
  await bench.run(world.publish({ path: '/a.md', expected: 'absent', body: 'a' }));
  expect(await bench.run(world.view().stat('/a.md'))).toMatchObject({ version: 1 });
});
