/**
 * Goal: a load rests on the newest checkpoint of which every object verifies, names the object that
 * does not, and gives the state of the log whichever it rests on (I3).
 * Method: a world with two checkpoints in its bucket; each object of the newer one in turn is
 * removed, or has a byte changed where a load reads it, and where only a question reads it.
 */
import { describe, expect, test } from 'vitest';
import { type Logger, silentLogger } from '../../bucketstore/base/diagnostics.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { Checkpoints } from '../../bucketstore/log/checkpoints.ts';
import { Log } from '../../bucketstore/log/log.ts';
import { decodeMarker } from '../../bucketstore/log/marker.ts';
import { checkpointKey, LOG_PREFIX, MARKER_KEY, parseKey } from '../../bucketstore/log/names.ts';
import { Sightings } from '../../bucketstore/log/sightings.ts';
import { decodeSlot } from '../../bucketstore/log/slot.ts';
import { type Loaded, load } from '../../bucketstore/snapshot/load.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { CheckpointLoader } from '../../checkpoint/load.ts';
import { CheckpointShelf } from '../support/checkpoint-shelf.ts';
import { EntryLog, type WrittenCheckpoint, writeCheckpoint } from '../support/checkpoint-writer.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';
import { SMALL_CUT } from './table-values.ts';

interface Scene {
  readonly bench: WorldBench;
  /** The state at the end, replayed. */
  readonly replayed: Snapshot;
  readonly older: WrittenCheckpoint;
  readonly newer: WrittenCheckpoint;
  readonly warnings: string[];
  loader(): CheckpointLoader;
  load(): Promise<Loaded>;
}

async function scene(): Promise<Scene> {
  const bench = new WorldBench();
  // Its own checkpoints, so that nothing here reads those that are damaged.
  const { world, parts } = await bench.store({ checkpoints: new CheckpointShelf(bench) });
  const publish = (n: number, body: string) =>
    bench.run(world.publish({ path: `/d/${n}.md`, expected: 'any', body }));
  for (let i = 0; i < 8; i++) await publish(i, `first ${i}`);
  for (let i = 0; i < 4; i++) await publish(i, `second ${i}`);
  const at = parts.follower.snapshot.tip.sequence;
  for (let i = 6; i < 12; i++) await publish(i, `third ${i}`);
  const { snapshot } = parts.follower;

  const marker = decodeMarker(await bench.bytes(MARKER_KEY));
  const log = new EntryLog(marker);
  for (const key of await bench.keys(LOG_PREFIX)) {
    const bytes = await bench.bytes(key);
    log.addSlot(decodeSlot(key, bytes).slot, bytes);
  }
  const options = { sizes: SMALL_CUT };
  const older = await writeCheckpoint(bench.bucket, log, at, options);
  const newer = await writeCheckpoint(bench.bucket, log, snapshot.tip.sequence, options);
  await publish(20, 'behind both');

  const warnings: string[] = [];
  const warn: Logger['warn'] = (fields) => warnings.push(String(fields['object']));
  const { bucket, clock } = bench;
  const loader = () => new CheckpointLoader({ bucket, start: marker.start });
  return {
    bench,
    replayed: parts.follower.snapshot,
    older,
    newer,
    warnings,
    loader,
    async load() {
      const checkpoints = new Checkpoints(bucket);
      const sightings = new Sightings({ clock, checkpoints });
      const moment = (date?: number) => sightings.moment(date);
      const source = loader();
      const start = async () => source.loadStart(marker, sha256Hex(await bench.bytes(MARKER_KEY)));
      const logger = { ...silentLogger, warn };
      const parts = { clock, logger, moment, log: new Log(bucket, moment), checkpoints, start };
      return bench.run(load({ ...parts, source }, {}));
    },
  };
}

async function expectSame(state: Snapshot, replayed: Snapshot): Promise<void> {
  expect(state.tip).toEqual(replayed.tip);
  expect(state.control).toEqual(replayed.control);
  expect(state.documentCount).toBe(replayed.documentCount);
  expect(state.list('/d')).toEqual(replayed.list('/d'));
  for (const { name } of replayed.list('/d')) {
    const path = `/d/${name}`;
    expect(await state.document(path)).toEqual(await replayed.document(path));
    expect(await state.versions(path)).toEqual(await replayed.versions(path));
  }
}

const typeOf = (key: string): string => {
  const name = parseKey(key);
  return name?.kind === 'index' ? name.type : (name?.kind ?? 'nothing');
};

/** Changes a byte of an object; from the end for a negative place. */
async function damage(bench: WorldBench, key: string, place: number): Promise<void> {
  const bytes = Buffer.from(await bench.bytes(key));
  const at = place < 0 ? bytes.length + place : place;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await bench.put(key, bytes);
}

describe('a load', () => {
  test('rests on the newest checkpoint, and says what the log says', async () => {
    const { load, replayed, newer, warnings } = await scene();
    const { snapshot } = await load();
    expect(snapshot.base.documents).toBe(newer.record.documents);
    await expectSame(snapshot, replayed);
    expect(warnings).toEqual([]);
  });

  test.each([
    ['missing', null],
    ['damaged at its beginning', 20],
    ['damaged at its end', -1],
  ])('rests on the older one when any object is %s', async (_, place) => {
    const { bench, loader, load, replayed, older, newer, warnings } = await scene();
    const [olderKey, newerKey] = [older, newer].map(({ record }) => {
      return checkpointKey(record.sequence, record.root.epoch);
    });
    const seen = new Set<string>();
    expect(older.record.documents).toBeLessThan(newer.record.documents);
    for (const key of newer.keys) {
      const type = typeOf(key);
      if (type === 'rec') continue;
      seen.add(type);
      const bytes = await bench.bytes(key);
      if (place === null) await bench.bucket.delete(key);
      else await damage(bench, key, place);
      const failure = await failureOf(loader().load(newer.record));
      expect(failure).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
      warnings.length = 0;
      const { snapshot } = await load();
      const isShared = older.keys.includes(key);
      expect(snapshot.base.documents).toBe(isShared ? 0 : older.record.documents);
      expect(warnings).toEqual(isShared ? [newerKey, olderKey] : [newerKey]);
      await expectSame(snapshot, replayed);
      await bench.put(key, bytes);
    }
    expect([...seen].sort()).toEqual(['root', 'run', 'seg']);
    expect(newer.keys.filter((key) => older.keys.includes(key))).not.toEqual([]);
  });

  test('refuses a root that says otherwise than its record', async () => {
    const { loader, older, newer } = await scene();
    const records = [
      { ...newer.record, root: older.record.root },
      { ...newer.record, documents: newer.record.documents + 1 },
    ];
    for (const record of records) {
      const object = `_demarkus/v1/roots/00000001/${record.root.hash}.json`;
      const failure = await failureOf(loader().load(record));
      expect(failure).toMatchObject({ code: 'INTEGRITY', details: { object } });
    }
  });
});

describe('a question', () => {
  test.each([
    ['missing', null],
    ['damaged at its beginning', 20],
    ['damaged in its entries', -10],
  ])('names the table of version records that is %s', async (_, place) => {
    const { bench, loader, newer } = await scene();
    const tables = newer.keys.filter((key) => typeOf(key) === 'rec');
    expect(tables.length).toBeGreaterThan(1);
    const named = new Set<unknown>();
    for (const key of tables) {
      if (place === null) await bench.bucket.delete(key);
      else await damage(bench, key, place);
    }
    const { base } = await loader().load(newer.record);
    for (let i = 0; i < 4; i++) {
      const failure = await failureOf(base.versions(`/d/${i}.md`, {}));
      expect(failure).toMatchObject({ code: 'INTEGRITY' });
      named.add((failure as { details: { object: string } }).details.object);
    }
    expect(tables).toEqual(expect.arrayContaining([...named]));
    expect(named.size).toBeGreaterThan(1);
  });

  test('names the segment of which an entry is damaged', async () => {
    const { bench, loader, newer } = await scene();
    const segments = newer.keys.filter((key) => typeOf(key) === 'seg');
    const { base } = await loader().load(newer.record);
    const directories = segments.map(async (key) => {
      const bytes = await bench.bytes(key);
      await damage(bench, key, bytes.indexOf(10) + 40);
    });
    await Promise.all(directories);
    const named = new Set<unknown>();
    for (let i = 0; i < 12; i++) {
      const failure = await failureOf(base.details(`/d/${i}.md`, {}));
      expect(failure).toMatchObject({ code: 'INTEGRITY' });
      named.add((failure as { details: { object: string } }).details.object);
    }
    expect([...named].sort()).toEqual([...segments].sort());
  });
});
