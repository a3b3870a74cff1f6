/** A request that waits for its outcome: one change, or a group that commits together. */
import type { Clock } from '../base/clock.ts';
import { StoreError } from '../base/errors.ts';
import type { Sequence } from '../base/sequence.ts';
import type { Mutation } from './mutation.ts';
import type { MutationResult } from './result.ts';

export interface MemberOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long it may wait for an answer, ms. */
  readonly deadlineMs: number;
}

const ANSWERED = 'answered';

/**
 * Answered exactly once. Until its slot's create is sent, a passed deadline or an abort means *not
 * committed*; from then on *unknown*, with what `operation` must be asked.
 */
export class Member {
  readonly mutations: readonly Mutation[];
  /** Bytes that it holds in the queue. */
  readonly bytes: number;
  readonly result: Promise<readonly MutationResult[]>;
  /** Its operation is in the log, and its first answer is being read back from there. */
  recalling = false;
  readonly #answered = new AbortController();
  #resolve: (results: readonly MutationResult[]) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  /** The tip that its open create names; null while none is open. */
  #after: Sequence | null = null;
  #openWords = '';

  constructor(mutations: readonly Mutation[], clock: Clock, options: MemberOptions) {
    this.mutations = mutations;
    this.bytes = mutations.reduce((sum, mutation) => sum + bytesOf(mutation), 0);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Its owner may answer before anybody waits.
    this.result.catch(() => undefined);
    this.#watch(clock, options);
  }

  /** Aborts when it has been answered, however. */
  get answered(): AbortSignal {
    return this.#answered.signal;
  }

  get op(): string {
    return this.mutations[0]?.op ?? '';
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

  /** Its create is no longer open: it is answered next, or judged again. */
  settled(): void {
    this.#after = null;
  }

  answer(results: readonly MutationResult[]): void {
    this.#settle(() => this.#resolve(results));
  }

  /** Answers with an error, or with *unknown* when its create is open. */
  fail(error: unknown): void {
    const after = this.#after;
    this.#settle(() => this.#reject(after === null ? error : this.#unknown(after, error)));
  }

  #settle(act: () => void): void {
    if (this.#answered.signal.aborted) return;
    act();
    // A reason of our own: without one, each answer would build an exception with a stack.
    this.#answered.abort(ANSWERED);
  }

  #unknown(after: Sequence, cause: unknown): StoreError {
    const words = this.#openWords === '' ? '' : ` (${this.#openWords})`;
    return new StoreError(
      'UNKNOWN_OUTCOME',
      `unknown: the commit after sequence ${after} was sent and cannot be answered${words}; ask ` +
        `operation("${this.op}", ${after}), or send the request again with the same op`,
      { details: { op: this.op, after }, cause },
    );
  }

  #watch(clock: Clock, { signal, deadlineMs }: MemberOptions): void {
    const onAbort = (): void => this.fail(signal?.reason);
    if (signal !== undefined) {
      signal.addEventListener('abort', onAbort, { once: true });
      this.answered.addEventListener('abort', () => signal.removeEventListener('abort', onAbort));
    }
    clock.sleep(deadlineMs, { signal: this.answered }).then(
      () => this.fail(overdue(deadlineMs)),
      () => undefined,
    );
  }
}

function overdue(deadlineMs: number): StoreError {
  return new StoreError(
    'OVERLOADED',
    `not committed: the request waited ${deadlineMs} ms for its turn; try again later`,
  );
}

function bytesOf(mutation: Mutation): number {
  const content = mutation.kind === 'archive' ? 0 : mutation.content.byteLength;
  return content + mutation.path.length + 512;
}
