/**
 * A checkpoint without the log, whose slots before it are gone or broken: everything in it against
 * everything else in it. That it is the state of a log it alone cannot prove.
 */
import { integrityError } from '../bucketstore/base/errors.ts';
import { ancestors } from '../bucketstore/document/path.ts';
import { decodeUtf8 } from '../bucketstore/document/text.ts';
import type { Snapshot } from '../bucketstore/snapshot/snapshot.ts';
import type { StoredAt, VersionRecord } from '../bucketstore/snapshot/state.ts';
import { BasePlaces } from './base-places.ts';
import { Findings } from './findings.ts';
import { historyKey } from './history.ts';
import { PackedSet } from './packed-set.ts';
import { decodeRecordEntry } from './record-entry.ts';
import { type Root, type RootRef, type RunRef, rootKey } from './root.ts';
import { RunsState } from './runs-state.ts';
import { entriesOf } from './table.ts';
import type { VerifyObjects } from './verify-objects.ts';
import { packedProblem } from './verify-packs.ts';
import { eachTable } from './verify-runs.ts';
import { isSameRecord } from './version-record.ts';

/** A checkpoint whose state has been loaded. */
export interface LoadedCheckpoint {
  /** With no change since. */
  readonly snapshot: Snapshot;
  readonly root: Root;
  readonly ref: RootRef;
  /** Versions retained, when its record says it. */
  readonly retained: number | null;
}

/**
 * Reads a checkpoint whole. One `get` for each object, and what reading each document takes.
 * @returns where its documents lie; null when something is wrong with it, which is noted
 */
export async function verifyAlone(
  objects: VerifyObjects,
  loaded: LoadedCheckpoint,
): Promise<BasePlaces | null> {
  const { snapshot, root, ref } = loaded;
  const { base } = snapshot;
  if (!(base instanceof RunsState)) throw new TypeError('not the state of a checkpoint');
  const places = new BasePlaces(base.runs, root.records);
  const findings = new Findings();
  for (const run of root.runs) {
    const manifest = await objects.run('run', run);
    if (manifest === null) return null;
    if (!(await eachTable(objects, 'run', manifest, async () => undefined))) return null;
  }
  for (const [number, run] of root.records.entries()) {
    if (!(await placeRecords(objects, places, run, number))) return null;
  }
  const contents = await contentsOf(objects, loaded, findings);
  if (contents === null) return null;
  const packed = await packedProblem(objects, root.packs, contents.packed);
  if (packed !== null) findings.add(packed);
  if (loaded.retained !== null && loaded.retained !== contents.retained) {
    findings.add(`${contents.retained} versions are retained, the record has ${loaded.retained}`);
  }
  const problem = findings.text();
  if (problem === null) return places;
  objects.note(rootKey(ref), problem);
  return null;
}

/**
 * Notes for each document the newest record run that has versions of it.
 * @param number the run's, in the order of the root
 */
async function placeRecords(
  objects: VerifyObjects,
  places: BasePlaces,
  ref: RunRef,
  number: number,
): Promise<boolean> {
  const manifest = await objects.run('records', ref);
  if (manifest === null) return false;
  return eachTable(objects, 'records', manifest, async (table, findings) => {
    const cursor = entriesOf(table);
    while (cursor.advance()) {
      const path = decodeUtf8(cursor.path()) ?? '';
      if (!places.setRecordRun(path, number)) {
        findings.add(`has versions of ${path}, and no such document is there`);
      }
      const { blocks } = decodeRecordEntry(cursor.key, cursor.found());
      for (const block of blocks) {
        if ((await objects.history(path, block)) === null)
          findings.add(`names ${historyKey(block)}`);
      }
    }
  });
}

interface Contents {
  readonly retained: number;
  /** Retained versions that must lie in packs. */
  readonly packed: PackedSet;
}

/** Every document; null when one cannot be read. */
async function contentsOf(
  objects: VerifyObjects,
  { snapshot, root, ref }: LoadedCheckpoint,
  findings: Findings,
): Promise<Contents | null> {
  const { base } = snapshot;
  const packed = new PackedSet();
  let retained = 0;
  const documents = base.from('/');
  try {
    for (let next = documents.next(); next.done !== true; next = documents.next()) {
      const { path } = next.value;
      const problem = topologyProblem(snapshot, path);
      if (problem !== null) findings.add(problem);
      for (const { at, storedHash } of await retainedVersions(snapshot, path, rootKey(ref))) {
        retained += 1;
        if ('seq' in at && at.seq <= root.packedThrough) packed.add(at.seq, storedHash);
        if (isBeyond(at, root))
          findings.add(`${path}: a version of sequence ${root.sequence + 1} on`);
      }
    }
  } catch (error) {
    objects.noteError(error, rootKey(ref));
    return null;
  }
  return { retained, packed };
}

async function retainedVersions(
  { base }: Snapshot,
  path: string,
  key: string,
): Promise<readonly VersionRecord[]> {
  const options = { lane: 'bulk' } as const;
  const { current } = await base.details(path, options);
  const first = base.head(path)?.first ?? 1;
  const versions = (await base.versions(path, options)).filter(({ version }) => version >= first);
  const [newest] = versions;
  if (newest !== undefined && isSameRecord(newest, current)) return versions;
  throw integrityError(key, `${path}: its newest version record is not its current version`);
}

/** A document is never a directory of another, in whatever runs the two lie. */
function topologyProblem(state: Snapshot, path: string): string | null {
  const above = ancestors(path).find((ancestor) => state.head(ancestor) !== undefined);
  return above === undefined ? null : `${above} is a document above ${path}`;
}

function isBeyond(at: StoredAt, { sequence }: Root): boolean {
  return 'seq' in at && at.seq > sequence;
}
