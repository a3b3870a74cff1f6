/**
 * What a checkpoint consists of and what that costs: runs, packs, bytes in the bucket and in
 * memory.
 */
import type { BlobStore, CallOptions } from '../blob/index.ts';
import type { Start } from '../bucketstore/log/records.ts';
import type { BaseState } from '../bucketstore/snapshot/base.ts';
import type { Interval } from './interval.ts';
import { ObjectReader } from './objects.ts';
import { hashPath, type PathHash } from './path-filter.ts';
import type { ResidentRun } from './resident-run.ts';
import { type LifeStart, lifeStart, type RootRef } from './root.ts';
import type { RunManifest } from './run-manifest.ts';
import { RunsState } from './runs-state.ts';
import { countDerived, type DerivedCounts, sumOf } from './unused.ts';

/** A run, or a record run. */
export interface RunStat extends Interval {
  readonly entries: number;
  readonly tables: number;
  /** Of the tables. */
  readonly bytes: number;
}

export interface CheckpointStat {
  /** Oldest first; none without a checkpoint. */
  readonly runs: readonly RunStat[];
  readonly records: readonly RunStat[];
  readonly packs: { readonly objects: number; readonly bytes: number };
  /** Every inlined version up to here is in a pack. */
  readonly packedThrough: number;
  /** All derived objects that are there, of whatever checkpoint. */
  readonly derived: DerivedCounts['there'];
  readonly derivedBytes: number;
  /**
   * Of the newest checkpoint: tables of versions, packs, history blocks, and of the segments the
   * share of the entries that tell of a document (the others are told anew in a later run).
   */
  readonly liveBytes: number;
  /** `derivedBytes / liveBytes`; null without a checkpoint. */
  readonly amplification: number | null;
  /** What the columns of the checkpoint take in a store, and for each document in it. */
  readonly memory: { readonly bytes: number; readonly perDocument: number | null };
}

/**
 * Adds a checkpoint up. One `get` for the root and each manifest, one list for a thousand derived
 * objects, and a look into the newer runs for each entry.
 * @param ref the root of the state; null for a state without a checkpoint
 * @throws StoreError `INTEGRITY` naming what is damaged; `UNAVAILABLE`, `LOCATION`
 */
export async function statCheckpoint(
  bucket: BlobStore,
  start: Start,
  { ref, base }: { readonly ref: RootRef | null; readonly base: BaseState },
  options: CallOptions,
): Promise<CheckpointStat> {
  const parts = await partsOf(bucket, lifeStart(start), ref, options);
  const { there } = await countDerived(bucket, () => true, options.signal);
  const { bytes: derivedBytes } = sumOf(there);
  const resident = base instanceof RunsState ? base.runs : [];
  const shares = resident.map((_, number) => visibleShare(resident, number));
  const runs = parts.runs.map(statOf);
  const records = parts.records.map(statOf);
  const packBytes = parts.packs.reduce((sum, { bytes }) => sum + bytes, 0);
  const liveSegments = runs.reduce((sum, { bytes }, n) => sum + bytes * (shares[n] ?? 0), 0);
  const recordBytes = records.reduce((sum, { bytes }) => sum + bytes, 0);
  const liveBytes = Math.round(liveSegments) + recordBytes + packBytes + there.history.bytes;
  const bytes = resident.reduce((sum, run) => sum + run.bytes, 0);
  return {
    ...{ runs, records },
    packs: { objects: parts.packs.length, bytes: packBytes },
    packedThrough: base.packedThrough,
    ...{ derived: there, derivedBytes, liveBytes },
    amplification: liveBytes === 0 ? null : derivedBytes / liveBytes,
    memory: { bytes, perDocument: base.documents === 0 ? null : bytes / base.documents },
  };
}

async function partsOf(
  bucket: BlobStore,
  life: LifeStart,
  ref: RootRef | null,
  options: CallOptions,
): Promise<{
  readonly runs: readonly RunManifest[];
  readonly records: readonly RunManifest[];
  readonly packs: readonly { readonly bytes: number }[];
}> {
  if (ref === null) return { runs: [], records: [], packs: [] };
  const reader = new ObjectReader({ bucket, lane: 'bulk' });
  const root = await reader.root(ref, life, options);
  const runs: RunManifest[] = [];
  const records: RunManifest[] = [];
  for (const run of root.runs) runs.push(await reader.run('run', run, options));
  for (const run of root.records) records.push(await reader.run('records', run, options));
  return { runs, records, packs: root.packs };
}

function statOf({ after, through, entries, objects }: RunManifest): RunStat {
  const bytes = objects.reduce((sum, table) => sum + table.bytes, 0);
  return { after, through, entries, tables: objects.length, bytes };
}

/** The share of a run's entries that no newer run tells anew. */
function visibleShare(runs: readonly ResidentRun[], number: number): number {
  const columns = runs[number]?.columns;
  if (columns === undefined || columns.rows === 0) return 0;
  const newer = runs.slice(number + 1);
  const cursor = columns.cursor();
  const hash: PathHash = { block: 0, bits: 0 };
  let hidden = 0;
  for (let row = 0; row < columns.rows; row++) {
    cursor.next();
    hashPath(cursor.path, cursor.length, hash);
    const path = cursor.path.subarray(0, cursor.length);
    const isTold = newer.some(
      (run) => run.filter.mayHave(hash) && run.columns.findBytes(path) >= 0,
    );
    if (isTold) hidden += 1;
  }
  return (columns.rows - hidden) / columns.rows;
}
