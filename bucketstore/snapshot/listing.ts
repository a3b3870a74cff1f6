/**
 * The children of a directory, from documents in the byte order of their paths. Pure.
 *
 * Paths and names sort differently: `/a/b.md` comes before `/a/b/c`, the name `b` before `b.md`,
 * because `.` is below `/`. So before a name is told, the directories whose names it begins with
 * are looked for.
 */
import { SLASH } from '../base/ascii.ts';
import { compareUtf8 } from '../base/order.ts';
import { isHiddenName } from '../document/path.ts';
import type { PlacedDocument } from './base.ts';
import type { ListEntry } from './state.ts';

/**
 * Documents from the first path at or after a text on, in byte order.
 * @param within a directory and a slash: what is not under it may be left out
 */
export type DocumentsFrom = (path: string, within: string) => Iterator<PlacedDocument>;

export interface ListQuery {
  /** Names greater than it by bytes; need not exist. */
  readonly after?: string | undefined;
  /** Most entries; 0 or nothing for all. */
  readonly limit?: number | undefined;
  /** Show archived documents too. Default false. */
  readonly includeArchived?: boolean | undefined;
}

/** What sorts behind every path under a directory: `0` follows `/`. */
const BEHIND = '0';

/**
 * Immediate children of a directory in name order. A child shows when a document at or under it is
 * live (or archived, when those are asked for) and no segment from the child downwards is hidden.
 * A step for each document among the children, a look down the order or two for each directory, and
 * a step for each document under it that does not show.
 */
export function listChildren(
  from: DocumentsFrom,
  directory: string,
  { after = '', limit, includeArchived = false }: ListQuery,
): ListEntry[] {
  const most = limit === 0 || limit === undefined ? Number.POSITIVE_INFINITY : limit;
  const children = new Children(from, directory === '/' ? '/' : `${directory}/`, after);
  const entries: ListEntry[] = [];
  while (entries.length < most) {
    const child = children.next();
    if (child === null) break;
    if (isHiddenName(child.name)) continue;
    if (children.shows(child, includeArchived))
      entries.push({ name: child.name, isDir: child.isDir });
  }
  return entries;
}

/** Whether a document lies under a path. */
export function hasUnder(from: DocumentsFrom, path: string): boolean {
  const prefix = path === '/' ? '/' : `${path}/`;
  const first = from(prefix, prefix).next();
  return first.done !== true && first.value.path.startsWith(prefix);
}

interface Child extends ListEntry {
  /** One at or under it that is known already. */
  readonly document: PlacedDocument | null;
}

/** Children of a directory one by one, in name order, shown or not. */
class Children {
  readonly #from: DocumentsFrom;
  /** The directory and a slash. */
  readonly #prefix: string;
  #documents: Iterator<PlacedDocument>;
  /** Where the walk stands; null at its end. */
  #document: PlacedDocument | null = null;
  /** The last name that was told. */
  #last: string;

  constructor(from: DocumentsFrom, prefix: string, after: string) {
    this.#from = from;
    this.#prefix = prefix;
    this.#last = after;
    this.#documents = from(after === '' ? prefix : `${prefix}${after}\0`, prefix);
    this.#step();
  }

  /** The next child, null when there are no more. */
  next(): Child | null {
    for (;;) {
      const document = this.#document;
      if (document === null || !document.path.startsWith(this.#prefix)) return null;
      const slash = document.path.indexOf('/', this.#prefix.length);
      const name = document.path.slice(this.#prefix.length, slash < 0 ? undefined : slash);
      const isNew = compareUtf8(name, this.#last) > 0;
      const before = isNew ? this.#directoryBefore(name) : null;
      if (before !== null) return this.#tell({ name: before, isDir: true, document: null });
      if (slash < 0) this.#step();
      else this.#skip(name);
      // One that is not new is a directory that was told before names that begin with its own.
      if (isNew) return this.#tell({ name, isDir: slash >= 0, document });
    }
  }

  /** Whether a child whose own name is not hidden shows. */
  shows({ name, isDir, document }: Child, includeArchived: boolean): boolean {
    const path = this.#prefix + name;
    const isShown = ({ path: at, archived }: PlacedDocument): boolean => {
      return (includeArchived || !archived) && !hasHidden(at, path.length);
    };
    if (document !== null && isShown(document)) return true;
    if (!isDir) return false;
    const within = `${path}/`;
    const documents = this.#from(within, within);
    for (let next = documents.next(); next.done !== true; next = documents.next()) {
      if (!next.value.path.startsWith(within)) return false;
      if (isShown(next.value)) return true;
    }
    return false;
  }

  #tell(child: Child): Child {
    this.#last = child.name;
    return child;
  }

  #step(): void {
    const next = this.#documents.next();
    this.#document = next.done === true ? null : next.value;
  }

  /** Beyond all that lies under a directory. */
  #skip(name: string): void {
    this.#documents = this.#from(this.#prefix + name + BEHIND, this.#prefix);
    this.#step();
  }

  /** The directory, if there is one, whose name `name` begins with and that comes next. */
  #directoryBefore(name: string): string | null {
    for (let end = 1; end < name.length; end++) {
      if (name.charCodeAt(end) >= SLASH) continue;
      const shorter = name.slice(0, end);
      const isNext = compareUtf8(shorter, this.#last) > 0;
      if (isNext && hasUnder(this.#from, this.#prefix + shorter)) return shorter;
    }
    return null;
  }
}

/** Whether a segment behind a position is hidden. */
function hasHidden(path: string, from: number): boolean {
  for (let slash = path.indexOf('/', from); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    const end = path.indexOf('/', slash + 1);
    if (isHiddenName(path.slice(slash + 1, end < 0 ? undefined : end))) return true;
  }
  return false;
}
