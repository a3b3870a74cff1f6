/**
 * Goal: no damage to an object of a world is served as data, taken for the end of the log, or
 * hangs.
 * Method: a world with every kind of object; each object is cut, has one bit flipped in each of
 * its fields, or is removed; then the world is opened cold and read to the last version, under
 * virtual time.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { isStoreError, type World } from '../../bucketstore/index.ts';
import { putTogether, takeApart } from '../log/forge.ts';
import { failureOf } from '../support/outcome.ts';
import { damageWorld, meet } from './damage-world.ts';

const damaged = await damageWorld();
const { bench, objects, marker, slots, blobs } = damaged;

afterEach(async () => {
  for (const key of await bench.keys()) if (!objects.has(key)) await bench.bucket.delete(key);
  for (const [key, bytes] of objects) await bench.put(key, bytes);
});

function bytesOf(key: string): Uint8Array {
  const bytes = objects.get(key);
  if (bytes === undefined) throw new Error(`${key} is not there`);
  return bytes.slice();
}

/** A byte in each field: each name, value and sign of its JSON or front matter, each line's end. */
function fieldsOf(key: string): readonly number[] {
  const bytes = Buffer.from(bytesOf(key));
  // A large body is one field as good as another: its beginning and its last byte will do.
  const text = bytes.toString('latin1', 0, key === blobs[0] ? 300 : undefined);
  const tokens = text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+|true|false|null|[[\]{},:\n]|[a-z]{2,}/g);
  const places = [...tokens].map(({ index, 0: token }) => index + Math.floor(token.length / 2));
  return [...places, bytes.length - 1];
}

async function expectIntegrity(key: string, what: string): Promise<void> {
  const refusals = await meet(damaged);
  expect(refusals.length, what).toBeGreaterThan(0);
  const [first] = refusals;
  // A marker whose number reads as a newer one is refused as newer, before its checksum is known.
  const newer = key === marker && first?.code === 'UNSUPPORTED_FORMAT';
  expect(newer ? 'INTEGRITY' : first?.code, what).toBe('INTEGRITY');
  expect(first?.details.object, what).toBe(key);
  expect(first?.message, what).toContain(key);
}

test('the world without damage is read to the last version', async () => {
  expect(await meet(damaged)).toEqual([]);
  expect([marker, ...Object.values(slots), ...blobs].sort()).toEqual([...objects.keys()].sort());
  expect(blobs).toHaveLength(1);
});

const kinds: readonly (readonly [string, string])[] = [
  ['the marker', marker],
  ...Object.entries(slots).map(([name, key]) => [`the slot: ${name}`, key] as const),
  ...blobs.map((key) => ['a blob', key] as const),
];

describe.each(kinds)('%s', (_, key) => {
  test('B27 cut at 0, at 60 % and by one byte is an integrity error that names it', async () => {
    const bytes = bytesOf(key);
    for (const length of [0, Math.floor(bytes.length * 0.6), bytes.length - 1]) {
      await bench.put(key, bytes.subarray(0, length));
      await expectIntegrity(key, `cut to ${length}`);
    }
  });

  test('with one bit flipped in any field is an integrity error that names it', async () => {
    const fields = fieldsOf(key);
    expect(fields.length).toBeGreaterThan(10);
    for (const [index, at] of fields.entries()) {
      const bytes = bytesOf(key);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (index % 7));
      await bench.put(key, bytes);
      await expectIntegrity(key, `a bit of byte ${at}`);
    }
  }, 30_000);
});

const middle = kinds.filter(([, key]) => key !== slots.newest && key !== marker);
test.each(middle)('%s removed is an integrity error that names it', async (_, key) => {
  await bench.bucket.delete(key);
  await expectIntegrity(key, 'removed');
});

test('the marker removed: a log without one is refused, and nothing written', async () => {
  await bench.bucket.delete(marker);
  for (const create of [false, true]) {
    const error = await failureOf(bench.open({ create }));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: marker } });
  }
  expect(await bench.keys()).toEqual([...objects.keys()].filter((key) => key !== marker).sort());
});

describe('the newest slot removed', () => {
  test('a new store sees the log end before it', async () => {
    await bench.bucket.delete(slots.newest);
    const world = await bench.open();
    const found = await bench.run(world.view().get('/c.md'));
    expect(found.version).toBe(1);
    await bench.run(world.close());
  });

  const calls: Readonly<Record<string, (world: World) => Promise<unknown>>> = {
    'an exact read': (world) => world.view().get('/c.md'),
    'a list': (world) => world.view().listEntries('/'),
    'a write': (world) => world.publish({ path: '/d.md', expected: 'any', body: 'd' }),
    'a write that commits nothing': (world) =>
      world.publish({ path: '/c.md', expected: 'absent', body: 'd' }),
  };
  test.each(Object.entries(calls))('a store that had applied it refuses %s', async (_, call) => {
    const world = await bench.open();
    await bench.bucket.delete(slots.newest);
    await bench.clock.advance(10_001);
    const error = await failureOf(bench.run(call(world)));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: slots.newest } });
    expect(await bench.keys('_demarkus/v1/log/'), 'no write on top of it').not.toContain(
      slots.newest,
    );
    expect(await bench.keys('_demarkus/v1/log/')).toHaveLength(Object.keys(slots).length - 1);
    await bench.run(world.close());
  });
});

describe('damage behind the back of a store that has applied the object', () => {
  test.each([
    ['/b.md', 1, slots.inlined],
    ['/b.md', 2, slots.group],
    ['/large.md', 1, blobs[0] ?? ''],
  ])('%s version %i, in %s', async (path, version, key) => {
    const world = await bench.open({ settings: { bodyCacheBytes: 0 } });
    const { length } = bytesOf(key);
    for (const cut of [0, Math.floor(length * 0.6), length - 1, null]) {
      const bytes = bytesOf(key);
      // The last bytes of a body, wherever it lies.
      const at = Buffer.from(bytes).lastIndexOf(path === '/b.md' ? 'b' : 'f');
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await bench.put(key, cut === null ? bytes : bytesOf(key).subarray(0, cut));
      const error = await failureOf(bench.run(world.view().get(path, { version })));
      if (!isStoreError(error)) throw error;
      expect(error.code, `cut to ${cut}`).toBe('INTEGRITY');
      expect(error.details.object).toBe(key);
    }
    await bench.bucket.delete(key);
    const error = await failureOf(bench.run(world.view().get(path, { version })));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
    await bench.run(world.close());
  });
});

test('B27 a slot of another world, or of another life of it, stops this one', async () => {
  const { header, rest } = takeApart(bytesOf(slots.archive));
  for (const field of ['world_id', 'incarnation_id']) {
    const changed = header.replace(
      new RegExp(`("${field}":")[0-9a-f]{8}`),
      (_, name: string) => `${name}00000000`,
    );
    expect(changed).not.toBe(header);
    await bench.put(slots.archive, putTogether(changed, rest));
    await expectIntegrity(slots.archive, field);
  }
});
