/**
 * Goal: listings and look-ups out of columns are those of the world: of one run, and of several of
 * which the newest speaks for a document.
 * Method: random worlds of odd names; every directory's listing and every body's hash, asked of the
 * columns, of the snapshot that serves today, and of the plain list of documents.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { SnapshotDraft } from '../../bucketstore/snapshot/draft.ts';
import { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import type { DocumentState } from '../../bucketstore/snapshot/state.ts';
import { children, mergeChildren } from '../../checkpoint/children.ts';
import type { Hides } from '../../checkpoint/resident.ts';
import { hashOf, INCARNATION, WORLD } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import {
  directoriesOf,
  plainList,
  plainLookup,
  residentOf,
  SEEDS,
  someDocuments,
  stateAt,
  worldOf,
} from './column-worlds.ts';

/** The same documents as the ordered maps have them. */
function snapshotOf(documents: readonly DocumentState[]): Snapshot {
  const draft = new SnapshotDraft(Snapshot.atStart(genesisMarker(WORLD, INCARNATION), hashOf(7)));
  for (const { path, first, archived, ...details } of documents) {
    const { version, bodyHash } = details.current;
    const head = { version, bodyHash, first, archived };
    draft.putDocument(path, undefined, { ...head, at: sequence(2), details });
  }
  return draft.freeze();
}

describe.each(SEEDS)('the columns of run %i', (seed) => {
  const { documents, columns } = worldOf(seed);
  const random = new SeededRandom(seed);

  test('list children as the snapshot does', () => {
    const snapshot = snapshotOf(documents);
    for (const directory of directoriesOf(documents)) {
      for (const includeArchived of [false, true]) {
        const all = plainList(documents, directory, { includeArchived });
        expect([...children(columns, directory, { includeArchived })]).toEqual(all);
        expect(snapshot.list(directory, { includeArchived })).toEqual(all);
        const odd = ['', 'a', 'a-', 'a/b', 'b', 'zzz', '.h', '\uff5e', 'a.', ' '];
        for (const after of [random.pick(odd), random.pick([...all, { name: 'a-' }]).name]) {
          const query = { includeArchived, after };
          const rest = plainList(documents, directory, query);
          expect([...children(columns, directory, query)]).toEqual(rest);
          expect(snapshot.list(directory, query)).toEqual(rest);
        }
      }
    }
  });

  test('look hashes up as the snapshot does', () => {
    const snapshot = snapshotOf(documents);
    const hashes = documents.map(({ current }) => current.bodyHash);
    // The same first bits as a hash that is there, and not the rest.
    const others = hashes.map((hash) => `${hash.slice(0, 20)}${sha256Hex(hash).slice(20)}`);
    for (const hash of new Set([...hashes, ...others, hashOf(0), 'f'.repeat(64)])) {
      const row = columns.lookupHash(hash);
      const path = plainLookup(documents, hash);
      expect(row < 0 ? undefined : columns.path(row)).toBe(path);
      expect(snapshot.lookupHash(hash)).toBe(path);
    }
  });

  test('leave out the rows that are hidden', () => {
    const hidden = new Set(documents.flatMap((_, row) => (random.integer(2) === 0 ? [row] : [])));
    const hides: Hides = (row) => hidden.has(row);
    const rest = documents.filter((_, row) => !hidden.has(row));
    for (const directory of directoriesOf(documents)) {
      expect([...children(columns, directory, { hides })]).toEqual(plainList(rest, directory));
    }
    for (const { current } of documents) {
      const row = columns.lookupHash(current.bodyHash, hides);
      expect(row < 0 ? undefined : columns.path(row)).toBe(plainLookup(rest, current.bodyHash));
    }
  });

  test('say which rows lie under a directory', () => {
    for (const directory of directoriesOf(documents)) {
      const prefix = directory === '/' ? '/' : `${directory}/`;
      const rows = documents.flatMap(({ path }, row) => (path.startsWith(prefix) ? [row] : []));
      const { start, end } = columns.rowsUnder(directory);
      expect(Array.from({ length: end - start }, (_, i) => start + i)).toEqual(rows);
    }
  });
});

test.each(SEEDS)('several runs list and look up as one world (seed %i)', (seed) => {
  const random = new SeededRandom(seed);
  const now = new Map(someDocuments(random, 200).map((document) => [document.path, document]));
  // From the newest: each older run has other states of some of the same documents.
  const runs = [0, 1, 2].map((age) => {
    const all = [...now.values()];
    const kept = all.filter(() => age === 2 || random.integer(2) === 0);
    return age === 0 ? kept : kept.map(({ path }) => stateAt(path, random));
  });
  const newest = new Map(runs.toReversed().flatMap((run) => run.map((d) => [d.path, d])));
  const world = [...newest.values()].sort((a, b) => compareUtf8(a.path, b.path));
  const columns = runs.map((run) => residentOf(random, run, 2));
  const hides = columns.map((run, age): Hides => {
    return (row) => columns.slice(0, age).some((newer) => newer.find(run.path(row)) >= 0);
  });
  for (const directory of directoriesOf(world)) {
    for (const includeArchived of [false, true]) {
      const places = columns.map((run, age) => {
        return children(run, directory, { includeArchived, hides: hides[age] });
      });
      const expected = plainList(world, directory, { includeArchived });
      expect([...mergeChildren(places)]).toEqual(expected);
    }
  }
  for (const { current } of world) {
    const paths = columns.flatMap((run, age) => {
      const row = run.lookupHash(current.bodyHash, hides[age]);
      return row < 0 ? [] : [run.path(row)];
    });
    expect(paths.sort(compareUtf8)[0]).toBe(plainLookup(world, current.bodyHash));
  }
});
