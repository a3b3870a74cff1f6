/**
 * Goal: `verify` says what it has not looked at, and is silent about nothing that lies in its way.
 * Method: a world with a body in a blob that is cut; a world in a directory with things in it that
 * are no files.
 */
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { commandRunner } from './run-command.ts';

const { runCommand } = commandRunner();

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bucketstore-verify-'));
});
afterAll(() => rm(root, { recursive: true }));

/** A world of three slots in a directory; the place of a slot by its sequence. */
async function worldIn(name: string): Promise<{ location: string; slot(first: number): string }> {
  const directory = join(root, name);
  const location = `file:${directory}`;
  await runCommand(['init', location]);
  for (const path of ['/a.md', '/b.md', '/c.md']) {
    expect(await runCommand(['put', location, path], { input: path })).toMatchObject({ exit: 0 });
  }
  const slot = (first: number): string => {
    const digits = first.toString(16).padStart(16, '0');
    return join(directory, '_demarkus', 'v1', 'log', `${digits}.slot`);
  };
  return { location, slot };
}

describe('verify', () => {
  it.each([
    ['the next slot', 5],
    ['a later one', 9],
    ['the newest', 4],
    ['one in the middle', 3],
  ])('finds a symbolic link in the place of %s', async (name, first) => {
    const { location, slot } = await worldIn(name);
    await rm(slot(first), { force: true });
    await symlink(slot(2), slot(first));
    const run = await runCommand(['verify', location]);
    expect(run.exit).toBe(6);
    const key = slot(first).slice(slot(first).indexOf('_demarkus'));
    expect(run.out).toMatch(
      new RegExp(`^wrong: ${key}: .*is no file \\(a symbolic link\\?\\)`, 'm'),
    );
    // And no store takes the name for free, or what it leads to for a slot.
    const write = await runCommand(['put', location, '/d.md'], { input: 'd' });
    expect(write).toMatchObject({ exit: 6, out: '' });
    expect(write.err).toMatch(/^bucketstore: not committed: .*\[INTEGRITY\]\n$/);
  });

  it('says that bodies in blobs were not read, and finds a cut one with --deep', async () => {
    const clock = new ManualClock();
    const bucket = createMemoryBucket({ timing: clock });
    const options = { components: { clock, bucket }, input: 'x'.repeat(50_000) };
    const verify = (...flags: string[]): ReturnType<typeof runCommand> => {
      return runCommand(['verify', 'memory:', ...flags], options);
    };
    await runCommand(['init', 'memory:'], options);
    expect((await verify()).out).toContain('\nall is as it must be\n');
    await runCommand(['put', 'memory:', '/a.md'], options);
    const { objects } = await bucket.list({ prefix: '_demarkus/v1/blobs/', limit: 10 });
    expect(objects).toHaveLength(1);
    const key = objects[0]?.key ?? '';
    await bucket.delete(key);
    await bucket.create(key, Buffer.from('x'.repeat(100)));
    const shallow = await verify();
    expect(shallow).toMatchObject({ exit: 0 });
    expect(shallow.out).toContain('bodies in blobs were not read: use --deep');
    expect(shallow.out).not.toContain('all is as it must be');
    const deep = await verify('--deep');
    expect(deep).toMatchObject({ exit: 6 });
    expect(deep.out).toContain(`wrong: ${key}: `);
  });
});
