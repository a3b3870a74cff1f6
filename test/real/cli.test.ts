/**
 * Goal: the program does as a process what its commands do inside one: its statuses, its streams
 * and its answer to Ctrl-C, on directories as people have them. Method: real processes on temporary
 * directories.
 */
import { on } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesBelow, ROOT, runProgram, startProgram } from './program.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bucketstore-program-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

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
    const first = await runProgram('import', 'docs', '--to', location, '--json');
    expect(first).toMatchObject({ exit: 0, err: '' });
    // Beside the objects lie temporary files, which the next process removes.
    const objects = await filesBelow(join(directory, '_demarkus'));
    const second = await runProgram('import', 'docs', '--to', location, '--json');
    const { imported } = JSON.parse(first.out) as { readonly imported: number };
    expect(JSON.parse(second.out)).toMatchObject({
      imported: 0,
      unchanged: imported,
      requests: { create: 0, replace: 0, delete: 0 },
    });
    expect(await filesBelow(join(directory, '_demarkus'))).toEqual(objects);
    const page = await runProgram('get', location, '/architecture.md');
    expect(page.out).toBe(await readFile(join(ROOT, 'docs', 'architecture.md'), 'utf8'));
    expect(await runProgram('verify', location)).toMatchObject({ exit: 0, err: '' });
  });

  it('ends with the status of what it met', async () => {
    const location = `file:${join(root, 'statuses')}`;
    const id = '00000000-0000-4000-8000-00000000000b';
    expect(await runProgram('init', location)).toMatchObject({ exit: 0 });
    expect(await runProgram('init', location, '--world-id', id)).toMatchObject({
      exit: 5,
      out: '',
    });
    const foreign = join(root, 'foreign');
    await mkdir(foreign);
    await writeFile(join(foreign, 'mine.txt'), 'mine');
    const refused = await runProgram('init', `file:${foreign}`);
    expect(refused).toMatchObject({ exit: 5 });
    expect(refused.err).toContain('mine.txt');
    expect(await readdir(foreign)).toEqual(['mine.txt']);
    const old = await runProgram('ls', await markedWith('old', '{"schema":1,"world_id":"x"}'));
    expect(old).toMatchObject({ exit: 6 });
    expect(old.err).toContain('bucketstore verify and stat read it');
    expect(await runProgram('ls', await markedWith('newer', '{"schema":3}'))).toMatchObject({
      exit: 6,
    });
    expect(await runProgram('ls', await markedWith('damaged', '{'))).toMatchObject({ exit: 6 });
    expect(await runProgram('ls', `file:${join(root, 'nowhere')}`)).toMatchObject({ exit: 5 });
    expect(await runProgram('ls', location, '/none')).toMatchObject({ exit: 3 });
    expect(await runProgram('ls', location, '--nonsense')).toMatchObject({ exit: 2 });
    expect(await runProgram()).toMatchObject({ exit: 2 });
  });

  it('cannot make a world where a file is: 5', async () => {
    const file = join(root, 'a file');
    await writeFile(file, 'x');
    const refused = await runProgram('import', 'docs', '--to', `file:${file}`);
    expect(refused).toMatchObject({ exit: 5, out: '' });
    expect(await readFile(file, 'utf8')).toBe('x');
  });

  it('takes a document from standard input', async () => {
    const location = `file:${join(root, 'input')}`;
    await runProgram('init', location);
    const { child, ended } = startProgram('put', location, '/a.md');
    child.stdin.end('from a pipe\n');
    expect(await ended).toMatchObject({ exit: 0, err: '' });
    expect((await runProgram('get', location, '/a.md')).out).toBe('from a pipe\n');
  });

  it('stops an import on Ctrl-C with 130, says what is done, goes on when run again', async () => {
    const folder = join(root, 'many');
    await mkdir(folder);
    const count = 6000;
    for (let i = 0; i < count; i++) await writeFile(join(folder, `${i}.md`), `# ${i}\n`);
    const location = `file:${join(root, 'interrupted')}`;
    const { child, ended } = startProgram('import', folder, '--to', location, '--verbose');
    // Not at its first word, which is of the world: something shall be committed.
    for await (const [chunk] of on(child.stdout, 'data')) {
      if (/\/\d+\.md/.test(String(chunk))) break;
    }
    child.kill('SIGINT');
    const { exit, out, err } = await ended;
    expect(exit).toBe(130);
    expect(err).toContain('[INTERRUPTED]');
    const told = Number(/not complete, .*imported (\d+) /.exec(out)?.[1]);
    const { documents } = JSON.parse((await runProgram('stat', location, '--json')).out);
    expect(documents).toBe(told);
    const words = `bucketstore: committed ${told} files, not committed the rest: interrupted`;
    expect(err).toContain(words);
    expect(told).toBeLessThan(count);
    const rest = await runProgram('import', folder, '--to', location, '--json');
    expect(JSON.parse(rest.out)).toMatchObject({ imported: count - told, unchanged: told });
    expect(await runProgram('verify', location)).toMatchObject({ exit: 0 });
  });

  it('shows all of it on a tour, and touches nothing that is there already', async () => {
    const directory = join(root, 'tour');
    await mkdir(join(directory, '1'), { recursive: true });
    await writeFile(join(directory, '1', 'mine.txt'), 'mine');
    const { exit, out, err } = await runProgram('tour', directory);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toContain('steps went as told');
    expect(out).toContain('[CONFLICT]');
    expect(await readdir(directory)).toEqual(['1', '2']);
    expect(await filesBelow(join(directory, '1'))).toEqual([join(directory, '1', 'mine.txt')]);
  });

  it('takes a tour of whatever folder it is given', async () => {
    const docs = join(root, 'own docs');
    await cp(join(ROOT, 'docs', 'adr'), docs, { recursive: true });
    const tour = await runProgram('tour', join(root, 'tour of my own'), '--docs', docs);
    expect(tour).toMatchObject({ exit: 0, err: '' });
  });
});
