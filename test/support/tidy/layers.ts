/** Who may import whom, and which file alone may import a package. */
import { posix } from 'node:path';
import { importsOf, LIBRARY, problemAt, type Source, topFolder } from './parse.ts';
import type { Problem } from './tree.ts';

/** Values and the bucket, which every layer of the store may use. */
const GROUND: readonly string[] = ['blob', 'base', 'document'];

const BELOW_STORE: readonly string[] = [
  ...GROUND,
  'log',
  'snapshot',
  'commit',
  'checkpoint',
  'sections',
  'feed',
  'migrate',
];

/**
 * Each layer with the layers it may import; itself is always allowed. Bottom first. `commit` and
 * `checkpoint` do not know each other, and what stands beside both knows at most one of them: the
 * store is where they meet.
 */
const LAYERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['blob', []],
  ['base', []],
  ['document', ['base']],
  ['log', GROUND],
  ['snapshot', [...GROUND, 'log']],
  ['commit', [...GROUND, 'log', 'snapshot']],
  ['checkpoint', [...GROUND, 'log', 'snapshot']],
  ['sections', [...GROUND, 'log', 'snapshot', 'checkpoint']],
  ['feed', [...GROUND, 'log', 'snapshot']],
  ['migrate', [...GROUND, 'log', 'snapshot', 'checkpoint']],
  ['store', BELOW_STORE],
  ['serve', [...BELOW_STORE, 'store']],
  ['cli', [...BELOW_STORE, 'store', 'serve', 'spike']],
  // What of `test/` is published ships alone, so it may not reach into the rest.
  ['contract', [...BELOW_STORE, 'store']],
  // The port's types and nothing of the store, or it would repeat the store's mistakes.
  ['oracle', ['blob']],
  ['seeded', ['base']],
  // The model of the old store, from its specification: it shares nothing with what reads that.
  ['schema1', ['blob', 'seeded']],
  ['spike', [...BELOW_STORE, 'store', 'oracle', 'seeded']],
  [
    'test',
    [...BELOW_STORE, 'store', 'serve', 'cli', 'contract', 'oracle', 'seeded', 'schema1', 'spike'],
  ],
]);

/** Files of `test/` that are published without their folder. */
const PUBLISHED: ReadonlyMap<string, string> = new Map([
  ['test/oracle/objects.ts', 'oracle'],
  ['test/oracle/world.ts', 'oracle'],
  ['test/support/seeded-random.ts', 'seeded'],
]);

/** Folders of `test/` that are layers of their own. */
const FOLDERS: ReadonlySet<string> = new Set(['contract', 'schema1']);

/** The layer of a file, or null for one outside all of them (a configuration file). */
function layerOf(path: string): string | null {
  const [top = '', second = '', third] = path.split('/');
  if (top === 'bucketstore') return third === undefined ? 'store' : second;
  if (top === 'test') return FOLDERS.has(second) ? second : (PUBLISHED.get(path) ?? 'test');
  return LAYERS.has(top) ? top : null;
}

/** Imports that point upward or sideways. */
export function checkLayers(source: Source): readonly Problem[] {
  const layer = layerOf(source.path);
  if (layer === null) return [];
  const allowed = LAYERS.get(layer);
  if (allowed === undefined) {
    const message = `"${layer}" is no layer; the table is in test/support/tidy/layers.ts`;
    return [{ rule: 'layers', path: source.path, line: 0, message }];
  }
  return importsOf(source).flatMap(({ name, node }) => {
    if (!name.startsWith('.')) return [];
    const target = posix.normalize(posix.join(posix.dirname(source.path), name));
    const other = layerOf(target);
    if (other === null && layer === 'test') return [];
    if (other !== null && (other === layer || allowed.includes(other))) return [];
    return [problemAt(source, 'layers', node, `${layer} may not import ${target}`)];
  });
}

/** `@scope/name` or `name` of an import that names a package; null for a file or a built-in. */
function packageOf(name: string): string | null {
  if (name.startsWith('.') || name.startsWith('node:')) return null;
  return /^(@[^/]+\/[^/]+|[^/]+)/.exec(name)?.[0] ?? null;
}

/** Published files import only what is installed with them: `dependencies`. */
export function checkPublishedImports(
  source: Source,
  dependencies: readonly string[],
): readonly Problem[] {
  if (!isPublished(source.path)) return [];
  return importsOf(source).flatMap(({ name, node }) => {
    const wanted = packageOf(name);
    if (wanted === null || dependencies.includes(wanted)) return [];
    return [problemAt(source, 'dependencies', node, `${wanted} is not in dependencies`)];
  });
}

/** Every package in `dependencies` is imported by exactly one published file. */
export function checkImporters(
  sources: readonly Source[],
  dependencies: readonly string[],
): readonly Problem[] {
  return dependencies.flatMap((dependency) => {
    const importers = sources.filter(
      (source) =>
        isPublished(source.path) &&
        importsOf(source).some(({ name }) => packageOf(name) === dependency),
    );
    if (importers.length === 1) return [];
    const files = importers.map((source) => source.path).join(', ') || 'no file';
    const message = `${dependency} has one importing file; now: ${files}`;
    return [{ rule: 'importers', path: importers[1]?.path ?? 'package.json', line: 0, message }];
  });
}

function isPublished(path: string): boolean {
  if (topFolder(path) === 'test') return path.startsWith('test/contract/') || PUBLISHED.has(path);
  return LIBRARY.has(topFolder(path));
}
