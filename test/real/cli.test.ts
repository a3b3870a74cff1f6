/**
 * Goal: the program does as a process what its commands do inside one: its statuses, its streams
 * and its answer to Ctrl-C, on directories as people have them. Method: real processes on temporary
 * directories. The corpus is a folder of real documents; without it its test says so and ends.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorld } from '../../bucketstore/index.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'bucketstore', 'cli', 'main.ts');
const CORPUS = process.env['BUCKETSTORE_CORPUS'] ?? join(ROOT, '..', 'shared', 'corpus');

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bucketstore-program-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

function start(...argv: readonly string[]) {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...argv], {
    cwd: ROOT,
    // A command that hangs is a failure, not a test that never ends.
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = once(child, 'close').then(([exit]): Ended => ({ exit, out, err }));
  return { child, ended };
}

function run(...argv: readonly string[]): Promise<Ended> {
  const { child, ended } = start(...argv);
  child.stdin.end();
  return ended;
}

async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** A location whose marker is this text. */
async function markedWith(name: string, text: string): Promise<string> {
  const directory = join(root, name, '_demarkus', 'v1');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'head.json'), text);
  return `file:${join(root, name)}`;
}

describe('the program', () => {
  it('imports a folder, and writes no object the second time', async () => {
    const directory = join(root, 'docs');
    const location = `file:${directory}`;
    const first = await run('import', 'docs', '--to', location, '--json');
    expect(first).toMatchObject({ exit: 0, err: '' });
    // Beside the objects lie temporary files, which the next process removes.
    const objects = await filesBelow(join(directory, '_demarkus'));
    const second = await run('import', 'docs', '--to', location, '--json');
    const { imported } = JSON.parse(first.out) as { readonly imported: number };
    expect(JSON.parse(second.out)).toMatchObject({
      imported: 0,
      unchanged: imported,
      requests: { create: 0, replace: 0, delete: 0 },
    });
    expect(await filesBelow(join(directory, '_demarkus'))).toEqual(objects);
    const page = await run('get', location, '/architecture.md');
    expect(page.out).toBe(await readFile(join(ROOT, 'docs', 'architecture.md'), 'utf8'));
    expect(await run('verify', location)).toMatchObject({ exit: 0, err: '' });
  });

  it('ends with the status of what it met', async () => {
    const location = `file:${join(root, 'statuses')}`;
    const id = '00000000-0000-4000-8000-00000000000b';
    expect(await run('init', location)).toMatchObject({ exit: 0 });
    expect(await run('init', location, '--world-id', id)).toMatchObject({ exit: 5, out: '' });
    const foreign = join(root, 'foreign');
    await mkdir(foreign);
    await writeFile(join(foreign, 'mine.txt'), 'mine');
    const refused = await run('init', `file:${foreign}`);
    expect(refused).toMatchObject({ exit: 5 });
    expect(refused.err).toContain('mine.txt');
    expect(await readdir(foreign)).toEqual(['mine.txt']);
    const old = await run('ls', await markedWith('old', '{"schema":1,"world_id":"x"}'));
    expect(old).toMatchObject({ exit: 6 });
    expect(old.err).toContain('migrate');
    expect(await run('ls', await markedWith('newer', '{"schema":3}'))).toMatchObject({ exit: 6 });
    expect(await run('ls', await markedWith('damaged', '{'))).toMatchObject({ exit: 6 });
    expect(await run('ls', `file:${join(root, 'nowhere')}`)).toMatchObject({ exit: 5 });
    expect(await run('ls', location, '/none')).toMatchObject({ exit: 3 });
    expect(await run('ls', location, '--nonsense')).toMatchObject({ exit: 2 });
    expect(await run()).toMatchObject({ exit: 2 });
  });

  it('cannot make a world where a file is: 5', async () => {
    const file = join(root, 'a file');
    await writeFile(file, 'x');
    const refused = await run('import', 'docs', '--to', `file:${file}`);
    expect(refused).toMatchObject({ exit: 5, out: '' });
    expect(await readFile(file, 'utf8')).toBe('x');
  });

  it('takes a document from standard input', async () => {
    const location = `file:${join(root, 'input')}`;
    await run('init', location);
    const { child, ended } = start('put', location, '/a.md');
    child.stdin.end('from a pipe\n');
    expect(await ended).toMatchObject({ exit: 0, err: '' });
    expect((await run('get', location, '/a.md')).out).toBe('from a pipe\n');
  });

  it('stops an import on Ctrl-C with 130, says what is done, goes on when run again', async () => {
    const folder = join(root, 'many');
    await mkdir(folder);
    const count = 6000;
    for (let i = 0; i < count; i++) await writeFile(join(folder, `${i}.md`), `# ${i}\n`);
    const location = `file:${join(root, 'interrupted')}`;
    const { child, ended } = start('import', folder, '--to', location, '--verbose');
    await once(child.stdout, 'data');
    child.kill('SIGINT');
    const { exit, out, err } = await ended;
    expect(exit).toBe(130);
    expect(err).toContain('[INTERRUPTED]');
    const told = Number(/not complete, .*imported (\d+) /.exec(out)?.[1]);
    const { documents } = JSON.parse((await run('stat', location, '--json')).out);
    expect(documents).toBe(told);
    expect(told).toBeLessThan(count);
    const rest = await run('import', folder, '--to', location, '--json');
    expect(JSON.parse(rest.out)).toMatchObject({ imported: count - told, unchanged: told });
    expect(await run('verify', location)).toMatchObject({ exit: 0 });
  });

  it('shows all of it on a tour, and touches nothing that is there already', async () => {
    const directory = join(root, 'tour');
    await mkdir(join(directory, '1'), { recursive: true });
    await writeFile(join(directory, '1', 'mine.txt'), 'mine');
    const { exit, out, err } = await run('tour', directory);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toContain('steps went as told');
    expect(out).toContain('[CONFLICT]');
    expect(await readdir(directory)).toEqual(['1', '2']);
    expect(await filesBelow(join(directory, '1'))).toEqual([join(directory, '1', 'mine.txt')]);
  });

  it('takes a tour of whatever folder it is given', async () => {
    const docs = join(root, 'own docs');
    await cp(join(ROOT, 'docs', 'adr'), docs, { recursive: true });
    const tour = await run('tour', join(root, 'tour of my own'), '--docs', docs);
    expect(tour).toMatchObject({ exit: 0, err: '' });
  });
});

describe('the book', () => {
  it('comes out of a world byte for byte', async () => {
    const book = join(CORPUS, 'book');
    const files = await filesBelow(book).catch(() => []);
    const pages = files.filter((file) => file.endsWith('.md'));
    if (pages.length === 0) {
      console.info(`no corpus at ${book}, so this did not run; BUCKETSTORE_CORPUS names another`);
      return;
    }
    const location = `file:${join(root, 'book')}`;
    const done = await run('import', book, '--to', location, '--json');
    expect(done.exit).toBe(0);
    expect(JSON.parse(done.out)).toMatchObject({ imported: pages.length, skipped: 0 });
    expect(await run('verify', location, '--deep')).toMatchObject({ exit: 0, err: '' });
    await using world = await openWorld(location);
    await using view = world.view();
    for (const page of pages) {
      const { body } = await view.get(page.slice(book.length));
      expect(Buffer.compare(body, await readFile(page)), page).toBe(0);
    }
  });
});
