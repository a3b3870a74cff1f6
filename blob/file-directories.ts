/**
 * The directories of a `file` bucket: its root, made and checked; those below it, made and synced.
 */
import { BlobError, type BlobOperation } from './errors.ts';
import { codeOf, fileError, isAbsent } from './file-errors.ts';
import { isProbeKey } from './file-path.ts';
import type { FileStat, FileSystem } from './file-system.ts';

/** How many directories are remembered as safely on the disk. */
const KNOWN_COUNT_MAX = 4096;

export class Directories {
  readonly root: string;
  readonly #fs: FileSystem;
  /** Directories all of whose ancestors this process has synced. */
  readonly #known = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Promise<void>>();
  #identity: FileStat | undefined;

  constructor(fs: FileSystem, root: string) {
    this.#fs = fs;
    this.root = root;
  }

  /** Directories remembered as synced, and syncs that run or wait: for the retention tests. */
  get held(): { readonly known: number; readonly syncs: number } {
    return { known: this.#known.size, syncs: this.#running.size + this.#waiting.size };
  }

  /** Makes the root and what is missing above it. `no-bucket` where no directory can be. */
  async createRoot(operation: BlobOperation, key: string): Promise<void> {
    try {
      await this.#makeAll(this.root);
    } catch (error) {
      if (!isAbsent(error)) throw error;
      throw noBucket(operation, key, `${this.root} cannot be made there: name another`);
    }
  }

  /**
   * Fails with `no-bucket` unless the root is the directory that it was at the first call. Without
   * this a disk that was unmounted would look like a bucket that is empty.
   */
  async checkRoot(operation: BlobOperation, key: string): Promise<void> {
    const stat = await this.#statRoot(operation, key);
    this.#identity ??= stat;
    const { device, inode } = this.#identity;
    if (stat.device !== device || stat.inode !== inode) {
      const what = `${this.root} is another one than at the start: mount it, or open it again`;
      throw noBucket(operation, key, what);
    }
  }

  /** Makes a directory below the root and what is missing between, each safely on the disk. */
  async make(path: string): Promise<void> {
    await this.#makeAll(path);
    this.#known.delete(path);
  }

  /** Returns when the names in a directory, and the directory's own, are on the disk. */
  async sync(path: string): Promise<void> {
    if (!this.#known.has(path)) {
      for (let at = path; at.length > this.root.length; ) {
        at = parentOf(at);
        await this.#syncOne(at);
      }
    }
    await this.#syncOne(path);
    if (this.#known.size >= KNOWN_COUNT_MAX) this.#known.clear();
    this.#known.add(path);
  }

  /**
   * Returns when it is on the disk that a directory has lost the name of an object. Of a probe,
   * whose names mean nothing once it has ended, the directory goes too, with all that are empty
   * above it; whoever needs one of these at that moment makes it again.
   */
  async syncRemoval(key: string, path: string): Promise<void> {
    if (!isProbeKey(key)) return this.sync(path);
    for (let at = path; at.length > this.root.length; at = parentOf(at)) {
      try {
        await this.#fs.rmdir(at);
      } catch (error) {
        // It holds something, or may not be removed; gone already is as good as removed.
        if (!isAbsent(error)) return;
      }
    }
  }

  /**
   * Creators that wait for the same directory share one sync, if it begins after they all have
   * linked.
   */
  #syncOne(path: string): Promise<void> {
    const waiting = this.#waiting.get(path);
    if (waiting !== undefined) return waiting;
    const running = this.#running.get(path);
    if (running === undefined) return this.#begin(path);
    const next = running
      .catch(() => {})
      .then(() => {
        this.#waiting.delete(path);
        return this.#begin(path);
      });
    this.#waiting.set(path, next);
    return next;
  }

  #begin(path: string): Promise<void> {
    const sync = this.#fs.syncDirectory(path).finally(() => this.#running.delete(path));
    this.#running.set(path, sync);
    return sync;
  }

  async #makeAll(path: string): Promise<void> {
    const parent = parentOf(path);
    try {
      await this.#fs.mkdir(path);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return;
      if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
      await this.#makeAll(parent);
      // Once more, and no oftener: there are places where a parent is and no directory can be made.
      await this.#makeOne(path);
    }
    await this.#syncOne(parent);
  }

  async #makeOne(path: string): Promise<void> {
    try {
      await this.#fs.mkdir(path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }

  async #statRoot(operation: BlobOperation, key: string): Promise<FileStat> {
    let stat: FileStat;
    try {
      // With the dot a symbolic link to a directory is that directory.
      stat = await this.#fs.stat(`${this.root}/.`);
    } catch (error) {
      if (codeOf(error) === 'ENOTDIR') {
        throw noBucket(operation, key, `${this.root} is not a directory: name another`);
      }
      if (codeOf(error) !== 'ENOENT') throw fileError(operation, key, error);
      const what = `${this.root} does not exist: create it, or have it created (createDirectory)`;
      throw noBucket(operation, key, what);
    }
    return stat;
  }
}

/** The path up to the last slash, `/` at the top. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

function noBucket(operation: BlobOperation, key: string, what: string): BlobError {
  return new BlobError({
    code: 'no-bucket',
    operation,
    key,
    message: `the directory ${what}`,
  });
}
