/**
 * A directory's children out of the columns of a run, in the order of their names, by jumps: a
 * child is passed in two binary searches, whatever lies under it.
 *
 * Rows are in the order of paths, which is not that of names: `/d/a-b.md` and `/d/a.md` come before
 * `/d/a/x.md`, since "-" and "." come before "/", but the directory `a` comes before both. Such a
 * name is a beginning of the name that is met first, ending before a byte below "/"; so before a
 * child is shown, those beginnings of its name are looked for.
 */
import { SLASH } from '../bucketstore/base/ascii.ts';
import { compareUtf8 } from '../bucketstore/base/order.ts';
import { isHiddenName } from '../bucketstore/document/path.ts';
import type { ListQuery } from '../bucketstore/snapshot/listing.ts';
import type { ListEntry } from '../bucketstore/snapshot/state.ts';
import { hasHiddenSegment } from './path-bytes.ts';
import type { Hides, ResidentColumns } from './resident.ts';

export interface ChildrenQuery extends Omit<ListQuery, 'limit'> {
  /** Rows to take as absent. Default none. */
  readonly hides?: Hides | undefined;
}

/**
 * Immediate children of a directory in name order; none for a path that is none. A child is shown
 * when a document at or under it is, without a hidden segment from the child downwards, and live
 * unless archived ones are wanted.
 */
export function children(
  columns: ResidentColumns,
  directory: string,
  query: ChildrenQuery = {},
): Generator<ListEntry> {
  return new Children(columns, directory, query).run();
}

/**
 * Children out of several places, each in name order, as one. A child is shown where any of the
 * places shows it: a document of a run must be hidden there when something newer speaks for it.
 */
export function* mergeChildren(places: readonly Iterator<ListEntry>[]): Generator<ListEntry> {
  const heads = places.map((place) => ({ place, next: place.next() }));
  for (;;) {
    let least: ListEntry | undefined;
    for (const { next } of heads) {
      if (next.done === true) continue;
      if (least === undefined || compareUtf8(next.value.name, least.name) < 0) least = next.value;
    }
    if (least === undefined) return;
    yield least;
    for (const head of heads) {
      const { next } = head;
      if (next.done !== true && next.value.name === least.name) head.next = head.place.next();
    }
  }
}

class Children {
  readonly #columns: ResidentColumns;
  /** The directory and a slash. */
  readonly #prefix: string;
  /** The directory's own path has a hidden segment, and so have all under it. */
  readonly #isHidden: boolean;
  readonly #query: ChildrenQuery;
  /** The end of the rows under the directory. */
  readonly #end: number;
  /** The last name that was dealt with. */
  #last: string | undefined;

  constructor(columns: ResidentColumns, directory: string, query: ChildrenQuery) {
    this.#columns = columns;
    this.#prefix = directory === '/' ? '/' : `${directory}/`;
    this.#isHidden = hasHiddenSegment(directory);
    this.#query = query;
    this.#end = columns.rowsUnder(directory).end;
    this.#last = query.after;
  }

  *run(): Generator<ListEntry> {
    const columns = this.#columns;
    let row = columns.lowerBound(`${this.#prefix}${this.#last ?? ''}`);
    while (row < this.#end) {
      const path = columns.path(row);
      const slash = path.indexOf('/', this.#prefix.length);
      const name = path.slice(this.#prefix.length, slash < 0 ? undefined : slash);
      const next = slash < 0 ? row + 1 : this.#lowerBound(`${name}0`);
      if (this.#isNew(name)) {
        yield* this.#shorter(name, next);
        if (this.#shows(name, row, next)) yield { name, isDir: slash >= 0 };
        this.#last = name;
      }
      row = next;
    }
  }

  /** Directories whose names are beginnings of a name and whose rows come after it. */
  *#shorter(name: string, next: number): Generator<ListEntry> {
    for (let length = 1; length < name.length; length++) {
      if (name.charCodeAt(length) >= SLASH) continue;
      const shorter = name.slice(0, length);
      if (!this.#isNew(shorter)) continue;
      const start = this.#startOf(shorter, next);
      if (start < 0) continue;
      const end = this.#lowerBound(`${shorter}0`);
      if (this.#shows(shorter, start, end)) yield { name: shorter, isDir: true };
      this.#last = shorter;
    }
  }

  /** The first row under a child, which is at or after row `from`; −1 when there is none. */
  #startOf(name: string, from: number): number {
    if (from >= this.#end) return -1;
    const wanted = `${this.#prefix}${name}/`;
    // Mostly the next row tells, and is what is read next anyway.
    const path = this.#columns.path(from);
    if (path.startsWith(wanted)) return from;
    if (compareUtf8(path, wanted) > 0) return -1;
    const start = this.#lowerBound(`${name}/`);
    return start < this.#end && this.#columns.path(start).startsWith(wanted) ? start : -1;
  }

  #isNew(name: string): boolean {
    return this.#last === undefined || compareUtf8(name, this.#last) > 0;
  }

  #lowerBound(rest: string): number {
    return this.#columns.lowerBound(`${this.#prefix}${rest}`);
  }

  /** Whether a child with the rows `[start, end)` is shown. */
  #shows(name: string, start: number, end: number): boolean {
    if (isHiddenName(name)) return false;
    const columns = this.#columns;
    const { includeArchived = false, hides } = this.#query;
    for (let row = start; row < end; row++) {
      if (!includeArchived && columns.archived(row)) continue;
      if (columns.hidden(row) && !(this.#isHidden && this.#isVisible(row))) continue;
      if (hides === undefined || !hides(row)) return true;
    }
    return false;
  }

  /** Whether no segment below the directory is hidden. */
  #isVisible(row: number): boolean {
    return !hasHiddenSegment(this.#columns.path(row), this.#prefix.length);
  }
}
