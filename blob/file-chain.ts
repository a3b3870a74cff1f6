/**
 * The generations of a replaced object in a `file` bucket. See `file.ts` for the argument.
 *
 * `.bucketstore-gen/<key, as one segment>/<generation of the anchor>.<n>` holds the bytes of the
 * n-th replacement of the object whose file has that generation, n = 1, 2, …; its exclusive link is
 * the commit. None is ever removed, since a free name could be linked by a replacer that had slept;
 * but those of a probe's key, which has one replacer for ever, go with the object.
 */

import { parentOf } from './file-directories.ts';
import { isAbsent } from './file-errors.ts';
import { CONTINUED, decodeSegment, encodeSegment, isProbeKey, RESERVED } from './file-path.ts';
import type { FileStat, FileSystem } from './file-system.ts';

/** One replacement, or none: then the anchor is the state. */
export interface Replacement {
  readonly path: string;
  readonly generation: string;
}

/** The generation of a file in its place: no two objects of a bucket have one inode at one time. */
export function generationOf(stat: FileStat): string {
  return `${stat.inode}-${stat.modifiedNs}`;
}

export class Chains {
  readonly #fs: FileSystem;
  readonly #directory: string;
  /** The look under way, and the one that begins when it has ended. */
  #looking: Promise<ReadonlySet<string>> | undefined;
  #waiting: Promise<ReadonlySet<string>> | undefined;

  constructor(fs: FileSystem, root: string) {
    this.#fs = fs;
    this.#directory = `${root}/${RESERVED}-gen`;
  }

  /** The names of all replacements of a key, under any anchor. To be read *before* the anchor. */
  async names(key: string): Promise<readonly string[]> {
    return this.#namesIn(this.directoryOf(key));
  }

  /**
   * As `names`, for readers: hardly any key has ever been replaced, and that one has not is found
   * by one look for all who ask while the look before is under way.
   */
  async namesForRead(key: string): Promise<readonly string[]> {
    return (await this.#sharedKeys()).has(key) ? this.names(key) : [];
  }

  directoryOf(key: string): string {
    return `${this.#directory}/${encodeSegment(key)}`;
  }

  /** The newest replacement of an anchor among the names, if there is any. */
  newest(key: string, names: readonly string[], anchor: string): Replacement | undefined {
    const count = countOf(names, anchor);
    return count === 0 ? undefined : this.#replacement(key, anchor, count);
  }

  /** Where the next replacement of an anchor goes. */
  next(key: string, names: readonly string[], anchor: string): Replacement {
    return this.#replacement(key, anchor, countOf(names, anchor) + 1);
  }

  /** The keys that have ever been replaced. */
  async keys(): Promise<ReadonlySet<string>> {
    const keys = new Set<string>();
    await this.#collect(this.#directory, '', keys);
    return keys;
  }

  /** The keys that have ever been replaced, by a look that begins after now. */
  #sharedKeys(): Promise<ReadonlySet<string>> {
    if (this.#waiting !== undefined) return this.#waiting;
    const before = this.#looking;
    if (before === undefined) return this.#look();
    const look = (): Promise<ReadonlySet<string>> => {
      this.#waiting = undefined;
      return this.#look();
    };
    this.#waiting = before.then(look, look);
    return this.#waiting;
  }

  #look(): Promise<ReadonlySet<string>> {
    const looking = this.keys().finally(() => {
      if (this.#looking === looking) this.#looking = undefined;
    });
    this.#looking = looking;
    return looking;
  }

  /**
   * Removes the replacements of a key whose anchor has been removed, if it is a probe's. What
   * cannot be removed stays: it is no object's state any more.
   */
  async forget(key: string): Promise<void> {
    if (!isProbeKey(key)) return;
    const directory = this.directoryOf(key);
    try {
      for (const name of await this.#namesIn(directory))
        await this.#fs.unlink(`${directory}/${name}`);
      for (let at = directory; at.length >= this.#directory.length; at = parentOf(at)) {
        await this.#fs.rmdir(at);
      }
    } catch {
      // A directory that holds other keys, or a name that may not be removed.
    }
  }

  async #collect(path: string, prefix: string, keys: Set<string>): Promise<void> {
    for (const name of await this.#namesIn(path)) {
      if (name.endsWith(CONTINUED)) {
        await this.#collect(`${path}/${name}`, `${prefix}${name}/`, keys);
        continue;
      }
      const key = decodeSegment(prefix + name);
      if (key !== undefined) keys.add(key);
    }
  }

  async #namesIn(path: string): Promise<readonly string[]> {
    try {
      return (await this.#fs.readdir(path)).map(({ name }) => name);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }

  #replacement(key: string, anchor: string, count: number): Replacement {
    const generation = `${anchor}.${count}`;
    return { path: `${this.directoryOf(key)}/${generation}`, generation };
  }
}

function countOf(names: readonly string[], anchor: string): number {
  let count = 0;
  for (const name of names) {
    if (!name.startsWith(`${anchor}.`)) continue;
    const number = Number(name.slice(anchor.length + 1));
    if (Number.isSafeInteger(number) && number > count) count = number;
  }
  return count;
}
