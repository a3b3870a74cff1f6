/** Walks over the documents of several runs in path order, newer runs hiding older rows. */
import type { PlacedDocument } from '../bucketstore/snapshot/base.ts';
import type { PathCursor } from './path-list.ts';
import type { ResidentRun } from './resident-run.ts';
import { RunHeap, type RunStand } from './run-heap.ts';

interface RowStand extends RunStand {
  readonly run: ResidentRun;
  row: number;
  /** Its own, from the second row on: most walks look at one or two documents. */
  cursor: PathCursor | null;
}

/** All documents, once each, from the first path at or after one on. */
export class RunWalk implements Iterator<PlacedDocument> {
  readonly #heap: RunHeap<RowStand>;
  /** The path told last: those who stand on it move on when the next is asked for. */
  #told: string | null = null;

  /**
   * @param runs in the order of their intervals; whoever wants documents of one directory need not
   *   give those that have none there
   */
  constructor(runs: readonly ResidentRun[], from: string) {
    const stands: RowStand[] = [];
    for (const [age, run] of runs.entries()) {
      const start = run.from(from);
      if (start !== null) {
        stands.push({ path: start.path, age, run, row: start.row, cursor: null });
      }
    }
    this.#heap = new RunHeap(stands);
  }

  next(): IteratorResult<PlacedDocument> {
    let { top } = this.#heap;
    for (; top !== undefined && top.path === this.#told; top = this.#heap.top) {
      if (advance(top)) this.#heap.moved();
      else this.#heap.ended();
    }
    if (top === undefined) return { done: true, value: undefined };
    this.#told = top.path;
    return { value: { path: top.path, archived: top.run.columns.archived(top.row) } };
  }
}

function advance(stand: RowStand): boolean {
  const { columns } = stand.run;
  stand.row += 1;
  if (stand.row === columns.rows) return false;
  stand.cursor ??= columns.cursor();
  stand.cursor.seek(stand.row);
  stand.path = stand.cursor.text;
  return true;
}

interface LiveStand extends RunStand {
  readonly paths: Iterator<string>;
}

/**
 * Paths out of several walks that have no path in common, in byte order.
 * @param walks each in byte order
 */
export function* mergePaths(walks: readonly Iterator<string>[]): Generator<string> {
  const stands: LiveStand[] = [];
  for (const [age, paths] of walks.entries()) {
    const first = paths.next();
    if (first.done !== true) stands.push({ path: first.value, age, paths });
  }
  const heap = new RunHeap(stands);
  for (let { top } = heap; top !== undefined; { top } = heap) {
    yield top.path;
    const next = top.paths.next();
    if (next.done === true) {
      heap.ended();
    } else {
      top.path = next.value;
      heap.moved();
    }
  }
}
