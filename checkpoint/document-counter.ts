/** Counts the documents of several runs together: each path once, in however many runs it is. */
import { hashPath, type PathHash } from './path-filter.ts';
import type { ResidentRun } from './resident-run.ts';

/** Remembers what it counted: the next checkpoint has most of the same runs. */
export class DocumentCounter {
  #runs: readonly ResidentRun[] = [];
  /** For each run, the paths that no older one has. */
  #created: readonly number[] = [];

  /**
   * How many, in steps. A look into the older runs for each row of the runs that were not there at
   * the last count.
   * @param runs in the order of their intervals
   */
  *counting(runs: readonly ResidentRun[]): Generator<undefined, number> {
    const before = this.#runs;
    const known = this.#created;
    const created: number[] = [];
    let isSame = true;
    for (const [index, run] of runs.entries()) {
      isSame = isSame && run === before[index];
      const count = isSame ? known[index] : undefined;
      created.push(count ?? (yield* rowsInNone(run, runs.slice(0, index))));
    }
    this.#runs = runs;
    this.#created = created;
    return created.reduce((sum, count) => sum + count, 0);
  }
}

/** Rows of a step. */
const STEP_ROWS = 1_024;

/** How many rows of a run have paths that none of the others has, in steps. */
export function* rowsInNone(
  { columns }: ResidentRun,
  others: readonly ResidentRun[],
): Generator<undefined, number> {
  if (others.every((run) => run.columns.rows === 0)) return columns.rows;
  const cursor = columns.cursor();
  const hash: PathHash = { block: 0, bits: 0 };
  let alone = 0;
  for (let row = 0; row < columns.rows; row++) {
    cursor.next();
    hashPath(cursor.path, cursor.length, hash);
    const path = cursor.path.subarray(0, cursor.length);
    const isIn = others.some((run) => run.filter.mayHave(hash) && run.columns.findBytes(path) >= 0);
    if (!isIn) alone += 1;
    if (row % STEP_ROWS === STEP_ROWS - 1) yield;
  }
  return alone;
}
