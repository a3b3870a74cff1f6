/**
 * The keys of a `file` bucket in byte order, walked one directory at a time.
 *
 * In a directory, files sort by their key and directories by their key and `/`: everything below a
 * directory begins with that text and nothing beside it does, so a walk in this order is in byte
 * order. Only directories that can hold a wanted key are read. Names are decoded before they are
 * sorted, since `%` sorts before what it stands for.
 *
 * A large directory is not read anew for every page of a list (`file-names.ts`).
 */
import type { ListQuery, Timing } from './blob.ts';
import { type Child, DirectoryNames } from './file-names.ts';
import { isListable, pathOfKey } from './file-path.ts';
import type { FileSystem } from './file-system.ts';
import { compareKeys } from './order.ts';

type Keys = AsyncGenerator<string, void, undefined>;

/** Directories of one directory that a walk is ahead of itself, */
const WALKS_AHEAD = 8;
/** once it has passed so many: most lists want a key or two. */
const PASSED_MIN = 2;

export class KeyWalk {
  readonly #root: string;
  readonly #names: DirectoryNames;

  constructor(fs: FileSystem, root: string, timing: Pick<Timing, 'now'>) {
    this.#root = root;
    this.#names = new DirectoryNames(fs, timing);
  }

  /**
   * Ascending by UTF-8 bytes: the keys that match the query, whatever its limit. A key whose place
   * is taken by what is no file, such as a symbolic link, is one of them: silence would make it
   * absent.
   */
  async *keys(query: ListQuery): Keys {
    const slash = query.prefix.lastIndexOf('/');
    const start = query.prefix.slice(0, slash + 1);
    const root = this.#root;
    const path = slash < 0 ? root : `${root}/${pathOfKey(query.prefix.slice(0, slash))}`;
    yield* this.#walk(path, start, query);
  }

  /** Lets go of what it has kept. */
  release(): void {
    this.#names.release();
  }

  async *#walk(path: string, start: string, query: ListQuery): Keys {
    const isContinued = query.after?.startsWith(start) ?? false;
    const children = await this.#names.sorted(path, isContinued, ({ text, directory }) => {
      return matches(start + text, directory, query);
    });
    const below = new WalksBelow(
      (child) => this.#walk(`${path}/${child.name}`, start + child.text, query),
      (child) => matches(start + child.text, child.directory, query),
    );
    for (let i = firstPlace(children, start, query); i < children.length; i++) {
      const child = children[i];
      if (child === undefined) return;
      const text = start + child.text;
      if (!matches(text, child.directory, query)) {
        if (isBeyond(text, query)) break;
        continue;
      }
      if (child.directory) yield* below.keys(children, i);
      else if (isListable(text)) yield text;
    }
    this.#names.release(path);
  }
}

/** The walks of the directories in one directory, some begun before their turn. */
class WalksBelow {
  readonly #walk: (child: Child) => Keys;
  readonly #isWanted: (child: Child) => boolean;
  readonly #begun = new Map<
    number,
    { readonly first: Promise<IteratorResult<string>>; keys: Keys }
  >();
  #passed = 0;

  constructor(walk: (child: Child) => Keys, isWanted: (child: Child) => boolean) {
    this.#walk = walk;
    this.#isWanted = isWanted;
  }

  async *keys(children: readonly Child[], place: number): Keys {
    const child = children[place];
    if (child === undefined) return;
    const begun = this.#begun.get(place);
    this.#begun.delete(place);
    this.#passed++;
    if (this.#passed > PASSED_MIN) this.#begin(children, place + 1);
    if (begun === undefined) return yield* this.#walk(child);
    const { done, value } = await begun.first;
    if (done === true) return;
    yield value;
    yield* begun.keys;
  }

  #begin(children: readonly Child[], from: number): void {
    for (let place = from; place < Math.min(from + WALKS_AHEAD, children.length); place++) {
      const child = children[place];
      if (child?.directory !== true || this.#begun.has(place) || !this.#isWanted(child)) continue;
      const keys = this.#walk(child);
      const first = keys.next();
      // Met when its turn comes, if ever.
      first.catch(() => undefined);
      this.#begun.set(place, { first, keys });
    }
  }
}

/** Whether nothing at or behind a text begins with the prefix. */
function isBeyond(text: string, { prefix }: ListQuery): boolean {
  return !text.startsWith(prefix) && compareKeys(text, prefix) > 0;
}

/** Whether a file is wanted, or a directory can hold one that is. */
function matches(text: string, directory: boolean, { prefix, after }: ListQuery): boolean {
  const within = text.startsWith(prefix) || (directory && prefix.startsWith(text));
  if (!within || after === undefined) return within;
  return compareKeys(text, after) > 0 || (directory && after.startsWith(text));
}

/** A place before which no child matches. */
function firstPlace(children: readonly Child[], start: string, { after }: ListQuery): number {
  if (after === undefined) return 0;
  let low = 0;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(start + (children[middle]?.text ?? ''), after) <= 0) low = middle + 1;
    else high = middle;
  }
  // The one before may be the directory that `after` is in.
  return Math.max(low - 1, 0);
}
