/**
 * Loads mutants in Vite: an import with `?mutant=NAME` gives a module of its own, and everything of
 * the store that it imports carries the same query and is edited before its types are stripped.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { importedBy, type Mutant, mutantSource, parseMutant } from './mutate.ts';

/** A plugin of which tests call the hooks. */
export interface MutantsPlugin extends Plugin {
  resolveId(source: string, importer: string | undefined): string | null;
  /** @throws RangeError as `mutantSource` says */
  load(id: string): string | null;
}

/** The plugin that loads these mutants. `root` is the folder that their files are named from. */
export function mutantsPlugin(root: string, mutants: readonly Mutant[]): MutantsPlugin {
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  return {
    name: 'mutants',
    // Before types are stripped, since edits are of the source.
    enforce: 'pre',
    resolveId(source, importer) {
      const from = importer === undefined ? null : parseMutant(importer);
      if (from === null || !source.startsWith('.')) return null;
      return importedBy(root, from, resolve(dirname(from.path), source));
    },
    load: (id) => mutantSource(mutants, root, id, read),
  };
}
