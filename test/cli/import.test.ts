/**
 * Goal: an import brings a folder into a world byte for byte, says of every file it leaves out why,
 * and writes nothing when it is run again. Method: folders in a temporary directory, worlds on
 * named memory buckets, requests counted by the program itself.
 */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import { ImportGate } from '../../bucketstore/cli/import-gate.ts';
import { type FileOutcome, importFiles } from '../../bucketstore/cli/importer.ts';
import { type LoadedFile, readMarkdownFiles } from '../../bucketstore/cli/markdown-files.ts';
import { openWorld, StoreError, type World } from '../../bucketstore/index.ts';
import { withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { commandRunner } from './run-command.ts';

const { runCommand, runJson } = commandRunner();

const made: string[] = [];

afterEach(async () => {
  for (const directory of made.splice(0)) await rm(directory, { recursive: true });
});

type Files = Readonly<Record<string, string | Uint8Array>>;

async function folder(files: Files): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'bucketstore-import-'));
  made.push(directory);
  await fill(directory, files);
  return directory;
}

async function fill(directory: string, files: Files): Promise<void> {
  for (const [name, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), bytes);
  }
}

interface Result {
  readonly createdWorld: boolean;
  readonly imported: number;
  readonly new: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly skippedFiles: readonly { readonly file: string; readonly reason: string }[];
  readonly requests: Readonly<Record<string, number>>;
}

async function logPaths(location: string): Promise<readonly string[]> {
  const { out } = await runCommand(['log', location, '--json']);
  const lines = out.split('\n').slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { readonly path: string }).path);
}

describe('import', () => {
  it('makes the world, keeps every byte, and commits in byte order of the paths', async () => {
    const files = {
      'a.md': '# A\n',
      'a/z.md': '\ufeff---\r\ntitle: Z\r\n---\r\ntext',
      'a-b.md': '',
      'B.md': 'capitals come first',
      'a/\uffee.md': 'below the planes',
      'a/\u{1f600}.md': 'above them',
      'notes.txt': 'no Markdown',
    };
    const directory = await folder(files);
    const location = 'memory:import-bytes';
    const result = await runJson<Result>(['import', directory, '--to', location]);
    const names = Object.keys(files).filter((name) => name.endsWith('.md'));
    expect(result).toMatchObject({ createdWorld: true, imported: names.length, skipped: 0 });
    for (const name of names) {
      const { bytes } = await runCommand(['get', location, `/${name}`]);
      expect(Buffer.compare(bytes, Buffer.from(files[name as keyof typeof files]))).toBe(0);
    }
    const sorted = names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(await logPaths(location)).toEqual(sorted.map((name) => `/${name}`));
    const stat = await runJson(['stat', location, '/a/z.md']);
    expect(stat).toMatchObject({ metadata: { title: 'Z' } });
  });

  it('writes nothing the second time, and a version for what has changed', async () => {
    const directory = await folder({
      'a.md': 'one',
      'b.md': '---\nx: 1\n---\n',
      'c/d.md': 'three',
    });
    const location = 'memory:import-again';
    const argv = ['import', directory, '--to', location];
    await runCommand(argv);
    const again = await runJson<Result>(argv);
    expect(again).toMatchObject({ createdWorld: false, imported: 0, unchanged: 3, skipped: 0 });
    expect(again.requests).toMatchObject({ create: 0, replace: 0, delete: 0 });
    await writeFile(join(directory, 'a.md'), 'two');
    const changed = await runJson<Result>(argv);
    expect(changed).toMatchObject({ imported: 1, changed: 1, unchanged: 2 });
    expect(await runJson(['get', location, '/a.md'])).toMatchObject({ version: 2, body: 'two' });
  });

  it('puts the folder below --under', async () => {
    const directory = await folder({ 'a.md': 'a' });
    const location = 'memory:import-under';
    await runCommand(['import', directory, '--to', location, '--under', 'x//y/']);
    expect((await runCommand(['get', location, '/x/y/a.md'])).out).toBe('a');
  });

  it('names each file that it skips, and why, and goes on with the rest', async () => {
    const location = 'memory:import-skips';
    await runCommand(['init', location]);
    for (const path of ['/taken.md/below', '/gone.md']) {
      await runCommand(['put', location, path], { input: 'x' });
    }
    await runCommand(['archive', location, '/gone.md']);
    const directory = await folder({
      'good.md': 'good',
      'latin.md': Buffer.from([0xe9, 0x0a]),
      'long.md': Buffer.alloc(1_048_577, 'a'),
      'full.md': Buffer.alloc(1_048_576, 'a'),
      'taken.md': 'a directory there',
      'gone.md': 'archived there',
      'new\nline.md': 'no path',
    });
    await symlink('/etc/hostname', join(directory, 'link.md'));
    await symlink('/etc', join(directory, 'linked'));
    const run = await runCommand(['import', directory, '--to', location, '--json']);
    const result: Result = JSON.parse(run.out);
    expect(run.exit).toBe(0);
    expect(result).toMatchObject({ imported: 2, skipped: 7 });
    const reasons = Object.fromEntries(result.skippedFiles.map((one) => [one.file, one.reason]));
    expect(reasons).toEqual({
      'latin.md': expect.stringContaining('UTF-8'),
      'long.md': expect.stringContaining('1048577 bytes'),
      'taken.md': expect.stringContaining('PATH_COLLISION'),
      'gone.md': expect.stringContaining('ARCHIVED'),
      'new\nline.md': expect.stringContaining('INVALID_PATH'),
      'link.md': expect.stringContaining('symbolic link'),
      linked: expect.stringContaining('symbolic link'),
    });
    for (const { file } of result.skippedFiles) {
      expect(run.err).toContain(`skipped ${file.replace('\n', '\\x0a')}: `);
    }
    const documents = await logPaths(location);
    expect(documents.filter((path) => path.includes('link'))).toEqual([]);
  });

  it('imports a file without the metadata that does not fit, naming its line', async () => {
    const body = '---\ntitle: T\nversion: 9\nnested: {a: b}\n---\ntext\n';
    const directory = await folder({ 'a.md': body });
    const location = 'memory:import-metadata';
    const run = await runCommand(['import', directory, '--to', location]);
    expect(run.exit).toBe(0);
    expect(run.err).toContain('a.md: front matter line 3 "version"');
    expect(run.err).toContain('a.md: front matter line 4 "nested"');
    const document = await runJson(['get', location, '/a.md']);
    expect(document).toMatchObject({ body, metadata: { title: 'T' } });
  });

  it('ends with 1 when nothing could be imported, and 3 when there is no folder', async () => {
    const empty = await folder({ 'a.txt': 'a' });
    const bad = await folder({ 'a.md': Buffer.from([0xff]) });
    const location = 'memory:import-nothing';
    const none = await runCommand(['import', empty, '--to', location]);
    expect(none).toMatchObject({ exit: 1 });
    expect(none.out).toContain('no file whose name ends in .md');
    expect(await runCommand(['import', bad, '--to', location])).toMatchObject({ exit: 1 });
    const missing = await runCommand(['import', join(empty, 'none'), '--to', location]);
    expect(missing).toMatchObject({ exit: 3 });
  });

  it('shows progress on a terminal only', async () => {
    const directory = await folder({ 'a.md': 'a' });
    const argv = ['import', directory, '--to', 'memory:import-progress'];
    const clock = new ManualClock();
    clock.shiftMonotonic(1000);
    const options = { terminal: true, components: { clock } };
    expect((await runCommand(argv, options)).err).toContain('1 imported');
    expect((await runCommand(argv)).err).toBe('');
  });
});

function partsFor(world: World, clock: ManualClock, seed = 7) {
  const outcomes: FileOutcome[] = [];
  const onOutcome = (outcome: FileOutcome): void => {
    outcomes.push(outcome);
  };
  return {
    outcomes,
    parts: { world, clock, random: new SeededRandom(seed), under: '/', onOutcome },
  };
}

async function* madeFiles(count: number, at: (index: number) => void): AsyncGenerator<LoadedFile> {
  for (let i = 0; i < count; i++) {
    at(i);
    yield { kind: 'file', name: `${i}.md`, bytes: Buffer.from(`body ${i}`) };
  }
}

describe('importFiles()', () => {
  it('tells the outcome of all that was sent when interrupted, and goes on later', async () => {
    const clock = new ManualClock();
    const components = {
      clock,
      random: new SeededRandom(1),
      bucket: createMemoryBucket({ timing: clock }),
    };
    await using world = await openWorld('memory:', { create: true, components });
    const interrupted = new AbortController();
    const first = partsFor(world, clock);
    const stopAt = 40;
    const files = madeFiles(100, (index) => {
      if (index === stopAt) interrupted.abort(new StoreError('INTERRUPTED', 'interrupted'));
    });
    await importFiles(first.parts, files, interrupted.signal);
    expect(first.outcomes.map(({ kind }) => kind)).toEqual(Array(stopAt).fill('new'));
    const second = partsFor(world, clock, 8);
    await importFiles(
      second.parts,
      madeFiles(100, () => undefined),
      new AbortController().signal,
    );
    const kinds = second.outcomes.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'unchanged')).toHaveLength(stopAt);
    expect(kinds.filter((kind) => kind === 'new')).toHaveLength(100 - stopAt);
    expect((await world.stat()).documents).toBe(100);
  });

  it('takes what another import was first with as unchanged, if it is the same', async () => {
    const clock = new ManualClock();
    const bucket = createMemoryBucket({ timing: clock });
    const open = (seed: number): Promise<World> => {
      const components = { clock, random: new SeededRandom(seed), bucket };
      return openWorld('memory:', { create: true, components });
    };
    await using one = await open(1);
    await using other = await open(2);
    const { signal } = new AbortController();
    const first = partsFor(one, clock, 7);
    const second = partsFor(other, clock, 8);
    const count = 100;
    const differing = 30;
    async function* theirs(): AsyncGenerator<LoadedFile> {
      for await (const file of madeFiles(count, () => undefined)) {
        const differs = file.name === `${differing}.md`;
        yield differs ? { kind: 'file', name: file.name, bytes: Buffer.from('theirs') } : file;
      }
    }
    const both = Promise.all([
      importFiles(
        first.parts,
        madeFiles(count, () => undefined),
        signal,
      ),
      importFiles(second.parts, theirs(), signal),
    ]);
    await clock.run(both);
    const all = [...first.outcomes, ...second.outcomes];
    const ofKind = (kind: FileOutcome['kind']): FileOutcome[] => {
      return all.filter((outcome) => outcome.kind === kind);
    };
    expect(ofKind('new')).toHaveLength(count);
    expect(ofKind('unchanged')).toHaveLength(count - 1);
    expect(ofKind('skipped')).toEqual([
      expect.objectContaining({
        name: `${differing}.md`,
        reason: expect.stringContaining('CONFLICT'),
      }),
    ]);
    expect((await one.stat()).documents).toBe(count);
  });

  it('sends a document again under its operation when the bucket fails for a while', async () => {
    const clock = new ManualClock();
    const faulty = withFaults(createMemoryBucket({ timing: clock }), [], { timing: clock });
    const components = { clock, random: new SeededRandom(1), bucket: faulty.store };
    await using world = await openWorld('memory:', { create: true, components });
    faulty.add({
      operation: 'create',
      fault: { kind: 'fail', code: 'unavailable', ambiguous: false },
      times: 2,
    });
    const { parts, outcomes } = partsFor(world, clock);
    const done = importFiles(
      parts,
      madeFiles(3, () => undefined),
      new AbortController().signal,
    );
    await clock.run(done);
    expect(faulty.hits()).toEqual([2]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['new', 'new', 'new']);
    expect((await world.stat()).documents).toBe(3);
  });

  it('stops at an error that is not about one document', async () => {
    const clock = new ManualClock();
    const faulty = withFaults(createMemoryBucket({ timing: clock }), [], { timing: clock });
    const components = { clock, random: new SeededRandom(1), bucket: faulty.store };
    await using world = await openWorld('memory:', { create: true, components });
    faulty.add({ operation: 'create', fault: { kind: 'fail', code: 'forbidden' }, times: 1000 });
    const { parts, outcomes } = partsFor(world, clock);
    const signal = new AbortController().signal;
    const failed = importFiles(
      parts,
      madeFiles(5000, () => undefined),
      signal,
    );
    await expect(failed).rejects.toMatchObject({ code: 'LOCATION' });
    expect(outcomes.filter(({ kind }) => kind !== 'unchanged')).toEqual([]);
  });
});

describe('ImportGate', () => {
  it('bounds bytes in flight, and lets one through whatever its size', async () => {
    const gate = new ImportGate();
    await gate.room(1e9);
    let end = (): void => undefined;
    const work = new Promise<void>((resolve) => {
      end = resolve;
    });
    gate.start(1e9, work);
    let entered = false;
    const waiting = gate.room(1).then(() => {
      entered = true;
    });
    await Promise.resolve();
    expect(entered).toBe(false);
    end();
    await waiting;
    await gate.settled();
  });

  it('answers with what failed first', async () => {
    const gate = new ImportGate();
    gate.start(1, Promise.reject(new Error('first')));
    gate.start(1, Promise.reject(new Error('second')));
    await expect(gate.settled()).rejects.toThrow('first');
    await expect(gate.room(1)).rejects.toThrow('first');
  });
});

describe('readMarkdownFiles()', () => {
  it('names a file whose name is not UTF-8 instead of guessing', async () => {
    const directory = await folder({ 'a.md': 'a' });
    await writeFile(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xe9])]), 'x');
    const found: LoadedFile[] = [];
    for await (const file of readMarkdownFiles(directory)) found.push(file);
    expect(found.map(({ kind, name }) => [kind, name])).toEqual([
      ['file', 'a.md'],
      ['skipped', 'é'],
    ]);
  });
});
