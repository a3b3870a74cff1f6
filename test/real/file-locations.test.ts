// Goal: a directory that cannot be used says why and what to do, and a failed write stores nothing.
// Method: a worker process, without the super-user's rights where rights are the point, on
// directories that are read-only, on a full file system, or missing. Mounts need a super-user;
// without one the cases that need them say so.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, expect, test } from 'vitest';
import { temporaryDirectories } from '../support/file-buckets.ts';

const WORKER = fileURLToPath(new URL('./file-worker.ts', import.meta.url));
const NOBODY = 65534;
const run = promisify(execFile);
const isSuperUser = process.getuid?.() === 0;

const directories = await temporaryDirectories();
const mounts: string[] = [];

afterEach(async () => {
  for (const mount of mounts.splice(0)) await run('umount', [mount]);
});
afterAll(directories.remove);

/** What the worker printed of its create, its get and its list. */
async function tryIn(directory: string, asNobody = false): Promise<readonly unknown[]> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', WORKER, 'try', directory], {
    ...(asNobody && isSuperUser && { uid: NOBODY, gid: NOBODY }),
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function mountSmall(directory: string, options: string): Promise<boolean> {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', options, 'none', directory]);
    mounts.push(directory);
    return true;
  } catch (error) {
    console.info(`cannot mount here, so this case did not run: ${String(error)}`);
    return false;
  }
}

/** The temporary directory is its owner's alone; let nobody pass through. */
async function readable(directory: string): Promise<void> {
  await chmod(join(directory, '..'), 0o755);
  await writeFile(join(directory, 'kept'), 'kept');
}

test('a directory without write permission is `forbidden` to write, and can be read', async () => {
  const directory = await directories.fresh();
  await readable(directory);
  await chmod(directory, 0o555);
  const [create, get, list] = await tryIn(directory, true);
  expect(create).toMatchObject({ code: 'forbidden', retryable: false, ambiguous: false });
  expect(JSON.stringify(create)).toMatch(/give it read and write access/);
  expect([get, list]).toEqual([true, ['kept']]);
});

test('a directory without any permission is `forbidden`, never empty', async () => {
  const directory = await directories.fresh();
  await readable(directory);
  await chmod(directory, 0o000);
  for (const answer of await tryIn(directory, true)) {
    expect(answer).toMatchObject({ code: 'forbidden', retryable: false, ambiguous: false });
  }
  await chmod(directory, 0o755);
});

test('a read-only file system is `forbidden` to write, and can be read', async () => {
  const directory = await directories.fresh();
  if (!(await mountSmall(directory, 'size=1m'))) return;
  await writeFile(join(directory, 'kept'), 'kept');
  await run('mount', ['-o', 'remount,ro', directory]);
  const [create, get, list] = await tryIn(directory);
  expect(create).toMatchObject({ code: 'forbidden', retryable: false, ambiguous: false });
  expect(JSON.stringify(create)).toMatch(/read-only; mount it for writing/);
  expect([get, list]).toEqual([true, ['kept']]);
});

test('a full disk is `unavailable`, not worth a retry, and nothing is stored', async () => {
  const directory = await directories.fresh();
  if (!(await mountSmall(directory, 'size=1m'))) return;
  await writeFile(join(directory, 'kept'), 'kept');
  const [create, get, list] = await tryIn(directory);
  expect(create).toMatchObject({ code: 'unavailable', retryable: false, ambiguous: false });
  expect(JSON.stringify(create)).toMatch(/disk is full.*free space/);
  expect([get, list]).toEqual([true, ['kept']]);
  expect(await readdir(join(directory, '.bucketstore-tmp'))).toEqual([]);
});

test('a missing directory, or a file in its place, is `no-bucket`', async () => {
  const directory = await directories.fresh();
  for (const answer of await tryIn(join(directory, 'missing'))) {
    expect(answer).toMatchObject({ code: 'no-bucket', retryable: false, ambiguous: false });
    expect(JSON.stringify(answer)).toMatch(/missing does not exist: create it/);
  }
  await mkdir(join(directory, 'there'));
  await writeFile(join(directory, 'there', 'file'), '');
  for (const answer of await tryIn(join(directory, 'there', 'file'))) {
    expect(answer).toMatchObject({ code: 'no-bucket' });
    expect(JSON.stringify(answer)).toMatch(/is not a directory: name another/);
  }
  assert.deepEqual(await readdir(directory), ['there']);
});
