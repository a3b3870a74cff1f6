/**
 * Goal: `verify` says what it has not looked at, and is silent about nothing that lies in its way.
 * Method: a world with a body in a blob that is cut; a world in a directory with things in it that
 * are no files.
 */
import { describe, expect, it } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { commandRunner } from './run-command.ts';

const { runCommand } = commandRunner();

describe('verify', () => {
  it('says that bodies in blobs were not read, and finds one that was cut with --deep', async () => {
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
