/**
 * Goal: a world is read as it was when the reading began, whatever old servers commit meanwhile,
 * and what they commit is never refused; nor do they take a world of ours for their own.
 * Method: replicas of the old store write before a reading and in the midst of one, at a gate in
 * the bucket; a marker is put in the place of the head.
 */
import { describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { Schema1Graph } from '../../migrate/schema1-graph.ts';
import { HEAD_KEY } from '../../migrate/schema1-keys.ts';
import { readSchema1Head } from '../../migrate/schema1-reader.ts';
import type { Schema1Report } from '../../migrate/schema1-report.ts';
import { verifySchema1Bucket } from '../../migrate/schema1-verify.ts';
import { createGenesis } from '../schema1/genesis.ts';
import { OldWorld } from '../schema1/old-world.ts';
import { OldReplica } from '../schema1/replica.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const WORLD = '52b471f7-8d38-4c89-b44a-6f4f8b1a4f48';

interface Old {
  readonly bucket: BlobStore;
  readonly replica: OldReplica;
  /** Moves time until `work` settles. */
  readonly run: <T>(work: Promise<T>) => Promise<T>;
}

async function oldWorld(documents: number, seed = 9): Promise<Old> {
  const clock = new ManualClock();
  const bucket = createMemoryBucket({ timing: clock });
  const world = new OldWorld({ seed, documents, worldId: WORLD });
  if (documents === 0) await createGenesis(bucket, WORLD);
  else await world.writeTo(bucket);
  const chance = new SeededRandom(seed);
  const options = { worldId: WORLD, timing: clock, chance, keepsChanges: true };
  const replica = await OldReplica.open(bucket, options);
  return { bucket, replica, run: (work) => clock.run(work) };
}

/** `bucket`, on which something happens once, before the nth `get` of a key that matches. */
function gated(bucket: BlobStore, matches: RegExp, nth: number, act: () => Promise<unknown>) {
  let met = 0;
  const through: BlobStore = {
    ...bucket,
    name: bucket.name,
    list: (query, options) => bucket.list(query, options),
    get: async (key, options) => {
      if (matches.test(key) && ++met === nth) await act();
      return bucket.get(key, options);
    },
  };
  return { bucket: through, wasMet: () => met >= nth };
}

async function writeEverything({ replica, run }: Old): Promise<void> {
  await run(replica.publish('/new/a.md', '# A <b>\n'));
  await run(replica.append('/new/a.md', 'more \u2028\n', 1, new Map([['tags', 'x, y']])));
  await run(replica.publish('/new/b.md', '# B\n', { metadata: new Map([['retention', '1']]) }));
  await run(replica.publish('/new/b.md', '# B2\n', { metadata: new Map([['retention', '1']]) }));
  await run(replica.archive('/new/a.md'));
  await run(replica.unarchive('/new/a.md'));
  await run(replica.archive('/new/b.md'));
  for (let i = 0; i < 12; i++) await run(replica.publish(`/new/c-${i % 5}.md`, `${i}\n`));
}

describe('what old servers commit', () => {
  test.each([0, 60])('to a world of %i documents is as it must be', async (documents) => {
    const old = await oldWorld(documents);
    const before = old.replica.snapshot.head.sequence;
    await writeEverything(old);
    const report = await verifySchema1Bucket(old.bucket, { deep: true });
    expect(report).toMatchObject({
      sequence: before + 19,
      headAfter: before + 19,
      documents: documents + 7,
      problems: [],
      told: { named: 16 },
    });
    // Each commit leaves a root behind; an unarchiving goes back to one that was there.
    expect(report.objects?.unreachable?.root.objects).toBe(18);
  });

  test('is read like everything else', async () => {
    const old = await oldWorld(0);
    await writeEverything(old);
    const { head } = await readSchema1Head(old.bucket);
    const paths: string[] = [];
    for await (const { entry, versions } of new Schema1Graph(old.bucket, head).documents()) {
      const document = await old.replica.document(entry.path);
      paths.push(entry.path);
      expect(document).toMatchObject({ archived: entry.archived, current: entry.version });
      expect(versions.map(({ storedHash }) => storedHash)).toEqual(
        document?.versions.map(({ hash }) => hash),
      );
    }
    expect(paths).toHaveLength(7);
  });
});

describe('what is committed in the midst of a reading', () => {
  test.each([
    ['behind the head', /roots\//],
    ['among the shards', /index\/80\//],
    ['among the documents', /manifests\//],
    ['before the head is read again', /head\.json/],
  ])('%s is not of what is read, and said', async (_, matches) => {
    const old = await oldWorld(60);
    const before = old.replica.snapshot.head.sequence;
    const nth = String(matches).includes('head') ? 2 : 1;
    const gate = gated(old.bucket, matches, nth, () => writeEverything(old));
    const report: Schema1Report = await verifySchema1Bucket(gate.bucket, { deep: true });
    expect(gate.wasMet()).toBe(true);
    expect(report).toMatchObject({
      sequence: before,
      headAfter: before + 19,
      documents: 60,
      problems: [],
    });
    expect(await verifySchema1Bucket(old.bucket)).toMatchObject({ sequence: before + 19 });
  });

  test('a migration is said, and what was read is what it moved', async () => {
    const old = await oldWorld(60);
    const { sequence } = old.replica.snapshot.head;
    const gate = gated(old.bucket, /manifests\//, 5, () => putMarker(old));
    const report = await verifySchema1Bucket(gate.bucket);
    expect(report).toMatchObject({ sequence, headAfter: 'migrated', documents: 60, problems: [] });
  });

  test.each([
    ['is gone', null, 'was there, and is gone'],
    ['is damaged', '{', ''],
    ['goes back', 'before', 'went back from '],
    ['is of another world', 'other', 'now of world '],
  ])('a head that %s is a problem', async (_, text, says) => {
    const old = await oldWorld(60);
    const found = await old.bucket.get(HEAD_KEY);
    const before = found.found ? Buffer.from(found.bytes).toString() : '';
    await writeEverything(old);
    const other = before.replace(WORLD, WORLD.replace('5', '6'));
    const gate = gated(old.bucket, /manifests\//, 5, async () => {
      await old.bucket.delete(HEAD_KEY);
      const next = text === 'before' ? before : text === 'other' ? other : text;
      if (next !== null) await old.bucket.create(HEAD_KEY, Buffer.from(next));
    });
    const { problems } = await verifySchema1Bucket(gate.bucket);
    expect(problems).toContainEqual({ object: HEAD_KEY, problem: expect.stringContaining(says) });
  });
});

async function putMarker({ bucket }: Old): Promise<void> {
  const found = await bucket.head(HEAD_KEY);
  if (!found.found) throw new Error('no head');
  const marker = genesisMarker(WORLD, WORLD);
  await bucket.replace(HEAD_KEY, found.attributes.generation, encodeMarker(marker));
}

test('an old replica refuses our marker, and so do we its head', async () => {
  const old = await oldWorld(60);
  await putMarker(old);
  const refusal = { code: 'integrity', object: HEAD_KEY };
  expect(await failureOf(old.replica.refresh())).toMatchObject(refusal);
  expect(await failureOf(old.run(old.replica.publish('/x.md', 'x')))).toMatchObject(refusal);
  expect(await failureOf(verifySchema1Bucket(old.bucket))).toMatchObject({
    code: 'UNSUPPORTED_FORMAT',
    details: { object: HEAD_KEY, schema: 2 },
  });
});

describe('a reading', () => {
  test('ends when it is told to, wherever it is, and leaves nothing behind', async () => {
    const { bucket } = await oldWorld(60);
    for (const matches of [/head\.json/, /roots\//, /manifests\//, /blobs\//]) {
      const ended = new AbortController();
      const reason = new Error('enough');
      const gate = gated(bucket, matches, 1, async () => ended.abort(reason));
      const verifying = verifySchema1Bucket(gate.bucket, { deep: true, signal: ended.signal });
      expect(await failureOf(verifying)).toBe(reason);
    }
    const before = AbortSignal.abort(new Error('before'));
    expect(await failureOf(verifySchema1Bucket(bucket, { signal: before }))).toMatchObject({
      message: 'before',
    });
  });

  test('without a report throws at the first thing that is wrong', async () => {
    const { bucket } = await oldWorld(60);
    const { head } = await readSchema1Head(bucket);
    const { objects } = await bucket.list({ prefix: '_demarkus/v1/history/', limit: 1000 });
    for (const { key } of objects) await bucket.delete(key);
    const reading = async (): Promise<void> => {
      for await (const _ of new Schema1Graph(bucket, head).documents());
    };
    expect(await failureOf(reading())).toMatchObject({
      code: 'INTEGRITY',
      details: { object: expect.stringContaining('/history/') },
    });
  });

  test('of a bucket that fails is a failure of the bucket, not of the world', async () => {
    const { bucket } = await oldWorld(60);
    const gate = gated(bucket, /manifests\//, 3, () => bucket.close());
    expect(await failureOf(verifySchema1Bucket(gate.bucket))).toMatchObject({ code: 'LOCATION' });
  });
});
