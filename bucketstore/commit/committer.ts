/**
 * The loop that turns requests into slots: one for each world in each store. One slot at a time; a
 * batch that loses its name is still at the head of the queue, and is carried over to the new tip.
 */
import { abortable } from '../base/abortable.ts';
import { publish } from '../base/diagnostics.ts';
import { isStoreError, StoreError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { answerAll, verdictsOf } from './answers.ts';
import type { Batch, Candidate, Verdict } from './batch.ts';
import { type BuildParts, buildBatch, type Carried, type Earlier } from './build.ts';
import { judgeControl } from './control-candidate.ts';
import { Control, type ControlJudge, Member, type MemberOptions } from './member.ts';
import { isSameRequest, type Mutation } from './mutation.ts';
import type { Operations } from './operations.ts';
import { BatchLimit, type Fairness } from './pacing.ts';
import { PolicyGate } from './policy-gate.ts';
import { Queue, type QueueBounds } from './queue.ts';
import { operationReused, type Recall, Repeats } from './repeats.ts';
import type { MutationResult } from './result.ts';
import {
  isBroken,
  SLEPT,
  SlotWriter,
  type SlotWriterParts,
  type WriteOutcome,
} from './slot-writer.ts';

export interface CommitterParts extends Omit<SlotWriterParts, 'ended'> {
  readonly operations: Operations;
  readonly fairness: Fairness;
  readonly recall: Recall;
}

export interface CommitterSettings {
  readonly queue: QueueBounds;
  readonly batchMax: number;
  readonly build: BuildParts['settings'];
}

const NOTHING: ReadonlyMap<Member, Verdict> = new Map();

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
  readonly #repeats: Repeats;
  /** What the batch that was built last and did not commit was judged to be. */
  #earlier: Earlier = NOTHING;
  #loop: Promise<void> | null = null;
  /** Monotonic time before which others have their turn. */
  #turnAt = 0;
  /** Why no further request is taken; null while they are. */
  #closed: StoreError | null = null;

  constructor(parts: CommitterParts, settings: CommitterSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#queue = new Queue(settings.queue);
    this.#limit = new BatchLimit(settings.batchMax);
    this.#repeats = new Repeats(parts.recall);
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
      if (!isSameRequest(twin.mutations, mutations)) throw operationReused(twin.op);
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

  /**
   * Commits a control entry, alone in its slot, as `judge` decides on the tip it will follow; it is
   * asked again whenever that tip turns out to be another.
   * @param op the entry's own operation ID
   * @returns its sequence, or null when `judge` wants none
   * @throws StoreError as `submit`; what `judge` throws
   */
  async control(op: string, judge: ControlJudge, options: MemberOptions): Promise<Sequence | null> {
    if (this.#closed !== null) throw this.#closed;
    const control = new Control(op, judge, this.#parts.clock, options);
    this.#queue.add(control);
    this.#loop ??= this.#run();
    return control.result;
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
    await this.#repeats.done();
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
      while (!this.#ended.signal.aborted && this.#queue.size > 0) {
        await this.#yield();
        const next = this.#queue.head(this.#limit.now);
        if (!(next instanceof Control) && next.length === 0) break;
        if (await this.#commitNext(next)) this.#noteWin();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#earlier = NOTHING;
      this.#loop = null;
    }
  }

  /**
   * After a win others have their turn, also when nothing waits here just then: a client that sends
   * its next write at once would else win again and again.
   */
  #noteWin(): void {
    const { clock, random, fairness } = this.#parts;
    const now = clock.monotonic();
    const full = this.#queue.size >= this.#limit.now;
    this.#turnAt = now + fairness.waitMs(now, full, random.number());
  }

  /** Waits until it is this store's turn. */
  async #yield(): Promise<void> {
    const { clock } = this.#parts;
    const ms = this.#turnAt - clock.monotonic();
    if (ms > 0) await clock.sleep(ms, { signal: this.#ended.signal }).catch(() => undefined);
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

  /** @returns whether a slot was won */
  async #commitNext(next: Control | readonly Member[]): Promise<boolean> {
    try {
      return next instanceof Control ? await this.#commitOne(next) : await this.#commit(next);
    } catch (error) {
      if (isBroken(error)) throw error;
      // The bucket refuses or does not answer, and nothing of theirs is open: they may try again.
      for (const request of next instanceof Control ? [next] : next) request.fail(error);
      return false;
    }
  }

  async #commit(members: readonly Member[]): Promise<boolean> {
    const { follower, clock, bodies, operations, fairness } = this.#parts;
    const settings = this.#settings.build;
    const policy = this.#policy;
    const parts: BuildParts = { bodies, operations, policy, settings, now: () => clock.now() };
    const batch = await buildBatch(parts, follower.snapshot, members, this.#earlier);
    this.#noteCarried(batch.carried);
    this.#earlier = verdictsOf(batch.judged);
    this.#repeats.answer(batch.judged);
    if (batch.entries.length === 0) {
      await this.#answerAtTip(batch);
      return false;
    }
    const written = await this.#write(batch);
    if (written.outcome !== 'won') return false;
    fairness.took(written.createMs);
    this.#limit.note(batch.judged.length, this.#queue.size - batch.judged.length, batch.full);
    answerAll(batch.judged);
    this.#earlier = NOTHING;
    return true;
  }

  /** A control entry is judged at exactly the tip it follows, and never carried over. */
  async #commitOne(control: Control): Promise<boolean> {
    const base = await this.#parts.follower.atTip({ signal: control.answered });
    const candidate = judgeControl(base, control);
    if (candidate === null) return false;
    const written = await this.#write(candidate);
    if (written.outcome !== 'won') return false;
    control.answer(sequence(base.tip.sequence + 1));
    return true;
  }

  async #write(candidate: Candidate): Promise<WriteOutcome> {
    let outcome: WriteOutcome['outcome'] = 'left';
    try {
      const written = await this.#writer.write(candidate);
      outcome = written.outcome;
      return written;
    } finally {
      for (const twin of this.#twins) {
        if (outcome === 'fenced') twin.giveUp(SLEPT);
        // What was not won is not in the log, so its repeats are requests like any other again.
        else if (outcome !== 'won' && !this.#ended.signal.aborted) twin.settled();
      }
      this.#twins.clear();
    }
  }

  #noteCarried(carried: Carried): void {
    if (carried.kept + carried.rebuilt === 0) return;
    const { storeId: store, follower } = this.#parts;
    const world = follower.snapshot.identity.worldId;
    publish('bucketstore:rebase', () => ({ world, store, ...carried }));
  }

  /**
   * Answers that commit nothing are judgements on a state: given only when that is still the tip.
   */
  async #answerAtTip(batch: Batch): Promise<void> {
    if (batch.judged.every(({ kind }) => kind === 'repeat')) return;
    const snapshot = await this.#parts.follower.atTip({ signal: this.#ended.signal });
    if (snapshot.tip.sequence === batch.base.tip.sequence) answerAll(batch.judged);
  }
}
