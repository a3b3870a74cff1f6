// Goal: nothing that a killed process leaves stays for ever, and nothing that is in use is taken
// away. Method: temporary files of made-up owners and ages in a bucket's directory, and a file
// system whose clock is moved.
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { processOwners } from '../../blob/file-owner.ts';
import { type FileStat, type FileSystem, nodeFileSystem } from '../../blob/file-system.ts';
import { attributesOf, bytesOf, mustCreate } from '../contract/blob-case.ts';
import {
  bucketIn,
  leftovers,
  ownersOf,
  stillTiming,
  temporaryDirectories,
} from '../support/file-buckets.ts';

const directories = await temporaryDirectories();
const freshDirectory = directories.fresh;
afterAll(directories.remove);

describe('temporary files', () => {
  test('of a dead process are removed at the next open, of a living one never', async () => {
    const directory = await freshDirectory();
    const temp = join(directory, '.bucketstore-tmp');
    await mkdir(temp);
    for (const owner of ['dead', 'alive']) await writeFile(join(temp, `new~${owner}~1`), 'x');
    await writeFile(join(temp, 'by hand'), 'x');
    const store = bucketIn(directory, { owners: ownersOf('me', ['alive', 'me']) });
    await store.head('a');
    expect((await readdir(temp)).sort()).toEqual(['by hand', 'new~alive~1']);
  });

  test('of unknown owners go by age: an hour for new, two seconds for deleted ones', async () => {
    const directory = await freshDirectory();
    const temp = join(directory, '.bucketstore-tmp');
    await mkdir(temp);
    await writeFile(join(temp, 'new~elsewhere~1'), 'x');
    await writeFile(join(temp, 'old~elsewhere~1'), 'x');
    const { changedNs } = await nodeFileSystem.stat(join(temp, 'new~elsewhere~1'));
    const openAt = async (ageMs: number): Promise<readonly string[]> => {
      const now = Number(changedNs / 1_000_000n) + ageMs;
      await bucketIn(directory, { timing: { ...stillTiming, now: () => now } }).head('a');
      return (await readdir(temp)).sort();
    };
    expect(await openAt(1000)).toEqual(['new~elsewhere~1', 'old~elsewhere~1']);
    expect(await openAt(10_000)).toEqual(['new~elsewhere~1']);
    expect(await openAt(3_500_000)).toEqual(['new~elsewhere~1']);
    expect(await openAt(3_700_000)).toEqual([]);
  });

  test('`processOwners` knows itself, what is gone, and what it cannot know', async () => {
    const self = await processOwners.self();
    expect(await processOwners.state(self)).toBe('alive');
    expect(await processOwners.state(self.replace(/-\d+$/, '-1'))).toBe('dead');
    expect(await processOwners.state(self.replace(/^\w+/, '00000000'))).toBe('unknown');
    expect(await processOwners.state('elsewhere-1-1')).toBe('unknown');
  });

  test('of young deleted objects rest for two seconds of the file system, then go', async () => {
    let ahead = 0n;
    const fs: FileSystem = {
      ...nodeFileSystem,
      stat: async (path) => {
        const stat = await nodeFileSystem.stat(path);
        return path.includes('/old~') ? { ...stat, changedNs: stat.changedNs + ahead } : stat;
      },
    };
    const directory = await freshDirectory();
    const store = bucketIn(directory, { fs });
    const remove = async (key: string): Promise<number> => {
      await mustCreate(store, key, bytesOf(key));
      await store.delete(key);
      return (await leftovers(directory, 'old')).length;
    };
    expect(await remove('first')).toBe(1);
    expect(await remove('second')).toBe(2);
    ahead = 3_000_000_000n;
    expect(await remove('third')).toBe(0);
  });

  test('of young deleted objects keep their inodes, so that no generation comes back', async () => {
    // A clock as coarse as can be: only the inode tells two objects apart.
    const coarse = (stat: FileStat): FileStat => ({ ...stat, modifiedNs: 5n, changedNs: 5n });
    const fs: FileSystem = {
      ...nodeFileSystem,
      stat: async (path) => coarse(await nodeFileSystem.stat(path)),
      openNew: async (path) => {
        const file = await nodeFileSystem.openNew(path);
        return {
          write: (bytes) => file.write(bytes),
          read: (start, length) => file.read(start, length),
          sync: () => file.sync(),
          close: () => file.close(),
          stat: async () => coarse(await file.stat()),
        };
      },
    };
    const store = bucketIn(await freshDirectory(), { fs });
    const generations = new Set<string>();
    for (let round = 0; round < 20; round++) {
      await mustCreate(store, 'aba', bytesOf('same'));
      generations.add((await attributesOf(store, 'aba')).generation);
      await store.delete('aba');
    }
    expect(generations.size).toBe(20);
  });
});
