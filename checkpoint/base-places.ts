/**
 * Where the documents of a checkpoint lie in it: in which run, and in which record run their
 * current version. A byte or two for each document beside the columns that the state holds anyway.
 */
import { assert } from '../bucketstore/base/assert.ts';
import type { Interval } from './interval.ts';
import { hashPath, type PathHash } from './path-filter.ts';
import type { ResidentRun } from './resident-run.ts';
import type { UnitCounts } from './unit-counts.ts';

interface Place {
  readonly run: number;
  readonly row: number;
}

export class BasePlaces {
  readonly #runs: readonly ResidentRun[];
  readonly #recordRuns: readonly Interval[];
  /** For each run, by row: the number of a record run. */
  readonly #records: readonly Uint16Array[];
  /** Of the path that is looked for. */
  readonly #hash: PathHash = { block: 0, bits: 0 };

  /**
   * @param runs in the order of their intervals
   * @param recordRuns in the order of theirs
   */
  constructor(runs: readonly ResidentRun[], recordRuns: readonly Interval[]) {
    this.#runs = runs;
    this.#recordRuns = recordRuns;
    this.#records = runs.map(({ columns }) => new Uint16Array(columns.rows));
  }

  /** The run that tells of a document: its last change lies in it. */
  runOf(path: string): Interval {
    const run = this.#runs[this.#find(path)?.run ?? -1];
    assert(run !== undefined, () => `${path} is in no run`);
    return run.manifest;
  }

  /** The record run in which a document's current version was made. */
  recordRunOf(path: string): Interval {
    const place = this.#find(path);
    const number = place === null ? -1 : (this.#records[place.run]?.[place.row] ?? -1);
    const run = this.#recordRuns[number];
    assert(run !== undefined, () => `${path} is in no record run`);
    return run;
  }

  /** Notes the record run of a document. @returns false when there is no such document */
  setRecordRun(path: string, number: number): boolean {
    const place = this.#find(path);
    const records = place === null ? undefined : this.#records[place.run];
    if (place === null || records === undefined) return false;
    records[place.row] = number;
    return true;
  }

  /** Adds each document where it was changed last, and where its current version was made. */
  count(touched: UnitCounts, made: UnitCounts): void {
    for (const [number, { columns, manifest }] of this.#runs.entries()) {
      const cursor = columns.cursor();
      for (let row = 0; row < columns.rows; row++) {
        cursor.next();
        hashPath(cursor.path, cursor.length, this.#hash);
        if (this.#isHidden(cursor.path.subarray(0, cursor.length), number)) continue;
        touched.add(manifest.through);
        const records = this.#recordRuns[this.#records[number]?.[row] ?? -1];
        if (records !== undefined) made.add(records.through);
      }
    }
  }

  #find(path: string): Place | null {
    const bytes = Buffer.from(path);
    hashPath(bytes, bytes.length, this.#hash);
    for (let number = this.#runs.length - 1; number >= 0; number--) {
      const row = this.#rowIn(number, bytes);
      if (row >= 0) return { run: number, row };
    }
    return null;
  }

  /** Whether a newer run has a path, whose hash is at hand. */
  #isHidden(path: Uint8Array, number: number): boolean {
    for (let newer = number + 1; newer < this.#runs.length; newer++) {
      if (this.#rowIn(newer, path) >= 0) return true;
    }
    return false;
  }

  /** The row of a path, whose hash is at hand; negative when it is not there. */
  #rowIn(number: number, path: Uint8Array): number {
    const run = this.#runs[number];
    if (run === undefined || !run.filter.mayHave(this.#hash)) return -1;
    return run.columns.findBytes(path);
  }
}
