/** Sizes and names: length of files, functions and lines, spelling of file names, the top level. */
import ts from 'typescript';
import { LIBRARY, lineAt, type Source, topFolder, walk } from './parse.ts';
import type { Problem, TreeFile } from './tree.ts';

const LIBRARY_LINES_MAX = 300;
const EXCUSED_LINES_MAX = 400;
const FILE_LINES_MAX = 500;
const FUNCTION_LINES_MAX = 60;
const COLUMNS_MAX = 100;
const EXCUSE = 'Longer than 300 lines because';

const CODE = /\.(ts|mjs|js|sh)$/;

/** What may stand at the top level: folders end in `/`. */
const TOP_LEVEL: ReadonlySet<string> = new Set([
  ...[...LIBRARY].map((name) => `${name}/`),
  ...['test/', 'docs/', '.ci/'],
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE'],
  ...['package.json', 'package-lock.json', '.npmrc', '.gitignore'],
  ...['tsconfig.json', 'tsconfig.build.json', 'vitest.config.ts', 'biome.json', 'knip.json'],
  ...['Dockerfile', '.dockerignore'],
]);

/** A library file has at most 300 lines (400 with a reason in its header), any code file 500. */
export function checkFileLength(file: TreeFile): readonly Problem[] {
  if (file.text === null || !CODE.test(file.path)) return [];
  const lines = file.text.split('\n').length - (file.text.endsWith('\n') ? 1 : 0);
  const limit = LIBRARY.has(topFolder(file.path)) ? libraryLimit(file.text) : FILE_LINES_MAX;
  if (lines <= limit) return [];
  return [wholeFile('file-length', file.path, `${lines} lines, at most ${limit}`)];
}

function libraryLimit(text: string): number {
  const header = /^(#!.*\n)?\s*\/\*[\s\S]*?\*\//.exec(text)?.[0] ?? '';
  return header.replace(/\s+\*?\s*/g, ' ').includes(EXCUSE) ? EXCUSED_LINES_MAX : LIBRARY_LINES_MAX;
}

/** A line of TypeScript has at most 100 columns (code points). */
export function checkColumns(source: Source): readonly Problem[] {
  return source.text.split('\n').flatMap((line, index) => {
    const columns = [...line].length;
    if (columns <= COLUMNS_MAX) return [];
    const message = `${columns} columns, at most ${COLUMNS_MAX}`;
    return [{ rule: 'columns', path: source.path, line: index + 1, message }];
  });
}

/** A function has at most 60 lines; in `test/`, one that registers tests is a list and exempt. */
export function checkFunctionLength(source: Source): readonly Problem[] {
  const problems: Problem[] = [];
  walk(source, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
    const first = lineAt(source, node.getStart(source.tree));
    const lines = lineAt(source, node.end) - first + 1;
    if (lines <= FUNCTION_LINES_MAX) return;
    if (topFolder(source.path) === 'test' && registersTests(node.body)) return;
    const name = node.name?.getText(source.tree) ?? 'function';
    const message = `${name} has ${lines} lines, at most ${FUNCTION_LINES_MAX}`;
    problems.push({ rule: 'function-length', path: source.path, line: first, message });
  });
  return problems;
}

/** Whether a body's own statements call `describe`, `it`, `test` or `suite`, in whatever form. */
function registersTests(body: ts.Node): boolean {
  if (!ts.isBlock(body)) return false;
  return body.statements.some((statement) => {
    let node: ts.Node = ts.isExpressionStatement(statement) ? statement.expression : statement;
    while (ts.isCallExpression(node) || ts.isPropertyAccessExpression(node)) {
      if (ts.isPropertyAccessExpression(node) && isRegistrar(node.name.text)) return true;
      node = node.expression;
    }
    return ts.isIdentifier(node) && isRegistrar(node.text);
  });
}

function isRegistrar(name: string): boolean {
  return /^(describe|it|test|suite)$/.test(name);
}

/** File and folder names are kebab-case. At the top level, its own list decides. */
export function checkName(path: string): readonly Problem[] {
  const parts = path.split('/');
  const top = parts[0] ?? '';
  const entry = parts.length === 1 ? top : `${top}/`;
  if (!TOP_LEVEL.has(entry)) {
    return [wholeFile('top-level', path, `"${entry}" is not in the list of the top level`)];
  }
  const bad = parts.slice(1).find((part) => !/^\.?[a-z0-9]+([.-][a-z0-9]+)*$/.test(part));
  return bad === undefined || bad === 'README.md'
    ? []
    : [wholeFile('kebab-case', path, `"${bad}" is not kebab-case`)];
}

function wholeFile(rule: string, path: string, message: string): Problem {
  return { rule, path, line: 0, message };
}
