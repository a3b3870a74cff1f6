/**
 * The names in the directories of a `file` bucket. A list of a large directory comes in pages, and
 * reading all of it for every page would cost its square; so from the second page on the names of
 * one directory are kept, for as long as nothing has been made or removed in it.
 *
 * WHY THAT IS SAFE. A list must show what was there before it began. A name that comes or goes
 * changes the directory's own time of change, which the kernel sets and nobody can put back. Names
 * are kept only when that time, looked at before they were read, lay `SETTLED_MS` in the past: no
 * clock of a file system is so coarse that a change after the reading could have the same time.
 * They are used only while inode and time are the same. A directory that is written to, as that of
 * a log is, is never settled and so read each time.
 */
import type { Timing } from './blob.ts';
import { isAbsent } from './file-errors.ts';
import { CONTINUED, decodeSegment } from './file-path.ts';
import type { FileSystem } from './file-system.ts';
import { compareKeys } from './order.ts';

/** What is in a directory, the parts of long names joined. */
export interface Child {
  /** As part of a key; of a directory what all keys in it begin with. */
  readonly text: string;
  /** As part of a path. */
  readonly name: string;
  readonly directory: boolean;
}

/** Smaller directories are read as quickly. */
export const KEPT_NAMES_MIN = 1024;
/** Times of change may be whole seconds, or even ones. */
export const SETTLED_MS = 5000;

interface Kept {
  readonly path: string;
  /** Which directory it was, and when it last changed. */
  readonly stamp: string;
  readonly children: readonly Child[];
}

export class DirectoryNames {
  readonly #fs: FileSystem;
  readonly #timing: Pick<Timing, 'now'>;
  #kept: Kept | undefined;

  constructor(fs: FileSystem, timing: Pick<Timing, 'now'>) {
    this.#fs = fs;
    this.#timing = timing;
  }

  /**
   * The children of a directory in the order of their texts; those that are not wanted may be among
   * them. None when there is no such directory.
   * @param isContinued whether the list goes on within it, so that it may be worth keeping
   */
  async sorted(
    path: string,
    isContinued: boolean,
    isWanted: (child: Child) => boolean,
  ): Promise<readonly Child[]> {
    const settled = isContinued ? await this.#settled(path) : undefined;
    if (settled !== undefined && this.#kept?.path === path && this.#kept.stamp === settled) {
      return this.#kept.children;
    }
    const children: Child[] = [];
    const isWhole = await this.#read(path, '', children);
    if (settled === undefined || !isWhole || children.length < KEPT_NAMES_MIN) {
      return children.filter(isWanted).sort(byText);
    }
    children.sort(byText);
    this.#kept = { path, stamp: settled, children };
    return children;
  }

  /** Lets go of the names of a directory, or of all. */
  release(path?: string): void {
    if (path === undefined || this.#kept?.path === path) this.#kept = undefined;
  }

  /** What tells a directory from itself after a change; undefined when it may have changed now. */
  async #settled(path: string): Promise<string | undefined> {
    const nowMs = this.#timing.now();
    try {
      const { inode, changedNs, modifiedNs } = await this.#fs.stat(path);
      const ageMs = nowMs - Number(changedNs / 1_000_000n);
      return ageMs >= SETTLED_MS ? `${inode}-${changedNs}-${modifiedNs}` : undefined;
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  /**
   * Adds what is in a directory.
   * @param part the name so far, as a path
   * @returns whether all of it is in this one directory: no name goes on in another
   */
  async #read(path: string, part: string, children: Child[]): Promise<boolean> {
    let isWhole = true;
    for (const { name: own, kind } of await this.#entriesOf(path)) {
      const name = part + own;
      const directory = kind === 'directory';
      if (directory && own.endsWith(CONTINUED)) {
        isWhole = false;
        await this.#read(`${path}/${own}`, `${name}/`, children);
        continue;
      }
      const text = decodeSegment(name);
      if (text === undefined || text.includes('/')) continue;
      children.push({ text: directory ? `${text}/` : text, name, directory });
    }
    return isWhole;
  }

  async #entriesOf(path: string): ReturnType<FileSystem['readdir']> {
    try {
      return await this.#fs.readdir(path);
    } catch (error) {
      // Nothing was ever created there, or it went since its parent was read.
      if (isAbsent(error)) return [];
      throw error;
    }
  }
}

function byText(a: Child, b: Child): number {
  return compareKeys(a.text, b.text);
}
