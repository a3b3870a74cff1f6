/**
 * Goal: real documents go into a world and come out byte for byte, on a directory and on a real S3
 * server, whatever the time zone.
 * Method: the program as a process on a book of Markdown pages; without the corpus its tests say so
 * and end. Then the same document put in three time zones.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openWorld } from '../../bucketstore/index.ts';
import { makeBucket, rgwServer } from '../support/rgw.ts';
import { type Environment, filesBelow, ROOT, runProgramWith } from './program.ts';

const CORPUS = process.env['BUCKETSTORE_CORPUS'] ?? join(ROOT, '..', 'shared', 'corpus');
const BOOK = join(CORPUS, 'book');

const root = await mkdtemp(join(tmpdir(), 'bucketstore-corpus-'));
afterAll(() => rm(root, { recursive: true, force: true }));
const files = await filesBelow(BOOK).catch(() => []);
const pages = files.filter((file) => file.endsWith('.md'));
const server = rgwServer();

async function importBook(location: string, env: Environment): Promise<void> {
  if (pages.length === 0) {
    console.info(`no corpus at ${BOOK}, so this did not run; BUCKETSTORE_CORPUS names another`);
    return;
  }
  const first = await runProgramWith(env, 'import', BOOK, '--to', location, '--json');
  expect(first).toMatchObject({ exit: 0, err: '' });
  expect(JSON.parse(first.out)).toMatchObject({ imported: pages.length, skipped: 0 });
  const second = await runProgramWith(env, 'import', BOOK, '--to', location, '--json');
  const again = JSON.parse(second.out);
  expect(again).toMatchObject({ imported: 0, unchanged: pages.length, skipped: 0 });
  expect(again.requests.create).toBe(0);
  const verified = await runProgramWith(env, 'verify', location, '--deep');
  expect(verified).toMatchObject({ exit: 0, err: '' });
  Object.assign(process.env, env);
  await using world = await openWorld(location);
  await using view = world.view();
  for (const page of pages) {
    const { body } = await view.get(page.slice(BOOK.length));
    expect(Buffer.compare(body, await readFile(page)), page).toBe(0);
  }
}

test('the book comes out of a directory byte for byte', async () => {
  await importBook(`file:${join(root, 'book')}`, {});
});

if (server !== undefined) {
  const { endpoint, credentials } = server;
  test('the book comes out of a real S3 server byte for byte', async () => {
    const bucket = await makeBucket(server);
    await importBook(`s3://${bucket}/book?endpoint=${endpoint}`, {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_REGION: 'us-east-1',
    });
  });
}

test('B37 what an author wrote means the same in every time zone', async () => {
  const told: string[] = [];
  for (const zone of ['America/Chicago', 'UTC', 'Asia/Tokyo']) {
    const location = `file:${join(root, zone)}`;
    const page = join(root, 'page.md');
    const lines = ['start: 11:30', 'date: 2024-11-05', 'country: no', 'build: 1e3', 'code: 007'];
    await writeFile(page, `---\n${lines.join('\n')}\n---\n# Page\n`);
    for (const argv of [['init'], ['put', '/page.md', page]]) {
      const [name = '', ...rest] = argv;
      const done = await runProgramWith({ TZ: zone }, name, location, ...rest);
      expect(done).toMatchObject({ exit: 0, err: '' });
    }
    const got = await runProgramWith({ TZ: zone }, 'get', location, '/page.md', '--json');
    const { metadata, etag } = JSON.parse(got.out);
    told.push(JSON.stringify([metadata, etag]));
  }
  expect(told[0]).toContain('"date":"2024-11-05"');
  expect(new Set(told).size).toBe(1);
});
