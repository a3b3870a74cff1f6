/**
 * Merges of runs behind a port: the same bytes whether the thread that everything else runs on does
 * them, with breaks (`in-turns-merger.ts`), or one of its own (`worker-merger.ts`).
 */
import type { CutSizes } from './cut.ts';
import type { EncodedHistory } from './history.ts';
import type { BuiltTable } from './table-builder.ts';
import type { TableKind, TableRef } from './table-directory.ts';

/** A run as a merge reads it. */
export interface RunSource {
  /** In the order of their paths. */
  readonly tables: readonly TableRef[];
  /**
   * The object of a table, which the merge verifies. Asked for at most once for each, in order. The
   * bytes are the merge's from then on: whoever gives them keeps none of their buffer.
   */
  read(table: number): Promise<Uint8Array>;
}

/**
 * Takes what a merge makes, one after another, in the order of the paths; a block before the table
 * that names it.
 */
export interface RunSink {
  table(table: BuiltTable): Promise<void>;
  /** The next table is one of a run, as it is. */
  kept(run: number, table: number): Promise<void>;
  closed(block: EncodedHistory): Promise<void>;
}

export interface MergeOptions {
  /** That the run is written in. */
  readonly epoch: number;
  /** The format's; others are for proofs. */
  readonly sizes?: CutSizes | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RunMerger {
  /**
   * Merges runs: of segments the newest entry of each path, of version records those of all. No
   * request of its own.
   * @param runs the oldest first; at least one
   * @throws StoreError `INTEGRITY` naming the table that is damaged, `UNSUPPORTED_FORMAT`;
   * `CLOSED`;
   *   what a source or the sink throws; the signal's reason
   */
  merge(
    kind: TableKind,
    runs: readonly RunSource[],
    sink: RunSink,
    options: MergeOptions,
  ): Promise<void>;
  /** Ends what is under way, and lets go of what is kept for the next. */
  close(): Promise<void>;
}
