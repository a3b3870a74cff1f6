/**
 * Goal: a location becomes a world once, by one marker, and what is no empty location is refused
 * with nothing written.
 * Method: stores open on one bucket in memory, at once and one after another, beside objects of
 * every sort.
 */
import { describe, expect, test } from 'vitest';
import { canonicalText } from '../../bucketstore/base/canonical.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { putTogether, takeApart } from '../log/forge.ts';
import { lostAnswer, type Rule, withFaults } from '../support/faulty-bucket.ts';
import { type Lie, withLie } from '../support/lying-bucket.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

const MARKER = '_demarkus/v1/head.json';
const OTHER = '0f0e0d0c-0b0a-4908-8706-050403020100';

/** Opening fails, and leaves the location as it was. */
async function refusesToOpen(bench: WorldBench, expected: object): Promise<string> {
  const before = await bench.keys();
  let message = '';
  for (const create of [true, false]) {
    const error = await failureOf(bench.open({ create }));
    expect(error).toMatchObject(expected);
    message = String(error);
  }
  expect(await bench.keys()).toEqual(before);
  return message;
}

/** A marker with other fields and a check that is right. */
function markerWith(text: string, change: Record<string, unknown>): string {
  const { check: _, ...fields } = { ...JSON.parse(text), ...change };
  return canonicalText({ ...fields, check: sha256Hex(canonicalText(fields)) });
}

describe('an empty location', () => {
  test('becomes a world with one object, and opens again as the same one', async () => {
    const bench = new WorldBench();
    const missing = await failureOf(bench.open({ create: false }));
    expect(missing).toMatchObject({ code: 'NOT_FOUND' });
    const first = await bench.open();
    expect(await bench.keys()).toEqual([MARKER]);
    const second = await bench.open({ create: false });
    expect(second.worldId).toBe(first.worldId);
    expect(second.storeId).not.toBe(first.storeId);
    expect(await bench.run(first.stat())).toMatchObject({ sequence: 1, documents: 0, epoch: 1 });
    const marker = JSON.parse(Buffer.from(await bench.bytes(MARKER)).toString());
    expect(marker).toMatchObject({
      schema: 2,
      format: 1,
      world_id: first.worldId,
      start: { sequence: 1, documents: 0, epoch: 1, root: null },
    });
    expect(marker.incarnation_id).not.toBe(marker.world_id);
  });

  test('two creators race for the marker, and both have the winner’s world', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const bench = new WorldBench(seed);
      const worlds = await Promise.all([bench.open(), bench.open(), bench.open()]);
      expect(new Set(worlds.map(({ worldId }) => worldId)).size).toBe(1);
      const [a, b] = worlds;
      await bench.run(a.publish({ path: '/a.md', expected: 'absent', body: 'x' }));
      expect((await bench.run(b.view().get('/a.md'))).version).toBe(1);
      expect(await bench.keys()).toEqual([MARKER, '_demarkus/v1/log/0000000000000002.slot']);
    }
  });

  test('creators that want an ID each: the loser is told of the winner’s', async () => {
    const bench = new WorldBench();
    const ids = [OTHER, OTHER.replace('0f', '1f')];
    const opened = await Promise.allSettled(ids.map((worldId) => bench.open({ worldId })));
    const won = opened.flatMap((one, index) => (one.status === 'fulfilled' ? [index] : []));
    expect(won).toHaveLength(1);
    const lost = opened.find((one) => one.status === 'rejected');
    expect(lost?.reason).toMatchObject({ code: 'LOCATION' });
    expect(String(lost?.reason)).toContain(ids[won[0] ?? 0]);
  });

  test('a lost answer to the marker’s create is no failure', async () => {
    const bench = new WorldBench();
    const rule: Rule = { operation: 'create', key: (key) => key === MARKER, fault: lostAnswer };
    const faulty = withFaults(bench.bucket, [rule], { timing: bench.clock });
    const world = await bench.open({ bucket: faulty.store });
    expect(faulty.hits()).toEqual([1]);
    expect((await bench.open()).worldId).toBe(world.worldId);
  });

  test('a store for reading only makes none', async () => {
    const bench = new WorldBench();
    const opening = bench.open({ settings: { readOnly: true } });
    expect(await failureOf(opening)).toMatchObject({ code: 'NOT_FOUND' });
    expect(await bench.keys()).toEqual([]);
  });

  test.each<Lie>(['create-overwrites', 'lists-utf16', 'stale-reads', 'ignores-after'])(
    'that lacks a guarantee (%s) is refused, and gets no marker',
    async (lie) => {
      const bench = new WorldBench();
      const error = await failureOf(bench.open({ bucket: withLie(bench.bucket, lie) }));
      expect(error).toMatchObject({ code: 'LOCATION' });
      expect(await bench.keys('_demarkus/v1/head')).toEqual([]);
    },
  );
});

describe('a location that is not empty', () => {
  test('leftovers of an import that died are fine', async () => {
    const bench = new WorldBench();
    const hash = 'a'.repeat(64);
    const leftovers = [
      `_demarkus/v1/blobs/00000001/${hash}`,
      `_demarkus/v1/index/00000001/${hash}.seg`,
      `_demarkus/v1/packs/00000001/${hash}`,
      `_demarkus/v1/roots/00000001/${hash}.json`,
    ];
    for (const key of leftovers) await bench.put(key, 'left');
    await bench.open();
    expect(await bench.keys()).toEqual([...leftovers, MARKER].sort());
  });

  test.each([
    'somebody.txt',
    '_demarkus/v2/head.json',
    '_demarkus/v1/notes.txt',
    'zzz/last',
    '_aaa',
  ])('a foreign object %s is refused and named', async (key) => {
    const bench = new WorldBench();
    await bench.put(key, 'theirs');
    expect(await refusesToOpen(bench, { code: 'LOCATION' })).toContain(key);
  });

  test.each([
    '_demarkus/v1/log/0000000000000002.slot',
    '_demarkus/v1/log/anything',
    '_demarkus/v1/checkpoints/001ffffffffffffd.00000001.json',
  ])('%s without a marker is a world that lost it', async (key) => {
    const bench = new WorldBench();
    await bench.put(key, 'a slot');
    const details = { object: MARKER };
    expect(await refusesToOpen(bench, { code: 'INTEGRITY', details })).toContain(key);
  });

  test('another world than the one that was named is refused, naming both', async () => {
    const bench = new WorldBench();
    const { worldId } = await bench.open();
    const error = await failureOf(bench.open({ worldId: OTHER }));
    expect(error).toMatchObject({ code: 'LOCATION' });
    expect(String(error)).toContain(worldId);
    expect(String(error)).toContain(OTHER);
    expect((await bench.open({ worldId })).worldId).toBe(worldId);
  });
});

describe('B64 a format that this code does not speak', () => {
  test('a head of schema 1 says what to do', async () => {
    const bench = new WorldBench();
    await bench.put(MARKER, JSON.stringify({ schema: 1, world_id: OTHER, sequence: 7, root: 'x' }));
    const message = await refusesToOpen(bench, { code: 'UNSUPPORTED_FORMAT' });
    expect(message).toContain('bucketstore verify and stat read it; nothing moves it to schema 2');
  });

  test.each([
    [{ schema: 3 }, /schema 3.*schema 2/],
    [{ format: 2 }, /format 2.*format 1/],
    [{ schema: 4, format: 9, more: true }, /schema 4, format 9.*schema 2, format 1/],
  ])('a marker with %j is refused, naming both', async (change, words) => {
    const bench = new WorldBench();
    await bench.open();
    const text = Buffer.from(await bench.bytes(MARKER)).toString();
    await bench.put(MARKER, markerWith(text, change));
    expect(await refusesToOpen(bench, { code: 'UNSUPPORTED_FORMAT' })).toMatch(words);
  });

  test('a marker with an unknown field is refused', async () => {
    const bench = new WorldBench();
    await bench.open();
    const text = Buffer.from(await bench.bytes(MARKER)).toString();
    await bench.put(MARKER, markerWith(text, { extra: 1 }));
    const details = { object: MARKER };
    expect(await refusesToOpen(bench, { code: 'INTEGRITY', details })).toContain('extra');
  });

  test('a slot of a newer format stops its world, before a read, and no other', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    for (const path of ['/a.md', '/b.md', '/c.md']) {
      await bench.run(world.publish({ path, expected: 'absent', body: path }));
    }
    const key = '_demarkus/v1/log/0000000000000003.slot';
    const { header, rest } = takeApart(await bench.bytes(key));
    await bench.put(key, putTogether(header.replace('"schema":2', '"schema":3'), rest));
    const message = await refusesToOpen(bench, { code: 'UNSUPPORTED_FORMAT' });
    expect(message).toContain(key);
    expect(message).toMatch(/schema 3.*schema 2/);
    const other = new WorldBench();
    const sound = await other.open();
    await other.run(sound.publish({ path: '/a.md', expected: 'absent', body: 'x' }));
  });
});
