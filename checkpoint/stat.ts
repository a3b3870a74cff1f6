/**
 * What a checkpoint consists of and what that costs: runs, packs, bytes in the bucket and in
 * memory.
 */
import type { BlobStore, CallOptions } from '../blob/index.ts';
import { atOnce } from '../bucketstore/base/in-turns.ts';
import type { BaseState } from '../bucketstore/snapshot/base.ts';
import { rowsInNone } from './document-counter.ts';
import type { Interval } from './interval.ts';
import type { ResidentRun } from './resident-run.ts';
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
 * Adds the checkpoint of a state up. One list for a thousand derived objects, and a look into the
 * newer runs for each entry.
 * @throws StoreError `UNAVAILABLE`, `LOCATION`
 */
export async function statCheckpoint(
  bucket: BlobStore,
  base: BaseState,
  options: CallOptions,
): Promise<CheckpointStat> {
  const { there } = await countDerived(bucket, () => true, options.signal);
  const { bytes: derivedBytes } = sumOf(there);
  const state = base instanceof RunsState ? base : null;
  const resident = state?.runs ?? [];
  const shares = resident.map((_, number) => visibleShare(resident, number));
  const runs = resident.map(({ manifest }) => statOf(manifest));
  const records = (state?.records ?? []).map(({ manifest }) => statOf(manifest));
  const packs = state?.root.packs ?? [];
  const packBytes = packs.reduce((sum, pack) => sum + pack.bytes, 0);
  const liveSegments = runs.reduce((sum, { bytes }, n) => sum + bytes * (shares[n] ?? 0), 0);
  const recordBytes = records.reduce((sum, { bytes }) => sum + bytes, 0);
  const liveBytes = Math.round(liveSegments) + recordBytes + packBytes + there.history.bytes;
  const bytes = resident.reduce((sum, run) => sum + run.bytes, 0);
  return {
    ...{ runs, records },
    packs: { objects: packs.length, bytes: packBytes },
    packedThrough: base.packedThrough,
    ...{ derived: there, derivedBytes, liveBytes },
    amplification: liveBytes === 0 ? null : derivedBytes / liveBytes,
    memory: { bytes, perDocument: base.documents === 0 ? null : bytes / base.documents },
  };
}

function statOf({ after, through, entries, objects }: RunManifest): RunStat {
  const bytes = objects.reduce((sum, table) => sum + table.bytes, 0);
  return { after, through, entries, tables: objects.length, bytes };
}

/** The share of a run's entries that no newer run tells anew. */
function visibleShare(runs: readonly ResidentRun[], number: number): number {
  const run = runs[number];
  if (run === undefined || run.columns.rows === 0) return 0;
  return atOnce(rowsInNone(run, runs.slice(number + 1))) / run.columns.rows;
}
