/**
 * Time, chance and the process belong to few files; everything else is handed them. This is what
 * makes a run of the whole store repeatable from one seed.
 */
import ts from 'typescript';
import { importsOf, problemAt, type Source, walk } from './parse.ts';
import type { Problem } from './tree.ts';

interface Possession {
  readonly what: string;
  /** Global names: `name` (with whatever follows it), `object.member`, `*.member` of any object. */
  readonly names: ReadonlySet<string>;
  /** Modules that give the same away. */
  readonly modules: ReadonlySet<string>;
  /** Files, or folders when they end in `/`. */
  readonly owners: readonly string[];
}

/** Programs and tests that run on the machine itself. */
const PROGRAMS: readonly string[] = [
  'bucketstore/cli/',
  'bucketstore/serve/',
  'spike/drivers.ts',
  'test/real/',
  'test/schema1/make.ts',
  'test/store/trickle-month.ts',
  'test/sim/main.ts',
  'test/support/gcs-emulator/',
  'test/support/rgw.ts',
];

const POSSESSIONS: readonly Possession[] = [
  {
    what: 'time',
    names: new Set([
      'Date.now',
      'Date()',
      'setTimeout',
      'setInterval',
      'setImmediate',
      'performance.now',
      'performance.timeOrigin',
      'process.hrtime',
      'process.uptime',
      'AbortSignal.timeout',
    ]),
    modules: new Set(['timers', 'timers/promises', 'perf_hooks']),
    // The manual clock drains promises with `setImmediate`; that is its whole use of the real one.
    owners: ['bucketstore/base/clock.ts', 'test/support/manual-clock.ts', ...PROGRAMS],
  },
  {
    what: 'chance',
    names: new Set([
      'Math.random',
      ...['randomUUID', 'randomBytes', 'randomInt', 'getRandomValues'].flatMap((name) => [
        name,
        `*.${name}`,
      ]),
    ]),
    modules: new Set([]),
    owners: ['bucketstore/base/random.ts', ...PROGRAMS],
  },
  {
    what: 'the process',
    names: new Set([
      'console',
      'process.env',
      'process.argv',
      'process.exit',
      'process.exitCode',
      'process.stdin',
      'process.stdout',
      'process.stderr',
      'process.on',
      'process.once',
    ]),
    modules: new Set(['process', 'console', 'child_process', 'cluster']),
    owners: PROGRAMS,
  },
];

/** Finds direct use of time, chance and the process outside the files that own them. */
export function checkOwned(source: Source): readonly Problem[] {
  const problems: Problem[] = [];
  for (const possession of POSSESSIONS) {
    if (possession.owners.some((owner) => ownsFile(owner, source.path))) continue;
    for (const { name, node } of importsOf(source)) {
      if (!possession.modules.has(name.replace(/^node:/, ''))) continue;
      problems.push(problemAt(source, 'owned', node, `imports ${name}: ${possession.what}`));
    }
    walk(source, (node) => {
      const name = usedNames(node).find((candidate) => possession.names.has(candidate));
      if (name === undefined) return;
      const message = `${name} is ${possession.what}: take it from what is handed in`;
      problems.push(problemAt(source, 'owned', node, message));
    });
  }
  return problems;
}

function ownsFile(owner: string, path: string): boolean {
  return owner.endsWith('/') ? path.startsWith(owner) : path === owner;
}

/** The names under which a node uses a global. `globalThis.` and brackets do not hide it. */
function usedNames(node: ts.Node): readonly string[] {
  if (ts.isNewExpression(node) || ts.isCallExpression(node)) {
    // `new Date()` reads the clock, `new Date(ms)` does not; `Date()` always does.
    const bare = ts.isCallExpression(node) || (node.arguments ?? []).length === 0;
    return bare && globalName(node.expression) === 'Date' ? ['Date()'] : [];
  }
  const member = memberOf(node);
  if (member !== null) {
    const owner = globalName(member.object);
    if (owner === 'globalThis') return [member.name];
    return [`*.${member.name}`, ...(owner === null ? [] : [`${owner}.${member.name}`])];
  }
  if (ts.isBindingElement(node)) return takenNames(node);
  return ts.isIdentifier(node) && isUse(node) ? [node.text] : [];
}

/** `Date.now` for `const { now } = Date`. */
function takenNames(node: ts.BindingElement): readonly string[] {
  const key = node.propertyName ?? node.name;
  const declaration = node.parent.parent;
  if (!ts.isIdentifier(key) || !ts.isVariableDeclaration(declaration)) return [];
  const owner = declaration.initializer && globalName(declaration.initializer);
  if (owner === 'globalThis') return [key.text];
  return owner ? [`${owner}.${key.text}`] : [];
}

function memberOf(node: ts.Node): { readonly object: ts.Node; readonly name: string } | null {
  if (ts.isPropertyAccessExpression(node)) {
    return { object: node.expression, name: node.name.text };
  }
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return { object: node.expression, name: node.argumentExpression.text };
  }
  return null;
}

/** `Date` for `Date` and for `globalThis.Date`. */
function globalName(node: ts.Node): string | null {
  if (ts.isIdentifier(node)) return node.text;
  const member = memberOf(node);
  return member !== null && globalName(member.object) === 'globalThis' ? member.name : null;
}

/** Whether an identifier refers to something, not names a member, a key or a declaration. */
function isUse(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isImportSpecifier(parent)) return (parent.propertyName ?? parent.name) === node;
  return !('name' in parent && parent.name === node);
}
