/**
 * Goal: the commands on documents do what their help says, with the answers and statuses of the one
 * table of codes. Method: each runs in this process on a named memory bucket, which outlives the
 * run as a real one does.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StoreError } from '../../bucketstore/index.ts';
import { commandRunner } from './run-command.ts';

const { runCommand, runJson } = commandRunner();

async function worldFor(name: string): Promise<string> {
  const location = `memory:documents-${name}`;
  expect(await runCommand(['init', location])).toMatchObject({ exit: 0, err: '' });
  return location;
}

async function put(location: string, path: string, input: Uint8Array | string): Promise<void> {
  expect(await runCommand(['put', location, path], { input })).toMatchObject({ exit: 0 });
}

interface Stat {
  readonly version: number;
  readonly metadata: Readonly<Record<string, string>> | null;
}

describe('init', () => {
  it('makes a world, and leaves one that is there as it is', async () => {
    const first = await runJson<{ created: boolean; worldId: string }>(['init', 'memory:init-a']);
    const again = await runJson<{ created: boolean; worldId: string }>(['init', 'memory:init-a']);
    expect(first.created).toBe(true);
    expect(again).toEqual({ ...first, created: false });
  });

  it('gives the ID that is asked for, and refuses a world of another', async () => {
    const id = '00000000-0000-4000-8000-000000000001';
    const other = '00000000-0000-4000-8000-000000000002';
    const made = await runJson(['init', 'memory:init-b', '--world-id', id]);
    expect(made).toMatchObject({ created: true, worldId: id });
    const refused = await runCommand(['init', 'memory:init-b', '--world-id', other]);
    expect(refused).toMatchObject({ exit: 5, out: '' });
    expect(refused.err).toContain(id);
    expect(await runCommand(['init', 'memory:init-c', '--world-id', 'x'])).toMatchObject({
      exit: 2,
    });
  });
});

describe('put and get', () => {
  it.each([
    ['with a mark and CRLF', '\ufeff---\r\ntitle: Intro\r\ntags: [one, two]\r\n---\r\n# Hello\r\n'],
    ['with CRLF', '---\r\ntitle: Intro\r\ntags: [one, two]\r\n---\r\n# Hello\r\n'],
    ['with LF', '---\ntitle: Intro\ntags: [one, two]\n---\n# Hello\n'],
    ['with CR', '---\rtitle: Intro\rtags: [one, two]\r---\r# Hello\r'],
    ['with spaces behind the fence', '---   \ntitle: Intro\ntags: [one, two]\n---   \n'],
    ['ending in the fence', '---\ntitle: Intro\ntags: [one, two]\n---'],
  ])('read front matter %s, and give every byte back', async (name, body) => {
    const location = await worldFor(`bytes-${name.replaceAll(' ', '-')}`);
    await put(location, '/a.md', body);
    const got = await runCommand(['get', location, '/a.md']);
    expect(Buffer.compare(got.bytes, Buffer.from(body))).toBe(0);
    const { metadata } = await runJson<Stat>(['stat', location, '/a.md']);
    expect(metadata).toEqual({ title: 'Intro', tags: 'one,two' });
  });

  it.each([
    ['an empty block', '---\n---\n'],
    ['no bytes at all', ''],
    ['a block that is never closed', '---\n\nExample text about zebras.\n'],
    ['a rule in the middle', '# A\n\n---\nname: x\n---\n\nzebras\n'],
    ['just a fence', '---'],
  ])('take %s as text without metadata', async (name, body) => {
    const location = await worldFor(`text-${name.replaceAll(' ', '-')}`);
    await put(location, '/a.md', body);
    expect((await runCommand(['get', location, '/a.md'])).out).toBe(body);
    expect((await runJson<Stat>(['stat', location, '/a.md'])).metadata).toBeNull();
  });

  it('keep what the author wrote, whatever YAML would make of it', async () => {
    const location = await worldFor('values');
    const lines = ['start: 11:30', 'date: 2024-11-05', 'country: no', 'code: 007', 'ver: 1.10'];
    await put(location, '/a.md', `---\n${lines.join('\n')}\nbig: 9007199254740993\n---\n`);
    expect((await runJson<Stat>(['stat', location, '/a.md'])).metadata).toEqual({
      start: '11:30',
      date: '2024-11-05',
      country: 'no',
      code: '007',
      ver: '1.10',
      big: '9007199254740993',
    });
  });

  it('decide about broken front matter the same every time, naming its line', async () => {
    const location = await worldFor('broken');
    const body = '---\ntags: [one, two\n---\n# X\n';
    const warnings: string[] = [];
    for (const path of ['/1.md', '/2.md', '/3.md']) {
      const run = await runCommand(['put', location, path], { input: body });
      expect(run.exit).toBe(0);
      warnings.push(run.err.replace(path, 'PATH'));
      expect((await runJson<Stat>(['stat', location, path])).metadata).toBeNull();
      expect((await runCommand(['get', location, path])).out).toBe(body);
    }
    expect(new Set(warnings).size).toBe(1);
    expect(warnings[0]).toContain('front matter line 2');
  });

  it('lay --meta over the front matter, or leave that unread', async () => {
    const location = await worldFor('meta');
    const input = '---\ntitle: A\nowner: b\n---\n';
    await runCommand(['put', location, '/a.md', '--meta', 'title=C', '--meta', 'x=1=2'], { input });
    await runCommand(['put', location, '/b.md', '-', '--no-front-matter'], { input });
    const laid = await runJson<Stat>(['stat', location, '/a.md']);
    expect(laid.metadata).toEqual({ title: 'C', owner: 'b', x: '1=2' });
    expect((await runJson<Stat>(['stat', location, '/b.md'])).metadata).toBeNull();
  });

  it('read a file, and say which file they cannot read', async () => {
    const location = await worldFor('files');
    const directory = await mkdtemp(join(tmpdir(), 'bucketstore-cli-'));
    try {
      const file = join(directory, 'a.md');
      await writeFile(file, 'from a file\n');
      expect(await runCommand(['put', location, '/a.md', file])).toMatchObject({ exit: 0 });
      expect((await runCommand(['get', location, '/a.md'])).out).toBe('from a file\n');
      const missing = await runCommand(['put', location, '/b.md', join(directory, 'none.md')]);
      expect(missing.exit).toBe(2);
      expect(missing.err).toContain('not committed: cannot read');
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('refuse a version that is not the expected one: 1, not committed', async () => {
    const location = await worldFor('expected');
    await put(location, '/a.md', 'one');
    for (const expected of ['absent', '0', '2', 'f'.repeat(64)]) {
      const run = await runCommand(['put', location, '/a.md', '--expected', expected], {
        input: 'two',
      });
      expect(run).toMatchObject({ exit: 1, out: '' });
      expect(run.err).toMatch(/^bucketstore: not committed: .*version 1.*\[CONFLICT\]\n$/);
    }
    const error = await runJson<{ error: unknown }>(['put', location, '/a.md', '--expected', '7'], {
      input: 'two',
    });
    expect(error.error).toMatchObject({
      code: 'CONFLICT',
      outcome: 'not committed',
      details: { path: '/a.md', currentVersion: 1 },
    });
    const { etag } = await runJson<{ etag: string }>(['stat', location, '/a.md']);
    const ok = await runCommand(['put', location, '/a.md', '--expected', etag], { input: 'two' });
    expect(ok).toMatchObject({ exit: 0, err: '' });
  });

  it('say when nothing was modified, and give a repeat its first answer', async () => {
    const location = await worldFor('repeat');
    const op = '00000000-0000-4000-8000-00000000000a';
    const argv = ['put', location, '/a.md', '--op', op];
    const first = await runJson(argv, { input: 'same' });
    const repeat = await runJson(argv, { input: 'same' });
    expect(first).toMatchObject({ committed: true, op, sequence: 2 });
    expect(repeat).toEqual(first);
    const same = await runCommand(['put', location, '/a.md'], { input: 'same' });
    expect(same.exit).toBe(0);
    expect(same.out).toContain('not modified');
  });

  it('read an old version, and answer 3 for what is not there', async () => {
    const location = await worldFor('old');
    await put(location, '/a.md', 'one');
    await put(location, '/a.md', 'two');
    expect((await runCommand(['get', location, '/a.md', '--version', '1'])).out).toBe('one');
    const document = await runJson(['get', location, 'a.md']);
    expect(document).toMatchObject({ path: '/a.md', version: 2, body: 'two', archived: false });
    const missing = await runCommand(['get', location, '/b.md']);
    expect(missing).toMatchObject({ exit: 3, out: '' });
    expect(await runCommand(['get', location, '/a.md', '--version', '3'])).toMatchObject({
      exit: 3,
    });
  });
});

describe('append', () => {
  it('adds `type: Document` where there is no type, but not to an index or a log', async () => {
    const location = await worldFor('append-type');
    for (const path of ['/a.md', '/b.md', '/log.md', '/index.md']) {
      await put(location, path, path === '/b.md' ? '---\ntype: Note\n---\n' : 'a');
      await runCommand(['append', location, path, '--meta', 'x=1'], { input: 'more' });
    }
    const types: unknown[] = [];
    for (const path of ['/a.md', '/b.md', '/log.md', '/index.md']) {
      types.push((await runJson<Stat>(['stat', location, path])).metadata);
    }
    expect(types).toEqual([
      { type: 'Document', x: '1' },
      { type: 'Note', x: '1' },
      { x: '1' },
      { x: '1' },
    ]);
  });

  it('adds to whichever version is there, or to the expected one only', async () => {
    const location = await worldFor('append');
    await put(location, '/log.md', 'one');
    const append = ['append', location, '/log.md'];
    expect(await runCommand(append, { input: 'two\n' })).toMatchObject({ exit: 0 });
    expect((await runCommand(['get', location, '/log.md'])).out).toBe('one\ntwo\n');
    const late = await runCommand([...append, '--expected', '1'], { input: 'three' });
    expect(late).toMatchObject({ exit: 1, out: '' });
    const missing = await runCommand(['append', location, '/none.md'], { input: 'x' });
    expect(missing).toMatchObject({ exit: 3 });
    expect(missing.err).toContain('not committed');
    const blind = await runCommand([...append, '--expected', 'any'], { input: 'x' });
    expect(blind).toMatchObject({ exit: 2 });
  });
});

describe('archive and unarchive', () => {
  it('take a document out of sight and bring it back', async () => {
    const location = await worldFor('archive');
    await put(location, '/a.md', 'kept');
    expect(await runCommand(['archive', location, '/a.md'])).toMatchObject({ exit: 0 });
    expect((await runCommand(['ls', location])).out).toBe('');
    expect((await runCommand(['ls', location, '--all'])).out).toBe('/a.md\n');
    const refused = await runCommand(['get', location, '/a.md']);
    expect(refused).toMatchObject({ exit: 1, out: '' });
    expect(refused.err).toContain('[ARCHIVED]');
    expect((await runCommand(['get', location, '/a.md', '--archived'])).out).toBe('kept');
    const write = await runCommand(['put', location, '/a.md'], { input: 'x' });
    expect(write.err).toMatch(/not committed: .*\[ARCHIVED\]/);
    expect(await runCommand(['unarchive', location, '/a.md'])).toMatchObject({ exit: 0 });
    expect((await runCommand(['get', location, '/a.md'])).out).toBe('kept');
    const again = await runJson(['unarchive', location, '/a.md']);
    expect(again).toMatchObject({ committed: false });
  });
});

describe('ls', () => {
  const odd = [
    '/a/with#hash.md',
    '/a/with space.md',
    '/a/100%.md',
    '/a/x%2Fy.md',
    '/a/q?z.md',
    '/a/plus+sign.md',
    '/a/\u202egnp.md',
    '/a/u\u0308.md',
    '/a/\u00fc.md',
    `/a/${'s'.repeat(300)}.md`,
    '/a/__proto__',
    '/a/constructor/prototype.md',
    '/a/--help',
  ];

  it('prints only what can be read with the same string', async () => {
    const location = await worldFor('odd');
    for (const path of odd) await put(location, path, `body of ${path}`);
    const found: string[] = [];
    const directories = ['/'];
    for (const directory of directories) {
      const { out, exit } = await runCommand(['ls', location, directory]);
      expect(exit).toBe(0);
      for (const line of out.split('\n').slice(0, -1)) {
        if (line.endsWith('/')) directories.push(line);
        else found.push(line);
      }
    }
    expect(new Set(found)).toEqual(new Set(odd));
    for (const path of found) {
      expect((await runCommand(['get', location, path])).out).toBe(`body of ${path}`);
      expect((await runCommand(['ls', location, path])).out).toBe(`${path}\n`);
    }
  });

  it('leaves hidden names out, which can be read all the same', async () => {
    const location = await worldFor('hidden');
    const hidden = ['/.hidden.md', '/..%2f..%2fhead.json', '/versions/a.md'];
    for (const path of hidden) await put(location, path, path);
    expect((await runCommand(['ls', location])).out).toBe('');
    for (const path of hidden) expect((await runCommand(['get', location, path])).out).toBe(path);
  });

  it.each(['/a/../b.md', '/a/nul\u0000.md', `/${'x'.repeat(4087)}`, '/'])(
    'has nothing to print of a path that put refuses: %j',
    async (path) => {
      const location = 'memory:documents-refused';
      await runCommand(['init', location]);
      const run = await runCommand(['put', location, path], { input: 'x' });
      expect(run.exit).toBe(1);
      expect(run.err).toMatch(/^bucketstore: not committed: .*\[INVALID_PATH\]\n$/);
      expect((await runCommand(['ls', location])).out).toBe('');
    },
  );

  it('pages by --limit and --after, a name or a line that it printed', async () => {
    const location = await worldFor('pages');
    for (const name of ['a', 'b/x', 'c', 'd']) await put(location, `/${name}.md`, name);
    const first = await runCommand(['ls', location, '--limit', '2']);
    expect(first.out).toBe('/a.md\n/b/\n');
    const rest = await runCommand(['ls', location, '--after', '/b/']);
    expect(rest.out).toBe('/c.md\n/d.md\n');
    expect((await runCommand(['ls', location, '--after', 'c.md'])).out).toBe('/d.md\n');
    expect(await runCommand(['ls', location, '/none'])).toMatchObject({ exit: 3 });
  });
});

describe('versions, log and stat', () => {
  it('show the history of a document and of the world', async () => {
    const location = await worldFor('history');
    await put(location, '/a.md', 'one');
    await put(location, '/a.md', 'two');
    await runCommand(['archive', location, '/a.md']);
    const versions = await runCommand(['versions', location, '/a.md', '--verify']);
    expect(versions.out.split('\n').map((line) => line.split(' ')[0])).toEqual([
      '2',
      '1',
      'the',
      '',
    ]);
    const log = await runCommand(['log', location]);
    expect(log.out.split('\n').map((line) => line.split('  ').slice(2).join(' '))).toEqual([
      'publish /a.md version 1',
      'publish /a.md version 2',
      'archive /a.md',
      '',
    ]);
    const tail = await runCommand(['log', location, '--from', '3', '--limit', '1', '--json']);
    expect(JSON.parse(tail.out)).toMatchObject({ sequence: 3, kind: 'write', path: '/a.md' });
    expect(await runJson(['stat', location])).toMatchObject({ sequence: 4, documents: 1 });
    const info = await runCommand(['stat', location, '/a.md']);
    expect(info.out).toContain('version   2 (archived)');
  });

  it('answer 1 for a log below what is kept', async () => {
    const location = await worldFor('below');
    expect(await runCommand(['log', location, '--from', '1'])).toMatchObject({ exit: 1, out: '' });
  });
});

describe('an interrupted command', () => {
  it('ends with 130 and has written nothing', async () => {
    const location = await worldFor('interrupted');
    const interrupted = new AbortController();
    interrupted.abort(new StoreError('INTERRUPTED', 'interrupted'));
    const { signal } = interrupted;
    const run = await runCommand(['put', location, '/a.md'], { input: 'x', signal });
    expect(run).toMatchObject({ exit: 130, out: '' });
    expect(run.err).toContain('not committed');
    expect(await runCommand(['get', location, '/a.md'])).toMatchObject({ exit: 3 });
  });
});
