/** Parts of the language that this project does without, and tests that would not run. */
import ts from 'typescript';
import { problemAt, type Source, topFolder, walk } from './parse.ts';
import type { Problem } from './tree.ts';

/** Named exports only, so that a thing has one name everywhere. */
export function checkExports(source: Source): readonly Problem[] {
  if (source.path === 'vitest.config.ts') return [];
  const problems: Problem[] = [];
  walk(source, (node) => {
    const isDefault =
      ts.isExportAssignment(node) ||
      (ts.isExportSpecifier(node) && node.name.text === 'default') ||
      node.kind === ts.SyntaxKind.DefaultKeyword;
    // The `default:` of a switch is a clause, not a modifier.
    if (!isDefault || ts.isDefaultClause(node.parent)) return;
    problems.push(problemAt(source, 'default-export', node, 'named exports only'));
  });
  return problems;
}

/** `any` switches the checker off for whatever it touches. */
export function checkAny(source: Source): readonly Problem[] {
  const problems: Problem[] = [];
  walk(source, (node) => {
    if (node.kind !== ts.SyntaxKind.AnyKeyword) return;
    problems.push(problemAt(source, 'any', node, 'use `unknown` and decode it once'));
  });
  return problems;
}

const UNRUN: ReadonlySet<string> = new Set(['only', 'skip', 'todo', 'fails']);
const UNRUN_NAMES: ReadonlySet<string> = new Set(['fit', 'fdescribe', 'xit', 'xtest', 'xdescribe']);

/** Every test runs. What needs something absent says so with `skipIf` and a printed message. */
export function checkUnrun(source: Source): readonly Problem[] {
  if (topFolder(source.path) !== 'test') return [];
  const problems: Problem[] = [];
  walk(source, (node) => {
    const member = ts.isPropertyAccessExpression(node) && UNRUN.has(node.name.text);
    const called =
      ts.isCallExpression(node) &&
      ts.isIdentifier(node.expression) &&
      UNRUN_NAMES.has(node.expression.text);
    if (!called && !(member && rootsInTest(node))) return;
    problems.push(problemAt(source, 'unrun-test', node, `${node.getText(source.tree)}`));
  });
  return problems;
}

function rootsInTest(node: ts.Node): boolean {
  let root: ts.Node = node;
  while (ts.isPropertyAccessExpression(root) || ts.isCallExpression(root)) root = root.expression;
  return ts.isIdentifier(root) && /^(it|test|describe|suite|bench)$/.test(root.text);
}

const STATEFUL: ReadonlySet<string> = new Set(['Map', 'Set', 'WeakMap', 'WeakSet', 'Array']);

/** Folders in which two stores of one process must share nothing. */
const SEPARATE: ReadonlySet<string> = new Set([
  'bucketstore',
  'checkpoint',
  'sections',
  'feed',
  'migrate',
]);

/** Nothing of a world lives in a module: two stores in a process share nothing but the bucket. */
export function checkModuleState(source: Source): readonly Problem[] {
  if (!SEPARATE.has(topFolder(source.path))) return [];
  const problems: Problem[] = [];
  const report = (node: ts.Node): void => {
    problems.push(problemAt(source, 'module-state', node, 'mutable state of a module'));
  };
  for (const statement of source.tree.statements) {
    if (ts.isVariableStatement(statement)) {
      const constant = (statement.declarationList.flags & ts.NodeFlags.Const) !== 0;
      for (const declaration of statement.declarationList.declarations) {
        if (!constant || isMutable(declaration)) report(declaration);
      }
    }
    if (!ts.isClassDeclaration(statement)) continue;
    for (const member of statement.members) {
      if (!ts.isPropertyDeclaration(member) || !hasModifier(member, 'static')) continue;
      if (!hasModifier(member, 'readonly') || isMutable(member)) report(member);
    }
  }
  return problems;
}

/** `let`-like state inside a constant: a collection that is not declared readonly. */
function isMutable(declaration: ts.VariableDeclaration | ts.PropertyDeclaration): boolean {
  const { type, initializer } = declaration;
  if (initializer === undefined || isReadonlyType(type)) return false;
  // An empty list or record waits to be filled; inside a larger constant it is a value like others.
  if (ts.isArrayLiteralExpression(initializer) && initializer.elements.length === 0) return true;
  if (ts.isObjectLiteralExpression(initializer) && initializer.properties.length === 0) return true;
  const found = (node: ts.Node): boolean => {
    if (ts.isFunctionLike(node)) return false;
    if (ts.isNewExpression(node) && ts.isIdentifier(node.expression)) {
      return STATEFUL.has(node.expression.text);
    }
    return ts.forEachChild(node, (child) => found(child) || undefined) ?? false;
  };
  return found(initializer);
}

function isReadonlyType(type: ts.TypeNode | undefined): boolean {
  if (type === undefined) return false;
  if (ts.isTypeOperatorNode(type)) return type.operator === ts.SyntaxKind.ReadonlyKeyword;
  if (ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName)) {
    return type.typeName.text.startsWith('Readonly');
  }
  return false;
}

function hasModifier(node: ts.PropertyDeclaration, word: 'static' | 'readonly'): boolean {
  const kind = word === 'static' ? ts.SyntaxKind.StaticKeyword : ts.SyntaxKind.ReadonlyKeyword;
  return node.modifiers?.some((modifier) => modifier.kind === kind) ?? false;
}
