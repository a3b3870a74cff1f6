/**
 * The keys of a `file` bucket in byte order, walked one directory at a time.
 *
 * In a directory, files sort by their key and directories by their key and `/`: everything below a
 * directory begins with that text and nothing beside it does, so a walk in this order is in byte
 * order. Only directories that can hold a wanted key are read. Names are decoded before they are
 * sorted, since `%` sorts before what it stands for.
 */
import type { ListQuery } from './blob.ts';
import { isAbsent } from './file-errors.ts';
import { CONTINUED, decodeSegment, isListable, pathOfKey } from './file-path.ts';
import type { FileSystem } from './file-system.ts';
import { compareKeys } from './order.ts';

interface Child {
  /** The key of what is no directory; what all keys in a directory begin with. */
  readonly text: string;
  readonly path: string;
  readonly directory: boolean;
}

/**
 * Ascending by UTF-8 bytes: the keys that match the query, whatever its limit. A key whose place is
 * taken by what is no file, such as a symbolic link, is one of them: silence would make it absent.
 */
export async function* walkKeys(
  fs: FileSystem,
  root: string,
  query: ListQuery,
): AsyncGenerator<string, void, undefined> {
  const slash = query.prefix.lastIndexOf('/');
  const start = query.prefix.slice(0, slash + 1);
  const path = slash < 0 ? root : `${root}/${pathOfKey(query.prefix.slice(0, slash))}`;
  yield* walk(fs, path, start, query);
}

async function* walk(
  fs: FileSystem,
  path: string,
  start: string,
  query: ListQuery,
): AsyncGenerator<string, void, undefined> {
  const children: Child[] = [];
  for (const child of await childrenOf(fs, path, '')) {
    const text = start + child.text;
    if (matches(text, child.directory, query)) children.push({ ...child, text });
  }
  children.sort((a, b) => compareKeys(a.text, b.text));
  for (const child of children) {
    if (child.directory) yield* walk(fs, child.path, child.text, query);
    else if (isListable(child.text)) yield child.text;
  }
}

/** Whether a file is wanted, or a directory can hold one that is. */
function matches(text: string, directory: boolean, { prefix, after }: ListQuery): boolean {
  const within = text.startsWith(prefix) || (directory && prefix.startsWith(text));
  if (!within || after === undefined) return within;
  return compareKeys(text, after) > 0 || (directory && after.startsWith(text));
}

/** What is in a directory, the parts of long names joined. `part` is the name so far, as a path. */
async function childrenOf(fs: FileSystem, path: string, part: string): Promise<readonly Child[]> {
  const children: Child[] = [];
  for (const { name, kind } of await entriesOf(fs, path)) {
    const inner = `${path}/${name}`;
    if (kind === 'directory' && name.endsWith(CONTINUED)) {
      children.push(...(await childrenOf(fs, inner, `${part}${name}/`)));
      continue;
    }
    const text = decodeSegment(part + name);
    if (text === undefined || text.includes('/')) continue;
    const directory = kind === 'directory';
    children.push({ text: directory ? `${text}/` : text, path: inner, directory });
  }
  return children;
}

async function entriesOf(fs: FileSystem, path: string): ReturnType<FileSystem['readdir']> {
  try {
    return await fs.readdir(path);
  } catch (error) {
    // Nothing was ever created there, or it went since its parent was read.
    if (isAbsent(error)) return [];
    throw error;
  }
}
