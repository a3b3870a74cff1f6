/** TypeScript sources as syntax trees, for rules that a regular expression would get wrong. */
import ts from 'typescript';
import type { Problem, TreeFile } from './tree.ts';

/** A parsed source. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

/** Parses a `.ts` file; `null` for anything else. */
export function parseSource(file: TreeFile): Source | null {
  if (file.text === null || !file.path.endsWith('.ts')) return null;
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
  return { path: file.path, text: file.text, tree };
}

/** Calls `visit` with every node of a source, parents first. */
export function walk(source: Source, visit: (node: ts.Node) => void): void {
  const step = (node: ts.Node): void => {
    visit(node);
    ts.forEachChild(node, step);
  };
  step(source.tree);
}

/** Line of a position, from 1. */
export function lineAt(source: Source, position: number): number {
  return source.tree.getLineAndCharacterOfPosition(position).line + 1;
}

/** A problem at a node. */
export function problemAt(source: Source, rule: string, node: ts.Node, message: string): Problem {
  return { rule, path: source.path, line: lineAt(source, node.getStart(source.tree)), message };
}

/** What a source imports or re-exports, `import()` and `import type` included. */
export function importsOf(
  source: Source,
): readonly { readonly name: string; readonly node: ts.Node }[] {
  const found: { readonly name: string; readonly node: ts.Node }[] = [];
  const add = (name: ts.Node | undefined, node: ts.Node): void => {
    if (name !== undefined && ts.isStringLiteralLike(name)) found.push({ name: name.text, node });
  };
  walk(source, (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], node);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, node);
    }
  });
  return found;
}

/** The first folder of a path, which is the unit that owns it. */
export function topFolder(path: string): string {
  return path.split('/', 1)[0] ?? '';
}

/** The folders whose files are the published library. */
export const LIBRARY: ReadonlySet<string> = new Set([
  'blob',
  'bucketstore',
  'checkpoint',
  'sections',
  'feed',
  'migrate',
  'spike',
]);
