// Goal: the file bucket keeps the bucket contract on plain files that people can look at.
// Method: the contract suite on temporary directories, then what only a directory has: its layout,
// keys that collide, a directory that is missing or exchanged, several handles on one directory.
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createFileBucket } from '../../blob/file.ts';
import { decodeSegment, encodeSegment, pathOfKey } from '../../blob/file-path.ts';
import { nodeFileSystem } from '../../blob/file-system.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import { blobContract } from '../contract/blob.ts';
import { attributesOf, bytesOf, listKeys, mustCreate, readBytes } from '../contract/blob-case.ts';
import { hookedFileSystem } from '../support/faulty-file-system.ts';
import { bucketIn, temporaryDirectories } from '../support/file-buckets.ts';

const directories = await temporaryDirectories();
const freshDirectory = directories.fresh;
afterAll(directories.remove);

describe('file bucket', () => {
  blobContract({ test, factory: async () => ({ store: bucketIn(await freshDirectory()) }) });

  test('an object is a plain file with its bytes, at a path that says its key', async () => {
    const directory = await freshDirectory();
    const store = bucketIn(directory);
    await mustCreate(store, '_demarkus/v1/log/0000000000000002.slot', bytesOf('slot'));
    await mustCreate(store, 'a b/../\u00e9', bytesOf('odd'));
    const slot = await readFile(join(directory, '_demarkus/v1/log/0000000000000002.slot'), 'utf8');
    expect(slot).toBe('slot');
    expect(await readFile(`${directory}/a%20b/%2E./%C3%A9`, 'utf8')).toBe('odd');
    expect(await readdir(join(directory, '.bucketstore-tmp'))).toEqual([]);
    expect((await store.head('absent')).date).toBe(1234);
  });

  test('a file put there by hand is an object, and what no key could be is ignored', async () => {
    const directory = await freshDirectory();
    const store = bucketIn(directory);
    await mkdir(join(directory, 'notes'));
    await writeFile(join(directory, 'notes', 'hello.md'), 'by hand');
    await writeFile(join(directory, 'notes', 'draft~'), 'not encoded');
    await writeFile(join(directory, 'notes', '%zz'), 'no code');
    await writeFile(join(directory, 'notes', '%41'), 'another spelling of A');
    await writeFile(join(directory, 'notes', '%0A'), 'a control character');
    expect(await listKeys(store, { prefix: '', limit: 10 })).toEqual(['notes/hello.md']);
    expect(new TextDecoder().decode(await readBytes(store, 'notes/hello.md'))).toBe('by hand');
  });

  test('a symbolic link in the place of an object is told of, and never followed', async () => {
    const directory = await freshDirectory();
    const store = bucketIn(directory);
    await mustCreate(store, 'a', bytesOf('a'));
    await mustCreate(store, 'dir/c', bytesOf('c'));
    await symlink('a', join(directory, 'link'));
    await symlink('nowhere', join(directory, 'dangling'));
    await symlink('dir', join(directory, 'to-dir'));
    const keys = ['a', 'dangling', 'dir/c', 'link', 'to-dir'];
    expect(await listKeys(store, { prefix: '', limit: 10 })).toEqual(keys);
    const odd = { code: 'integrity', retryable: false, ambiguous: false };
    for (const key of ['link', 'dangling', 'to-dir']) {
      await expect(store.get(key)).rejects.toMatchObject(odd);
      await expect(store.head(key)).rejects.toMatchObject(odd);
      await expect(store.create(key, bytesOf('x'))).rejects.toMatchObject({ code: 'unsupported' });
    }
    // A directory is no object, and a name that nothing has is absent.
    expect((await store.get('dir')).found).toBe(false);
    expect((await store.head('none')).found).toBe(false);
  });

  test('each text has one path below a directory, and the path leads back to it', () => {
    const texts = ['', '.', '..', '...', 'a', '%', '%+', '%25', '.bucketstore-tmp', '\u{1d400}'];
    texts.push('x'.repeat(200), 'x'.repeat(201), 'x'.repeat(400), '\u00e9'.repeat(400), 'a/b');
    const paths = texts.map(encodeSegment);
    expect(new Set(paths).size).toBe(texts.length);
    expect(paths.map(decodeSegment)).toEqual(texts);
    for (const name of paths.flatMap((path) => path.split('/'))) {
      expect(name).toMatch(/^[A-Za-z0-9._%+-]{1,202}$/);
      expect(name).not.toMatch(/^(\.|\.\.|\.bucketstore.*)$/);
    }
    expect(pathOfKey('/a//b/')).toBe('%/a/%/b/%');
  });

  test('a key that is an object and a directory of others is `unsupported`', async () => {
    const store = bucketIn(await freshDirectory());
    await mustCreate(store, 'a/b/c', bytesOf('x'));
    await mustCreate(store, 'd', bytesOf('y'));
    const refused = { code: 'unsupported', retryable: false, ambiguous: false };
    await expect(store.create('a', bytesOf('z'))).rejects.toMatchObject(refused);
    await expect(store.create('a/b', bytesOf('z'))).rejects.toThrow(/other keys begin with it/);
    await expect(store.create('d/e', bytesOf('z'))).rejects.toMatchObject(refused);
    await expect(store.create('d/e/f', bytesOf('z'))).rejects.toThrow(/is an object/);
    expect((await store.get('a')).found).toBe(false);
    expect((await store.head('d/e')).found).toBe(false);
    await store.delete('a/b/c');
    await mustCreate(store, 'a', bytesOf('now free'));
    expect(await listKeys(store, { prefix: '', limit: 10 })).toEqual(['a', 'd']);
  });

  test('a missing directory is `no-bucket`, and is made where that was asked for', async () => {
    const directory = join(await freshDirectory(), 'not', 'there');
    const store = bucketIn(directory);
    for (const call of [() => store.head('a'), () => store.create('a', bytesOf('x'))]) {
      await expect(call()).rejects.toMatchObject({ code: 'no-bucket', ambiguous: false });
    }
    await expect(store.list({ prefix: '', limit: 1 })).rejects.toThrow(/create it/);
    const maker = bucketIn(directory, { createDirectory: true });
    await mustCreate(maker, 'a', bytesOf('x'));
    expect((await store.head('a')).found).toBe(true);
    await writeFile(join(directory, 'file'), '');
    const wrong = bucketIn(join(directory, 'file'));
    await expect(wrong.head('a')).rejects.toThrow(/not a directory/);
  });

  test('a directory that goes or is exchanged while open is no empty bucket', async () => {
    const directory = await freshDirectory();
    const store = bucketIn(directory);
    await mustCreate(store, 'log/1', bytesOf('x'));
    await rename(directory, `${directory}-moved`);
    const calls = [
      () => store.head('log/2'),
      () => store.get('log/1'),
      () => store.list({ prefix: 'log/', limit: 1 }),
      () => store.delete('log/1'),
      () => store.create('log/2', bytesOf('y')),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'no-bucket' });
    await mkdir(directory);
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'no-bucket' });
    expect((await readdir(directory)).filter((name) => name !== '.bucketstore-tmp')).toEqual([]);
  });

  test('handles on one directory see each other at once, replacements included', async () => {
    const directory = await freshDirectory();
    const stores = [bucketIn(directory), bucketIn(directory), bucketIn(directory)];
    const [a, b, c] = stores as [BlobStore, BlobStore, BlobStore];
    await mustCreate(a, 'head.json', bytesOf('0'));
    for (let round = 1; round <= 5; round++) {
      const { generation } = await attributesOf(b, 'head.json');
      const results = await Promise.all(
        stores.map((store, i) => store.replace('head.json', generation, bytesOf(`${round}/${i}`))),
      );
      const winners = results.flatMap(({ outcome }, i) => (outcome === 'replaced' ? [i] : []));
      expect(winners).toHaveLength(1);
      expect(await readBytes(c, 'head.json')).toEqual(bytesOf(`${round}/${winners[0]}`));
    }
    await b.delete('head.json');
    expect((await c.get('head.json')).found).toBe(false);
    await mustCreate(c, 'head.json', bytesOf('new'));
    expect(await readBytes(a, 'head.json')).toEqual(bytesOf('new'));
  });

  test('reads at once share a look for replacements, which none finds stale', async () => {
    const directory = await freshDirectory();
    const other = bucketIn(directory);
    await mustCreate(other, 'head.json', bytesOf('0'));
    await mustCreate(other, 'another', bytesOf('0'));
    await other.replace('another', (await attributesOf(other, 'another')).generation, bytesOf('1'));
    let looks = 0;
    let wait: Promise<void> | undefined;
    const fs = hookedFileSystem(nodeFileSystem, {
      // What was read is told late.
      after: async ({ name, path }) => {
        if (name !== 'readdir' || !path.endsWith('.bucketstore-gen')) return;
        looks++;
        await wait;
      },
    });
    const store = bucketIn(directory, { fs });
    const reads = (): Promise<unknown>[] =>
      Array.from({ length: 50 }, () => store.get('head.json'));
    await Promise.all(reads());
    expect(looks).toBeLessThanOrEqual(3);
    let release = (): void => {};
    wait = new Promise((resolve) => {
      release = resolve;
    });
    const early = reads();
    const { generation } = await attributesOf(other, 'head.json');
    await other.replace('head.json', generation, bytesOf('1'));
    const late = [...reads(), store.head('head.json')];
    release();
    await Promise.all(early);
    const size = bytesOf('1').length;
    for (const found of await Promise.all(late)) {
      expect(found).toMatchObject({ found: true, attributes: { size } });
      if (typeof found === 'object' && found !== null && 'bytes' in found) {
        expect(found.bytes).toEqual(bytesOf('1'));
      }
    }
  });

  test('`list()` reads only directories that can hold a wanted key', async () => {
    const read: string[] = [];
    const directory = await freshDirectory();
    const fs = hookedFileSystem(nodeFileSystem, {
      before: ({ name, path }) => {
        if (name === 'readdir' && !path.includes('.bucketstore')) {
          read.push(path.slice(directory.length));
        }
      },
    });
    const store = bucketIn(directory, { fs });
    for (const key of ['a/1', 'b/1/x', 'b/2/x', 'b/3/x', 'c/1']) {
      await mustCreate(store, key, bytesOf(key));
    }
    read.length = 0;
    expect(await listKeys(store, { prefix: 'b/', after: 'b/1/y', limit: 1 })).toHaveLength(2);
    expect(read).toEqual(['/b', '/b/1', '/b/2', '/b/3', '/b', '/b/2', '/b/3']);
  });

  test('`close()` can be repeated, and calls after it reject with code `invalid`', async () => {
    const store = bucketIn(await freshDirectory());
    await store.close();
    await store.close();
    await expect(store.head('a')).rejects.toMatchObject({ code: 'invalid', operation: 'head' });
  });
});

test.each(['/proc/x/y', '/dev/null/y'])(
  'a directory that cannot be made at %s is no bucket, and ends',
  async (directory) => {
    const parts = { timing: systemClock, chance: systemRandom };
    const store = createFileBucket({ ...parts, directory, createDirectory: true });
    await expect(store.head('a')).rejects.toMatchObject({ code: 'no-bucket' });
  },
);
