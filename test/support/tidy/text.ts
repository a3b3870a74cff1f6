/** What no committed text says: unfinished business, paths of a machine, links to nothing. */
import { posix } from 'node:path';
import type { Problem, TreeFile } from './tree.ts';

// The words are put together here so that this file itself passes.
const MARKERS = new RegExp(
  `\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b`,
);
const MACHINE = new RegExp(`(?<![\\w.})-])/(${['work', 'farm', 'home', 'root'].join('|')})/`);
const REGISTRY = /\b(registry|npm|proxy|artifactory|nexus|verdaccio)\.[a-z0-9-]+\.[a-z]+\b/i;

const RULES: readonly { readonly rule: string; readonly pattern: RegExp }[] = [
  { rule: 'marker', pattern: MARKERS },
  { rule: 'machine-path', pattern: MACHINE },
  { rule: 'registry-host', pattern: REGISTRY },
];

/** Markers of unfinished work, absolute paths of a machine, hosts of a package registry. */
export function checkText(file: TreeFile): readonly Problem[] {
  if (file.text === null) return [];
  return file.text.split('\n').flatMap((line, index) =>
    RULES.flatMap(({ rule, pattern }) => {
      const found = pattern.exec(line);
      if (found === null) return [];
      return [{ rule, path: file.path, line: index + 1, message: `"${found[0]}"` }];
    }),
  );
}

const LINK = /\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g;

/** Relative links of a Markdown page that lead nowhere. */
export function checkLinks(file: TreeFile, paths: ReadonlySet<string>): readonly Problem[] {
  if (file.text === null || !file.path.endsWith('.md')) return [];
  return file.text.split('\n').flatMap((line, index) =>
    [...line.matchAll(LINK)].flatMap(([, target = '']) => {
      if (/^[a-z]+:/.test(target)) return [];
      const path = posix.normalize(posix.join(posix.dirname(file.path), target));
      if (paths.has(path)) return [];
      const message = `no file ${path}`;
      return [{ rule: 'link', path: file.path, line: index + 1, message }];
    }),
  );
}
