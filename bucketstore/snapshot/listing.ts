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

/** Documents from the first path at or after a text on, in byte order. */
export type DocumentsFrom = (path: string) => Iterator<PlacedDocument>;

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
 * A few steps down the order for each child, and one for each document that does not show.
 */
export function listChildren(
  from: DocumentsFrom,
  directory: string,
  { after = '', limit, includeArchived = false }: ListQuery,
): ListEntry[] {
  const prefix = directory === '/' ? '/' : `${directory}/`;
  const most = limit === 0 || limit === undefined ? Number.POSITIVE_INFINITY : limit;
  const entries: ListEntry[] = [];
  for (let name = after; entries.length < most; ) {
    const child = nextChild(from, prefix, name);
    if (child === null) break;
    name = child.name;
    if (isHiddenName(name)) continue;
    if (isShown(from, prefix + name, child.isDir, includeArchived)) entries.push(child);
  }
  return entries;
}

/** Whether a document lies under a path. */
export function hasUnder(from: DocumentsFrom, path: string): boolean {
  const prefix = path === '/' ? '/' : `${path}/`;
  return firstFrom(from, prefix)?.path.startsWith(prefix) ?? false;
}

/** The least name greater than `after` among the children; whether it shows is another matter. */
function nextChild(from: DocumentsFrom, prefix: string, after: string): ListEntry | null {
  for (let at = after === '' ? prefix : `${prefix}${after}\0`; ; ) {
    const path = firstFrom(from, at)?.path;
    if (path === undefined || !path.startsWith(prefix)) return null;
    const slash = path.indexOf('/', prefix.length);
    const name = path.slice(prefix.length, slash < 0 ? undefined : slash);
    if (compareUtf8(name, after) > 0) {
      return directoryBefore(from, prefix, name, after) ?? { name, isDir: slash >= 0 };
    }
    // A directory that was told before names that begin with its own.
    at = prefix + name + BEHIND;
  }
}

/** The directory, if there is one, whose name `name` begins with and that comes after `after`. */
function directoryBefore(
  from: DocumentsFrom,
  prefix: string,
  name: string,
  after: string,
): ListEntry | null {
  for (let end = 1; end < name.length; end++) {
    if (name.charCodeAt(end) >= SLASH) continue;
    const shorter = name.slice(0, end);
    const isNext = compareUtf8(shorter, after) > 0;
    if (isNext && hasUnder(from, prefix + shorter)) return { name: shorter, isDir: true };
  }
  return null;
}

function isShown(
  from: DocumentsFrom,
  path: string,
  isDir: boolean,
  includeArchived: boolean,
): boolean {
  const within = isDir ? `${path}/` : path;
  const documents = from(within);
  for (let next = documents.next(); next.done !== true; next = documents.next()) {
    const { path: at, archived } = next.value;
    if (isDir ? !at.startsWith(within) : at !== path) return false;
    const shows = includeArchived || !archived;
    if (shows && !hasHidden(at, path.length)) return true;
  }
  return false;
}

/** Whether a segment behind a position is hidden. */
function hasHidden(path: string, from: number): boolean {
  for (let slash = path.indexOf('/', from); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    const end = path.indexOf('/', slash + 1);
    if (isHiddenName(path.slice(slash + 1, end < 0 ? undefined : end))) return true;
  }
  return false;
}

function firstFrom(from: DocumentsFrom, path: string): PlacedDocument | undefined {
  const next = from(path).next();
  return next.done === true ? undefined : next.value;
}
