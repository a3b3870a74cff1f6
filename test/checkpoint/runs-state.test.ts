/**
 * Goal: a state that was loaded from the runs of a checkpoint says the same as one that was
 * replayed from the start, before and after it moves to a newer checkpoint, and held ones still say
 * the past (I3, I15). Method: random histories of a small tree of awkward names, their entries far
 * apart in sequences so that checkpoints have many runs of several tables; every question to both
 * states.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { applyEntry } from '../../bucketstore/snapshot/apply.ts';
import { SnapshotDraft } from '../../bucketstore/snapshot/draft.ts';
import type { Snapshot } from '../../bucketstore/snapshot/snapshot.ts';
import { CheckpointLoader } from '../../checkpoint/load.ts';
import { RunsState } from '../../checkpoint/runs-state.ts';
import { archive, hashOf, INCARNATION, WORLD, write } from '../log/values.ts';
import { EntryLog, writeCheckpoint } from '../support/checkpoint-writer.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { SMALL_CUT } from './table-values.ts';

/** Names whose order differs from that of the paths they are in, hidden ones, and wide ones. */
const NAMES = ['a', 'a.md', 'a b', 'a-b', 'a0', '.a', 'versions', 'b', 'é', '\u{1f600}', '\uffee'];
const BODIES = [1, 2, 3, 4, 5, 6];
const START = genesisMarker(WORLD, INCARNATION).start;

interface Step {
  readonly path: string;
  readonly archives: boolean;
  readonly body: number;
  readonly keep: number;
  /** Sequences since the step before. */
  readonly gap: number;
}

const anyPath = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((names) => `/${names.join('/')}`);
/** Written again and again, so that several runs have them. */
const oftenPath = fc.constantFrom('/a b', '/b/a-b', '/b/a.md', '/b/a/é', '/\u{1f600}/b', '/a0/.a');

const anyStep: fc.Arbitrary<Step> = fc.record({
  path: fc.oneof(oftenPath, oftenPath, anyPath),
  archives: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
  body: fc.constantFrom(...BODIES),
  keep: fc.integer({ min: 1, max: 4 }),
  gap: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 900 })),
});

/** What is possible of the steps. */
function logOf(steps: readonly Step[]): EntryLog {
  const log = new EntryLog({ worldId: WORLD, incarnationId: INCARNATION });
  let at = 1;
  for (const { path, archives, body, keep, gap } of steps) {
    at += gap;
    const head = log.end.head(path);
    const version = (head?.version ?? 0) + 1;
    const first = Math.max(head?.first ?? 1, version - keep);
    const place = body % 2 === 0 ? ('slot' as const) : { epoch: 1 };
    log.add(
      at,
      archives && head !== undefined
        ? archive(at, { path, version: head.version, first: head.first, archived: !head.archived })
        : write(at, { path, version, first, bodyHash: hashOf(body), at: place }),
    );
  }
  return log;
}

/** A state moved over the rest of a log. */
function onwards(from: Snapshot, log: EntryLog, after: number): Snapshot {
  const draft = new SnapshotDraft(from);
  for (const { at, entry } of log.within({ after: sequence(after), through: sequence(1e9) })) {
    expect(applyEntry(draft, entry, at)).toBeNull();
    const slot = log.state(at).slotOf(at);
    if (slot !== undefined) draft.endSlot({ ...slot, time: at } as never, log.state(at).tip.hash);
  }
  return draft.freeze();
}

/** The answers to every question about some paths. */
async function answersOf(state: Snapshot, paths: readonly string[]): Promise<unknown> {
  const directories = ['/', ...paths.filter((path) => state.isDirectory(path))];
  const documents = paths.map(async (path) => ({
    head: pick(state, path),
    isDirectory: state.isDirectory(path),
    document: await state.document(path),
    versions: await state.versions(path),
    version: await Promise.all([1, 2, 3, 4].map((version) => state.version(path, version))),
  }));
  return {
    count: state.documentCount,
    control: state.control,
    documents: await Promise.all(documents),
    hashes: BODIES.map((body) => state.lookupHash(hashOf(body))),
    lists: directories.map((at) => [state.list(at), state.list(at, { includeArchived: true })]),
    pages: directories.map((at) => state.list(at, { after: 'a', limit: 2 })),
  };
}

function pick(state: Snapshot, path: string): unknown {
  const head = state.head(path);
  if (head === undefined) return null;
  const { version, first, archived, bodyHash } = head;
  return { version, first, archived, bodyHash };
}

function loaderOf(bucket: BlobStore): CheckpointLoader {
  return new CheckpointLoader({ bucket, start: START });
}

const pathsOf = (steps: readonly Step[]): readonly string[] => [
  ...new Set(['/', '/a', '/nowhere', ...steps.map(({ path }) => path)]),
];

describe('a state on the runs of a checkpoint', () => {
  test('answers as one that was replayed from the start, also on a newer checkpoint', async () => {
    const seen = { runs: 0, tables: 0, hidden: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyStep, { minLength: 1, maxLength: 70, size: 'max' }),
        fc.nat(),
        fc.nat(),
        async (steps, draw, drawAgain) => {
          const bucket = createMemoryBucket({ timing: new ManualClock() });
          const log = logOf(steps);
          const last = log.end.tip.sequence;
          const older = 2 + (draw % last);
          const newer = older + (drawAgain % (Math.max(last, older) - older + 1));
          const paths = pathsOf(steps);
          const loader = loaderOf(bucket);
          const written = await writeCheckpoint(bucket, log, older, { sizes: SMALL_CUT });
          const held = await loader.load(written.record);
          const past = await answersOf(log.state(older), paths);
          expect(await answersOf(held, paths)).toEqual(past);

          const end = await answersOf(log.end, paths);
          const moved = onwards(held, log, older);
          expect(await answersOf(moved, paths)).toEqual(end);

          const next = await writeCheckpoint(bucket, log, newer, { sizes: SMALL_CUT });
          const { base } = await loader.load(next.record);
          if (newer <= moved.tip.sequence) {
            const rebased = moved.rebase(base, sequence(newer));
            expect(rebased.base).toBe(base);
            expect(await answersOf(rebased, paths)).toEqual(end);
            expect([...rebased.changed()].every(([, { at }]) => at > newer)).toBe(true);
          }
          expect(await answersOf(moved, paths)).toEqual(end);
          expect(await answersOf(held, paths)).toEqual(past);
          note(seen, base);
        },
      ),
      { numRuns: 60, seed: 5 },
    );
    expect(seen.runs).toBeGreaterThan(6);
    expect(seen.tables).toBeGreaterThan(3);
    expect(seen.hidden).toBeGreaterThan(100);
  });

  test('is what a life began with', async () => {
    const steps = fc.sample(anyStep, { numRuns: 60, seed: 3 });
    const bucket = createMemoryBucket({ timing: new ManualClock() });
    const log = logOf(steps);
    const at = log.end.tip.sequence;
    const { record } = await writeCheckpoint(bucket, log, at, { asStart: true, epoch: 4 });
    const start = { sequence: at, documents: record.documents, epoch: 4, root: record.root };
    const marker = { worldId: WORLD, incarnationId: INCARNATION, start };
    const loader = new CheckpointLoader({ bucket, start });
    const state = await loader.loadStart(marker, hashOf(9));
    expect(state.tip).toEqual({ sequence: at, hash: hashOf(9), time: 0 });
    expect(state.control).toMatchObject({ epoch: 4, mutation: at, floor: { at: at + 1 } });
    const paths = pathsOf(steps);
    const control = { control: null };
    expect({ ...Object(await answersOf(state, paths)), ...control }).toEqual({
      ...Object(await answersOf(log.end, paths)),
      ...control,
    });
    const other = { ...marker, start: { ...start, documents: record.documents + 1 } };
    expect(await failureOf(loader.loadStart(other, hashOf(9)))).toMatchObject({
      code: 'INTEGRITY',
    });
  });

  test('is empty, and asks for nothing, for a life that began with nothing', async () => {
    const bucket = createMemoryBucket({ timing: new ManualClock() });
    await bucket.close();
    const state = await loaderOf(bucket).loadStart(genesisMarker(WORLD, INCARNATION), hashOf(9));
    expect(state.documentCount).toBe(0);
    expect(state.tip).toEqual({ sequence: 1, hash: hashOf(9), time: 0 });
  });
});

function note(seen: { runs: number; tables: number; hidden: number }, base: unknown): void {
  if (!(base instanceof RunsState)) throw new Error('loaded from elsewhere');
  seen.runs = Math.max(seen.runs, base.runs.filter(({ columns }) => columns.rows > 0).length);
  for (const { manifest } of base.runs)
    seen.tables = Math.max(seen.tables, manifest.objects.length);
  seen.hidden += base.runs.reduce((sum, run) => sum + run.columns.rows, 0) - base.documents;
}
