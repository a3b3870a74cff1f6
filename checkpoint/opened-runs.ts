/**
 * The documents of a checkpoint out of the manifests of its runs alone: for reads that do not wait
 * for its columns. Each run that can hold a path is asked.
 */
import type { CallOptions } from '../blob/index.ts';
import type { EarlyBase } from '../bucketstore/snapshot/early-base.ts';
import type { DocumentState } from '../bucketstore/snapshot/state.ts';
import { decodeIndexEntry } from './index-entry.ts';
import { tableFor } from './run-manifest.ts';
import type { TableReader } from './table-reader.ts';
import type { RecordRun } from './version-reader.ts';

export class OpenedRuns implements EarlyBase {
  readonly packedThrough: number;
  readonly #newestFirst: readonly RecordRun[];
  readonly #tables: TableReader;

  /** @param runs in the order of their intervals; the first is the base */
  constructor(packedThrough: number, runs: readonly RecordRun[], tables: TableReader) {
    this.packedThrough = packedThrough;
    this.#newestFirst = [...runs].reverse();
    this.#tables = tables;
  }

  /**
   * The newest run that has the path tells. All runs are asked at once, each with at most two
   * `get`s, one after the other; none for what is kept. What is wrong with an older run than the
   * one that tells is not met.
   */
  async document(path: string, options: CallOptions): Promise<DocumentState | null> {
    const asked = this.#newestFirst.flatMap(({ manifest }) => {
      const ref = tableFor(manifest, path);
      return ref === undefined ? [] : [this.#tables.find('segment', ref, path, options)];
    });
    // Met when its turn comes, if it comes.
    for (const finding of asked) finding.catch(() => undefined);
    for (const finding of asked) {
      const found = await finding;
      if (found !== null) return decodeIndexEntry(found.key, found);
    }
    return null;
  }
}
