/**
 * Goal: a life that began with a checkpoint has nothing to fall back on: when any object of that is
 * damaged or gone and no other checkpoint counts, the store says which, and writes nothing.
 * Method: a marker that begins with a checkpoint; each of its objects in turn is cut or removed,
 * under a store that opens, and under one that compacts.
 */
import { describe, expect, test } from 'vitest';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { MARKER_KEY } from '../../bucketstore/log/names.ts';
import { INCARNATION, WORLD, write } from '../log/values.ts';
import { EntryLog, writeCheckpoint } from '../support/checkpoint-writer.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

const AT = 40;

interface Scene {
  readonly bench: WorldBench;
  /** Objects of the start. */
  readonly keys: readonly string[];
}

/** A world that begins with documents, as one that was migrated does. */
async function scene(): Promise<Scene> {
  const bench = new WorldBench();
  const log = new EntryLog({ worldId: WORLD, incarnationId: INCARNATION });
  for (let at = 2; at <= AT; at++) expect(log.add(at, write(at))).toBe(true);
  const { record, keys } = await writeCheckpoint(bench.bucket, log, AT, { asStart: true });
  const { documents, root } = record;
  const start = { sequence: sequence(AT), documents, epoch: root.epoch, root };
  await bench.put(MARKER_KEY, encodeMarker({ ...genesisMarker(WORLD, INCARNATION), start }));
  return { bench, keys };
}

async function damage({ bench }: Scene, key: string, how: string): Promise<void> {
  const bytes = await bench.bytes(key);
  await bench.bucket.delete(key);
  if (how === 'cut') await bench.put(key, bytes.subarray(0, bytes.length >> 1));
}

describe.each(['cut', 'missing'])('an object of the start that is %s', (how) => {
  test('keeps the world from opening, by its name', async () => {
    const { keys } = await scene();
    const met: string[] = [];
    for (const key of keys) {
      const all = await scene();
      await damage(all, key, how);
      const before = await all.bench.keys();
      const opened = await all.bench.open().catch((error: unknown) => error);
      expect(await all.bench.keys()).toEqual(before);
      // Version records are read when somebody asks for them.
      if (key.endsWith('.rec')) continue;
      expect(opened).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
      met.push(key.replace(/^.*\./, ''));
    }
    expect(new Set(met)).toEqual(new Set(['seg', 'run', 'json']));
  });

  test('stops a compactor, by its name, and nothing is written that counts', async () => {
    const { keys } = await scene();
    for (const key of keys) {
      const all = await scene();
      const world = await all.bench.open();
      const publish = world.publish({ path: '/new.md', expected: 'any', body: 'new' });
      await all.bench.run(publish);
      await damage(all, key, how);
      const failure = await failureOf(all.bench.run(world.compact()));
      expect(failure, key).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
      const records = (await all.bench.keys()).filter((name) => name.includes('/checkpoints/'));
      expect(records).toEqual([]);
      // The store that was open goes on.
      const { version } = await all.bench.run(world.view().get('/new.md'));
      expect(version).toBe(1);
    }
  });
});

test('the start is built on when nothing of it is damaged: the method can fail', async () => {
  const { bench } = await scene();
  const world = await bench.open();
  await bench.run(world.publish({ path: '/new.md', expected: 'any', body: 'new' }));
  expect(await bench.run(world.compact())).toMatchObject({ written: 1 });
  const other = await bench.open();
  expect(await bench.run(other.stat())).toMatchObject({ documents: AT });
});
