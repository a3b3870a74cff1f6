/** Directories and file buckets for one test file. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobStore, Timing } from '../../blob/blob.ts';
import { createFileBucket, type FileBucketOptions } from '../../blob/file.ts';
import type { Owners } from '../../blob/file-owner.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';

/** A clock that stands still. */
export const stillTiming: Timing = { now: () => 1234, monotonic: () => 0, sleep: async () => {} };

export interface Directories {
  /** A directory of its own, empty. */
  fresh(): Promise<string>;
  remove(): Promise<void>;
}

/** Directories below one temporary directory. */
export async function temporaryDirectories(): Promise<Directories> {
  const root = await mkdtemp(join(tmpdir(), 'bucketstore-test-'));
  let count = 0;
  return {
    async fresh() {
      count += 1;
      const directory = join(root, String(count));
      await mkdir(directory);
      return directory;
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** A bucket in a directory, on a clock that stands still. */
export function bucketIn(directory: string, options: Partial<FileBucketOptions> = {}): BlobStore {
  return createFileBucket({ directory, timing: stillTiming, chance: systemRandom, ...options });
}

/** Owners among whom only those named are alive. */
export function ownersOf(self: string, alive: readonly string[]): Owners {
  return {
    self: async () => self,
    state: async (owner) => (alive.includes(owner) ? 'alive' : 'dead'),
  };
}

/** The temporary files of a use (`new`, `old`) in a bucket's directory. */
export function leftovers(directory: string, use: string): Promise<readonly string[]> {
  return readdir(join(directory, '.bucketstore-tmp')).then(
    (names) => names.filter((name) => name.startsWith(use)),
    () => [],
  );
}
