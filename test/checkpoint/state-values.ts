/** States of documents and histories of versions, for the tests of checkpoint objects. */
import fc from 'fast-check';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { DocumentState, StoredAt, VersionRecord } from '../../bucketstore/snapshot/state.ts';
import { anySlot, hashOf } from '../log/values.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { EPOCH } from './table-values.ts';

/** A state that every rule allows; change what a test is about. */
export function stateOf(change: Partial<DocumentState> = {}): DocumentState {
  return {
    path: '/guide/a.md',
    current: {
      version: 3,
      storedHash: hashOf(1),
      bodyHash: hashOf(2),
      modified: 1_790_000_000,
      at: { seq: sequence(7) },
    },
    first: 2,
    archived: false,
    catalog: { title: 'A', metadata: { tags: 'a,b', title: 'A' } },
    ...change,
  };
}

const place: fc.Arbitrary<StoredAt> = fc.oneof(
  fc.integer({ min: 2, max: 2 ** 53 - 1 }).map((seq) => ({ seq: sequence(seq) })),
  fc.integer({ min: 0, max: EPOCH }).map((epoch) => ({ epoch })),
);

/** Any state: what the writes of any slot leave. */
export const anyState: fc.Arbitrary<DocumentState> = fc
  .tuple(anySlot, place, fc.boolean())
  .map(([slot, at, archived]) => {
    const entry = slot.entries.find(({ kind }) => kind === 'write');
    if (entry?.kind !== 'write') return stateOf({ archived });
    const { path, version, storedHash, bodyHash, modified, first, catalog } = entry;
    return {
      path,
      current: { version, storedHash, bodyHash, modified, at },
      first,
      archived,
      catalog,
    };
  });

/** Versions from `first` on, one after another in the log, some of them staged. */
export function drawVersions(random: SeededRandom, first: number, count: number): VersionRecord[] {
  let seq = 10 * first;
  return Array.from({ length: count }, (_, index): VersionRecord => {
    const version = first + index;
    seq += 1 + random.integer(9);
    return {
      version,
      storedHash: sha256Hex(`stored ${version} ${random.bits()}`),
      bodyHash: sha256Hex(`body ${version}`),
      modified: 1_790_000_000 + seq,
      // Epochs never descend: the first half of the versions is of the first.
      at: random.integer(4) > 0 ? { seq: sequence(seq) } : { epoch: index < count / 2 ? 1 : 2 },
    };
  });
}
