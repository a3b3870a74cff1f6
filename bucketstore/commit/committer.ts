/**
 * Where requests for a change come in: admission, the bounds of what may wait, repeats, and the
 * end. What becomes of them is the loop's (`commit-loop.ts`).
 */
import { abortable } from '../base/abortable.ts';
import { after } from '../base/clock.ts';
import { isStoreError, StoreError } from '../base/errors.ts';
import type { Sequence } from '../base/sequence.ts';
import { CommitLoop, type CommitLoopParts, type CommitLoopSettings } from './commit-loop.ts';
import {
  bytesOf,
  Control,
  type ControlJudge,
  Member,
  type MemberOptions,
  overdue,
  type Pending,
} from './member.ts';
import { isSameRequest, type Mutation } from './mutation.ts';
import { Queue, type QueueBounds, type Queued } from './queue.ts';
import { operationReused } from './repeats.ts';
import type { MutationResult } from './result.ts';
import { WarmBodies } from './warm-bodies.ts';

export type CommitterParts = Omit<CommitLoopParts, 'ended' | 'queue' | 'warm' | 'onBroken'>;

export interface CommitterSettings extends CommitLoopSettings {
  readonly queue: QueueBounds;
  /** Stored versions that may be read ahead for waiting appends at once; 0 for none. */
  readonly warmAtOnce: number;
}

export class Committer {
  readonly #parts: CommitterParts;
  readonly #queue: Queue;
  readonly #warm: WarmBodies;
  readonly #loop: CommitLoop;
  readonly #ended = new AbortController();
  /** Why no further request is taken; null while they are. */
  #closed: StoreError | null = null;

  constructor(parts: CommitterParts, settings: CommitterSettings) {
    this.#parts = parts;
    this.#queue = new Queue(settings.queue);
    this.#warm = new WarmBodies(parts.bodies, settings.warmAtOnce);
    const onBroken = (error: unknown): void => this.#fail(error);
    const own = { queue: this.#queue, warm: this.#warm, ended: this.#ended.signal, onBroken };
    this.#loop = new CommitLoop({ ...parts, ...own }, settings);
  }

  /** Requests that wait for an answer. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Stored versions that are being read ahead (I17). */
  get warming(): number {
    return this.#warm.size;
  }

  /**
   * Refuses before a request is read, when no more may wait: a store with more to do than it can
   * must say no at the least price, or it can do even less. A repeat of one that waits is let on.
   * @throws StoreError `OVERLOADED`: not committed
   */
  assertRoom(op: string): void {
    if (this.#closed === null && this.#queue.find(op) === undefined) this.#queue.assertRoom(0);
  }

  /**
   * Commits mutations together, and answers when that is known. One create for each batch of
   * requests. A request whose operation waits here already gets the answer of the one that waits.
   * @throws StoreError every one of which tells *not committed* or *unknown*; what a precondition
   * threw
   */
  async submit(
    mutations: readonly Mutation[],
    options: MemberOptions,
  ): Promise<readonly MutationResult[]> {
    const twin = this.#queue.find(mutations[0]?.op ?? '');
    if (twin !== undefined) {
      if (!isSameRequest(twin.mutations, mutations)) throw operationReused(twin.op);
      return this.#share(twin, options);
    }
    this.#admit(options);
    this.#queue.assertRoom(bytesOf(mutations));
    const member = new Member(mutations, this.#parts.clock, options);
    this.#loop.noteOpen(member);
    // First: what is built at once then shares the read that has begun.
    this.#warm.warm(this.#parts.follower.snapshot, member);
    return this.#enqueue(member);
  }

  /**
   * Commits a control entry, alone in its slot, as `judge` decides on the tip it will follow; it is
   * asked again whenever that tip turns out to be another.
   * @param op the entry's own operation ID
   * @returns its sequence, or null when `judge` wants none
   * @throws StoreError as `submit`; what `judge` throws
   */
  async control(op: string, judge: ControlJudge, options: MemberOptions): Promise<Sequence | null> {
    this.#admit(options);
    return this.#enqueue(new Control(op, judge, this.#parts.clock, options));
  }

  #admit({ signal }: MemberOptions): void {
    if (this.#closed !== null) throw this.#closed;
    signal?.throwIfAborted();
  }

  #enqueue<Result>(request: Queued & Pending<Result>): Promise<Result> {
    try {
      this.#queue.add(request);
      this.#loop.wake();
    } catch (error) {
      request.fail(error);
    }
    return request.result;
  }

  /**
   * The answer of a request with the same operation that waits already, within the time that its
   * repeat has. When the first leaves, the repeat goes on by itself.
   */
  async #share(twin: Member, options: MemberOptions): Promise<readonly MutationResult[]> {
    const { clock } = this.#parts;
    const { signal, deadlineMs } = options;
    const since = clock.monotonic();
    const late = new AbortController();
    const stop = after(clock, deadlineMs, () => late.abort());
    try {
      return await abortable(abortable(twin.result, late.signal), signal);
    } catch (error) {
      if (signal?.aborted === true) throw twin.told(signal.reason);
      if (late.signal.aborted) throw twin.told(overdue(deadlineMs));
      const leftMs = deadlineMs - (clock.monotonic() - since);
      if (!twin.hasLeft || leftMs <= 0) throw error;
      return this.submit(twin.mutations, { signal, deadlineMs: leftMs });
    } finally {
      stop();
    }
  }

  /**
   * Takes no further request, commits what waits, and answers what it could not commit: `CLOSED`
   * when nothing was sent, *unknown* otherwise. Does not wait longer than `drainMs` for a silent
   * bucket.
   */
  async close(drainMs: number): Promise<void> {
    this.#closed ??= new StoreError('CLOSED', 'not committed: the store is closed');
    const drained = new AbortController();
    const limit = this.#parts.clock.sleep(drainMs, { signal: drained.signal }).then(
      () => this.#end(),
      () => undefined,
    );
    await this.#loop.done();
    drained.abort();
    await limit;
    this.#end();
  }

  #end(): void {
    this.#queue.failAll(this.#closed);
    this.#ended.abort(this.#closed);
  }

  /**
   * A broken log or a broken invariant: nothing is built on it until somebody opens the world anew.
   */
  #fail(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    const known = isStoreError(error) ? error : null;
    this.#closed ??= new StoreError(
      known?.code === 'SEALED' ? 'SEALED' : 'INTEGRITY',
      `not committed, and this store takes no more writes: ${problem}`,
      { cause: error, details: known?.details ?? {} },
    );
    this.#queue.failAll(this.#closed);
  }
}
