/**
 * Goal: a version that was inlined in a slot is read from a pack once the slot is gone, and what
 * lies at the slot's name by then is never taken for it.
 * Method: a world whose slots are removed behind a checkpoint, a stray in their place, and packs
 * that lack the version or hold other bytes.
 */
import { describe, expect, test } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import { BodyReader } from '../../bucketstore/snapshot/body-reader.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import type { VersionRecord } from '../../bucketstore/snapshot/state.ts';
import { CheckpointShelf } from '../support/checkpoint-shelf.ts';
import { withGates } from '../support/gated-bucket.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

const KEY = slotKey(sequence(2));

/** A world of one inlined and one staged document, read with nothing cached. */
async function scene() {
  const bench = new WorldBench();
  const shelf = new CheckpointShelf(bench);
  const { world, parts } = await bench.store();
  const put = (path: string, body: string) =>
    bench.run(world.publish({ path, expected: 'any', body }));
  await put('/small.md', 'small');
  await put('/large.md', 'large '.repeat(5_000));
  await shelf.checkpoint({ world, parts });
  const replayed = parts.follower.snapshot;
  const [record] = shelf.states();
  if (record === undefined) throw new Error('no checkpoint was made');
  const gated = withGates(bench.bucket);
  const read = async (state: Snapshot, path: string, packs: CheckpointShelf | null = shelf) => {
    const version = (await state.document(path))?.current;
    if (version === undefined) throw new Error(`nothing is at ${path}`);
    return new BodyReader(gated.store, 0, { packs }).read(state, version);
  };
  return { bench, shelf, gated, read, replayed, loaded: record, put };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

describe('an inlined version', () => {
  test('comes from its slot while that is there, and no pack is asked', async () => {
    const { read, replayed, shelf, gated } = await scene();
    expect(text(await read(replayed, '/small.md'))).toMatch(/small/);
    expect([shelf.packReads, gated.calls.map(({ key }) => key)]).toEqual([[], [KEY]]);
  });

  test('comes from a pack when the state does not tell its slot', async () => {
    const { read, loaded, shelf, gated } = await scene();
    expect(text(await read(loaded, '/small.md'))).toMatch(/small/);
    expect([shelf.packReads, gated.calls]).toEqual([[2], []]);
  });

  test.each(['gone', 'a stray'])('comes from a pack when its slot is %s', async (what) => {
    const { bench, read, replayed, shelf } = await scene();
    const stray = Buffer.alloc(4_000, 's');
    if (what === 'gone') await bench.bucket.delete(KEY);
    else await bench.put(KEY, stray);
    expect(text(await read(replayed, '/small.md'))).toMatch(/small/);
    expect(shelf.packReads).toEqual([2]);
  });

  test.each([
    ['no pack holds it', (shelf: CheckpointShelf) => shelf.unpack(), /missing/],
    ['there are no packs', null, /missing/],
    ['the pack holds others', (shelf: CheckpointShelf) => shelf.spoilPacks(), /does not hold/],
  ])('is an integrity error that names the slot when %s', async (_, change, words) => {
    const { bench, read, replayed, shelf } = await scene();
    await bench.bucket.delete(KEY);
    change?.(shelf);
    const error = await failureOf(read(replayed, '/small.md', change === null ? null : shelf));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: KEY } });
    expect(String(error)).toMatch(words);
  });
});

test('a staged version is never asked of a pack', async () => {
  const { bench, read, replayed, shelf } = await scene();
  expect(text(await read(replayed, '/large.md'))).toMatch(/large large/);
  for (const key of await bench.keys('_demarkus/v1/blobs/')) await bench.bucket.delete(key);
  const error = await failureOf(read(replayed, '/large.md'));
  expect(error).toMatchObject({ code: 'INTEGRITY' });
  expect(shelf.packReads).toEqual([]);
});

test('what lies in the place of a version is told unverified, from a pack too', async () => {
  const { bench, shelf, replayed } = await scene();
  const record = replayed.changedDetails('/small.md')?.current as VersionRecord;
  const bodies = new BodyReader(bench.bucket, 0, { packs: shelf });
  await bench.bucket.delete(KEY);
  shelf.spoilPacks();
  expect(text(await bodies.readUnverified(replayed, record))).toBe('other bytes');
});
