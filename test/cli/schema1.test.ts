/**
 * Goal: `verify` and `stat` say of a world in the old format what it is, what is wrong with it and
 * what moving it takes; other commands say what to do.
 * Method: the program in this process, on worlds of the old store in a bucket in memory.
 */
import { describe, expect, it } from 'vitest';
import { type BlobStore, createCounter, withObserver } from '../../blob/index.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { StoreError } from '../../bucketstore/base/errors.ts';
import { commands } from '../../bucketstore/cli/commands.ts';
import type { Schema1Counts } from '../../bucketstore/index.ts';
import { OldWorld } from '../schema1/old-world.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { commandRunner, type Run, type RunOptions } from './run-command.ts';

const { runCommand, runJson } = commandRunner();
const PREFIX = '_demarkus/v1/';

interface Old {
  readonly world: OldWorld;
  readonly bucket: BlobStore;
  run(command: string, options?: RunOptions): Promise<Run>;
  json<T>(command: string): Promise<T>;
  keys(folder: string): Promise<readonly string[]>;
}

async function oldWorld(documents = 60): Promise<Old> {
  const clock = new ManualClock();
  const bucket = createMemoryBucket({ timing: clock });
  const world = new OldWorld({ seed: 4, documents });
  await world.writeTo(bucket);
  const components = { clock, bucket };
  return {
    world,
    bucket,
    run: (command, options) => runCommand(command.split(' '), { ...options, components }),
    json: (command) => runJson(command.split(' '), { components }),
    keys: async (folder) => {
      const page = await bucket.list({ prefix: PREFIX + folder, limit: 1000 });
      return page.objects.map(({ key }) => key);
    },
  };
}

/** A message names no command that is not there. */
function expectCommands(message: string): void {
  const named = [...message.matchAll(/bucketstore (\w+)/g)].map(([, name]) => name);
  expect(named).not.toEqual([]);
  expect(commands.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
}

describe('verify of a world in the old format', () => {
  it('says what it is, what is in the bucket, and what was not read', async () => {
    const { world, run } = await oldWorld();
    const { exit, out, err } = await run('verify memory:');
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    const { worldId, sequence } = world;
    expect(out).toContain(
      `world ${worldId} in the old format (schema 1), sequence ${sequence}, 60`,
    );
    expect(out).toMatch(/^the bucket holds \d+ objects, /m);
    expect(out).toMatch(/^ {2}shards: 256, /m);
    expect(out).toMatch(/^ {2}manifests: \d+, .*; unreachable: \d+, /m);
    expect(out).toMatch(/^moving it would read \d+ objects \(\d+ lists\) and write 5, /m);
    expect(out).toMatch(/^checked 60 documents, \d+ versions, .* \(blobs are there, and were not/m);
    expect(out).toMatch(/^told of the past: 16 receipts .* cursors resume from \d+ on$/m);
    expect(out).toMatch(/blobs were not read: use --deep\n$/);
    const deep = await run('verify memory: --deep');
    expect(deep.out).toMatch(/\nall is as it must be\n$/);
    expect(deep.out).toMatch(/(\d+) versions, \1 of them read, /);
  });

  it('says it all as one line of JSON', async () => {
    const { world, json } = await oldWorld();
    const { worldId, sequence, documentCount: documents } = world;
    expect(await json('verify memory: --deep')).toMatchObject({
      location: 'memory:',
      schema: 1,
      worldId,
      sequence,
      headAfter: sequence,
      documents,
      deep: true,
      objects: { kinds: { shard: { objects: 256 } }, unreachable: { shard: { objects: 0 } } },
      told: { named: expect.any(Number) },
      cost: { documents, objects: 5, requests: { replace: 1 } },
      estimate: { ms: expect.any(Number), latencies: { readsAtOnce: 32 } },
      problems: [],
      problemCount: 0,
    });
  });

  it('names what is wrong and ends with 6', async () => {
    const { run, json, bucket, keys } = await oldWorld();
    const [manifest = ''] = await keys('docs/');
    await bucket.delete(manifest);
    await bucket.create(manifest, Buffer.from('{}'));
    const { exit, out } = await run('verify memory:');
    expect(exit).toBe(6);
    expect(out).toContain(`\nwrong: ${manifest}: its bytes have the hash `);
    expect(out).toMatch(/\n1 problems\n$/);
    expect(await json('verify memory:')).toMatchObject({ problemCount: 1 });
    for (const key of await keys('roots/')) await bucket.delete(key);
    const rootless = await run('verify memory:');
    expect(rootless).toMatchObject({ exit: 6 });
    expect(rootless.out).toMatch(/\nwrong: .*\/roots\/.*: missing\n/);
  });

  it('names a damaged head', async () => {
    const { run, json, bucket } = await oldWorld(0);
    const key = `${PREFIX}head.json`;
    await bucket.delete(key);
    await bucket.create(key, Buffer.from('{"schema":1}'));
    for (const command of ['verify', 'stat']) {
      const { exit, out } = await run(`${command} memory:`);
      expect(exit).toBe(6);
      expect(out).toContain('world unknown in the old format');
      expect(out).toContain(`wrong: ${key}: world_id: missing`);
      // Of what nothing is known, nothing is reckoned.
      expect(out).not.toContain('would read');
      expect(await json(`${command} memory:`)).toMatchObject({ cost: null, estimate: null });
    }
  });

  it('shows how far it is on a terminal, and ends when it is told to', async () => {
    const { run } = await oldWorld(200);
    const shown = await run('verify memory:', { terminal: true });
    expect(shown.err).toMatch(
      /K(64|128|192) documents, \d+ versions, \d+ history blocks, \d+ objects listed/,
    );
    const ended = new AbortController();
    ended.abort(new StoreError('INTERRUPTED', 'interrupted'));
    for (const command of ['verify memory:', 'stat memory:']) {
      expect(await run(command, { signal: ended.signal })).toMatchObject({ exit: 130, out: '' });
    }
  });
});

describe('stat of a world in the old format', () => {
  it('says what it is from its shards and one listing', async () => {
    const { world, run, json } = await oldWorld();
    const { exit, out } = await run('stat memory:');
    expect(exit).toBe(0);
    expect(out).toContain(`world ${world.worldId} in the old format`);
    expect(out).toMatch(/^ {2}blobs: \d+, \d+ kB$/m);
    expect(out).toMatch(/^moving it would read /m);
    expect(await json('stat memory:')).toMatchObject({
      schema: 1,
      documents: 60,
      objects: { unreachable: null },
      cost: { documents: 60 },
      problems: [],
    });
  });

  it('names what is wrong with what it reads and ends with 6', async () => {
    const { run, bucket, keys } = await oldWorld();
    const [shard = ''] = await keys('index/');
    await bucket.delete(shard);
    const { exit, out } = await run('stat memory:');
    expect(exit).toBe(6);
    expect(out).toContain(`wrong: ${shard}: missing`);
  });

  it('of one document is refused, saying why', async () => {
    const { world, run } = await oldWorld();
    const [document] = world.documents();
    const { exit, out, err } = await run(`stat memory: ${document?.path}`);
    expect({ exit, out }).toEqual({ exit: 6, out: '' });
    expect(err).toMatch(/old format, schema 1, whose documents are not shown one by one: /);
    expectCommands(err);
  });
});

describe('--world-id', () => {
  it('takes the world that is there and refuses another, of either format', async () => {
    const { world, run, bucket, keys } = await oldWorld(3);
    const other = '11111111-2222-4333-8444-555555555555';
    const commands = ['verify memory: --world-id', 'stat memory: --world-id'];
    const hold = async (worldId: string): Promise<void> => {
      for (const command of commands) {
        expect(await run(`${command} ${worldId}`)).toMatchObject({ exit: 0, err: '' });
        const { exit, out, err } = await run(`${command} ${other}`);
        expect({ exit, out }).toEqual({ exit: 5, out: '' });
        expect(err).toContain(`holds world ${worldId}, not ${other}; name the right location`);
        expect(await run(`${command} 7`)).toMatchObject({ exit: 2, out: '' });
      }
    };
    await hold(world.worldId);
    for (const key of await keys('')) await bucket.delete(key);
    const made = '99999999-2222-4333-8444-555555555555';
    expect(await run(`init memory: --world-id ${made}`)).toMatchObject({ exit: 0 });
    await hold(made);
  });
});

it('asks the bucket for no more than docs/cli.md says', async () => {
  const { world, bucket, keys } = await oldWorld();
  const clock = new ManualClock();
  const counter = createCounter();
  const counted = withObserver(bucket, counter, { timing: clock });
  const components = { clock, bucket: counted };
  const changeBlocks = (await keys('changes/')).length;
  const requests = async (command: string, deep: boolean) => {
    counter.reset();
    const { blocks = 0, versions = 0 } = await runJson<Partial<Schema1Counts>>(command.split(' '), {
      components,
    });
    const { get, list, head, ...none } = counter.snapshot().requests;
    expect([head, ...Object.values(none)].every((count) => count === 0)).toBe(true);
    return { get: get - (deep ? versions : 0), list, blocks };
  };
  const stat = await requests('stat memory:', false);
  expect(stat).toMatchObject({ get: 259, list: 1 });
  for (const command of ['verify memory:', 'verify memory: --deep']) {
    const { get, list, blocks } = await requests(command, command.endsWith('deep'));
    expect(get).toBe(3 + 1 + 256 + world.documentCount + blocks + changeBlocks);
    expect(list).toBe(1);
  }
});

it.each(['ls memory:', 'get memory: /a.md', 'put memory: /a.md', 'log memory:', 'init memory:'])(
  '%s says what is there and what to run',
  async (command) => {
    const { world, run, keys } = await oldWorld();
    const before = await keys('');
    const { exit, err } = await run(command);
    expect(exit).toBe(6);
    expect(err).toContain(`world ${world.worldId} in the old format, schema 1: `);
    expect(err).toContain('nothing moves it to schema 2 yet');
    expectCommands(err);
    expect(await keys('')).toEqual(before);
  },
);
