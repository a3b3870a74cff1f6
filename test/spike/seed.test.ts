/**
 * Goal: a seeded world is one: every document is there as it was generated, found by every way of
 * reading, and the same seed makes the same objects; a location that has a world is left alone.
 * Method: some hundred documents in memory, in virtual time; a run that is interrupted and again.
 */
import { describe, expect, it } from 'vitest';
import { type BlobStore, openDriver, parseLocation } from '../../blob/index.ts';
// Loaded now: the driver would be when it is opened, and virtual time waits for no file.
import { createMemoryBucket } from '../../blob/memory.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { formatHash } from '../../bucketstore/document/body.ts';
import { openWorld } from '../../bucketstore/index.ts';
import { MARKER_KEY } from '../../bucketstore/log/names.ts';
import { runWorldScenario, type WorldRun } from '../../spike/run.ts';
import { SeedDocuments } from '../../spike/seed-documents.ts';
import { seedWorld } from '../../spike/seed-world.ts';
import { withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { parseLine } from './parse-line.ts';
import { type Around, machineOf } from './virtual-machine.ts';

const COUNT = 300;

function seed(
  line: string,
  clock: ManualClock = new ManualClock(),
  around: Around = {},
): Promise<WorldRun> {
  const asked = parseLine(`seed ${line} --documents ${COUNT} --body-bytes 200 --model gcs`);
  return clock.run(runWorldScenario(machineOf(clock, around), asked, 'seed'));
}

function bucketAt(location: string): Promise<BlobStore> {
  const parts = { timing: new ManualClock(), chance: new SeededRandom(1) };
  return openDriver(parseLocation(location), parts);
}

async function keysOf(location: string): Promise<readonly string[]> {
  const bucket = await bucketAt(location);
  const { objects } = await bucket.list({ prefix: '', limit: 1000 });
  return objects.map(({ key }) => key).filter((key) => key !== MARKER_KEY);
}

describe('SeedDocuments', () => {
  const documents = new SeedDocuments({ documents: 100_000, bodyBytes: 1_024, seed: 3 });

  it('has paths that ascend, each once, over a tree of directories', () => {
    const paths = Array.from({ length: documents.count }, (_, index) => documents.path(index));
    // All of it is ASCII: the engine's order is that of the bytes.
    expect(paths.every((path, at) => at === 0 || path > (paths[at - 1] ?? path))).toBe(true);
    const directories = new Set(paths.map((path) => path.slice(0, path.lastIndexOf('/'))));
    expect(directories.size).toBe(Math.ceil(100_000 / 32));
    expect(paths[0]).toBe('/spike/00/00/doc-00000000.md');
    expect(paths.at(-1)?.startsWith('/spike/ff/')).toBe(true);
  });

  it('has bodies of the size that is asked for, other ones for each document and revision', () => {
    const some = [documents.document(7), documents.document(8), documents.document(7, 1)];
    expect(some.map(({ body }) => body.length)).toEqual([1_024, 1_024, 1_024]);
    expect(new Set(some.map(({ body }) => sha256Hex(body))).size).toBe(3);
    expect(some[2]?.metadata).toEqual(some[0]?.metadata);
    const small = new SeedDocuments({ documents: 9, bodyBytes: 64, seed: 1 });
    expect(small.document(3).body).not.toEqual(small.document(3, 1).body);
  });

  it('is a function of its seed', () => {
    const again = new SeedDocuments({ documents: 100_000, bodyBytes: 1_024, seed: 3 });
    const other = new SeedDocuments({ documents: 100_000, bodyBytes: 1_024, seed: 4 });
    expect(again.document(99)).toEqual(documents.document(99));
    expect(other.document(99).metadata).not.toEqual(documents.document(99).metadata);
  });
});

describe('a run of seed', () => {
  it('makes a world whose documents are found by every way of reading', async () => {
    const clock = new ManualClock();
    const { report } = await seed('memory:seed-1', clock);
    expect(report).toMatchObject({ scenario: 'seed', documents: COUNT, valid: true });
    if (report.scenario !== 'seed') throw new TypeError('another scenario');
    expect(report.entry_bytes_per_document).toBeGreaterThan(820);
    expect(report.entry_bytes_per_document).toBeLessThan(880);
    // A pack, a segment, a table of version records, two manifests and the root.
    expect(report.checkpoint_objects).toBe(6);
    const components = { clock, random: new SeededRandom(5) };
    const settings = { compact: false };
    await using world = await openWorld('memory:seed-1', { settings, components });
    expect(await world.stat()).toMatchObject({ documents: COUNT, sequence: COUNT + 1 });
    const documents = new SeedDocuments({ documents: COUNT, bodyBytes: 200, seed: 1 });
    await using view = world.view();
    for (let index = 0; index < COUNT; index += 23) {
      const { path, body, metadata } = documents.document(index);
      const found = await view.get(path);
      expect(found).toMatchObject({ version: 1, archived: false, metadata });
      expect(Buffer.from(found.body).equals(body)).toBe(true);
      expect(await view.versions(path)).toHaveLength(1);
      await view.verifyChain(path);
      expect(await view.lookupHash(formatHash(sha256Hex(body)))).toBe(path);
    }
    expect(await view.listEntries('/spike')).toHaveLength(Math.ceil(COUNT / 32));
  });

  it('goes on by way of the log, like any world', async () => {
    const clock = new ManualClock();
    await seed('memory:seed-2', clock);
    const components = { clock, random: new SeededRandom(5) };
    const settings = { compact: false };
    await using world = await openWorld('memory:seed-2', { settings, components });
    const documents = new SeedDocuments({ documents: COUNT, bodyBytes: 200, seed: 1 });
    const { path, body, metadata } = documents.document(11, 1);
    await clock.run(world.publish({ path, expected: 1, body, metadata }));
    await using view = world.view();
    expect(await view.versions(path)).toHaveLength(2);
    await view.verifyChain(path);
  });

  it('makes the same objects from the same seed', async () => {
    await seed('memory:seed-3');
    await seed('memory:seed-4');
    await seed('memory:seed-5 --seed 2');
    const keys = await keysOf('memory:seed-3');
    expect(keys).toHaveLength(6);
    expect(await keysOf('memory:seed-4')).toEqual(keys);
    expect(await keysOf('memory:seed-5')).not.toEqual(keys);
  });

  it('refuses a location that has a world, and says what to do', async () => {
    const clock = new ManualClock();
    await seed('memory:seed-6', clock);
    const keys = await keysOf('memory:seed-6');
    await expect(seed('memory:seed-6 --seed 2', clock)).rejects.toMatchObject({
      code: 'LOCATION',
      message: expect.stringContaining('measure on it with coldstart or compact, or seed an empty'),
    });
    expect(await keysOf('memory:seed-6')).toEqual(keys);
  });

  it('that was interrupted is finished by another, of the same objects', async () => {
    const clock = new ManualClock();
    await seed('memory:seed-7', clock);
    const keys = await keysOf('memory:seed-7');
    await (await bucketAt('memory:seed-7')).delete(MARKER_KEY);
    const { report } = await seed('memory:seed-7', clock);
    expect(report.documents).toBe(COUNT);
    expect(await keysOf('memory:seed-7')).toEqual(keys);
    const components = { clock, random: new SeededRandom(5) };
    await using world = await openWorld('memory:seed-7', { components });
    expect(await world.stat()).toMatchObject({ documents: COUNT });
  });

  it('ends when it is told to, and makes no world', async () => {
    const stop = new AbortController();
    const progress = (text: string): void => {
      if (text.startsWith('0 of')) stop.abort(new Error('enough'));
    };
    const around = { signal: stop.signal, progress };
    await expect(seed('memory:seed-8', new ManualClock(), around)).rejects.toThrow('enough');
    expect((await (await bucketAt('memory:seed-8')).head(MARKER_KEY)).found).toBe(false);
  });

  it('whose marker was not created says so', async () => {
    const clock = new ManualClock();
    const key = (one: string): boolean => one === MARKER_KEY;
    const fault = { kind: 'fail', code: 'timeout', stored: false } as const;
    const rule = { fault, operation: 'create', key } as const;
    const below = createMemoryBucket({ timing: clock });
    const { store } = withFaults(below, [rule], { timing: clock });
    const documents = new SeedDocuments({ documents: 3, bodyBytes: 200, seed: 1 });
    const seeding = clock.run(seedWorld(machineOf(clock), store, documents));
    await expect(seeding).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('it is not there'),
    });
  });
});
