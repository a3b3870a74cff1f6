/** The one step in which an object of a `file` bucket comes to be: an exclusive hard link. */
import { BlobError, type BlobOperation } from './errors.ts';
import { type Directories, parentOf } from './file-directories.ts';
import { codeOf, fileError, isAbsent, isRefusal } from './file-errors.ts';
import type { FileStat, FileSystem } from './file-system.ts';
import type { TempFile } from './file-temp.ts';

/** Each further attempt needs somebody who removed a directory or a name in between. */
const ATTEMPT_COUNT_MAX = 16;

export interface Placement {
  readonly fs: FileSystem;
  readonly directories: Directories;
  readonly operation: BlobOperation;
  readonly key: string;
  readonly temp: TempFile;
  readonly path: string;
}

/**
 * Links a temporary file to a name, making the directories it needs.
 * @returns whether the name is this file's; false when it was another's
 * @throws BlobError `unsupported` when a directory is in the way, or an object where a directory is
 *   needed
 */
export async function placeFile(placement: Placement): Promise<boolean> {
  const { fs, operation, key, temp, path } = placement;
  for (let attempt = 0; attempt < ATTEMPT_COUNT_MAX; attempt++) {
    try {
      await fs.link(temp.path, path);
      return true;
    } catch (error) {
      const ours = await settle(placement, error);
      if (ours !== undefined) return ours;
    }
  }
  const message = 'the temporary file or a directory keeps vanishing; nothing was stored';
  throw new BlobError({ code: 'unavailable', operation, key, message });
}

/** Whether the name is ours after a link has failed; undefined to try again. */
async function settle(placement: Placement, error: unknown): Promise<boolean | undefined> {
  const { directories, operation, key, path } = placement;
  switch (codeOf(error)) {
    case 'EEXIST':
      return settleTaken(placement);
    case 'ENOENT':
      await directories.checkRoot(operation, key);
      await makeParent(placement);
      return undefined;
    case 'ENOTDIR':
      throw collision(operation, key, `a part of its path is an object (${path})`);
    default:
      throw fileError(operation, key, error, !isRefusal(error));
  }
}

async function makeParent({ directories, operation, key, path }: Placement): Promise<void> {
  try {
    await directories.make(parentOf(path));
  } catch (error) {
    // Somebody removed one of them as empty: the next attempt makes it again.
    if (codeOf(error) === 'ENOENT') return;
    if (codeOf(error) !== 'ENOTDIR') throw error;
    throw collision(operation, key, `a part of its path is an object (${path})`);
  }
}

async function settleTaken(placement: Placement): Promise<boolean | undefined> {
  const { fs, operation, key, temp, path } = placement;
  let stat: FileStat;
  try {
    stat = await fs.stat(path);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw fileError(operation, key, error, !isRefusal(error));
  }
  switch (stat.kind) {
    case 'file':
      // A file server that repeats a request may report our own link as another's.
      return stat.inode === temp.stat.inode && stat.device === temp.stat.device;
    case 'directory':
      if (await removeEmpty(fs, path)) return undefined;
      throw collision(operation, key, `other keys begin with it and a slash (${path})`);
    case 'other':
      throw collision(operation, key, `something that is no file has its name (${path})`);
    default:
      return stat.kind satisfies never;
  }
}

/** Removes a directory that holds nothing but directories, as deleted objects leave them. */
async function removeEmpty(fs: FileSystem, path: string): Promise<boolean> {
  try {
    for (const { name, kind } of await fs.readdir(path)) {
      if (kind !== 'directory' || !(await removeEmpty(fs, `${path}/${name}`))) return false;
    }
    await fs.rmdir(path);
    return true;
  } catch (error) {
    // Gone already, or no longer empty: the next link finds out.
    if (isAbsent(error)) return true;
    if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function collision(operation: BlobOperation, key: string, why: string): BlobError {
  return new BlobError({
    code: 'unsupported',
    operation,
    key,
    message: `a directory cannot hold this key: ${why}. Use keys that are no path of others`,
  });
}
