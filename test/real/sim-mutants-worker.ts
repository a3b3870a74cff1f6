/**
 * A program that loads the mutant named by its first argument beside the sound store, and prints
 * what it got; with `unregistered` as the second, without asking for mutants first.
 */
import { loadStore, registerMutants } from '../sim/mutants/load.ts';

const [name = '', how] = process.argv.slice(2);

async function main(): Promise<void> {
  if (how !== 'unregistered') registerMutants();
  const sound = await loadStore(null);
  const mutant = await loadStore(name);
  const orders: string[] = [];
  for (const query of ['', `?mutant=${name}`]) {
    const specifier = `../../bucketstore/snapshot/ordered-map.ts${query}`;
    const { OrderedMap }: typeof import('../../bucketstore/snapshot/ordered-map.ts') = await import(
      specifier
    );
    const map = OrderedMap.byText<null>();
    for (const letter of ['b', 'a', 'c']) map.set(letter, null);
    orders.push([...map.from()].map(([letter]) => letter).join(''));
  }
  console.log(JSON.stringify({ apart: sound.openWorld !== mutant.openWorld, orders }));
}

main().catch((error: unknown) => console.log(error instanceof Error ? error.message : error));
