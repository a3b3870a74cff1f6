/** How the simulation gets the store that it runs: as it is, or with one rule broken. */
import { register } from 'node:module';
import { SMALL_SIZES } from './small-sizes.ts';

/** What the simulation imports of the store. */
type Store = typeof import('../store.ts');

/**
 * The sound store for null, else a copy of it that is that mutant, either with small checkpoints;
 * the bucket below is shared.
 * @throws RangeError when it cannot be that mutant: unknown, an edit that does not fit, or nobody
 *   loads mutants here (in a program: `registerMutants` first). Never the sound store in its place
 */
export async function loadStore(mutant: string | null): Promise<Store> {
  return loadMutant(mutant ?? SMALL_SIZES.name);
}

async function loadMutant(mutant: string): Promise<Store> {
  // In a variable, or the compiler would look for a file of that name.
  const specifier = `../store.ts?mutant=${mutant}`;
  const store: Store & { readonly mutantName?: string } = await import(specifier);
  if (store.mutantName === mutant) return store;
  throw new RangeError(`mutant ${mutant} was imported, but nothing here loads mutants`);
}

/** Lets a program under `node --import tsx` load mutants. Once, before the first `loadStore`. */
export function registerMutants(): void {
  register('./node-hooks.ts', import.meta.url);
}
