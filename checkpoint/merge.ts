/**
 * The merge of runs: walks over the entries of several runs in the order of their paths, in one
 * pass, comparing bytes and parsing nothing. Runs come table by table, so that no more than one
 * table of each is in memory: the merge says which run's next table it needs, and whoever drives it
 * fetches that. Pure, so it works in a thread of its own as well as in a test.
 *
 * Where several runs have a path, segments take the newest run's entry as it is (`run`, `object`,
 * `row`, `cursor`), and version records are merged from all of them (`sources`,
 * `merge-records.ts`).
 */
import { assert } from '../bucketstore/base/assert.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { compareBytes, type EntryCursor } from './table-entry.ts';

/** `entry`: stands on one; `hungry`: needs a table of the run `hungry`; `done`: no more entries. */
export type MergeStep = 'entry' | 'hungry' | 'done';

/** One run, table by table. */
interface Input {
  /** Stands on the run's next entry; before a table's first one, right after `feed`. */
  cursor: EntryCursor | null;
  /** Number of the table that the cursor is in. */
  object: number;
  hasEnded: boolean;
  /** The last path of the table before. */
  last: Uint8Array | null;
}

/**
 *     for (let step = merge.advance(); step !== 'done'; step = merge.advance()) {
 *       if (step === 'hungry') merge.feed(merge.hungry, await nextTable(merge.hungry));
 *       else builder.copy(merge.cursor);
 *     }
 */
export class RunMerge {
  readonly #inputs: readonly Input[];
  /** Runs that stand on an entry beyond the current path: a binary heap. */
  readonly #heap: number[] = [];
  /** Runs that stand on the current path, newest first; they move on before the next. */
  readonly #sources: number[] = [];
  /** What the last `advance` answered; `fed` before the first, and after `feed`. */
  #state: MergeStep | 'fed' = 'fed';

  /** @param runs how many; in the order of their intervals, so the last is the newest */
  constructor(runs: number) {
    assert(runs >= 1, 'a merge of nothing');
    this.#inputs = Array.from({ length: runs }, () => {
      return { cursor: null, object: -1, hasEnded: false, last: null };
    });
    for (let run = runs - 1; run >= 0; run--) this.#sources.push(run);
  }

  /** The run whose next table must be fed. Only after `hungry`. */
  get hungry(): number {
    assert(this.#state === 'hungry', 'no run is hungry');
    return this.#sources.at(-1) ?? 0;
  }

  /** The runs that have the current path, newest first. Valid until the next `advance`. */
  get sources(): readonly number[] {
    return this.#sources;
  }

  /** The newest run that has the current path: its entry is the document's. */
  get run(): number {
    const run = this.#sources[0];
    assert(run !== undefined && this.#state === 'entry', 'the merge stands on no entry');
    return run;
  }

  /** Which of that run's tables the entry is in, from 0 in the order they were fed. */
  get object(): number {
    return this.objectOf(this.run);
  }

  /** Number of the entry in that table. */
  get row(): number {
    return this.cursor.row;
  }

  /** Stands on the entry; not to be moved. */
  get cursor(): EntryCursor {
    return this.cursorOf(this.run);
  }

  objectOf(run: number): number {
    return this.#input(run).object;
  }

  cursorOf(run: number): EntryCursor {
    const { cursor } = this.#input(run);
    assert(cursor !== null, () => `run ${run} stands on no entry`);
    return cursor;
  }

  /**
   * Gives the hungry run its next table, or null: it has no more.
   * @param cursor before the table's first entry (`entriesOf`)
   */
  feed(run: number, cursor: EntryCursor | null): void {
    assert(run === this.hungry, () => `run ${run} is not hungry`);
    const input = this.#input(run);
    input.cursor = cursor;
    input.object += 1;
    input.hasEnded = cursor === null;
    this.#state = 'fed';
  }

  /**
   * Goes on to the next path.
   * @throws StoreError INTEGRITY naming the table whose entries are none, or out of order
   */
  advance(): MergeStep {
    assert(this.#state !== 'hungry', () => `run ${this.hungry} is hungry`);
    this.#state = this.#moveOn();
    return this.#state;
  }

  #moveOn(): MergeStep {
    const sources = this.#sources;
    for (let run = sources.at(-1); run !== undefined; run = sources.at(-1)) {
      const input = this.#input(run);
      if (!input.hasEnded) {
        if (!stepOn(input)) return 'hungry';
        this.#push(run);
      }
      sources.pop();
    }
    const first = this.#pop();
    if (first === undefined) return 'done';
    sources.push(first);
    for (let next = this.#heap[0]; next !== undefined; next = this.#heap[0]) {
      if (this.#comparePaths(first, next) !== 0) break;
      sources.push(next);
      this.#pop();
    }
    return 'entry';
  }

  #input(run: number): Input {
    const input = this.#inputs[run];
    assert(input !== undefined, () => `no run ${run}`);
    return input;
  }

  #comparePaths(a: number, b: number): number {
    const one = this.cursorOf(a);
    const other = this.cursorOf(b);
    return compareBytes(
      one.bytes,
      one.pathStart,
      one.jsonStart,
      other.bytes,
      other.pathStart,
      other.jsonStart,
    );
  }

  /** By path, and the newest first where it is the same. */
  #isBefore(a: number, b: number): boolean {
    const order = this.#comparePaths(a, b);
    return order === 0 ? a > b : order < 0;
  }

  #push(run: number): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      const above = heap[parent] ?? 0;
      if (!this.#isBefore(run, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = run;
  }

  #pop(): number | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const moved = heap.pop();
    if (moved === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const [a = 0, b] = [heap[left], heap[left + 1]];
      const isRight = b !== undefined && this.#isBefore(b, a);
      const child = isRight ? b : a;
      if (!this.#isBefore(child, moved)) break;
      heap[at] = child;
      at = isRight ? left + 1 : left;
    }
    heap[at] = moved;
    return top;
  }
}

/** Moves to the run's next entry; false when its table has no more. */
function stepOn(input: Input): boolean {
  const { cursor, last } = input;
  if (cursor === null) return false;
  if (!cursor.advance()) {
    // A copy: a view would keep the whole table.
    input.last = Uint8Array.from(cursor.path());
    input.cursor = null;
    return false;
  }
  if (last !== null) {
    const { key, bytes, pathStart, jsonStart } = cursor;
    if (compareBytes(last, 0, last.length, bytes, pathStart, jsonStart) >= 0) {
      throw integrityError(key, 'its first path does not sort behind the table before');
    }
    input.last = null;
  }
  return true;
}
