/**
 * Goal: what is gone from a world of the old store, or damaged, is found and named, and so is what
 * does not belong beside it.
 * Method: every object of a small world removed, and one of each kind changed; a log and other
 * objects beside the head.
 */
import { describe, expect, test } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { type Problem, Problems } from '../../bucketstore/log/problems.ts';
import { encodeSlot } from '../../bucketstore/log/slot.ts';
import { checkLogBeside, readHeadAfter } from '../../migrate/schema1-beside.ts';
import { encodeSchema1Head } from '../../migrate/schema1-head.ts';
import { HEAD_KEY } from '../../migrate/schema1-keys.ts';
import { listSchema1 } from '../../migrate/schema1-listing.ts';
import type { Receipt } from '../../migrate/schema1-records.ts';
import { statSchema1Bucket } from '../../migrate/schema1-stat.ts';
import { failureOf } from '../support/outcome.ts';
import {
  DOCUMENTS,
  type ForgedWorld,
  freshWorld,
  namedBy,
  OTHER_HASH,
  OTHER_WORLD,
  PREFIX,
  pathOf,
  verifyForged,
} from './schema1-forge.ts';

/** What is addressed by hash; of the empty shards only some. */
function addressed(forged: ForgedWorld): readonly string[] {
  let empty = 0;
  return forged.keys().filter((key) => {
    if (key.startsWith(`${PREFIX}changes/`) || key === HEAD_KEY) return false;
    const isEmpty = key.startsWith(`${PREFIX}index/`) && forged.bytes(key).length < 64;
    return !isEmpty || ++empty <= 3;
  });
}

test('a location without a head is no world, and one of schema 2 is another', async () => {
  const forged = await freshWorld();
  await forged.remove(HEAD_KEY);
  expect(await failureOf(verifyForged(forged))).toMatchObject({ code: 'NOT_FOUND' });
  await forged.put(HEAD_KEY, '{"schema":3}');
  const newer = { code: 'UNSUPPORTED_FORMAT', details: { schema: 3 } };
  expect(await failureOf(verifyForged(forged))).toMatchObject(newer);
});

describe('an object that is gone or damaged', () => {
  test('is named, of whatever kind; its absence without reading any blob', async () => {
    const forged = await freshWorld();
    const { objects: there } = await verifyForged(forged, true);
    const dead = Object.values(there?.unreachable ?? {}).reduce((sum, one) => sum + one.objects, 0);
    const harmless: string[] = [];
    for (const key of addressed(forged)) {
      const bytes = forged.bytes(key);
      await forged.remove(key);
      const objects = namedBy(await verifyForged(forged));
      if (objects.length === 0) harmless.push(key);
      else expect(objects).toContain(key);
      await forged.put(key, bytes);
    }
    // What is of no current state is missed by nobody.
    expect(harmless).toHaveLength(dead);
    expect(await verifyForged(forged)).toMatchObject({ problems: [] });
  });

  test('is named when a byte of it is another', async () => {
    const forged = await freshWorld();
    const kinds = new Map<string, string>();
    for (const key of addressed(forged)) kinds.set(key.split('/')[2] ?? '', key);
    // Whichever it was may be of no current state.
    const { manifest, blob } = forged.placesOf(pathOf(forged));
    kinds.set('docs', manifest).set('blobs', blob);
    expect([...kinds.keys()].sort()).toEqual(['blobs', 'docs', 'history', 'index', 'roots']);
    for (const key of kinds.values()) {
      const bytes = forged.bytes(key);
      for (const at of [0, bytes.length >> 1, bytes.length - 1]) {
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ 1;
        await forged.put(key, damaged);
        expect(namedBy(await verifyForged(forged, true))).toContain(key);
      }
      await forged.put(key, bytes);
    }
  });

  test('a blob that is cut is seen when blobs are read, one that is empty always', async () => {
    const forged = await freshWorld();
    const { blob } = forged.placesOf(pathOf(forged));
    await forged.put(blob, forged.bytes(blob).subarray(0, 40));
    expect(namedBy(await verifyForged(forged))).toEqual([]);
    expect(namedBy(await verifyForged(forged, true))).toEqual([blob]);
    await forged.put(blob, '');
    const [problem, ...others] = (await verifyForged(forged)).problems;
    expect(others).toEqual([]);
    expect(problem?.object).toBe(blob);
    expect(problem?.problem).toContain(pathOf(forged));
  });

  test('what lies below it is read no further, all else is', async () => {
    const forged = await freshWorld();
    const { shard, manifest } = forged.placesOf(pathOf(forged));
    const before = await verifyForged(forged);
    await forged.remove(manifest);
    const report = await verifyForged(forged);
    expect(report).toMatchObject({ documents: DOCUMENTS, problemCount: 1 });
    expect(report.versions).toBeLessThan(before.versions);
    expect(report.objects?.unreachable?.blob.objects).toBeGreaterThan(0);
    await forged.remove(shard);
    const less = await verifyForged(forged);
    expect(less.documents).toBeLessThan(DOCUMENTS);
    // Nobody can say that a document is not there when a shard is not.
    expect(namedBy(less)).toEqual([shard]);
  });

  test('a world without its root is not read', async () => {
    const forged = await freshWorld();
    const { root } = forged.placesOf(pathOf(forged));
    await forged.remove(root);
    expect(await verifyForged(forged)).toMatchObject({
      documents: 0,
      problems: [{ object: root, problem: 'missing' }],
    });
  });

  test('a head is named with all that is wrong with it, and then nothing is read', async () => {
    const forged = await freshWorld();
    await forged.put(HEAD_KEY, `${Buffer.from(forged.bytes(HEAD_KEY)).toString()}\n`);
    const unread = {
      worldId: null,
      sequence: null,
      documents: 0,
      objects: null,
      told: null,
      cost: null,
    };
    expect(await verifyForged(forged)).toMatchObject({
      ...unread,
      problems: [{ object: HEAD_KEY }],
    });
  });
});

describe('beside the head', () => {
  const slot = (worldId: string, reason: 'rollback' | 'move', first = 20): Uint8Array => {
    const successor = reason === 'move' ? { successor: OTHER_WORLD, location: 'file:x' } : {};
    return encodeSlot({
      worldId,
      incarnationId: worldId,
      first: sequence(first),
      store: OTHER_WORLD,
      time: 1,
      documents: DOCUMENTS,
      prev: OTHER_HASH,
      epoch: 1,
      entries: [{ kind: 'seal', op: OTHER_WORLD, reason, ...successor }],
      bodies: [],
    }).bytes;
  };
  const keyOf = (first: number): string => {
    return `${PREFIX}log/${first.toString(16).padStart(16, '0')}.slot`;
  };
  const slotKey = keyOf(20);
  /** By `verify` and by `stat`, which agree. */
  const problemsOf = async (forged: ForgedWorld): Promise<readonly Problem[]> => {
    const { problems } = await verifyForged(forged);
    expect((await statSchema1Bucket(forged.bucket)).problems).toEqual(problems);
    return problems;
  };

  test('a log that ends with the seal of a rollback is fine', async () => {
    const forged = await freshWorld();
    await forged.put(slotKey, slot(forged.world.worldId, 'rollback'));
    const report = await verifyForged(forged);
    expect(report).toMatchObject({
      problems: [],
      objects: { kinds: { 'schema-2': { objects: 1 } } },
    });
  });

  test.each([
    ['one that ends otherwise', (world: string) => slot(world, 'move'), 'the seal of a rollback'],
    ['one of another world', () => slot(OTHER_WORLD, 'rollback'), `of world ${OTHER_WORLD}`],
    ['one that is damaged', () => Buffer.from('x'), ''],
  ])('%s is named', async (_, make, says) => {
    const forged = await freshWorld();
    await forged.put(slotKey, make(forged.world.worldId));
    const problem = expect.stringContaining(says);
    expect(await problemsOf(forged)).toEqual([{ object: slotKey, problem }]);
  });

  test.each([`${PREFIX}log/notes.txt`, `${PREFIX}checkpoints/001fffffffffffeb.00000001.json`])(
    '%s is named',
    async (key) => {
      const forged = await freshWorld();
      await forged.put(key, 'x');
      expect((await problemsOf(forged)).map(({ object }) => object)).toEqual([key]);
    },
  );

  test('a rollback at the head or before it is fine, one beyond it is named', async () => {
    const forged = await freshWorld();
    const { sequence: last, worldId } = forged.head;
    for (const first of [last - 1, last, last + 1]) {
      const key = keyOf(first);
      await forged.put(key, slot(worldId, 'rollback', first));
      const problem = `a rollback at ${first}, and the head is at ${last}`;
      expect(await problemsOf(forged)).toEqual(first > last ? [{ object: key, problem }] : []);
      await forged.remove(key);
    }
  });

  test('one beyond the head that was read is fine when the head is there by now', async () => {
    const forged = await freshWorld();
    const { head } = forged;
    const first = head.sequence + 1;
    await forged.put(keyOf(first), slot(head.worldId, 'rollback', first));
    const tip: Receipt = { operationId: OTHER_WORLD, sequence: first, change: null };
    const next = { ...head, sequence: first, receipts: [...head.receipts.slice(1), tip] };
    const listing = await listSchema1(forged.bucket);
    const problems = new Problems();
    const parts = { bucket: forged.bucket, signal: undefined, problems };
    await forged.put(HEAD_KEY, encodeSchema1Head(next));
    const after = await readHeadAfter(head, parts);
    expect(after).toBe(first);
    await checkLogBeside(head, listing, after, parts);
    // That of a world which was migrated is beside no head.
    await checkLogBeside(head, listing, 'migrated', parts);
    expect(problems.named).toEqual([]);
    await checkLogBeside(head, listing, null, parts);
    expect(problems.count).toBe(1);
  });

  test('what is of neither format, a pin and what a migration left are counted', async () => {
    const forged = await freshWorld();
    for (const key of ['pins/nightly.json', 'notes.txt', `packs/00000001/${OTHER_HASH}`]) {
      await forged.put(PREFIX + key, 'x');
    }
    expect(await verifyForged(forged)).toMatchObject({
      problems: [],
      objects: {
        kinds: { pin: { objects: 1 }, other: { objects: 1 }, 'schema-2': { objects: 1 } },
        others: [`${PREFIX}notes.txt`],
      },
    });
  });

  test('what nothing refers to is counted by kind, with its bytes', async () => {
    const forged = await freshWorld();
    const before = (await verifyForged(forged)).objects?.unreachable;
    const { manifest } = forged.placesOf(pathOf(forged));
    const dead = {
      root: `roots/${OTHER_HASH}.json`,
      shard: `index/00/${OTHER_HASH}.json`,
      history: `history/${OTHER_HASH}.json`,
      blob: `blobs/${OTHER_HASH}`,
      // The bytes of a manifest under the name of another document.
      manifest: `docs/${OTHER_HASH}/manifests/${manifest.split('/').at(-1)}`,
    };
    for (const key of Object.values(dead)) await forged.put(PREFIX + key, 'dead');
    const { unreachable } = (await verifyForged(forged)).objects ?? {};
    for (const kind of ['root', 'shard', 'history', 'blob', 'manifest'] as const) {
      const { objects = 0, bytes = 0 } = before?.[kind] ?? {};
      expect(unreachable?.[kind], kind).toEqual({ objects: objects + 1, bytes: bytes + 4 });
    }
  });
});
