/**
 * The temporary directory of a `file` bucket, `.bucketstore-tmp`. Its names are
 * `<use>~<owner>~<uuid>`:
 *
 * - `new`: bytes on their way to a name. A file whose owner is dead is removed at the next open,
 *   one of a living process never; where that cannot be told (see `file-owner.ts`), after an hour.
 *   No safety rests on it: a creator whose temporary file is taken away fails without having
 *   created anything.
 * - `old`: an object that was deleted within two seconds of its creation, kept until they are over.
 *   A file system gives a freed inode to the next file at once and its clock ticks every few ms, so
 *   without that a second object could get the generation of the first.
 */
import type { Chance, Timing } from './blob.ts';
import { codeOf } from './file-errors.ts';
import type { Owners } from './file-owner.ts';
import { RESERVED } from './file-path.ts';
import type { FileStat, FileSystem, OpenFile } from './file-system.ts';

/** Longer than the coarsest time stamp a file system has. */
const INODE_REST_NS = 2_000_000_000n;
const FOREIGN_AGE_NS_MAX = 3_600_000_000_000n;

export interface TempFilesOptions {
  readonly fs: FileSystem;
  /** The bucket's. */
  readonly directory: string;
  readonly timing: Timing;
  readonly chance: Chance;
  readonly owners: Owners;
}

/** A complete, synced file that has no name of its own yet. */
export interface TempFile {
  readonly path: string;
  readonly stat: FileStat;
}

export class TempFiles {
  readonly #options: TempFilesOptions;
  readonly #directory: string;
  #owner: Promise<string> | undefined;
  /** Deleted objects that rest; bounded by the deletes of two seconds. */
  #resting: TempFile[] = [];
  /** The latest time the kernel has shown; never ahead of it. */
  #kernelNs = 0n;

  constructor(options: TempFilesOptions) {
    this.#options = options;
    this.#directory = `${options.directory}/${RESERVED}-tmp`;
  }

  /** Writes and syncs a temporary file; leaves none when it fails. */
  async write(bytes: Uint8Array): Promise<TempFile> {
    const path = await this.#nameOf('new');
    const file = await this.#open(path);
    try {
      const stat = await fill(file, bytes);
      this.#see(stat.changedNs);
      return { path, stat };
    } catch (error) {
      await this.remove(path);
      throw error;
    }
  }

  /** Removes a temporary file; when that fails, the next open does. */
  async remove(path: string): Promise<void> {
    await this.#options.fs.unlink(path).catch(() => {});
  }

  /**
   * Keeps a young object's inode from being reused, to be called before its name is removed. Best
   * effort: a full disk or a missing right must not stop a delete.
   */
  async rest(path: string, stat: FileStat): Promise<void> {
    if (this.#kernelNs - stat.modifiedNs > INODE_REST_NS) return;
    const { fs } = this.#options;
    const kept = await this.#nameOf('old');
    try {
      await fs.mkdir(this.#directory).catch(ignoreExisting);
      await fs.link(path, kept);
      this.#see((await fs.stat(kept)).changedNs);
      this.#resting.push({ path: kept, stat });
    } catch {
      // Then the inode is free at once, and all that is lost is the guard against its reuse.
    }
  }

  /** Lets go of the inodes that have rested. */
  async release(): Promise<void> {
    const rested = (file: TempFile): boolean =>
      this.#kernelNs - file.stat.modifiedNs > INODE_REST_NS;
    const done = this.#resting.filter(rested);
    this.#resting = this.#resting.filter((file) => !rested(file));
    for (const { path } of done) await this.remove(path);
  }

  /** Removes what dead processes have left. Best effort: a reader may have no right to. */
  async clean(): Promise<void> {
    const { fs, owners, timing } = this.#options;
    const entries = await fs.readdir(this.#directory).catch(() => []);
    for (const { name } of entries) {
      const [use, owner, id] = name.split('~');
      if (owner === undefined || id === undefined) continue;
      const path = `${this.#directory}/${name}`;
      const state = await owners.state(owner);
      if (state === 'alive' && use === 'new') continue;
      const stat = await fs.stat(path).catch(() => undefined);
      if (stat === undefined) continue;
      const age = BigInt(Math.trunc(timing.now())) * 1_000_000n - stat.changedNs;
      const ageMax = use === 'new' ? FOREIGN_AGE_NS_MAX : INODE_REST_NS;
      if ((use === 'new' && state === 'dead') || age > ageMax) await this.remove(path);
    }
  }

  async #open(path: string): Promise<OpenFile> {
    const { fs } = this.#options;
    try {
      return await fs.openNew(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    await fs.mkdir(this.#directory).catch(ignoreExisting);
    return fs.openNew(path);
  }

  async #nameOf(use: 'new' | 'old'): Promise<string> {
    this.#owner ??= this.#options.owners.self();
    return `${this.#directory}/${use}~${await this.#owner}~${this.#options.chance.uuid()}`;
  }

  #see(kernelNs: bigint): void {
    if (kernelNs > this.#kernelNs) this.#kernelNs = kernelNs;
  }
}

/** Writes everything, syncs and closes, also when it fails. */
async function fill(file: OpenFile, bytes: Uint8Array): Promise<FileStat> {
  try {
    await file.write(bytes);
    await file.sync();
    return await file.stat();
  } finally {
    await file.close();
  }
}

function ignoreExisting(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}
