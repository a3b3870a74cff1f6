/**
 * The files of this project as they lie on the disk: everything that `.gitignore` does not name.
 * Read without asking git, so that the check starts no process and runs in an unpacked archive too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TreeFile {
  /** Path from the top of the tree, with `/`. */
  readonly path: string;
  /** `null` for a binary file. */
  readonly text: string | null;
}

export interface Problem {
  readonly rule: string;
  readonly path: string;
  /** 1 is the first line; 0 speaks of the whole file. */
  readonly line: number;
  readonly message: string;
}

/** One line for one problem, as compilers print it, so that an editor can jump there. */
export function formatProblem(problem: Problem): string {
  return `${problem.path}:${problem.line} [${problem.rule}] ${problem.message}`;
}

/** Every file below `root` that is not ignored, sorted by path. */
export function readTree(root: string): readonly TreeFile[] {
  const ignored = parseIgnore(readFileSync(join(root, '.gitignore'), 'utf8'));
  const files: TreeFile[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (path === '.git' || ignored(path, entry.isDirectory())) continue;
      if (entry.isDirectory()) visit(path);
      else files.push({ path, text: decodeText(readFileSync(join(root, path))) });
    }
  };
  visit('');
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * The part of git's ignore rules that this project uses: a name, a name at the top (`/name`), a
 * folder (`name/`) and `*` inside a name.
 * @throws RangeError for any other pattern, since guessing would hide files from the check
 */
export function parseIgnore(text: string): (path: string, folder: boolean) => boolean {
  const tests = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const parts = /^(\/?)([\w.*-]+)(\/?)$/.exec(line);
      if (parts === null || line.includes('**')) {
        throw new RangeError(`.gitignore: the tidy check does not know the pattern "${line}"`);
      }
      const [, top = '', name = '', end = ''] = parts;
      const source = name.replaceAll('.', '\\.').replaceAll('*', '[^/]*');
      return { name: new RegExp(`^${source}$`), top: top !== '', folderOnly: end !== '' };
    });
  return (path, folder) => {
    const last = path.slice(path.lastIndexOf('/') + 1);
    return tests.some(
      ({ name, top, folderOnly }) => (folder || !folderOnly) && name.test(top ? path : last),
    );
  };
}

function decodeText(bytes: Buffer): string | null {
  return bytes.includes(0) ? null : bytes.toString('utf8');
}
