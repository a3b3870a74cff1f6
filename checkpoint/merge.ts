/**
 * The merge of runs: walks over the entries of several runs in the order of their paths, in one
 * pass, comparing bytes and parsing nothing. What a manifest says of a table is enough to know when
 * the walk comes to it: so a table is opened only then, no more than one of each run is open, and
 * one that no other run has a path in may be passed as a whole without being read. Pure, so it
 * works in a thread of its own as well as in a test.
 *
 * Where several runs have a path, segments take the newest run's entry as it is (`run`, `object`,
 * `row`, `cursor`), and version records are merged from all of them (`sources`,
 * `merge-records.ts`).
 */
import { assert } from '../bucketstore/base/assert.ts';
import { MergeInput, type MergeTable } from './merge-input.ts';
import { compareBytes, type EntryCursor } from './table-entry.ts';

/**
 * `entry`: stands on one; `table`: stands before a table of the run `run` that is not open, to be
 * opened or passed; `done`: no more entries.
 */
export type MergeStep = 'entry' | 'table' | 'done';

/**
 *     for (let step = merge.advance(); step !== 'done'; step = merge.advance()) {
 *       if (step === 'table') merge.open(await cursorOf(merge.run, merge.object));
 *       else builder.copy(merge.cursor);
 *     }
 */
export class RunMerge {
  readonly #inputs: readonly MergeInput[];
  /** Runs by the path that they stand on or before, beyond the current one: a binary heap. */
  readonly #heap: number[] = [];
  /** Runs that stand on the current path, newest first; they move on before the next. */
  readonly #sources: number[] = [];
  /**
   * What the last `advance` answered; `between` before the first, and once a table is dealt with.
   */
  #state: MergeStep | 'between' = 'between';

  /** @param runs their tables in order; the last run is the newest; at least one */
  constructor(runs: readonly (readonly MergeTable[])[]) {
    assert(runs.length >= 1, 'a merge of nothing');
    this.#inputs = runs.map((tables) => new MergeInput(tables));
    for (const run of runs.keys()) this.#push(run);
  }

  /** The runs that have the current path, newest first. Valid until the next `advance`. */
  get sources(): readonly number[] {
    return this.#sources;
  }

  /** The newest run that has the current path: its entry is the document's. Or the table's run. */
  get run(): number {
    const run = this.#state === 'table' ? this.#heap[0] : this.#sources[0];
    const isThere = this.#state === 'table' || this.#state === 'entry';
    assert(run !== undefined && isThere, 'the merge stands on no entry and before no table');
    return run;
  }

  /** Which of that run's tables it is, or the entry is in, from 0. */
  get object(): number {
    return this.#input(this.run).object;
  }

  /** Number of the entry in that table. */
  get row(): number {
    return this.cursor.row;
  }

  /** Stands on the entry; not to be moved. */
  get cursor(): EntryCursor {
    return this.cursorOf(this.run);
  }

  cursorOf(run: number): EntryCursor {
    const { cursor } = this.#input(run);
    assert(cursor !== null, () => `run ${run} stands on no entry`);
    return cursor;
  }

  /** Before a table: whether it alone has entries from its first path to its last. */
  get isAlone(): boolean {
    const other = this.#other();
    const { last } = this.#tableBefore();
    return other === null || other.compare(last) > 0;
  }

  /** Before a table: whether the entry behind it is its own run's next one, or there is none. */
  get isFollowedByOwn(): boolean {
    const other = this.#other();
    const { next } = this.#input(this.run);
    if (other === null) return true;
    return next !== undefined && other.compare(next.first) > 0;
  }

  /** Before a table: whether it is the last one of its run. */
  get isLastOfRun(): boolean {
    return this.#input(this.run).next === undefined;
  }

  /**
   * Opens the table that the merge stands before.
   * @param cursor before its first entry (`entriesOf`)
   * @throws StoreError INTEGRITY naming the table when that has another path than the manifest says
   */
  open(cursor: EntryCursor): void {
    this.#input(this.run).open(cursor);
    this.#push(this.#pop());
    this.#state = 'between';
  }

  /** Passes the table that the merge stands before, which is alone. */
  pass(): void {
    assert(this.isAlone, 'a table is passed that others have entries in');
    const run = this.#pop();
    this.#input(run).pass();
    this.#push(run);
    this.#state = 'between';
  }

  /**
   * Goes on to the next path, or to the table that begins with it.
   * @throws StoreError INTEGRITY naming the table whose entries are none, or out of order
   */
  advance(): MergeStep {
    assert(this.#state !== 'table', 'a table waits to be opened or passed');
    this.#state = this.#moveOn();
    return this.#state;
  }

  #moveOn(): MergeStep {
    const sources = this.#sources;
    for (let run = sources.pop(); run !== undefined; run = sources.pop()) {
      this.#input(run).advance();
      this.#push(run);
    }
    const [first] = this.#heap;
    if (first === undefined) return 'done';
    if (this.#input(first).cursor === null) return 'table';
    sources.push(this.#pop());
    for (let next = this.#heap[0]; next !== undefined; next = this.#heap[0]) {
      if (this.#comparePaths(first, next) !== 0) break;
      sources.push(this.#pop());
    }
    return 'entry';
  }

  #input(run: number): MergeInput {
    const input = this.#inputs[run];
    assert(input !== undefined, () => `no run ${run}`);
    return input;
  }

  #tableBefore(): MergeTable {
    assert(this.#state === 'table', 'the merge stands before no table');
    return this.#input(this.run).table;
  }

  /** The run with the least path but for the top of the heap. */
  #other(): MergeInput | null {
    const [, one, other] = this.#heap;
    if (one === undefined) return null;
    return this.#input(other !== undefined && this.#isBefore(other, one) ? other : one);
  }

  #comparePaths(a: number, b: number): number {
    const one = this.#input(a);
    const other = this.#input(b);
    return compareBytes(one.bytes, one.start, one.end, other.bytes, other.start, other.end);
  }

  /** By path; where it is the same what is not open, since it must be, and then the newest. */
  #isBefore(a: number, b: number): boolean {
    const order = this.#comparePaths(a, b);
    if (order !== 0) return order < 0;
    const isOpen = this.#input(a).cursor !== null;
    const isOtherOpen = this.#input(b).cursor !== null;
    return isOpen === isOtherOpen ? a > b : isOtherOpen;
  }

  /** A run that has come to its end is left out. */
  #push(run: number): void {
    if (this.#input(run).hasEnded) return;
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

  #pop(): number {
    const heap = this.#heap;
    const top = heap[0];
    const moved = heap.pop();
    assert(top !== undefined && moved !== undefined, 'no run is left');
    if (heap.length === 0) return top;
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
