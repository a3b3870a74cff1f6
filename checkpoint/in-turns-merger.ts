/** Merges on the thread of whoever asks, with breaks: for little, and where runs must repeat. */
import type { Turn } from '../bucketstore/base/in-turns.ts';
import { mergeRuns } from './merge-runs.ts';
import type { MergeOptions, RunMerger, RunSink, RunSource } from './merger.ts';
import type { TableKind } from './table-directory.ts';

export class InTurnsMerger implements RunMerger {
  readonly #turn: Turn;

  /** @param turn taken every few milliseconds */
  constructor(turn: Turn) {
    this.#turn = turn;
  }

  merge(
    kind: TableKind,
    runs: readonly RunSource[],
    sink: RunSink,
    options: MergeOptions,
  ): Promise<void> {
    return mergeRuns(kind, runs, sink, options, this.#turn);
  }

  async close(): Promise<void> {}
}
