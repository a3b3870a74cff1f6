/**
 * One process of a simulation, from its start to its crash: its own clocks, its pauses, and the one
 * gate through which anything reaches it.
 *
 * The code of a process runs in the promise jobs after a delivery. While it is paused nothing is
 * delivered; after a crash nothing ever is, so its promises stay as they were, as in a process that
 * is gone. What it had sent goes on without it.
 */
import { onAbort } from '../../bucketstore/base/abortable.ts';
import type { Clock, SleepOptions } from '../../bucketstore/base/clock.ts';
import type { Coverage } from './coverage.ts';
import { SlowedClock } from './slowed-clock.ts';
import type { Timeline, TimelineEvent } from './time.ts';
import type { CallKind, WaitKind } from './wait.ts';

/** True time 0 on a right clock, ms since the epoch. */
export const EPOCH_MS = 1_700_000_000_000;

export interface SimProcessOptions {
  readonly timeline: Timeline;
  readonly coverage: Coverage;
  /** Names this life of the process, once in a run; its random streams follow from it. */
  readonly id: string;
  /** How far its wall clock is from the right time. Default 0. */
  readonly wallOffsetMs?: number;
}

interface Armed {
  readonly kind: WaitKind | CallKind;
  readonly action: () => void;
}

export class SimProcess {
  readonly id: string;
  /** True time when its last pause ended; 0 before. */
  wokeAt = 0;
  /** The clocks that the code of this process is given. */
  readonly clock: Clock;
  readonly #timeline: Timeline;
  readonly #coverage: Coverage;
  readonly #waits = new Map<WaitKind, number>();
  readonly #wall: SlowedClock;
  readonly #monotonic: SlowedClock;
  #armed: Armed[] = [];
  #held: (() => void)[] = [];
  #pausedUntilMs: number | null = null;
  #frozen = false;
  #crashed = false;
  #connections = 0;

  constructor({ timeline, coverage, id, wallOffsetMs = 0 }: SimProcessOptions) {
    this.id = id;
    this.#timeline = timeline;
    this.#coverage = coverage;
    this.#wall = new SlowedClock(EPOCH_MS + wallOffsetMs);
    this.#monotonic = new SlowedClock(0);
    this.clock = {
      now: () => this.#wall.at(timeline.now),
      monotonic: () => this.#monotonic.at(timeline.now),
      sleep: (ms, options) => this.#sleep(ms, options),
      after: (ms, act) => this.#after(ms, act),
      turn: () => this.#turn(),
    };
  }

  get crashed(): boolean {
    return this.#crashed;
  }

  get paused(): boolean {
    return this.#pausedUntilMs !== null;
  }

  /** Whether what it sent before the pause still lies in its buffers. */
  get frozen(): boolean {
    return this.#frozen;
  }

  /** How many waits of each kind are outstanding; kinds without any are absent. */
  get waits(): ReadonlyMap<WaitKind, number> {
    return new Map([...this.#waits].filter(([, count]) => count > 0));
  }

  /** A number for each connection to the bucket in turn: 0, 1, … */
  nextConnection(): number {
    this.#connections += 1;
    return this.#connections - 1;
  }

  /**
   * Stops the process for `ms`: nothing is delivered until then, and then all of it in order.
   * @param hidden false: both its clocks show the pause (it was busy, or not scheduled). true:
   *   neither does (its machine was suspended), only the bucket's `Date` tells. `monotonic`: the
   *   monotonic clock stood still, the wall clock shows it.
   *
   * A pause within a pause lasts until the later end; clocks that one of them stops stand still
   * from then on.
   * @param frozen what it sent and has not arrived stays in its buffers until the pause ends
   */
  pause(ms: number, hidden: boolean | 'monotonic', frozen = false): void {
    if (this.#crashed) return;
    const { now } = this.#timeline;
    this.#frozen ||= frozen;
    if (hidden === true) this.#wall.stop(now);
    if (hidden !== false) this.#monotonic.stop(now);
    const kind = hidden === true ? 'hidden pause' : hidden ? 'monotonic pause' : 'pause';
    this.#coverage.count(kind);
    this.#timeline.trace(`${this.id} ${kind} ${ms}`);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs ?? 0, Math.ceil(now + ms));
    this.#timeline.at(this.#pausedUntilMs, () => this.#resume());
  }

  /** The wall clock is set, forward or back. Nothing fires. */
  jumpWall(ms: number): void {
    if (this.#crashed) return;
    this.#wall.jump(ms);
    this.#coverage.count('clock jump');
    this.#timeline.trace(`${this.id} clock jump ${ms}`);
  }

  /** Ends the process. Counts `crash at <wait>` once for each kind of wait that it hit. */
  crash(): void {
    if (this.#crashed) return;
    this.#crashed = true;
    const kinds = [...this.waits.keys()].sort();
    for (const kind of kinds) this.#coverage.count(`crash at ${kind}`);
    this.#timeline.trace(`${this.id} crash at ${kinds.join(', ')}`);
    this.#waits.clear();
    this.#armed = [];
    this.#held = [];
  }

  /** Runs it now; at the end of the pause, after what was held before; or never after a crash. */
  deliver(run: () => void): void {
    if (this.#crashed) return;
    if (this.#pausedUntilMs === null) run();
    else this.#held.push(run);
  }

  /**
   * Runs `action` once, at the next wait of that kind: for `… request` as a call has just been
   * sent, for `… answer` as it has just taken effect, for a call kind without a stage whichever
   * comes first.
   */
  when(kind: WaitKind | CallKind, action: () => void): void {
    if (!this.#crashed) this.#armed.push({ kind, action });
  }

  /** Begins a wait, and fires what was armed for it. For the client of the bucket. */
  enter(kind: WaitKind, call?: CallKind): void {
    if (this.#crashed) return;
    this.#waits.set(kind, (this.#waits.get(kind) ?? 0) + 1);
    if (this.#armed.length === 0) return;
    const isDue = (armed: Armed): boolean => armed.kind === kind || armed.kind === call;
    const due = this.#armed.filter(isDue);
    if (due.length === 0) return;
    this.#armed = this.#armed.filter((armed) => !isDue(armed));
    for (const { action } of due) action();
  }

  /** Ends a wait. */
  leave(kind: WaitKind): void {
    // A count of 0 stays: to delete it and add it again for every call would cost more.
    if (!this.#crashed) this.#waits.set(kind, (this.#waits.get(kind) ?? 0) - 1);
  }

  #resume(): void {
    const { now } = this.#timeline;
    if (this.#crashed || this.#pausedUntilMs === null || now < this.#pausedUntilMs) return;
    this.#pausedUntilMs = null;
    this.wokeAt = now;
    this.#frozen = false;
    this.#wall.start(now);
    this.#monotonic.start(now);
    const held = this.#held;
    this.#held = [];
    // One of them may pause or crash the process again: the rest is then held or dropped.
    for (const run of held) this.deliver(run);
  }

  #sleep(ms: number, { signal }: SleepOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#crashed) return;
      if (signal?.aborted) reject(signal.reason);
      else new Sleeper(this.#timeline, this, { ms, signal, resolve, reject }).start();
    });
  }

  /** What others do at this very moment comes before. */
  #turn(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#crashed) this.#timeline.after(0, () => this.deliver(resolve));
    });
  }

  #after(ms: number, act: () => void): () => void {
    if (this.#crashed) return nothing;
    const sleep = { ms, signal: undefined, resolve: act, reject: nothing };
    const sleeper = new Sleeper(this.#timeline, this, sleep);
    sleeper.start();
    return () => sleeper.stop();
  }
}

interface Sleep {
  readonly ms: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** One sleep. One of nothing lasts 1 ms, as a timer's does: no loop keeps time from passing. */
class Sleeper {
  readonly #timeline: Timeline;
  readonly #process: SimProcess;
  readonly #sleep: Sleep;
  readonly #dueMs: number;
  #event: TimelineEvent | null = null;
  #forget: () => void = nothing;
  #done = false;

  constructor(timeline: Timeline, process: SimProcess, sleep: Sleep) {
    this.#timeline = timeline;
    this.#process = process;
    this.#sleep = sleep;
    this.#dueMs = process.clock.monotonic() + Math.max(sleep.ms || 0, 1);
  }

  start(): void {
    const { signal } = this.#sleep;
    if (signal !== undefined) this.#forget = onAbort(signal, () => this.#abort());
    this.#wait();
    this.#process.enter('sleep');
  }

  #wait(): void {
    // A millisecond at least, as every timer: what rounding leaves of one would never pass.
    const leftMs = Math.max(this.#dueMs - this.#process.clock.monotonic(), 1);
    this.#event = this.#timeline.after(leftMs, () => this.#process.deliver(() => this.#wake()));
  }

  #wake(): void {
    if (this.#done) return;
    // The clock that it sleeps by may have stood still meanwhile.
    if (this.#process.clock.monotonic() < this.#dueMs) this.#wait();
    else this.#end(this.#sleep.resolve);
  }

  /** Ends it before its time; one that has ended is left alone. */
  stop(): void {
    if (!this.#done) this.#abort();
  }

  #abort(): void {
    if (this.#process.crashed) return;
    if (this.#event !== null) this.#timeline.cancel(this.#event);
    this.#end(() => this.#sleep.reject(this.#sleep.signal?.reason));
  }

  #end(settle: () => void): void {
    this.#done = true;
    this.#process.leave('sleep');
    this.#forget();
    settle();
  }
}

function nothing(): void {}
