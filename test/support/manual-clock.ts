/**
 * Virtual time. Nothing happens until a test moves it; then sleepers fire in the order in which
 * they are due, those due together in the order in which they went to sleep, and between two of
 * them everything that can run without time passing has run.
 *
 * How "everything has run" is known: `setImmediate` fires only after the queue of promise jobs is
 * empty, so one turn of it drains any chain of promises, however long. Code that itself waits for
 * I/O (files, sockets, workers) is not drained by that: virtual time is for code over in-memory
 * buckets.
 */
import type { Clock, SleepOptions } from '../../bucketstore/base/clock.ts';

/** Runs every promise job that can run now. Code that uses `setImmediate` itself needs more. */
export async function drain(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

interface Sleeper {
  readonly dueMs: number;
  readonly order: number;
  readonly wake: () => void;
}

export interface ManualClockOptions {
  /** Wall clock at the start, ms since the epoch. Default 1,700,000,000,000. */
  readonly wallMs?: number;
}

/** A `Clock` that a test moves. */
export class ManualClock implements Clock {
  #elapsedMs = 0;
  #wallOffsetMs: number;
  #monotonicOffsetMs = 0;
  #order = 0;
  readonly #sleepers = new SleeperHeap();

  constructor({ wallMs = 1_700_000_000_000 }: ManualClockOptions = {}) {
    this.#wallOffsetMs = wallMs;
  }

  now(): number {
    return Math.floor(this.#wallOffsetMs + this.#elapsedMs);
  }

  monotonic(): number {
    return this.#monotonicOffsetMs + this.#elapsedMs;
  }

  sleep(ms: number, { signal }: SleepOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        this.#sleepers.remove(sleeper);
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        // A sleep of nothing, or of nonsense, still gives way once, as a real timer does.
        dueMs: this.#elapsedMs + Math.max(ms || 0, 0),
        order: this.#order++,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  after(ms: number, act: () => void): () => void {
    let waits = true;
    const sleeper: Sleeper = {
      dueMs: this.#elapsedMs + Math.max(ms || 0, 0),
      order: this.#order++,
      wake: () => {
        waits = false;
        act();
      },
    };
    this.#sleepers.add(sleeper);
    return () => {
      if (waits) this.#sleepers.remove(sleeper);
      waits = false;
    };
  }

  /** How many sleepers wait: 0 after a test that leaves no timer behind. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Moves both clocks by `ms`, firing what is due on the way. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await drain();
    for (let next = this.#sleepers.next; next && next.dueMs <= untilMs; ) {
      await this.#fire(next);
      next = this.#sleepers.next;
    }
    this.#elapsedMs = untilMs;
  }

  /** Moves both clocks to the next sleeper and fires it; false when nobody sleeps. */
  async fireNext(): Promise<boolean> {
    const { next } = this.#sleepers;
    if (next !== undefined) await this.#fire(next);
    return next !== undefined;
  }

  /**
   * Moves time from sleeper to sleeper until `work` settles, and gives its result or throws its
   * error. Without `work`: until nobody sleeps.
   * @throws Error when `work` waits for something that is no sleep, or time passes `limitMs` (1
   *   year)
   */
  async run(): Promise<void>;
  async run<T>(work: Promise<T>, limitMs?: number): Promise<T>;
  async run<T>(work?: Promise<T>, limitMs = 365 * 86_400_000): Promise<T | undefined> {
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    work?.then(settle, settle);
    const untilMs = this.#elapsedMs + limitMs;
    await drain();
    while (!settled) {
      const { next } = this.#sleepers;
      if (next === undefined) break;
      if (next.dueMs > untilMs) throw new Error(`not settled within ${limitMs} ms of virtual time`);
      await this.#fire(next);
    }
    if (work !== undefined && !settled) throw new Error('waits for something that is no sleep');
    return work;
  }

  /**
   * The wall clock jumps, forward or back; nothing fires (a clock that is set, or a machine's
   * pause).
   */
  shiftWall(ms: number): void {
    this.#wallOffsetMs += ms;
  }

  /** The monotonic clock jumps forward; nothing fires. @param ms ≥ 0 */
  shiftMonotonic(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`a monotonic clock never goes back, got ${ms}`);
    this.#monotonicOffsetMs += ms;
  }

  async #fire(sleeper: Sleeper): Promise<void> {
    this.#sleepers.remove(sleeper);
    this.#elapsedMs = Math.max(this.#elapsedMs, sleeper.dueMs);
    sleeper.wake();
    await drain();
  }
}

/** Sleepers by due time, then by order: a binary heap that knows where each of them stands. */
class SleeperHeap {
  readonly #heap: Sleeper[] = [];
  readonly #places = new Map<Sleeper, number>();

  get size(): number {
    return this.#heap.length;
  }

  /** The one that is due first. */
  get next(): Sleeper | undefined {
    return this.#heap[0];
  }

  add(sleeper: Sleeper): void {
    this.#place(sleeper, this.#heap.length);
    this.#rise(sleeper);
  }

  remove(sleeper: Sleeper): void {
    const at = this.#places.get(sleeper);
    const last = this.#heap.pop();
    this.#places.delete(sleeper);
    if (at === undefined || last === undefined) throw new Error('no such sleeper');
    if (last === sleeper) return;
    this.#place(last, at);
    this.#rise(last);
    this.#sink(last);
  }

  #place(sleeper: Sleeper, at: number): void {
    this.#heap[at] = sleeper;
    this.#places.set(sleeper, at);
  }

  #at(sleeper: Sleeper): number {
    return this.#places.get(sleeper) ?? 0;
  }

  #swap(a: Sleeper, b: Sleeper): void {
    const at = this.#at(a);
    this.#place(a, this.#at(b));
    this.#place(b, at);
  }

  #rise(sleeper: Sleeper): void {
    for (let at = this.#at(sleeper); at > 0; at = this.#at(sleeper)) {
      const parent = this.#heap[(at - 1) >> 1];
      if (parent === undefined || isBefore(parent, sleeper)) return;
      this.#swap(sleeper, parent);
    }
  }

  #sink(sleeper: Sleeper): void {
    for (;;) {
      const at = this.#at(sleeper);
      const left = this.#heap[2 * at + 1];
      const right = this.#heap[2 * at + 2];
      const child = left && right && isBefore(right, left) ? right : left;
      if (child === undefined || isBefore(sleeper, child)) return;
      this.#swap(sleeper, child);
    }
  }
}

function isBefore(a: Sleeper, b: Sleeper): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
