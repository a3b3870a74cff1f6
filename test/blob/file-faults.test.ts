// Goal: whatever fails, and wherever a process dies, no half object is visible, every failure says
// what it means and whether the write may have taken effect, and the next open leaves nothing
// behind. Method: every call of an operation is counted on a good run; then each one fails in turn
// (each error), or is the last one of the process, before or after it takes effect; a second bucket
// then looks.
import { rm, writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { type FileSystem, nodeFileSystem } from '../../blob/file-system.ts';
import { attributesOf, bytesOf, listKeys, mustCreate, patternOf } from '../contract/blob-case.ts';
import {
  type FileCall,
  type FileHooks,
  hookedFileSystem,
  posixError,
} from '../support/faulty-file-system.ts';
import { bucketIn, leftovers, ownersOf, temporaryDirectories } from '../support/file-buckets.ts';

const directories = await temporaryDirectories();
const freshDirectory = directories.fresh;
afterAll(directories.remove);

function hooked(hooks: FileHooks): FileSystem {
  return hookedFileSystem(nodeFileSystem, hooks);
}

const KEY = 'dir/sub/key';
const OLD = patternOf(500, 1);
const NEW = patternOf(900, 2);

/** One write each, on a bucket in which `KEY` holds `OLD` where the operation needs one. */
const WRITES = {
  create: async (store: BlobStore) => (await store.create(KEY, NEW)).outcome,
  replace: async (store: BlobStore, generation: string) =>
    (await store.replace(KEY, generation, NEW)).outcome,
  delete: async (store: BlobStore) => {
    await store.delete(KEY);
    return 'deleted';
  },
} as const;

type WriteName = keyof typeof WRITES;

/** Runs one write on a fresh directory with hooks that begin with the write. */
async function runWrite(name: WriteName, hooks: FileHooks) {
  const directory = await freshDirectory();
  let generation = '';
  if (name !== 'create') {
    const before = bucketIn(directory);
    await mustCreate(before, KEY, OLD);
    generation = (await attributesOf(before, KEY)).generation;
    await before.close();
  }
  const store = bucketIn(directory, { fs: hooked(hooks), owners: ownersOf('victim', []) });
  const result = await WRITES[name](store, generation).catch((error: unknown) => error);
  return { directory, generation, result };
}

async function callsOf(name: WriteName): Promise<readonly FileCall[]> {
  const calls: FileCall[] = [];
  await runWrite(name, { before: (call) => void calls.push(call) });
  return calls;
}

/** What is there afterwards, all ways of looking at it agreeing. */
async function stateOf(store: BlobStore): Promise<'absent' | 'old' | 'new'> {
  const read = await store.get(KEY);
  const { objects } = await store.list({ prefix: '', limit: 10 });
  if (!read.found) {
    expect(objects).toEqual([]);
    return 'absent';
  }
  expect(objects).toEqual([read.attributes]);
  const state = read.bytes.length === OLD.length ? 'old' : 'new';
  expect(Buffer.compare(read.bytes, state === 'old' ? OLD : NEW)).toBe(0);
  return state;
}

describe.each(Object.keys(WRITES) as readonly WriteName[])('a process that dies in %s', (name) => {
  test('leaves the state before or after it, nothing half, and no wedge', async () => {
    const total = (await callsOf(name)).length;
    const before = name === 'create' ? 'absent' : 'old';
    const after = name === 'delete' ? 'absent' : 'new';
    const seen = new Set<string>();
    for (let last = 0; last < total; last++) {
      for (const moment of ['before', 'after'] as const) {
        let calls = 0;
        let dead = false;
        const die = (): void => {
          if (dead || calls > last) {
            dead = true;
            throw posixError('EIO');
          }
        };
        const { directory } = await runWrite(name, {
          before: () => {
            if (dead) die();
            calls += 1;
            if (moment === 'before') die();
          },
          after: die,
        });
        expect(dead, `call ${last} of ${total}`).toBe(true);
        const store = bucketIn(directory, { owners: ownersOf('next', []) });
        const state = await stateOf(store);
        expect([before, after]).toContain(state);
        seen.add(state);
        expect(await leftovers(directory, 'new'), `call ${last}`).toEqual([]);
        await rewrite(store, state);
      }
    }
    expect([...seen].sort()).toEqual([before, after].sort());
  });
});

/** The next writers find nothing in their way. */
async function rewrite(store: BlobStore, state: 'absent' | 'old' | 'new'): Promise<void> {
  expect((await store.create(KEY, OLD)).outcome).toBe(state === 'absent' ? 'created' : 'exists');
  const { generation } = await attributesOf(store, KEY);
  expect((await store.replace(KEY, generation, NEW)).outcome).toBe('replaced');
  expect((await store.replace(KEY, generation, OLD)).outcome).toBe('changed');
  expect(await stateOf(store)).toBe('new');
  await store.delete(KEY);
  expect(await stateOf(store)).toBe('absent');
}

const ERRORS = {
  ENOSPC: { code: 'unavailable', retryable: false, advice: /disk is full/ },
  EDQUOT: { code: 'unavailable', retryable: false, advice: /quota/ },
  EACCES: { code: 'forbidden', retryable: false, advice: /read and write access/ },
  EROFS: { code: 'forbidden', retryable: false, advice: /read-only/ },
  EMFILE: { code: 'throttled', retryable: true, advice: /ulimit/ },
  ENAMETOOLONG: { code: 'unsupported', retryable: false, advice: /shorter/ },
  EXDEV: { code: 'unsupported', retryable: false, advice: /hard links/ },
  EIO: { code: 'unavailable', retryable: true, advice: /look at the disk/ },
} as const;

describe.each(Object.entries(ERRORS))('%s', (posix, { advice, ...flags }) => {
  test('says what it means, and is ambiguous only when the name may be linked', async () => {
    const steps: readonly FileCall['name'][] = [
      'openNew',
      'file.write',
      'file.sync',
      'link',
      'syncDirectory',
    ];
    for (const step of steps) {
      const { directory, result } = await runWrite('create', {
        before: ({ name, path }) => {
          // Directories above are synced when they are made, which is before the link.
          if (name === step && (name !== 'syncDirectory' || path.endsWith('/sub'))) {
            throw posixError(posix);
          }
        },
      });
      const ambiguous = step === 'syncDirectory' || (step === 'link' && posix === 'EIO');
      expect(result, step).toMatchObject({ ...flags, ambiguous, operation: 'create', key: KEY });
      expect(String(result)).toMatch(advice);
      const linked = step === 'syncDirectory';
      expect(await stateOf(bucketIn(directory)), step).toBe(linked ? 'new' : 'absent');
      expect(await leftovers(directory, 'new'), step).toEqual([]);
    }
  });

  test('is an error of a read too, never "not found"', async () => {
    const fs = hooked({
      before: ({ name, path }) => {
        const read = name === 'openRead' || name === 'stat' || name === 'readdir';
        if (read && path.includes('/dir')) throw posixError(posix);
      },
    });
    const directory = await freshDirectory();
    await mustCreate(bucketIn(directory), KEY, OLD);
    const store = bucketIn(directory, { fs });
    for (const call of [
      () => store.get(KEY),
      () => store.head(KEY),
      () => store.list({ prefix: 'dir/', limit: 10 }),
    ]) {
      await expect(call()).rejects.toMatchObject({ ...flags, ambiguous: false });
    }
  });
});

test('a link that is reported as taken but is our own is a create of ours', async () => {
  const { result } = await runWrite('create', {
    after: ({ name, path }) => {
      if (name === 'link' && path.endsWith('/key')) throw posixError('EEXIST');
    },
  });
  expect(result).toBe('created');
});

test('a signal that aborts before the link stores nothing and leaves nothing', async () => {
  const directory = await freshDirectory();
  const controller = new AbortController();
  const fs = hooked({
    after: ({ name }) => {
      if (name === 'file.sync') controller.abort(new Error('enough'));
    },
  });
  const call = bucketIn(directory, { fs }).create(KEY, NEW, { signal: controller.signal });
  await expect(call).rejects.toMatchObject({ code: 'aborted', ambiguous: false });
  expect(await listKeys(bucketIn(directory), { prefix: '', limit: 10 })).toEqual([]);
  expect(await leftovers(directory, 'new')).toEqual([]);
});

test('a file that is cut while it is read is an integrity error', async () => {
  const directory = await freshDirectory();
  await mustCreate(bucketIn(directory), 'a', bytesOf('as long as this'));
  const fs = hooked({
    after: async ({ name, path }) => {
      if (name === 'file.stat' && path.endsWith('/a')) await writeFile(path, 'short');
    },
  });
  await expect(bucketIn(directory, { fs }).get('a')).rejects.toMatchObject({ code: 'integrity' });
});

test('creators that link while a sync of their directory runs share the next one', async () => {
  const keys = Array.from({ length: 100 }, (_, i) => `log/${i}`);
  let [links, syncs] = [0, 0];
  let allLinked = (): void => {};
  const linked = new Promise<void>((resolve) => {
    allLinked = resolve;
  });
  const fs = hooked({
    before: async ({ name, path }) => {
      if (name !== 'syncDirectory' || !path.endsWith('/log')) return;
      syncs += 1;
      await linked;
    },
    after: ({ name }) => {
      if (name === 'link') links += 1;
      if (links === keys.length) allLinked();
    },
  });
  const store = bucketIn(await freshDirectory(), { fs });
  await Promise.all(keys.map((key) => mustCreate(store, key, bytesOf(key))));
  expect(syncs).toBeGreaterThanOrEqual(2);
  expect(syncs).toBeLessThan(10);
});

test('a temporary file taken away before the link fails the create, unambiguously', async () => {
  const { directory, result } = await runWrite('create', {
    after: async ({ name, path }) => {
      if (name === 'file.close' && path.includes('/new~')) await rm(path);
    },
  });
  expect(result).toMatchObject({ code: 'unavailable', retryable: true, ambiguous: false });
  expect(await stateOf(bucketIn(directory))).toBe('absent');
});
