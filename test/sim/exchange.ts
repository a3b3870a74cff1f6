/**
 * One request and its answer on the simulated network. What happens to the bucket and what its
 * caller is told are separate; the caller may be paused, gone, or tired of waiting at any of it.
 */

import type { AbortSource } from '../../blob/cancel.ts';
import type { CallResult } from '../../blob/decorate.ts';
import type { BlobOperation } from '../../blob/errors.ts';
import { abortedError, onAbort } from '../../blob/signal.ts';
import type { SimBucket } from './bucket.ts';
import type { Coverage } from './coverage.ts';
import type { Fate, Faults, Telling } from './faults.ts';
import type { SimProcess } from './process.ts';
import type { SimRandom } from './random.ts';
import { toldError } from './telling.ts';
import type { Timeline } from './time.ts';
import { type CallKind, callKindOf, type Stages, stagesOf } from './wait.ts';

/** What a call answers. */
export type Outcome = CallResult;

/** All that an exchange touches. */
export interface ExchangeWorld {
  readonly timeline: Timeline;
  readonly bucket: SimBucket;
  readonly process: SimProcess;
  readonly faults: Faults;
  readonly random: SimRandom;
  readonly coverage: Coverage;
}

interface ExchangeCall<T> {
  readonly operation: BlobOperation;
  readonly key: string;
  /** Takes effect at the server, now, and makes the answer. */
  readonly effect: () => T;
  readonly resolve: (result: T) => void;
  readonly reject: (error: unknown) => void;
}

type Told = Telling | '429' | null;

export class Exchange<T extends Outcome> {
  readonly #world: ExchangeWorld;
  readonly #call: ExchangeCall<T>;
  readonly #kind: CallKind;
  readonly #stages: Stages;
  readonly #fate: Fate;
  #stage: 'unsent' | 'request' | 'answer' = 'unsent';
  #settled = false;
  #forget: () => void = nothing;

  constructor(world: ExchangeWorld, call: ExchangeCall<T>) {
    this.#world = world;
    this.#call = call;
    this.#kind = callKindOf(call.operation, call.key);
    this.#stages = stagesOf(this.#kind);
    this.#fate = world.faults.fateOf(call.operation, world.random, call.key);
  }

  /** Sends it, or has it sent at the end of a pause. @param signal not aborted yet */
  start(signal: AbortSource | undefined): void {
    const { operation, key, reject } = this.#call;
    const { process } = this.#world;
    if (signal !== undefined) {
      this.#forget = onAbort(signal, () => {
        if (process.crashed) return;
        const sent = this.#stage !== 'unsent';
        this.#settle(() => reject(abortedError(operation, key, signal.reason, sent)));
      });
    }
    process.deliver(() => this.#send());
  }

  #send(): void {
    if (this.#settled) return;
    const { timeline, process, bucket, coverage } = this.#world;
    const { requestMs, twinMs } = this.#fate;
    timeline.after(requestMs, () => this.#arrive());
    if (twinMs !== null) {
      coverage.count('doubled create');
      timeline.after(twinMs, () => {
        bucket.attempt(this.#call.key);
        this.#call.effect();
      });
    }
    this.#stage = 'request';
    process.enter(this.#stages.request, this.#kind);
  }

  /** The request is where it was sent to, or where it got lost. */
  #arrive(): void {
    const { timeline, bucket, process } = this.#world;
    const { told: fated, effect, requestMs, answerMs, lateMs } = this.#fate;
    if (process.frozen) {
      process.deliver(() => timeline.after(requestMs, () => this.#arrive()));
      return;
    }
    const { key } = this.#call;
    const date = bucket.date();
    const throttled = fated !== 'refused' && this.#isThrottled();
    const result = effect === 'now' && !throttled ? this.#call.effect() : null;
    const told = throttled ? '429' : withoutCut(fated, result);
    if (told !== null) this.#countFault(told, result);
    if (effect === 'late') timeline.after(lateMs, () => this.#landLate());
    if (result !== null && !this.#settled) {
      process.leave(this.#stages.request);
      this.#stage = 'answer';
      process.enter(this.#stages.answer, this.#kind);
    }
    if (told === 'silence') return;
    timeline.after(answerMs, () =>
      process.deliver(() => {
        if (told === null && result !== null) this.#settle(() => this.#call.resolve(result));
        else if (told !== null) {
          const { operation, reject } = this.#call;
          const { retryAfterMs } = this.#fate;
          this.#settle(() => reject(toldError(operation, key, told, date, retryAfterMs)));
        }
      }),
    );
  }

  /** Whether this is a create that comes too soon after another attempt on its name. */
  #isThrottled(): boolean {
    if (this.#call.operation !== 'create') return false;
    const { fault, throttled } = this.#fate;
    if (fault === 'lost request') return false;
    const sinceMs = this.#world.bucket.attempt(this.#call.key);
    return fault === null && throttled && sinceMs < 1000;
  }

  #landLate(): void {
    const { timeline, process, coverage } = this.#world;
    const { operation, key } = this.#call;
    timeline.trace(`${process.id} ${operation} ${key} lands late`);
    coverage.count('late landing');
    const result = this.#call.effect();
    if (operation !== 'create') return;
    const how = isCreated(result) ? 'lands late' : 'name was taken';
    coverage.count(`ambiguous create: ${how}`);
  }

  /** Counts what the caller is told, and for a create what is true behind it. */
  #countFault(told: Exclude<Told, null>, result: T | null): void {
    const { timeline, process, bucket, coverage } = this.#world;
    const { operation, key } = this.#call;
    const { fault, effect } = this.#fate;
    timeline.trace(`${process.id} ${operation} ${key} is told ${told}, effect ${effect}`);
    coverage.count(COUNTERS[told]);
    if (fault === 'lost request' || fault === 'lost answer') coverage.count(fault);
    if (operation !== 'create' || told === 'refused' || effect === 'late') return;
    if (result !== null && isCreated(result)) coverage.count('ambiguous create: stored');
    else if (bucket.peek(key) !== null) coverage.count('ambiguous create: name was taken');
    else coverage.count('ambiguous create: not stored');
  }

  #settle(settle: () => void): void {
    if (this.#settled) return;
    this.#settled = true;
    if (this.#stage !== 'unsent') this.#world.process.leave(this.#stages[this.#stage]);
    this.#forget();
    settle();
  }
}

function nothing(): void {}

/** The counter of each thing that can be told. */
const COUNTERS: Readonly<Record<Exclude<Told, null>, string>> = {
  reset: 'reset',
  refused: 'refused',
  '503': '503',
  'slow down': '503',
  '409': '409',
  '429': '429',
  'short read': 'short read',
  silence: 'stall',
};

/** A body that is not there cannot be cut short: *not found* stays the answer. */
function withoutCut(told: Told, result: Outcome | null): Told {
  const absent = result !== null && 'found' in result && !result.found;
  return told === 'short read' && absent ? null : told;
}

function isCreated(result: Outcome): boolean {
  return 'outcome' in result && result.outcome === 'created';
}
