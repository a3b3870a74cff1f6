/**
 * Goal: a state that rests on a checkpoint says the same as one that was replayed from the start,
 * whatever lies on which side of it (I3), and listings are in name order.
 * Method: random histories of a small tree of awkward names, cut at a random place; every question
 * to both states, and to a plain model of directories.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { isHiddenName } from '../../bucketstore/document/path.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { applyEntry } from '../../bucketstore/snapshot/apply.ts';
import { SnapshotDraft } from '../../bucketstore/snapshot/draft.ts';
import { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { archive, hashOf, INCARNATION, WORLD, write } from '../log/values.ts';
import { atCheckpoint } from '../support/map-base.ts';

/** Names whose order differs from that of the paths they are in, hidden ones, and wide ones. */
const NAMES = ['a', 'a.md', 'a b', 'a-b', 'a0', '.a', 'versions', 'b', 'é', '\u{1f600}', '\uffee'];
const anyName = fc.constantFrom(...NAMES);
const anyPath = fc
  .array(anyName, { minLength: 1, maxLength: 3 })
  .map((names) => `/${names.join('/')}`);

interface Step {
  readonly path: string;
  readonly archives: boolean;
  readonly body: number;
  readonly keep: number;
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  path: anyPath,
  archives: fc.boolean(),
  body: fc.integer({ min: 1, max: 6 }),
  keep: fc.integer({ min: 1, max: 4 }),
});

/** Moves a state over what is possible of the steps. */
function moved(from: Snapshot, steps: readonly Step[], at: number): Snapshot {
  const draft = new SnapshotDraft(from);
  for (const [index, { path, archives, body, keep }] of steps.entries()) {
    const n = at + index;
    const head = draft.head(path);
    const version = (head?.version ?? 0) + 1;
    const first = Math.max(head?.first ?? 1, version - keep);
    const bodyHash = hashOf(body);
    const entry =
      archives && head !== undefined
        ? archive(n, { path, version: head.version, first: head.first, archived: !head.archived })
        : write(n, { path, version, first, bodyHash });
    applyEntry(draft, entry, sequence(n));
  }
  return draft.freeze();
}

const start = Snapshot.atStart(genesisMarker(WORLD, INCARNATION), hashOf(7));

test('a state on a checkpoint answers as one that was replayed from the start', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { maxLength: 60 }),
      fc.nat(60),
      anyPath,
      async (steps, cut, path) => {
        const middle = moved(start, steps.slice(0, cut), 2);
        const replayed = moved(middle, steps.slice(cut), 2 + cut);
        const based = moved(atCheckpoint(middle), steps.slice(cut), 2 + cut);
        expect(based.documentCount).toBe(replayed.documentCount);
        const paths = [path, ...steps.map((step) => step.path)];
        for (const at of paths) {
          expect(based.head(at)?.version).toBe(replayed.head(at)?.version);
          expect(based.isDirectory(at)).toBe(replayed.isDirectory(at));
          expect(await based.document(at)).toEqual(await replayed.document(at));
          expect(await based.versions(at)).toEqual(await replayed.versions(at));
          for (const version of [1, 2, 3]) {
            expect(await based.version(at, version)).toEqual(await replayed.version(at, version));
          }
        }
        for (const body of [1, 2, 3, 4, 5, 6]) {
          expect(based.lookupHash(hashOf(body))).toBe(replayed.lookupHash(hashOf(body)));
        }
        for (const directory of ['/', ...paths.filter((at) => replayed.isDirectory(at))]) {
          expect(based.list(directory)).toEqual(replayed.list(directory));
        }
      },
    ),
    { numRuns: 150, seed: 5 },
  );
});

test('`list()` tells what a plain walk over all documents tells, in name order', () => {
  fc.assert(
    fc.property(
      fc.array(anyStep, { maxLength: 60 }),
      fc.nat(60),
      anyName,
      fc.nat(3),
      fc.boolean(),
      (steps, cut, after, limit, includeArchived) => {
        const middle = moved(start, steps.slice(0, cut), 2);
        const state = moved(atCheckpoint(middle), steps.slice(cut), 2 + cut);
        const known = new Set(steps.map(({ path }) => path).filter((path) => state.head(path)));
        for (const directory of ['/', '/a', '/b', '/.a', '/versions', '/é']) {
          const expected = childrenOf(state, known, directory, includeArchived);
          expect(state.list(directory, { includeArchived })).toEqual(expected);
          const page = expected.filter(({ name }) => compareUtf8(name, after) > 0);
          expect(state.list(directory, { includeArchived, after, limit })).toEqual(
            page.slice(0, limit === 0 ? undefined : limit),
          );
        }
      },
    ),
    { numRuns: 300, seed: 6 },
  );
});

/**
 * By the words of the rule: a child shows for a document at or under it without a hidden segment.
 */
function childrenOf(
  state: Snapshot,
  paths: ReadonlySet<string>,
  directory: string,
  includeArchived: boolean,
): { readonly name: string; readonly isDir: boolean }[] {
  const prefix = directory === '/' ? '/' : `${directory}/`;
  const children = new Map<string, boolean>();
  for (const path of paths) {
    if (!path.startsWith(prefix)) continue;
    const segments = path.slice(prefix.length).split('/');
    const hidden = segments.some(isHiddenName);
    if (hidden || (state.head(path)?.archived === true && !includeArchived)) continue;
    children.set(segments[0] ?? '', segments.length > 1);
  }
  return [...children]
    .sort(([a], [b]) => compareUtf8(a, b))
    .map(([name, isDir]) => ({ name, isDir }));
}

test('what a checkpoint knows of a document is read only when somebody asks for it', async () => {
  const steps = NAMES.slice(0, 5).map((name) => ({
    path: `/${name}`,
    archives: false,
    body: 1,
    keep: 1,
  }));
  const based = atCheckpoint(moved(start, steps, 2));
  const after = moved(
    based,
    steps.map((step) => ({ ...step, archives: true })),
    20,
  );
  const { base } = after as { readonly base: { readonly reads?: number } };
  expect(after.list('/', { includeArchived: true })).toHaveLength(steps.length);
  expect(after.list('/')).toEqual([]);
  expect(base.reads).toBe(0);
  expect(await after.document('/a')).toMatchObject({ archived: true, current: { version: 1 } });
  expect(base.reads).toBe(1);
});
