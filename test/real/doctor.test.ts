/**
 * Goal: whoever points the program at a location that cannot serve reads one line that says what to
 * do, and gets the exit status of the code table.
 * Method: the built program as a process, on locations that are wrong in every way a person meets.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { makeBucket, rgwServer } from '../support/rgw.ts';

const MAIN = fileURLToPath(new URL('../../dist/bucketstore/cli/main.js', import.meta.url));
const NOBODY = 65534;
const run = promisify(execFile);
const base = await mkdtemp(join(tmpdir(), 'doctor-'));
const server = rgwServer();

afterAll(() => rm(base, { recursive: true, force: true }));

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function doctor(
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly asNobody?: boolean } = {},
): Promise<Ended> {
  const env = { PATH: process.env['PATH'], ...options.env };
  const owner = options.asNobody === true && process.getuid?.() === 0;
  const identity = owner ? { uid: NOBODY, gid: NOBODY } : {};
  try {
    const done = await run(process.execPath, [MAIN, 'doctor', ...args], { env, ...identity });
    return { status: 0, out: done.stdout, err: done.stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, out: stdout, err: stderr };
  }
}

function expectOneLine({ err }: Ended, words: RegExp): void {
  expect(err.trimEnd().split('\n')).toHaveLength(1);
  expect(err).toMatch(words);
}

test('a good directory: a table, JSON for programs, nothing left behind, status 0', async () => {
  const directory = join(base, 'good');
  await mkdir(directory);
  const table = await doctor([`file:${directory}`]);
  expect([table.status, table.err]).toEqual([0, '']);
  expect(table.out).toMatch(/create-if-absent +yes/);
  const json = await doctor([`file:${directory}`, '--json']);
  const report = JSON.parse(json.out);
  expect(report.guarantees.every(({ holds }: { holds: boolean }) => holds)).toBe(true);
  expect(report.leftovers).toEqual([]);
});

test('a missing directory', async () => {
  const ended = await doctor([`file:${join(base, 'missing')}`]);
  expect(ended.status).toBe(5);
  expectOneLine(ended, /does not exist: create it.*LOCATION/);
});

test('a read-only directory', async () => {
  const directory = join(base, 'read-only');
  await mkdir(directory);
  await chmod(base, 0o755);
  await chmod(directory, 0o555);
  const ended = await doctor([`file:${directory}`], { asNobody: true });
  expect(ended.status).toBe(5);
  expectOneLine(ended, /give it read and write access to the directory.*LOCATION/);
  expect(ended.out + ended.err).not.toMatch(/storage\.objects|s3:/);
});

test('a full disk', async () => {
  const directory = join(base, 'full');
  await mkdir(directory);
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'none', directory]);
  } catch (error) {
    console.info(`cannot mount here, so this case did not run: ${String(error)}`);
    return;
  }
  try {
    await run('dd', ['if=/dev/zero', `of=${join(directory, 'ballast')}`, 'bs=4096']).catch(() => 0);
    const ended = await doctor([`file:${directory}`]);
    expect(ended.status).toBe(7);
    expectOneLine(ended, /full|space/);
  } finally {
    await run('umount', [directory]);
  }
});

test('a refused connection', async () => {
  const env = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' };
  const s3 = await doctor(['s3://bucket?endpoint=http://127.0.0.1:1'], { env });
  expect(s3.status).toBe(7);
  expectOneLine(s3, /UNAVAILABLE/);
  const gcs = await doctor(['gs://bucket?endpoint=http://127.0.0.1:1']);
  expect(gcs.status).toBe(7);
  expectOneLine(gcs, /UNAVAILABLE/);
});

test('no location, two locations, an unknown flag', async () => {
  for (const args of [[], ['file:a', 'file:b'], ['file:a', '--fast'], ['data']]) {
    const ended = await doctor(args);
    expect(ended.status, args.join(' ')).toBe(2);
    expectOneLine(ended, /USAGE/);
  }
});

if (server !== undefined) {
  const { endpoint, credentials } = server;
  const env = {
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_REGION: 'us-east-1',
  };

  test('a real S3 bucket is fit', async () => {
    const bucket = await makeBucket(server);
    const ended = await doctor([`s3://${bucket}/p?endpoint=${endpoint}`], { env });
    expect([ended.status, ended.err]).toEqual([0, '']);
  });

  test('a bucket that is missing', async () => {
    const ended = await doctor([`s3://no-such-bucket?endpoint=${endpoint}`], { env });
    expect(ended.status).toBe(5);
    expectOneLine(ended, /bucket does not exist.*LOCATION/);
  });

  test('credentials that are wrong', async () => {
    const bucket = await makeBucket(server);
    const wrong = { ...env, AWS_SECRET_ACCESS_KEY: 'wrong' };
    const ended = await doctor([`s3://${bucket}?endpoint=${endpoint}`], { env: wrong });
    expect(ended.status).toBe(5);
    expectOneLine(ended, /credentials.*LOCATION/);
  });
}
