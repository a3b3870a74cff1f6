/**
 * The loop that turns requests into slots: one for each world in each store. One slot at a time; a
 * batch that loses its name is still at the head of the queue, and is judged again on the new tip.
 */
import { abortable } from '../base/abortable.ts';
import { isStoreError, StoreError } from '../base/errors.ts';
import { sequence } from '../base/sequence.ts';
import { type Batch, type BuildParts, buildBatch, type Judged } from './build.ts';
import { Member, type MemberOptions } from './member.ts';
import { isSameRequest, type Mutation } from './mutation.ts';
import type { OperationPlace, Operations } from './operations.ts';
import { BatchLimit, type Fairness } from './pacing.ts';
import { PolicyGate } from './policy-gate.ts';
import { Queue, type QueueBounds } from './queue.ts';
import { answersRequest, type MutationResult } from './result.ts';
import { isBroken, SlotWriter, type SlotWriterParts, type WriteOutcome } from './slot-writer.ts';

export interface CommitterParts extends Omit<SlotWriterParts, 'ended'> {
  readonly operations: Operations;
  readonly fairness: Fairness;
  /** Reads the answer of an operation that is in the log already. */
  readonly recall: (place: OperationPlace, member: Member) => Promise<readonly MutationResult[]>;
}

export interface CommitterSettings {
  readonly queue: QueueBounds;
  readonly batchMax: number;
  readonly build: BuildParts['settings'];
}

export class Committer {
  readonly #parts: CommitterParts;
  readonly #settings: CommitterSettings;
  readonly #queue: Queue;
  readonly #limit: BatchLimit;
  readonly #writer: SlotWriter;
  readonly #policy: PolicyGate;
  readonly #ended = new AbortController();
  /** Requests sent again whose first create was out when they came. */
  readonly #twins = new Set<Member>();
  readonly #recalls = new Set<Promise<void>>();
  #loop: Promise<void> | null = null;
  /** Why no further request is taken; null while they are. */
  #closed: StoreError | null = null;

  constructor(parts: CommitterParts, settings: CommitterSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#queue = new Queue(settings.queue);
    this.#limit = new BatchLimit(settings.batchMax);
    this.#policy = new PolicyGate(settings.build.requirePolicy);
    this.#writer = new SlotWriter({ ...parts, ended: this.#ended.signal });
  }

  /** Requests that wait for an answer. */
  get waiting(): number {
    return this.#queue.size;
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
    if (this.#closed !== null) throw this.#closed;
    options.signal?.throwIfAborted();
    const twin = this.#queue.find(mutations[0]?.op ?? '');
    if (twin !== undefined) {
      if (!isSameRequest(twin.mutations, mutations)) throw reused(twin.op);
      return abortable(twin.result, options.signal);
    }
    const member = new Member(mutations, this.#parts.clock, options);
    this.#noteOpen(member);
    try {
      this.#queue.add(member);
    } catch (error) {
      member.fail(error);
    }
    this.#loop ??= this.#run();
    return member.result;
  }

  /** A request sent again while its first create is out cannot be told *not committed*. */
  #noteOpen(member: Member): void {
    const { open } = this.#writer;
    if (open === null || !open.ops.has(member.op)) return;
    member.sent(open.after);
    this.#twins.add(member);
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
    await this.#loop;
    await Promise.all(this.#recalls);
    drained.abort();
    await limit;
    this.#end();
  }

  #end(): void {
    this.#queue.failAll(this.#closed);
    this.#ended.abort(this.#closed);
  }

  async #run(): Promise<void> {
    // One turn, so that requests of the same moment share the first batch.
    await Promise.resolve();
    try {
      while (!this.#ended.signal.aborted) {
        const members = this.#queue.head(this.#limit.now);
        if (members.length === 0) break;
        const won = await this.#commitBatch(members);
        if (won && this.#queue.size > 0) await this.#yield();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#loop = null;
    }
  }

  /** Lets other stores have their turn. */
  async #yield(): Promise<void> {
    const { clock, random, fairness } = this.#parts;
    const full = this.#queue.size >= this.#limit.now;
    const ms = fairness.waitMs(clock.monotonic(), full, random.number());
    if (ms === 0) return;
    await clock.sleep(ms, { signal: this.#ended.signal }).catch(() => undefined);
  }

  /**
   * A broken log or a broken invariant: nothing is built on it until somebody opens the world anew.
   */
  #fail(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    this.#closed ??= new StoreError(
      'INTEGRITY',
      `not committed, and this store takes no more writes: ${problem}`,
      { cause: error, details: isStoreError(error) ? error.details : {} },
    );
    this.#queue.failAll(this.#closed);
  }

  /** @returns whether a slot was won */
  async #commitBatch(members: readonly Member[]): Promise<boolean> {
    try {
      return await this.#commit(members);
    } catch (error) {
      if (isBroken(error)) throw error;
      // The bucket refuses or does not answer, and nothing of theirs is open: they may try again.
      for (const member of members) member.fail(error);
      return false;
    }
  }

  async #commit(members: readonly Member[]): Promise<boolean> {
    const { follower, clock, bodies, operations, fairness } = this.#parts;
    const settings = this.#settings.build;
    const policy = this.#policy;
    const parts: BuildParts = { bodies, operations, policy, settings, now: () => clock.now() };
    const batch = await buildBatch(parts, follower.snapshot, members);
    this.#recallRepeats(batch.judged);
    if (batch.entries.length === 0) {
      await this.#answerAtTip(batch);
      return false;
    }
    const written = await this.#write(batch);
    if (written.outcome !== 'won') return false;
    fairness.took(written.createMs);
    this.#limit.note(batch.judged.length, this.#queue.size - batch.judged.length, batch.full);
    answer(batch.judged);
    return true;
  }

  async #write(batch: Batch): Promise<WriteOutcome> {
    let won = false;
    try {
      const written = await this.#writer.write(batch);
      won = written.outcome === 'won';
      return written;
    } finally {
      // What was not won is not in the log, so its repeats are requests like any other again.
      if (!won && !this.#ended.signal.aborted) for (const twin of this.#twins) twin.settled();
      this.#twins.clear();
    }
  }

  /**
   * Answers that commit nothing are judgements on a state: given only when that is still the tip.
   */
  async #answerAtTip(batch: Batch): Promise<void> {
    if (batch.judged.every(({ kind }) => kind === 'repeat')) return;
    const snapshot = await this.#parts.follower.atTip({ signal: this.#ended.signal });
    if (snapshot.tip.sequence === batch.base.tip.sequence) answer(batch.judged);
  }

  /**
   * Reads the answers of operations that are in the log, beside the loop: nobody waits for them.
   */
  #recallRepeats(judged: readonly Judged[]): void {
    for (const one of judged) {
      if (one.kind !== 'repeat') continue;
      const recalling = this.#recall(one.member, one.place);
      this.#recalls.add(recalling);
      void recalling.finally(() => this.#recalls.delete(recalling));
    }
  }

  async #recall(member: Member, place: OperationPlace): Promise<void> {
    member.recalling = true;
    // It is in the log: a failed read must never say otherwise.
    member.sent(sequence(place.slot - 1));
    try {
      const results = await this.#parts.recall(place, member);
      if (answersRequest(results, member.mutations)) return member.answer(results);
      member.settled();
      member.fail(reused(member.op));
    } catch (error) {
      member.fail(error);
    }
  }
}

/** An operation ID is one request's for ever: another's would be told that it is done. */
function reused(op: string): StoreError {
  return new StoreError(
    'REJECTED',
    `not committed: operation ${op} is another request’s; give each request an op of its own`,
  );
}

/** Gives a batch's answers, in queue order and at once: what was committed is never held up. */
function answer(judged: readonly Judged[]): void {
  for (const one of judged) {
    switch (one.kind) {
      case 'answer':
      case 'entries':
        one.member.answer(one.results);
        break;
      case 'refusal':
        one.member.fail(one.error);
        break;
      case 'repeat':
        break;
      default:
        one satisfies never;
    }
  }
}
