/**
 * The mutants that the simulation's oracle must catch, and the one that proves the loading.
 * `plugin.test.ts` holds that each edit fits the source as it is.
 */
import type { Mutant } from './mutate.ts';

/** One for every safety rule. */
export const MUTANTS: readonly Mutant[] = [];

/** For the test of the plugin alone: its effect shows in one call. */
export const PROOF: Mutant = {
  name: 'reversed-order',
  rule: 'every order is by UTF-8 bytes, ascending',
  edits: [
    {
      file: 'bucketstore/base/order.ts',
      find: 'return codePointRank(x) - codePointRank(y);',
      replace: 'return codePointRank(y) - codePointRank(x);',
    },
  ],
};
