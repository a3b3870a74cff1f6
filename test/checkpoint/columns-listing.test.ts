/**
 * Goal: listings and look-ups of random worlds of odd names are what the plain list of documents
 * says: of the state that has changed since a checkpoint, and of a run's column set.
 * Method: every directory's listing, from odd places on, and every body's hash.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { SnapshotDraft } from '../../bucketstore/snapshot/draft.ts';
import { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import type { DocumentState } from '../../bucketstore/snapshot/state.ts';
import { hashOf, INCARNATION, WORLD } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { directoriesOf, plainList, plainLookup, SEEDS, worldOf } from './column-worlds.ts';

/** The same documents as the ordered maps have them. */
function snapshotOf(documents: readonly DocumentState[]): Snapshot {
  const draft = new SnapshotDraft(Snapshot.atStart(genesisMarker(WORLD, INCARNATION), hashOf(7)));
  for (const { path, first, archived, ...details } of documents) {
    const { version, bodyHash, storedHash } = details.current;
    const head = { version, bodyHash, storedHash, first, archived };
    draft.putDocument(path, undefined, { ...head, at: sequence(2), details });
  }
  return draft.freeze();
}

describe.each(SEEDS)('listings and look-ups of world %i', (seed) => {
  const { documents, columns } = worldOf(seed);
  const random = new SeededRandom(seed);

  test('a state lists the children of each directory', () => {
    const snapshot = snapshotOf(documents);
    for (const directory of directoriesOf(documents)) {
      for (const includeArchived of [false, true]) {
        const all = plainList(documents, directory, { includeArchived });
        expect(snapshot.list(directory, { includeArchived })).toEqual(all);
        const odd = ['', 'a', 'a-', 'a/b', 'b', 'zzz', '.h', '\uff5e', 'a.', ' '];
        for (const after of [random.pick(odd), random.pick([...all, { name: 'a-' }]).name]) {
          const query = { includeArchived, after };
          const rest = plainList(documents, directory, query);
          expect(snapshot.list(directory, query)).toEqual(rest);
        }
      }
    }
  });

  test('the state and the column set look hashes up', () => {
    const snapshot = snapshotOf(documents);
    const hashes = documents.map(({ current }) => current.bodyHash);
    // The same first bits as a hash that is there, and not the rest.
    const others = hashes.map((hash) => `${hash.slice(0, 20)}${sha256Hex(hash).slice(20)}`);
    for (const hash of new Set([...hashes, ...others, hashOf(0), 'f'.repeat(64)])) {
      const [row] = columns.rowsWithBody(Buffer.from(hash, 'hex'));
      const path = plainLookup(documents, hash);
      expect(row === undefined ? undefined : columns.path(row)).toBe(path);
      expect(snapshot.lookupHash(hash)).toBe(path);
    }
  });
});
