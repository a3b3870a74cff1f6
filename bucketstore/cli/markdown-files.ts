/**
 * The Markdown files of a folder, in UTF-8 byte order of their paths, so that the same folder gives
 * the same log.
 *
 * A file counts when its name ends in `.md`. Symbolic links are never followed: one that would be
 * read is named as skipped, so that nothing outside the folder gets into a world by accident.
 */
import type { Dirent, Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { StoreError } from '../base/errors.ts';
import { readAhead } from '../base/read-ahead.ts';
import { BODY_BYTES_MAX } from '../document/body.ts';
import { decodeUtf8 } from '../document/text.ts';

/** A file with its bytes, or why it has none. */
export type LoadedFile =
  | { readonly kind: 'file'; readonly name: string; readonly bytes: Uint8Array }
  | { readonly kind: 'skipped'; readonly name: string; readonly reason: string };

/** Files read at once: bounds open files, and memory to as many largest bodies. */
const READ_AHEAD = 16;

const SUFFIX = '.md';
const SLASH = Buffer.from('/');

type FoundFile =
  | { readonly kind: 'file'; readonly name: string; readonly path: Buffer }
  | { readonly kind: 'skipped'; readonly name: string; readonly reason: string };

/**
 * Reads every Markdown file below a directory, in order.
 * @throws StoreError `NOT_FOUND` when the directory is not there
 */
export async function* readMarkdownFiles(directory: string): AsyncGenerator<LoadedFile> {
  let facts: Stats;
  try {
    facts = await stat(directory);
  } catch (error) {
    throw new StoreError('NOT_FOUND', `there is no folder ${directory}`, { cause: error });
  }
  if (!facts.isDirectory()) throw new StoreError('USAGE', `${directory} is no folder`);
  yield* readAhead(walk(Buffer.from(directory), ''), READ_AHEAD, load);
}

async function* walk(directory: Buffer, above: string): AsyncGenerator<FoundFile> {
  let entries: Dirent<Buffer>[];
  try {
    entries = await readdir(directory, { encoding: 'buffer', withFileTypes: true });
  } catch (error) {
    yield { kind: 'skipped', name: above, reason: `cannot be read: ${codeOf(error)}` };
    return;
  }
  entries.sort((a, b) => Buffer.compare(orderOf(a), orderOf(b)));
  for (const entry of entries) {
    const text = decodeUtf8(entry.name);
    const name = above + (text ?? entry.name.toString('latin1'));
    const path = Buffer.concat([directory, SLASH, entry.name]);
    if (text === null) yield { kind: 'skipped', name, reason: 'its name is not UTF-8' };
    else if (entry.isDirectory()) yield* walk(path, `${name}/`);
    else if (entry.isSymbolicLink()) yield* link(name, path);
    else if (text.endsWith(SUFFIX)) yield fileOf(entry, name, path);
  }
}

/** A directory sorts as the paths below it do, which have a slash behind its name. */
function orderOf(entry: Dirent<Buffer>): Buffer {
  return entry.isDirectory() ? Buffer.concat([entry.name, SLASH]) : entry.name;
}

async function* link(name: string, path: Buffer): AsyncGenerator<FoundFile> {
  const target = await stat(path).catch(() => null);
  if (!name.endsWith(SUFFIX) && target?.isDirectory() !== true) return;
  yield { kind: 'skipped', name, reason: 'a symbolic link; links are not followed' };
}

function fileOf(entry: Dirent<Buffer>, name: string, path: Buffer): FoundFile {
  if (entry.isFile()) return { kind: 'file', name, path };
  return { kind: 'skipped', name, reason: 'no regular file' };
}

async function load(found: FoundFile): Promise<LoadedFile> {
  if (found.kind === 'skipped') return found;
  const { name, path } = found;
  try {
    // Asked first, so that a film with the wrong name is not read into memory.
    const { size } = await stat(path);
    if (size > BODY_BYTES_MAX) return tooLarge(name, size);
    const bytes = await readFile(path);
    return bytes.byteLength > BODY_BYTES_MAX
      ? tooLarge(name, bytes.byteLength)
      : { kind: 'file', name, bytes };
  } catch (error) {
    return { kind: 'skipped', name, reason: `cannot be read: ${codeOf(error)}` };
  }
}

function tooLarge(name: string, bytes: number): LoadedFile {
  return { kind: 'skipped', name, reason: `${bytes} bytes, ${BODY_BYTES_MAX} are allowed` };
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  return error instanceof Error ? error.message : String(error);
}
