/**
 * Goal: style that is not checked drifts, so the shape of the code is a test.
 * Method: each rule is a pure function over a file. First every rule is shown a snippet that it
 * must refuse and one that it must accept; then all rules run over the whole tree.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { checkAny, checkExports, checkModuleState, checkUnrun } from './support/tidy/language.ts';
import { checkImporters, checkLayers, checkPublishedImports } from './support/tidy/layers.ts';
import { checkOwned } from './support/tidy/owned.ts';
import { parseSource, type Source } from './support/tidy/parse.ts';
import {
  checkColumns,
  checkFileLength,
  checkFunctionLength,
  checkName,
} from './support/tidy/shape.ts';
import { checkLinks, checkText } from './support/tidy/text.ts';
import { formatProblem, type Problem, parseIgnore, readTree } from './support/tidy/tree.ts';

const DEPENDENCIES = Object.keys(manifest.dependencies);

type SourceRule = (source: Source) => readonly Problem[];

function source(path: string, text: string): Source {
  const parsed = parseSource({ path, text });
  if (parsed === null) throw new RangeError(`${path} is no TypeScript`);
  return parsed;
}

function linesOf(count: number, header = ''): string {
  return `${header}${'x;\n'.repeat(count)}`;
}

/** A function with `count` lines. */
function functionOf(count: number, head = 'function f() {', foot = '}'): string {
  return `${head}\n${'  g();\n'.repeat(count - 2)}${foot}\n`;
}

describe('a source rule', () => {
  const imported = checkPublishedImportsOf(['p-limit']);
  it.each<[string, SourceRule, string, string]>([
    ['a long line', checkColumns, 'feed/a.ts', `// ${'a'.repeat(98)}`],
    ['a long function', checkFunctionLength, 'feed/a.ts', functionOf(61)],
    ['a long arrow', checkFunctionLength, 'test/a.ts', functionOf(61, 'const f = () => {')],
    ['a long suite outside test', checkFunctionLength, 'feed/a.ts', suiteOf(61)],
    ['Date.now', checkOwned, 'feed/a.ts', 'const a = Date.now();'],
    ['a handed Date.now', checkOwned, 'feed/a.ts', 'f(Date.now);'],
    ['Date.now by brackets', checkOwned, 'feed/a.ts', "globalThis['Date'].now();"],
    ['a taken Date.now', checkOwned, 'feed/a.ts', 'const { now: clock } = Date;'],
    ['a taken setTimeout', checkOwned, 'feed/a.ts', 'const { setTimeout: wait } = globalThis;'],
    ['new Date()', checkOwned, 'feed/a.ts', 'const a = new Date();'],
    ['Math.random', checkOwned, 'feed/a.ts', 'Math.random();'],
    ['setTimeout', checkOwned, 'test/feed/a.test.ts', 'setTimeout(f, 1);'],
    ['a bound setTimeout', checkOwned, 'feed/a.ts', 'const s = { setTimeout };'],
    ['setInterval', checkOwned, 'feed/a.ts', 'globalThis.setInterval(f, 1);'],
    ['setImmediate', checkOwned, 'feed/a.ts', 'setImmediate(f);'],
    ['promised timers', checkOwned, 'feed/a.ts', "import { x } from 'node:timers/promises';"],
    ['a signal with a timer', checkOwned, 'feed/a.ts', 'AbortSignal.timeout(5);'],
    ['randomUUID', checkOwned, 'feed/a.ts', "import { randomUUID as id } from 'node:crypto';"],
    ['crypto.randomUUID', checkOwned, 'feed/a.ts', 'crypto.randomUUID();'],
    ['performance.now', checkOwned, 'feed/a.ts', 'performance.now();'],
    ['console', checkOwned, 'bucketstore/base/clock.ts', "console.log('a');"],
    ['a handed console', checkOwned, 'feed/a.ts', 'f(console);'],
    ['process.env', checkOwned, 'feed/a.ts', 'const a = process.env.HOME;'],
    ['process.exit', checkOwned, 'feed/a.ts', 'process.exit(1);'],
    ['process.stdout', checkOwned, 'feed/a.ts', "process.stdout.write('');"],
    ['a child process', checkOwned, 'test/a.test.ts', "import { x } from 'node:child_process';"],
    ['time in the random file', checkOwned, 'bucketstore/base/random.ts', 'Date.now();'],
    ['an upward import', checkLayers, 'blob/a.ts', "import { a } from '../feed/a.ts';"],
    ['a type from above', checkLayers, 'feed/a.ts', "type A = import('../test/a.ts').A;"],
    ['a lazy import', checkLayers, 'feed/a.ts', "await import('../migrate/a.ts');"],
    [
      'a sideways import',
      checkLayers,
      'checkpoint/a.ts',
      "export * from '../bucketstore/commit/a.ts';",
    ],
    ['an unknown layer', checkLayers, 'bucketstore/attic/a.ts', 'export {};'],
    ['the oracle to the store', checkLayers, 'test/oracle/world.ts', "import '../../feed/a.ts';"],
    ['the old store to ours', checkLayers, 'test/schema1/a.ts', "import '../../migrate/a.ts';"],
    ['spike to a test', checkLayers, 'spike/a.ts', "import '../test/support/manual-clock.ts';"],
    ['the store to spike', checkLayers, 'bucketstore/a.ts', "import '../spike/index.ts';"],
    ['contract to support', checkLayers, 'test/contract/a.ts', "import '../support/a.ts';"],
    ['a stranger', imported, 'feed/a.ts', "import pino from 'pino/file';"],
    ['a default export', checkExports, 'feed/a.ts', 'export default class A {}'],
    ['a default value', checkExports, 'feed/a.ts', 'const a = 1; export default a;'],
    ['a renamed default', checkExports, 'feed/a.ts', 'const a = 1; export { a as default };'],
    ['any', checkAny, 'feed/a.ts', 'const a = b as any;'],
    ['any in a generic', checkAny, 'test/a.ts', 'let a: Map<string, any>;'],
    ['a lone test', checkUnrun, 'test/a.test.ts', `it.${'only'}('a', f);`],
    ['a skipped suite', checkUnrun, 'test/a.test.ts', `describe.${'skip'}.each([1])('a', f);`],
    ['a promised test', checkUnrun, 'test/a.test.ts', `it.${'todo'}('a');`],
    ['an x-ed test', checkUnrun, 'test/a.test.ts', "xit('a', f);"],
    ['a module variable', checkModuleState, 'feed/a.ts', 'let a = 1;'],
    ['a module map', checkModuleState, 'feed/a.ts', 'export const a: Map<A, B> = new Map();'],
    ['a wrapped set', checkModuleState, 'feed/a.ts', 'const a = { b: new Set() };'],
    ['a module list', checkModuleState, 'feed/a.ts', 'const a: string[] = [];'],
    ['a module record', checkModuleState, 'feed/a.ts', 'const a: Record<string, A> = {};'],
    ['a static map', checkModuleState, 'feed/a.ts', 'class A { static readonly a = new Map(); }'],
    ['a static count', checkModuleState, 'feed/a.ts', 'class A { static count = 0; }'],
  ])('refuses %s', (_, rule, path, text) => {
    expect(rule(source(path, text))).not.toEqual([]);
  });

  it.each<[string, SourceRule, string, string]>([
    ['100 columns', checkColumns, 'feed/a.ts', `// ${'ü'.repeat(97)}`],
    ['60 lines', checkFunctionLength, 'feed/a.ts', functionOf(60)],
    ['a long suite in test', checkFunctionLength, 'test/a.ts', suiteOf(61)],
    [
      'the clock in its file',
      checkOwned,
      'bucketstore/base/clock.ts',
      'Date.now(); setTimeout(f);',
    ],
    ['chance in its file', checkOwned, 'bucketstore/base/random.ts', 'randomUUID();'],
    ['a program', checkOwned, 'bucketstore/cli/main.ts', 'process.exit(Date.now());'],
    ['a server in a test', checkOwned, 'test/real/a.test.ts', 'setTimeout(f, 1);'],
    ['a date of a number', checkOwned, 'feed/a.ts', 'new Date(5).toISOString();'],
    ['our own names', checkOwned, 'feed/a.ts', 'clock.now(); a.console; ({ env: 1 }); f(x.exit);'],
    ['a downward import', checkLayers, 'feed/a.ts', "import '../bucketstore/log/a.ts';"],
    ['spike to the oracle', checkLayers, 'spike/a.ts', "import '../test/oracle/world.ts';"],
    ['a sibling', checkLayers, 'feed/a.ts', "import './b.ts'; import 'node:fs';"],
    ['a dependency', imported, 'feed/a.ts', "import p from 'p-limit'; import 'node:fs';"],
    ['any package in a test', imported, 'test/a.ts', "import 'fast-check';"],
    ['a switch', checkExports, 'feed/a.ts', 'switch (a) { default: b(); }'],
    ['a default import', checkExports, 'feed/a.ts', "import a, { default as b } from 'a';"],
    ['the word', checkAny, 'feed/a.ts', '// any\nconst any: unknown = "any";'],
    ['a test', checkUnrun, 'test/a.test.ts', "it('only skips', f); list.skip(2);"],
    ['a fixed table', checkModuleState, 'feed/a.ts', 'const a: ReadonlySet<A> = new Set([1]);'],
    ['a fixed list', checkModuleState, 'feed/a.ts', 'const a: readonly string[] = [];'],
    ['a fixed record', checkModuleState, 'feed/a.ts', 'const a = { b: {}, c: () => new Map() };'],
  ])('accepts %s', (_, rule, path, text) => {
    expect(rule(source(path, text)).map(formatProblem)).toEqual([]);
  });
});

function checkPublishedImportsOf(dependencies: readonly string[]): SourceRule {
  return (checked) => checkPublishedImports(checked, dependencies);
}

function suiteOf(lines: number): string {
  return functionOf(lines, "describe('a', () => {\n  it('b', f);", '});');
}

describe('a rule of files', () => {
  const excuse = '/**\n * A codec. Longer than 300 lines\n * because both halves mirror.\n */\n';
  it.each([
    ['feed/a.ts', linesOf(301)],
    ['feed/a.ts', linesOf(401, excuse)],
    ['feed/a.ts', `${linesOf(300)}/* Longer than 300 lines because */`],
    ['test/a.test.ts', linesOf(501)],
    ['.ci/run.sh', linesOf(501)],
  ])('refuses a %s that is too long', (path, text) => {
    expect(checkFileLength({ path, text })).not.toEqual([]);
  });

  it.each([
    ['feed/a.ts', linesOf(300)],
    ['feed/a.ts', linesOf(390, excuse)],
    ['test/a.test.ts', linesOf(500)],
    ['docs/a.md', linesOf(900)],
  ])('accepts a %s within its limit', (path, text) => {
    expect(checkFileLength({ path, text }).map(formatProblem)).toEqual([]);
  });

  it.each([
    ['feed/longName.ts'],
    ['feed/snake_case.ts'],
    ['test/Feed/a.test.ts'],
    ['docs/Guide.md'],
    ['src/a.ts'],
    ['notes.md'],
  ])('refuses the name %s', (path) => {
    expect(checkName(path)).not.toEqual([]);
  });

  it.each([
    ['feed/long-name.ts'],
    ['test/golden/slot-1.slot'],
    ['docs/adr/0001-title.md'],
    ['spike/README.md'],
    ['.ci/run'],
    ['README.md'],
  ])('accepts the name %s', (path) => {
    expect(checkName(path).map(formatProblem)).toEqual([]);
  });

  it.each([
    [`// ${'TO'}${'DO'}: later`],
    [`see ${'FIX'}${'ME'}`],
    [`cd ${'/wo'}rk/main`],
    [`"${'/ho'}me/me/a.ts"`],
    [`file:${'/ro'}ot/bucket`],
    [`https://${'regis'}try.example.org/a`],
  ])('refuses the text %s', (text) => {
    expect(checkText({ path: 'docs/a.md', text })).not.toEqual([]);
  });

  it.each([
    ['methodology, hackney'],
    ["import { root } from '../root/root.ts';"],
    ['https://example.org/work/a'],
    ['the registry of worlds'],
  ])('accepts the text %s', (text) => {
    expect(checkText({ path: 'docs/a.md', text }).map(formatProblem)).toEqual([]);
  });

  it('refuses a link that leads nowhere, and follows the others', () => {
    const paths = new Set(['docs/a.md', 'README.md']);
    const text = 'See [a](a.md#top), [up](../README.md) and [web](https://example.org/b.md).';
    expect(checkLinks({ path: 'docs/b.md', text }, paths).map(formatProblem)).toEqual([]);
    expect(checkLinks({ path: 'README.md', text }, paths)).toHaveLength(2);
  });

  it('refuses a package with no importer or with two', () => {
    const a = source('feed/a.ts', "import p from 'p-limit';");
    const b = source('blob/b.ts', "const p = await import('p-limit');");
    const c = source('test/c.ts', "import p from 'p-limit';");
    expect(checkImporters([c], ['p-limit'])).toHaveLength(1);
    expect(checkImporters([a, b], ['p-limit'])).toHaveLength(1);
    expect(checkImporters([a, c], ['p-limit'])).toEqual([]);
  });

  it('knows the ignore patterns that git knows, and refuses others', () => {
    const ignored = parseIgnore('# made\nbuilt/\n*.tgz\n/data/\n');
    expect(ignored('a/built', true)).toBe(true);
    expect(ignored('built', false)).toBe(false);
    expect(ignored('a/b.tgz', false)).toBe(true);
    expect(ignored('data', true)).toBe(true);
    expect(ignored('test/data', true)).toBe(false);
    expect(() => parseIgnore('!keep')).toThrow(RangeError);
    expect(() => parseIgnore('a/**/b')).toThrow(RangeError);
  });
});

describe('this tree', () => {
  const files = readTree(join(import.meta.dirname, '..'));
  const sources = files.flatMap((file) => parseSource(file) ?? []);

  it('is the whole tree', () => {
    const paths = new Set(files.map((file) => file.path));
    expect(paths).toContain('test/tidy.test.ts');
    expect(paths).toContain('package.json');
    expect(sources.length).toBeGreaterThan(10);
  });

  const fileRules = { checkFileLength, checkText };
  it.each(Object.entries(fileRules))('passes %s', (_, rule) => {
    expect(files.flatMap(rule).map(formatProblem)).toEqual([]);
  });

  it('passes checkLinks', () => {
    const paths = new Set(files.map((file) => file.path));
    expect(files.flatMap((file) => checkLinks(file, paths)).map(formatProblem)).toEqual([]);
  });

  it('passes checkName', () => {
    expect(files.flatMap((file) => checkName(file.path)).map(formatProblem)).toEqual([]);
  });

  it.each<[string, SourceRule]>([
    ['checkColumns', checkColumns],
    ['checkFunctionLength', checkFunctionLength],
    ['checkOwned', checkOwned],
    ['checkLayers', checkLayers],
    ['checkPublishedImports', checkPublishedImportsOf(DEPENDENCIES)],
    ['checkExports', checkExports],
    ['checkAny', checkAny],
    ['checkUnrun', checkUnrun],
    ['checkModuleState', checkModuleState],
  ])('passes %s', (_, rule) => {
    expect(sources.flatMap(rule).map(formatProblem)).toEqual([]);
  });

  it('passes checkImporters', () => {
    expect(checkImporters(sources, DEPENDENCIES).map(formatProblem)).toEqual([]);
  });
});
