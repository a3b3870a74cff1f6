/**
 * Goal: details, versions and packed bodies of a checkpoint cost the requests that are stated, each
 * object is read once for all who ask at a time, and what is kept has a bound (I17).
 * Method: a checkpoint of many runs and tables, read through a bucket that counts and holds calls.
 */
import { describe, expect, test } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { CheckpointCache } from '../../checkpoint/checkpoint-cache.ts';
import { HISTORY_VERSIONS } from '../../checkpoint/constants.ts';
import { CheckpointLoader } from '../../checkpoint/load.ts';
import { archive, hashOf, INCARNATION, inlined, WORLD, write } from '../log/values.ts';
import { EntryLog, writeCheckpoint } from '../support/checkpoint-writer.ts';
import { withGates } from '../support/gated-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';

const START = genesisMarker(WORLD, INCARNATION).start;
/** Two tables of each run, and several stretches of each. */
const SIZES = { bytesMin: 100_000, bytesMax: 200_000, modulus: 8 };
const DOCUMENTS = 700;
const VERSIONS = 5 * HISTORY_VERSIONS + 40;
/** Sequences from one version to the next. */
const GAP = 13;
const AT = 20_000;
const LONG = '/long.md';
const ONCE = '/d/0001.md';
const TWICE = '/d/0002.md';

const textOf = (version: number): string => `stored version ${version} of ${LONG}`;

/**
 * Documents written once, below the base; one of them again and archived behind it; one with many
 * versions, inlined, all along.
 */
function history(): EntryLog {
  const log = new EntryLog({ worldId: WORLD, incarnationId: INCARNATION });
  let at = 2;
  for (let i = 0; i < DOCUMENTS; i++, at++) {
    const path = `/d/${String(i).padStart(4, '0')}.md`;
    const catalog = { title: `Document ${i}`, metadata: { text: 'x'.repeat(400) } };
    expect(log.add(at, write(i, { path, catalog }))).toBe(true);
  }
  for (let version = 1; version <= VERSIONS; version++, at += GAP) {
    const text = textOf(version);
    const change = { path: LONG, version, bodyHash: hashOf(version), first: 3 };
    const entry = inlined(version, text, { ...change, first: Math.min(version, 3) });
    expect(log.add(at, entry, Buffer.from(text))).toBe(true);
  }
  const change = { path: TWICE, version: 2, bodyHash: hashOf(77) };
  expect(log.add(at++, write(at, change))).toBe(true);
  expect(log.add(at++, archive(at, { path: TWICE, version: 2, first: 1 }))).toBe(true);
  expect(at).toBeLessThan(AT);
  return log;
}

const LOG = history();

async function scene(cacheBytes?: number) {
  const gated = withGates(createMemoryBucket({ timing: new ManualClock() }));
  const written = await writeCheckpoint(gated.store, LOG, AT, { sizes: SIZES });
  const cache = new CheckpointCache(cacheBytes);
  const loader = new CheckpointLoader({ bucket: gated.store, start: START, cache });
  const state = await loader.load(written.record);
  const expected = LOG.state(AT);
  /** Keys that work reads, in order. */
  const readBy = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    const before = gated.calls.length;
    await work();
    return gated.calls.slice(before).map(({ key }) => key.replace(/.*\./, '.'));
  };
  return { ...written, gated, cache, loader, state, expected, readBy };
}

describe('loading', () => {
  test('costs the root, a manifest for each run, two ranges of each segment', async () => {
    const { root, record, gated, loader, keys } = await scene();
    const segments = keys.filter((key) => key.endsWith('.seg')).length;
    expect(segments).toBeGreaterThan(root.runs.length);
    gated.calls.length = 0;
    await new CheckpointLoader({ bucket: gated.store, start: START }).load(record);
    expect(gated.calls).toHaveLength(1 + root.runs.length + root.records.length + 2 * segments);
    gated.calls.length = 0;
    await loader.load(record);
    expect(gated.calls.map(({ operation }) => operation)).toEqual(['get']);
  });

  test('reads again only the runs that a later checkpoint does not share', async () => {
    const { root, gated, loader } = await scene();
    const next = await writeCheckpoint(gated.store, LOG, AT + 1024, { sizes: SIZES });
    const known = new Set([...root.runs, ...root.records].map(({ hash }) => hash));
    const fresh = [...next.root.runs, ...next.root.records].filter(({ hash }) => !known.has(hash));
    gated.calls.length = 0;
    await loader.load(next.record);
    expect(fresh.length).toBeGreaterThan(0);
    // What was written behind the base is of two documents: one segment for each run of them.
    const segments = gated.calls.filter(({ key }) => key.endsWith('.seg')).length;
    expect(segments).toBeLessThanOrEqual(2 * fresh.length);
    expect(gated.calls).toHaveLength(1 + fresh.length + segments);
  });
});

describe('details', () => {
  test('cost a directory and a stretch of entries, and nothing once they are kept', async () => {
    const { state, expected, readBy } = await scene();
    expect(await readBy(async () => state.document(ONCE))).toEqual(['.seg', '.seg']);
    expect(await readBy(async () => state.document(ONCE))).toEqual([]);
    expect(await readBy(async () => state.document('/d/0003.md'))).toEqual([]);
    expect(await readBy(async () => state.document('/d/0100.md'))).toEqual(['.seg']);
    expect(await state.document(ONCE)).toEqual(await expected.document(ONCE));
  });

  test('are not asked for by anything that is in memory', async () => {
    const { state, readBy } = await scene();
    const work = async () => [state.list('/d'), state.head(TWICE), state.lookupHash(hashOf(5))];
    expect(await readBy(work)).toEqual([]);
  });
});

describe('versions', () => {
  test('of a document with one are its details', async () => {
    const { state, expected, readBy } = await scene();
    expect(await readBy(() => state.versions(ONCE))).toEqual(['.seg', '.seg']);
    expect(await state.versions(ONCE)).toEqual(await expected.versions(ONCE));
  });

  test('cost two reads for each record run that can have some, one for each block', async () => {
    const { state, expected, root, readBy } = await scene();
    const keys = await readBy(() => state.versions(LONG));
    const blocks = keys.filter((key) => key === '.json').length;
    expect(keys.length).toBeLessThanOrEqual(2 * root.records.length + blocks);
    expect(blocks).toBeGreaterThan(0);
    const versions = await state.versions(LONG);
    expect(versions).toEqual(await expected.versions(LONG));
    expect(versions).toHaveLength(VERSIONS - 2);
    expect(await readBy(() => state.versions(LONG))).toEqual([]);
    for (const version of [2, 3, VERSIONS, VERSIONS + 1]) {
      expect(await state.version(LONG, version)).toEqual(await expected.version(LONG, version));
    }
  });

  test('are not looked for where no run of the time has the document', async () => {
    const { state, expected, root, readBy } = await scene();
    const keys = await readBy(() => state.versions(TWICE));
    expect(keys.length).toBeLessThan(2 * root.records.length);
    expect(await state.versions(TWICE)).toEqual(await expected.versions(TWICE));
  });
});

describe('a history block', () => {
  test.each(['missing', 'damaged'])('that is %s is named', async (how) => {
    const { state, gated, keys } = await scene();
    const blocks = keys.filter((key) => key.includes('/history/'));
    expect(blocks.length).toBeGreaterThan(1);
    for (const key of blocks) {
      const found = await gated.store.get(key);
      const bytes = Buffer.from(found.found ? found.bytes : []);
      await gated.store.delete(key);
      bytes[900] = (bytes[900] ?? 0) ^ 1;
      if (how === 'damaged') await gated.store.create(key, bytes);
    }
    const failure = await failureOf(state.versions(LONG));
    expect(failure).toMatchObject({ code: 'INTEGRITY' });
    expect(blocks).toContain((failure as { details: { object: string } }).details.object);
  });
});

describe('who ask at the same time', () => {
  test('share each read', async () => {
    const { state, readBy } = await scene();
    const all = () => Promise.all(Array.from({ length: 20 }, async () => state.document(ONCE)));
    expect(await readBy(all)).toHaveLength(2);
  });

  test('may leave without taking it from the others', async () => {
    const { state, gated, cache, expected } = await scene();
    const held = gated.hold('request', ({ key }) => key.endsWith('.seg'));
    const leaving = new AbortController();
    const left = failureOf(Promise.resolve(state.document(ONCE, { signal: leaving.signal })));
    const staying = state.document(ONCE);
    leaving.abort('gone');
    expect(await left).toBe('gone');
    expect(cache.reading).toBe(1);
    await held.open();
    expect(await staying).toEqual(await expected.document(ONCE));
    expect(cache.reading).toBe(0);
  });

  test('are all told of a failure, which is not kept', async () => {
    const { state, gated, cache, keys, expected } = await scene();
    const segments = keys.filter((key) => key.endsWith('.seg'));
    const kept = new Map<string, Uint8Array>();
    for (const key of segments) {
      const found = await gated.store.get(key);
      if (found.found) kept.set(key, found.bytes);
      await gated.store.delete(key);
    }
    const asked = [1, 2].map(() => failureOf(Promise.resolve(state.document(ONCE))));
    const [one, other] = await Promise.all(asked);
    expect(one).toMatchObject({ code: 'INTEGRITY' });
    expect(other).toBe(one);
    expect(cache.reading).toBe(0);
    for (const [key, bytes] of kept) await gated.store.create(key, bytes);
    expect(await state.document(ONCE)).toEqual(await expected.document(ONCE));
  });
});

describe('what is kept', () => {
  test('has a bound in bytes, whatever is read', async () => {
    const bound = 700_000;
    const { state, cache } = await scene(bound);
    let most = 0;
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < DOCUMENTS; i += 20) {
        await state.document(`/d/${String(i).padStart(4, '0')}.md`);
        expect(cache.cachedBytes).toBeLessThanOrEqual(bound);
        most = Math.max(most, cache.cachedBytes);
      }
      await state.versions(LONG);
    }
    expect(most).toBeGreaterThan(bound / 2);
    expect(cache.reading).toBe(0);
  });

  test('is nothing without room', async () => {
    const { state, cache, readBy } = await scene(0);
    for (let i = 0; i < 2; i++) {
      expect(await readBy(async () => state.document(ONCE))).toHaveLength(2);
    }
    expect(cache.cachedBytes).toBe(0);
  });
});

describe('a packed version', () => {
  const record = LOG.state(AT).changedVersions(LONG);
  const oldest = [...record].at(-1);
  const [at, hash] = [oldest?.at, oldest?.storedHash ?? ''];
  const place = at !== undefined && 'seq' in at ? at.seq : sequence(1);

  test('is read by range, with its directory the first time', async () => {
    const { loader, readBy } = await scene();
    const bytes = await loader.readPacked(place, hash);
    expect(Buffer.from(bytes ?? []).toString()).toBe(textOf(3));
    expect(await readBy(() => loader.readPacked(place, hash))).toHaveLength(1);
    const next = sequence(place + GAP);
    const stored = sha256Hex(textOf(4));
    expect(await readBy(() => loader.readPacked(next, stored))).toHaveLength(1);
  });

  test('is none where nothing was inlined, with another hash, or not packed', async () => {
    const { loader, root } = await scene();
    expect(await loader.readPacked(sequence(place + 1), hash)).toBeNull();
    expect(await loader.readPacked(place, hashOf(1))).toBeNull();
    expect(await loader.readPacked(sequence(root.packedThrough + 1), hash)).toBeNull();
  });

  test('is none when its pack is gone, and is found in an older checkpoint’s', async () => {
    const { loader, root, gated } = await scene();
    const pack = root.packs.find(({ first, last }) => first <= place && place <= last);
    const key = `_demarkus/v1/packs/00000001/${pack?.hash}`;
    const again = await writeCheckpoint(gated.store, LOG, AT + 1024, { epoch: 2, sizes: SIZES });
    await loader.load(again.record);
    const newer = again.root.packs.find(({ first, last }) => first <= place && place <= last);
    await gated.store.delete(`_demarkus/v1/packs/00000002/${newer?.hash}`);
    expect(Buffer.from((await loader.readPacked(place, hash)) ?? []).toString()).toBe(textOf(3));
    await gated.store.delete(key);
    expect(await loader.readPacked(place, hash)).toBeNull();
  });

  test.each(['a directory', 'a body'])('is refused out of a pack with %s damaged', async (what) => {
    const { loader, root, gated } = await scene();
    const pack = root.packs.find(({ first, last }) => first <= place && place <= last);
    const key = `_demarkus/v1/packs/00000001/${pack?.hash}`;
    const found = await gated.store.get(key);
    const bytes = Buffer.from(found.found ? found.bytes : []);
    const where = what === 'a body' ? bytes.indexOf(textOf(3)) : (pack?.directory.length ?? 0) - 1;
    bytes[where] = (bytes[where] ?? 0) ^ 1;
    await gated.store.delete(key);
    await gated.store.create(key, bytes);
    const failure = await failureOf(loader.readPacked(place, hash));
    expect(failure).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
  });
});
