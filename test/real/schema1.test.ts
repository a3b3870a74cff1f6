/**
 * Goal: the program verifies a world of the old format in a directory, names what is wrong with it,
 * and ends at Ctrl-C. Method: real processes on a world made by the model of the old store.
 */
import {
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  truncate,
  unlink,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OldWorld } from '../schema1/old-world.ts';
import { filesBelow, runProgram, startProgram } from './program.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bucketstore-schema1-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface OldDirectory {
  readonly location: string;
  readonly directory: string;
  readonly world: OldWorld;
}

function oldDirectory(name: string, documents: number): OldDirectory {
  const directory = join(root, name);
  const world = new OldWorld({ seed: 8, documents });
  world.writeToDirectory(directory);
  return { location: `file:${directory}`, directory, world };
}

describe('a world of the old format in a directory', () => {
  it('is verified and told of, and not changed', async () => {
    const { location, directory, world } = oldDirectory('whole', 257);
    const objects = join(directory, '_demarkus');
    const before = await filesBelow(objects);
    const verified = await runProgram('verify', location, '--deep', '--json');
    expect(verified).toMatchObject({ exit: 0, err: '' });
    const { worldId, sequence } = world;
    const facts = { schema: 1, worldId, sequence, documents: 257, problemCount: 0 };
    expect(JSON.parse(verified.out)).toMatchObject(facts);
    const told = await runProgram('stat', location, '--json');
    expect(told).toMatchObject({ exit: 0, err: '' });
    expect(JSON.parse(told.out)).toMatchObject(facts);
    const refused = await runProgram('stat', location, '/a.md');
    expect(refused).toMatchObject({ exit: 6, out: '' });
    expect(refused.err).toContain('not shown one by one');
    expect(await filesBelow(objects)).toEqual(before);
  });

  it('is named with what is wrong: cut, gone, or no file', async () => {
    const { location, directory } = oldDirectory('damaged', 257);
    const v1 = join(directory, '_demarkus', 'v1');
    const [cut = '', gone = '', link = ''] = await readdir(join(v1, 'blobs'));
    await truncate(join(v1, 'blobs', cut), 10);
    await unlink(join(v1, 'blobs', gone));
    await unlink(join(v1, 'blobs', link));
    await symlink(join(v1, 'head.json'), join(v1, 'blobs', link));
    const { exit, out } = await runProgram('verify', location, '--deep');
    expect(exit).toBe(6);
    for (const hash of [cut, gone, link]) {
      // Some versions have been pruned: what nothing refers to is missed by nobody.
      const isReferredTo = await refersTo(v1, hash);
      expect(out.includes(`wrong: _demarkus/v1/blobs/${hash}: `), hash).toBe(isReferredTo);
    }
  });

  it.runIf(process.platform === 'linux')('is let go of at Ctrl-C: 130', async () => {
    const { location, directory } = oldDirectory('long', 3_000);
    const { child, ended } = startProgram('verify', location, '--deep');
    child.stdin.end();
    // In the midst of it: reading takes seconds, and has begun.
    while (child.exitCode === null && !(await hasOpen(child.pid, directory))) await setTimeout(1);
    child.kill('SIGINT');
    const { exit, out, err } = await ended;
    expect({ exit, out }).toEqual({ exit: 130, out: '' });
    expect(err).toContain('[INTERRUPTED]');
  });
});

/** Whether a process has an object below a directory open, as far as the kernel tells. */
async function hasOpen(pid: number | undefined, directory: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  for (const name of await readdir(folder).catch(() => [])) {
    // Most are closed again by the time that they are looked at.
    const path = await readlink(join(folder, name)).catch(() => '');
    if (path.startsWith(join(directory, '_demarkus', 'v1', 'blobs'))) return true;
  }
  return false;
}

async function refersTo(v1: string, hash: string): Promise<boolean> {
  for (const name of await readdir(join(v1, 'history'))) {
    const text = await readFile(join(v1, 'history', name), 'utf8');
    if (text.includes(`blobs/${hash}`)) return true;
  }
  return false;
}
