/**
 * A request that waits for its outcome: one change, a group that commits together, or a control
 * entry.
 */
import { onAbort } from '../base/abortable.ts';
import { after, type Clock } from '../base/clock.ts';
import { StoreError } from '../base/errors.ts';
import type { Sequence } from '../base/sequence.ts';
import type { ControlEntry } from '../log/records.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Mutation } from './mutation.ts';
import { OPERATIONS_MIN, OPERATIONS_MS } from './operations.ts';
import type { MutationResult } from './result.ts';

export interface MemberOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long it may wait for an answer, ms. */
  readonly deadlineMs: number;
}

const ANSWERED = 'answered';
const ignore = (): void => undefined;
/** For how long a repeat is known to be one. */
const WINDOW = `${OPERATIONS_MS / 60_000} minutes or ${OPERATIONS_MIN} entries`;

/**
 * Answered exactly once. Until its slot's create is sent, a passed deadline or an abort means *not
 * committed*; from then on *unknown*, with what `operation` must be asked.
 */
export class Pending<Result> {
  readonly op: string;
  /** Bytes that it holds in the queue. */
  readonly bytes: number;
  readonly result: Promise<Result>;
  #isAnswered = false;
  #answered: AbortController | null = null;
  /** What runs when it is answered, but for its signal. */
  #listeners: (() => void)[] = [];
  #resolve: (result: Result) => void = ignore;
  #reject: (error: unknown) => void = ignore;
  /** The tip that its open create names; null while none is open. */
  #after: Sequence | null = null;
  #openWords = '';
  #mayRepeat = true;
  #hasLeft = false;

  constructor(op: string, bytes: number, clock: Clock, options: MemberOptions) {
    this.op = op;
    this.bytes = bytes;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Its owner may answer before anybody waits.
    this.result.catch(ignore);
    this.#watch(clock, options);
  }

  /** Whether it has been answered, however. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /**
   * Aborts when it has been answered, however. Made now, which costs more than all else that a
   * request is: for work that must end with it.
   */
  get answered(): AbortSignal {
    if (this.#answered === null) {
      this.#answered = new AbortController();
      if (this.#isAnswered) this.#answered.abort(ANSWERED);
    }
    return this.#answered.signal;
  }

  /** Calls `listener` when it is answered, once; now if it has been. */
  onAnswered(listener: () => void): void {
    if (this.#isAnswered) listener();
    else this.#listeners.push(listener);
  }

  /**
   * Its operation may be in the log from now on, behind the tip `after`: its slot's create goes
   * out, or an earlier request with it has an open one, or it is there.
   */
  sent(after: Sequence): void {
    this.#after = after;
  }

  /** What is known of its open create, for the one who asks why it is unknown. */
  unresolved(words: string): void {
    this.#openWords = words;
  }

  /**
   * What became of its create cannot be known here any more: told *unknown*. The slot that would
   * show its operation may be collected, so it must not be sent again as if that were without harm.
   */
  giveUp(words: string): void {
    this.#openWords = words;
    this.#mayRepeat = false;
    this.fail(null);
  }

  /** Its create is no longer open: it is answered next, or judged again. */
  settled(): void {
    this.#after = null;
  }

  answer(result: Result): void {
    this.#settle(() => this.#resolve(result));
  }

  /** Answers with an error, or with *unknown* when its create is open. */
  fail(error: unknown): void {
    this.#settle(() => this.#reject(this.told(error)));
  }

  /** What it would be answered now if it failed for a reason. */
  told(error: unknown): unknown {
    return this.#after === null ? error : this.#unknown(this.#after, error);
  }

  /** Whether it did not wait to the end: its own signal aborted, or its own deadline passed. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  #settle(act: () => void): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    act();
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
    // A reason of our own: without one, each answer would build an exception with a stack.
    this.#answered?.abort(ANSWERED);
  }

  #unknown(after: Sequence, cause: unknown): StoreError {
    const words = this.#openWords === '' ? '' : ` (${this.#openWords})`;
    const repeat = this.#mayRepeat
      ? `, or send the request again with the same op: for ${WINDOW} it gets the first answer`
      : '';
    return new StoreError(
      'UNKNOWN_OUTCOME',
      `unknown: the commit after sequence ${after} was sent and cannot be answered${words}; ask ` +
        `operation("${this.op}", ${after})${repeat}`,
      { details: { op: this.op, after }, cause },
    );
  }

  #watch(clock: Clock, { signal, deadlineMs }: MemberOptions): void {
    const leave = (error: unknown): void => {
      this.#hasLeft = !this.#isAnswered;
      this.fail(error);
    };
    if (signal !== undefined) this.onAnswered(onAbort(signal, () => leave(signal.reason)));
    this.onAnswered(after(clock, deadlineMs, () => leave(overdue(deadlineMs))));
  }
}

/** A request of any kind, as whoever writes its slot sees it. */
export type Request = Pick<
  Pending<never>,
  'op' | 'isAnswered' | 'answered' | 'sent' | 'unresolved' | 'settled' | 'giveUp' | 'fail'
>;

/** Mutations that commit together. */
export class Member extends Pending<readonly MutationResult[]> {
  readonly mutations: readonly Mutation[];
  /** Its operation is in the log, and its first answer is being read back from there. */
  recalling = false;

  constructor(mutations: readonly Mutation[], clock: Clock, options: MemberOptions) {
    super(mutations[0]?.op ?? '', bytesOf(mutations), clock, options);
    this.mutations = mutations;
  }
}

/**
 * The control entry that a state asks for, or null for none. Judged at exactly the tip that the
 * entry will follow; when that name is lost, it is asked again with the new tip.
 */
export type ControlJudge = (state: Snapshot) => ControlEntry | null;

/** A control entry, which is alone in its slot. Answered with its sequence; null for none. */
export class Control extends Pending<Sequence | null> {
  readonly judge: ControlJudge;

  constructor(op: string, judge: ControlJudge, clock: Clock, options: MemberOptions) {
    super(op, CONTROL_BYTES, clock, options);
    this.judge = judge;
  }
}

const CONTROL_BYTES = 4096;

/** Not committed: it waited too long for its turn. */
export function overdue(deadlineMs: number): StoreError {
  return new StoreError(
    'OVERLOADED',
    `not committed: the request waited ${deadlineMs} ms for its turn; try again later`,
  );
}

/** What a request counts for in the queue. */
export function bytesOf(mutations: readonly Mutation[]): number {
  return mutations.reduce((sum, mutation) => {
    const content = mutation.kind === 'archive' ? 0 : mutation.content.byteLength;
    return sum + content + mutation.path.length + 512;
  }, 0);
}
