/**
 * Goal: on a directory the probe says what a person does about a directory, and leaves nothing of
 * its own. Method: file buckets on temporary directories, on a file system that refuses.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { nodeFileSystem } from '../../blob/file-system.ts';
import { assertUsable, type ProbeReport, probe } from '../../blob/probe.ts';
import { probeReportLines } from '../../blob/probe-report.ts';
import { type FileCall, hookedFileSystem, posixError } from '../support/faulty-file-system.ts';
import { bucketIn, stillTiming, temporaryDirectories } from '../support/file-buckets.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const directories = await temporaryDirectories();
afterAll(directories.remove);

const chance = new SeededRandom(5);
const WRITES: readonly FileCall['name'][] = ['openNew', 'link', 'unlink', 'mkdir', 'rmdir'];

/** What the probe says of a directory on which every write fails. */
async function refused(code: string): Promise<ProbeReport> {
  const fs = hookedFileSystem(nodeFileSystem, {
    before: ({ name }) => {
      if (WRITES.includes(name)) throw posixError(code);
    },
  });
  const bucket = bucketIn(await directories.fresh(), { fs });
  return probe(bucket, { chance, timing: stillTiming });
}

test.each([
  ['EROFS', /read-only; mount it for writing/],
  ['EACCES', /give it read and write access to the directory/],
  ['EPERM', /give it read and write access to the directory/],
])('a file system that refuses (%s) is told as one, not as a cloud', async (code, advice) => {
  const report = await refused(code);
  expect(report.missingPermissions).toEqual([]);
  expect(report.guarantees[0]).toMatchObject({ holds: 'not tried', detail: 'create is forbidden' });
  const lines = probeReportLines(report);
  expect(lines.filter((line) => advice.test(line))).toEqual([expect.stringMatching(/^all: /)]);
  expect(lines.join('\n')).not.toMatch(/storage\.|s3:|grant/);
  const error = await failureOf((async () => assertUsable(report))());
  expect(error).toMatchObject({ name: 'BlobError', code: 'forbidden' });
  expect(String(error)).toMatch(advice);
  expect(String(error)).not.toMatch(/storage\.|s3:|credentials/);
});

test('nothing of a probe stays in a directory, its directories included', async () => {
  const directory = await directories.fresh();
  const bucket = bucketIn(directory);
  const report = await probe(bucket, { chance, timing: stillTiming, replace: false });
  expect(report).toMatchObject({ leftovers: [], missingPermissions: [] });
  expect(await readdir(directory)).toEqual(['.bucketstore-tmp']);
});

async function createAndReplace(bucket: BlobStore, key: string): Promise<void> {
  await bucket.create(key, Buffer.from('1'));
  const found = await bucket.head(key);
  const generation = found.found ? found.attributes.generation : '';
  const { outcome } = await bucket.replace(key, generation, Buffer.from('2'));
  expect(outcome).toBe('replaced');
}

test('the bytes of what it replaced go too, and nobody else’s do', async () => {
  const directory = await directories.fresh();
  const bucket = bucketIn(directory);
  const report = await probe(bucket, { chance, timing: stillTiming });
  expect(report.guarantees.at(-1)).toMatchObject({ name: 'replace at a generation', holds: true });
  expect(await readdir(directory)).toEqual(['.bucketstore-tmp']);
  const marker = '_demarkus/v1/head.json';
  await createAndReplace(bucket, marker);
  await probe(bucket, { chance, timing: stillTiming });
  const generations = join(directory, '.bucketstore-gen');
  expect(await readdir(generations)).toHaveLength(1);
  expect(await bucket.get(marker)).toMatchObject({ bytes: new Uint8Array(Buffer.from('2')) });
  await bucket.delete(marker);
  expect(await readdir(generations), 'whoever slept must find its name taken').toHaveLength(1);
});

test.each([
  ['_demarkus/v1/probe/x/one', 'absent'],
  ['_demarkus/v1/head.json', 'an error'],
])('a replacement of %s that vanishes under its reader is %s', async (key, told) => {
  const directory = await directories.fresh();
  const fs = hookedFileSystem(nodeFileSystem, {
    before: async ({ name, path }) => {
      const reads = (name === 'openRead' || name === 'stat') && path.includes('.bucketstore-gen');
      if (reads) await rm(join(directory, '.bucketstore-gen'), { recursive: true, force: true });
    },
  });
  const reader = bucketIn(directory, { fs });
  const asked = [
    () => reader.get(key),
    () => reader.head(key),
    () => reader.list({ prefix: '_', limit: 9 }),
  ];
  for (const ask of asked) {
    const owner = bucketIn(directory);
    await owner.delete(key);
    await createAndReplace(owner, key);
    if (told === 'an error') expect(await failureOf(ask())).toMatchObject({ name: 'BlobError' });
    else expect(JSON.stringify(await ask())).toMatch(/"found":false|"objects":\[\]/);
  }
});

test('directories that hold something else stay, whatever is in them', async () => {
  const directory = await directories.fresh();
  const bucket = bucketIn(directory);
  const other = '_demarkus/v1/probe/other';
  await bucket.create(other, Buffer.from('x'));
  await probe(bucket, { chance, timing: stillTiming, replace: false });
  const prefix = join(directory, '_demarkus', 'v1', 'probe');
  expect(await readdir(prefix)).toEqual(['other']);
  // A delete of what is no probe's leaves its directory.
  await bucket.create('a/b', Buffer.from('x'));
  await bucket.delete('a/b');
  expect(await readdir(join(directory, 'a'))).toEqual([]);
});

test('probes at once, and a world that begins, take no directories from each other', async () => {
  const directory = await directories.fresh();
  const one = async (seed: number): Promise<ProbeReport> => {
    const random = new SeededRandom(seed);
    return probe(bucketIn(directory), { chance: random, timing: stillTiming, replace: false });
  };
  const reports = await Promise.all(Array.from({ length: 8 }, (_, seed) => one(seed + 100)));
  for (const report of reports) {
    assertUsable(report);
    expect(report.leftovers).toEqual([]);
  }
  expect(await readdir(directory)).toEqual(['.bucketstore-tmp']);
  const marker = '_demarkus/v1/head.json';
  const [created] = await Promise.all([
    bucketIn(directory).create(marker, Buffer.from('{}')),
    one(200),
    one(201),
  ]);
  expect(created.outcome).toBe('created');
  expect(await readdir(join(directory, '_demarkus', 'v1'))).toEqual(['head.json']);
});

test('a directory that goes while a name is placed in it is made again', async () => {
  const directory = await directories.fresh();
  let removals = 0;
  const fs = hookedFileSystem(nodeFileSystem, {
    before: async ({ name, path }) => {
      const target = name === 'link' && path.endsWith('/probe/x/one');
      if (!target || removals === 3) return;
      await rm(join(directory, '_demarkus'), { recursive: true, force: true });
      removals++;
    },
  });
  const created = await bucketIn(directory, { fs }).create(
    '_demarkus/v1/probe/x/one',
    Buffer.from('x'),
  );
  expect([created.outcome, removals]).toEqual(['created', 3]);
});
