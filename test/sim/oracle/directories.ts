/**
 * What lists, questions for a directory and searches by hash must answer at each sequence: kept
 * along the log, so that an answer is looked up and not worked out.
 */
import { Changes } from './changes.ts';

interface Child {
  readonly isDocument: boolean;
  /** Documents at and under it that a list shows. */
  live: number;
}

export class Directories {
  /** By directory, then name. Documents never vanish, so neither does a directory. */
  readonly #children = new Map<string, Map<string, Child>>();
  readonly #names = new Map<string, Changes<string>>();
  readonly #since = new Map<string, number>();
  readonly #live = new Map<string, Set<string>>();
  readonly #smallest = new Map<string, Changes<string>>();

  /** A document came to be, was archived or brought back. */
  count(path: string, sequence: number, born: boolean, live: number): void {
    let visible = true;
    for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      const slash = at.lastIndexOf('/');
      const directory = slash === 0 ? '/' : at.slice(0, slash);
      const name = at.slice(slash + 1);
      visible = visible && !name.startsWith('.') && name !== 'versions';
      if (born && !this.#since.has(directory)) this.#since.set(directory, sequence);
      const children = this.#children.get(directory) ?? new Map<string, Child>();
      this.#children.set(directory, children);
      const child = children.get(name) ?? { isDocument: at === path, live: 0 };
      children.set(name, child);
      const before = child.live;
      if (visible) child.live += live;
      if (before > 0 !== child.live > 0) this.#noteNames(directory, sequence, children);
    }
  }

  /** A live document has another body hash; null: it has none now, or had none. */
  move(path: string, sequence: number, from: string | null, to: string | null): void {
    if (from === to) return;
    if (from !== null) {
      this.#live.get(from)?.delete(path);
      this.#noteSmallest(from, sequence);
    }
    if (to === null) return;
    const paths = this.#live.get(to) ?? new Set<string>();
    this.#live.set(to, paths.add(path));
    this.#noteSmallest(to, sequence);
  }

  /** Whether a path was a directory at a sequence. The root always is one. */
  isDirectory(path: string, sequence: number): boolean {
    return path === '/' || (this.#since.get(path) ?? Number.POSITIVE_INFINITY) <= sequence;
  }

  /** From when on a path is a directory; infinite when it never is. */
  since(path: string): number {
    return path === '/' ? 0 : (this.#since.get(path) ?? Number.POSITIVE_INFINITY);
  }

  /** The names that a list shows, in order, joined by NUL; '' for none. */
  names(directory: string): Changes<string> {
    return this.#names.get(directory) ?? new Changes();
  }

  /** The smallest live path with a body hash (64 hex); '' for none. */
  smallest(bodyHash: string): Changes<string> {
    return this.#smallest.get(bodyHash) ?? new Changes();
  }

  #noteNames(directory: string, sequence: number, children: ReadonlyMap<string, Child>): void {
    const shown = [...children].filter(([, child]) => child.live > 0);
    const names = shown.map(([name, child]) => ({
      name,
      text: child.isDocument ? name : `${name}/`,
    }));
    const sorted = names.sort((a, b) => compareBytes(a.name, b.name)).map(({ text }) => text);
    const changes = this.#names.get(directory) ?? new Changes<string>();
    this.#names.set(directory, changes);
    changes.add(sequence, sorted.join('\0'));
  }

  #noteSmallest(hash: string, sequence: number): void {
    const [path = ''] = [...(this.#live.get(hash) ?? [])].sort(compareBytes);
    const changes = this.#smallest.get(hash) ?? new Changes<string>();
    this.#smallest.set(hash, changes);
    changes.add(sequence, path);
  }
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
