/**
 * Goal: a list of a large directory reads it a few times, not once for each page, and shows what
 * was there before each page all the same.
 * Method: a directory of many files, changed between the pages of a list, with every reading of a
 * directory counted; a file system whose times of change are made up.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { BlobStore, ListResult, Timing } from '../../blob/blob.ts';
import { DirectoryNames, KEPT_NAMES_MIN, SETTLED_MS } from '../../blob/file-names.ts';
import { type DirectoryEntry, type FileStat, nodeFileSystem } from '../../blob/file-system.ts';
import { hookedFileSystem, posixError } from '../support/faulty-file-system.ts';
import { bucketIn, temporaryDirectories } from '../support/file-buckets.ts';
import { failureOf } from '../support/outcome.ts';

const directories = await temporaryDirectories();
afterAll(directories.remove);

/** Long after any file of this test was made, and long before. */
const LATER: Timing = { now: () => 1e14, monotonic: () => 0, sleep: async () => {} };
const EARLIER: Timing = { ...LATER, now: () => 0 };
const LIMIT = 400;
const FILES = Math.max(3 * LIMIT, KEPT_NAMES_MIN) + 50;

const nameOf = (number: number): string => String(number).padStart(6, '0');

interface Watched {
  readonly path: string;
  readonly store: BlobStore;
  /** How often the large directory was read. */
  readonly reads: () => number;
}

async function largeDirectory(timing: Timing): Promise<Watched> {
  const root = await directories.fresh();
  const path = join(root, 'large');
  await mkdir(path);
  for (let i = 0; i < FILES; i++) await writeFile(join(path, nameOf(i)), '');
  let reads = 0;
  const before = ({ name, path: at }: { readonly name: string; readonly path: string }): void => {
    if (name === 'readdir' && at === path) reads++;
  };
  const fs = hookedFileSystem(nodeFileSystem, { before });
  return { path, store: bucketIn(root, { fs, timing }), reads: () => reads };
}

function pageOf(store: BlobStore, after?: string): Promise<ListResult> {
  return store.list({ prefix: 'large/', after, limit: LIMIT });
}

/** All keys, page by page; what `between` does is done before each page but the first. */
async function listAll(store: BlobStore, between?: (page: number) => Promise<void>) {
  const keys: string[] = [];
  for (let page = 0; ; page++) {
    if (page > 0) await between?.(page);
    const { objects, more } = await pageOf(store, keys.at(-1));
    keys.push(...objects.map(({ key }) => key));
    if (!more) return { keys, pages: page + 1 };
  }
}

describe('a list of a large directory', () => {
  test('reads it twice, however many pages it has', async () => {
    const { store, reads } = await largeDirectory(LATER);
    const { keys, pages } = await listAll(store);
    expect(keys).toEqual(Array.from({ length: FILES }, (_, i) => `large/${nameOf(i)}`));
    expect(pages).toBeGreaterThan(3);
    expect(reads()).toBe(2);
    // What was kept is let go of at the end.
    await listAll(store);
    expect(reads()).toBe(4);
  });

  test('shows what was made and not what was removed between two pages', async () => {
    const { store, path, reads } = await largeDirectory(LATER);
    const last = nameOf(FILES - 1);
    const { keys, pages } = await listAll(store, async (page) => {
      await writeFile(join(path, `${last}-${page}`), '');
      if (page === 2) await rm(join(path, last));
    });
    const made = Array.from({ length: pages - 1 }, (_, i) => `large/${last}-${i + 1}`);
    expect(keys.slice(-made.length - 1)).toEqual([`large/${nameOf(FILES - 2)}`, ...made]);
    expect(reads()).toBeGreaterThanOrEqual(pages - 1);
  });

  test('reads it for every page when it may have changed just now', async () => {
    const { store, reads } = await largeDirectory(EARLIER);
    const { keys, pages } = await listAll(store);
    expect(keys).toHaveLength(FILES);
    expect(reads()).toBe(pages);
  });

  test('in two lists at once shows both all of it', async () => {
    const { store } = await largeDirectory(LATER);
    const [a, b] = await Promise.all([listAll(store), listAll(store)]);
    expect(a.keys).toHaveLength(FILES);
    expect(b).toEqual(a);
  });
});

describe('what is kept of a directory', () => {
  const ofNames = (count: number): DirectoryEntry[] => {
    return Array.from({ length: count }, (_, i) => ({ name: nameOf(i), kind: 'file' }));
  };

  /** A directory that last changed at `changedMs`, seen at `nowMs`. */
  function keeping(entries: () => DirectoryEntry[], changedMs: () => number, nowMs: number) {
    let reads = 0;
    const fs = {
      ...nodeFileSystem,
      readdir: async (path: string) => {
        if (path !== '/d') return [];
        reads++;
        return entries();
      },
      stat: async (): Promise<FileStat> => ({
        kind: 'directory',
        device: 1n,
        inode: 7n,
        size: 0,
        modifiedNs: 0n,
        changedNs: BigInt(changedMs()) * 1_000_000n,
      }),
    };
    const names = new DirectoryNames(fs, { now: () => nowMs });
    const read = (isContinued: boolean): Promise<readonly unknown[]> => {
      return names.sorted('/d', isContinued, () => true);
    };
    return { names, read, reads: () => reads };
  }

  test.each([
    ['settled', SETTLED_MS, KEPT_NAMES_MIN, 1],
    ['changed less than a while ago', SETTLED_MS - 1, KEPT_NAMES_MIN, 3],
    ['changed in the future', -1, KEPT_NAMES_MIN, 3],
    ['small', SETTLED_MS, KEPT_NAMES_MIN - 1, 3],
  ])('of one that is %s', async (_, ageMs, count, expected) => {
    const { read, reads } = keeping(
      () => ofNames(count),
      () => 10_000 - ageMs,
      10_000,
    );
    for (let i = 0; i < 3; i++) expect(await read(true)).toHaveLength(count);
    expect(reads()).toBe(expected);
  });

  test('is not used once it has changed', async () => {
    let changedMs = 0;
    let count = KEPT_NAMES_MIN;
    const { read, reads } = keeping(
      () => ofNames(count),
      () => changedMs,
      1e9,
    );
    await read(true);
    count++;
    changedMs = 1;
    expect(await read(true)).toHaveLength(count);
    expect(reads()).toBe(2);
  });

  test('is nothing where a name goes on in another directory, whose time is its own', async () => {
    const entries = (): DirectoryEntry[] => [
      ...ofNames(KEPT_NAMES_MIN),
      { name: `${'x'.repeat(200)}%+`, kind: 'directory' },
    ];
    const { read, reads } = keeping(entries, () => 0, 1e9);
    await read(true);
    await read(true);
    expect(reads()).toBe(2);
  });

  test('is nothing for a list that begins, and is let go of when asked', async () => {
    const { names, read, reads } = keeping(
      () => ofNames(KEPT_NAMES_MIN),
      () => 0,
      1e9,
    );
    await read(false);
    await read(true);
    expect(reads()).toBe(2);
    names.release('/other');
    await read(true);
    expect(reads()).toBe(2);
    names.release('/d');
    await read(true);
    expect(reads()).toBe(3);
    names.release();
    await read(true);
    expect(reads()).toBe(4);
  });
});

describe('directories in a directory', () => {
  async function manyDirectories(fails: (path: string) => boolean) {
    const root = await directories.fresh();
    for (let i = 0; i < 30; i++) {
      await mkdir(join(root, 'd', nameOf(i), 'inner'), { recursive: true });
      await writeFile(join(root, 'd', nameOf(i), 'inner', 'file'), '');
    }
    const read: string[] = [];
    const before = ({ name, path }: { readonly name: string; readonly path: string }): void => {
      if (name !== 'readdir' || path.includes('.bucketstore')) return;
      read.push(path.slice(root.length));
      if (fails(path)) throw posixError('EIO');
    };
    const fs = hookedFileSystem(nodeFileSystem, { before });
    return { store: bucketIn(root, { fs }), read };
  }

  test('are walked in order, each once, some ahead of their turn', async () => {
    const { store, read } = await manyDirectories(() => false);
    const { objects } = await store.list({ prefix: 'd/', limit: 1000 });
    const names = Array.from({ length: 30 }, (_, i) => nameOf(i));
    expect(objects.map(({ key }) => key)).toEqual(names.map((name) => `d/${name}/inner/file`));
    expect(read.toSorted()).toEqual(
      ['/d', ...names.flatMap((name) => [`/d/${name}`, `/d/${name}/inner`])].toSorted(),
    );
  });

  test('are not read ahead by a list of one key', async () => {
    const { store, read } = await manyDirectories(() => false);
    await store.list({ prefix: 'd/', limit: 1 });
    expect(read).toEqual(['/d', '/d/000000', '/d/000000/inner', '/d/000001', '/d/000001/inner']);
  });

  test('that cannot be read fail the page that they are on, and no other', async () => {
    const { store, read } = await manyDirectories((path) => path.endsWith('/d/000012'));
    const page = { prefix: 'd/', limit: 11 };
    const first = await store.list(page);
    expect(first.objects).toHaveLength(11);
    expect(read).toContain('/d/000012');
    const after = first.objects.at(-1)?.key;
    expect(await failureOf(store.list({ ...page, after }))).toMatchObject({ code: 'unavailable' });
  });
});
