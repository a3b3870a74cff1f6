/**
 * Goal: a replica of the older format fails closed at our marker, and a document's history is the
 * same on both sides of 256 versions, the length of a history block.
 * Method: a reader of the older head, as small as its rules are; histories written in one go, then
 * read by the writer and by a store that replays.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import type { World } from '../../bucketstore/index.ts';
import { MARKER_KEY } from '../../bucketstore/log/names.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

/** The head of a new world of schema 1, and the hash that its format was fixed with. */
const OLD_WORLD = '52b471f7-8d38-4c89-b44a-6f4f8b1a4f48';
const OLD_ROOT = 'd5a8d6f45f98a7cff85a55ac943f6ca9663f2e06a749f66b84734ae794691c71';
const OLD_HEAD_HASH = 'a3268f1b6cbadd5f811956078e39108d88951c1089dd5c1edf6a25581b457e76';
const FIELDS = ['schema', 'world_id', 'sequence', 'root', 'receipts'];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** What a replica of schema 1 does with a head: its world’s sequence, or why it refuses. */
function readByOldReplica(bytes: Uint8Array): number | string {
  const text = Buffer.from(bytes).toString();
  const head: Record<string, unknown> = JSON.parse(text);
  if (JSON.stringify(head) !== text) return 'is no compact JSON in its order';
  const unknown = Object.keys(head).find((field) => !FIELDS.includes(field));
  if (unknown !== undefined) return `unknown field ${unknown}`;
  const { schema, world_id: worldId, sequence, root, receipts } = head;
  if (schema !== 1) return `schema ${schema}`;
  if (typeof worldId !== 'string' || !UUID.test(worldId)) return 'no world';
  if (!Number.isSafeInteger(sequence) || Number(sequence) < 1) return 'no sequence';
  if (typeof root !== 'object' || root === null) return 'no root';
  const window = Math.min(Number(sequence) - 1, 16);
  if (!Array.isArray(receipts) || receipts.length !== window) return 'no window of receipts';
  return Number(sequence);
}

describe('OldReplicaRefusesTheMarker', () => {
  const root = { key: `_demarkus/v1/roots/${OLD_ROOT}.json`, hash: OLD_ROOT };
  const old = { schema: 1, world_id: OLD_WORLD, sequence: 1, root, receipts: [] };
  const oldBytes = Buffer.from(JSON.stringify(old));

  test('OldReplicaRefusesTheMarker: new, and with a log behind it', async () => {
    expect(sha256Hex(oldBytes)).toBe(OLD_HEAD_HASH);
    expect(readByOldReplica(oldBytes), 'it reads its own').toBe(1);
    const bench = new WorldBench();
    const world = await bench.open();
    const marker = await bench.bytes(MARKER_KEY);
    expect(readByOldReplica(marker)).toEqual(expect.any(String));
    // Whatever it looks at first.
    const { schema, ...rest } = JSON.parse(Buffer.from(marker).toString());
    expect(schema).toBe(2);
    expect(readByOldReplica(Buffer.from(JSON.stringify({ schema: 1, ...rest })))).toMatch(/field/);
    await bench.run(world.publish({ path: '/a.md', expected: 'absent', body: 'a' }));
    expect(await bench.bytes(MARKER_KEY), 'no commit writes it').toEqual(marker);
  });

  test('OldReplicaRefusesTheMarker: nor do we read its head as ours', async () => {
    const bench = new WorldBench();
    await bench.put(MARKER_KEY, oldBytes);
    const told = await failureOf(bench.open());
    expect(told).toMatchObject({ code: 'UNSUPPORTED_FORMAT' });
    expect(await bench.keys()).toEqual([MARKER_KEY]);
  });
});

describe('HistoryBlockRolloverAndRetention', () => {
  const PATH = '/long.md';

  /** Versions up to `last`, each on the one before, of which one may keep only the newest few. */
  async function history(world: World, bench: WorldBench, last: number, first = 1) {
    const writes = Array.from({ length: last - first + 1 }, (_, i) => {
      const version = first + i;
      const expected = version === 1 ? 'absent' : version - 1;
      return world.publish({ path: PATH, expected, body: `body ${version}` });
    });
    await bench.run(Promise.all(writes));
  }

  const keep = (world: World, version: number, retention: number) =>
    world.publish({
      path: PATH,
      expected: version - 1,
      body: `body ${version}`,
      metadata: { retention: `${retention}` },
    });

  /** What is there of it, for the store that wrote and for one that replays. */
  async function check(bench: WorldBench, writer: World, first: number, last: number) {
    for (const world of [writer, await bench.open()]) {
      const view = world.view();
      const versions = (await bench.run(view.versions(PATH))).map(({ version }) => version);
      const length = last - first + 1;
      expect(versions).toEqual(Array.from({ length }, (_, i) => last - i));
      for (const version of new Set([first, Math.max(first, Math.min(256, last)), last])) {
        const { body } = await bench.run(view.get(PATH, { version }));
        expect(Buffer.from(body).toString()).toBe(`body ${version}`);
      }
      for (const version of [first - 1, last + 1]) {
        const missing = await failureOf(bench.run(view.get(PATH, { version })));
        expect(missing).toMatchObject({ code: 'NOT_FOUND' });
      }
      await bench.run(view.verifyChain(PATH));
    }
  }

  test.each([255, 256, 257])(
    'HistoryBlockRolloverAndRetention: %i versions are all there, and chained',
    async (last) => {
      const bench = new WorldBench();
      const world = await bench.open();
      await history(world, bench, last);
      await check(bench, world, 1, last);
    },
  );

  test('HistoryBlockRolloverAndRetention: pruned up to the boundary, and across it', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    await history(world, bench, 255);
    const { pruned } = await bench.run(keep(world, 256, 3));
    expect(pruned).toEqual([1, 253]);
    await check(bench, world, 254, 256);
    await history(world, bench, 257, 257);
    await check(bench, world, 254, 257);
    await bench.run(keep(world, 258, 2));
    await check(bench, world, 257, 258);
  });
});
