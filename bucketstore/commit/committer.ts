/**
 * The loop that turns requests into slots: one for each world in each store. One slot at a time; a batch
 * that loses its name is still at the head of the queue, and is judged again on the new tip.
 */
import { isStoreError, StoreError } from '../base/errors.ts';
import { type Batch, type BuildParts, buildBatch, type Judged } from './build.ts';
import { Member, type MemberOptions } from './member.ts';
import type { Mutation } from './mutation.ts';
import type { OperationPlace, Operations } from './operations.ts';
import { BatchLimit, type Fairness } from './pacing.ts';
import { Queue, type QueueBounds } from './queue.ts';
import type { MutationResult } from './result.ts';
import { isBroken, SlotWriter, type SlotWriterParts } from './slot-writer.ts';

export interface CommitterParts extends Omit<SlotWriterParts, 'ended'> {
  readonly operations: Operations;
  readonly fairness: Fairness;
  /** Reads the answer of an operation that is in the log already. */
  readonly recall: (place: OperationPlace) => Promise<readonly MutationResult[]>;
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
  readonly #ended = new AbortController();
  #loop: Promise<void> | null = null;
  /** Why no further request is taken; null while they are. */
  #closed: StoreError | null = null;

  constructor(parts: CommitterParts, settings: CommitterSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#queue = new Queue(settings.queue);
    this.#limit = new BatchLimit(settings.batchMax);
    this.#writer = new SlotWriter({ ...parts, ended: this.#ended.signal });
  }

  /** Requests that wait for an answer. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Commits mutations together, and answers when that is known. One create for each batch of requests.
   * @throws StoreError as `DESIGN` of the codes says: every one tells *not committed* or *unknown*
   */
  async submit(
    mutations: readonly Mutation[],
    options: MemberOptions,
  ): Promise<readonly MutationResult[]> {
    if (this.#closed !== null) throw this.#closed;
    options.signal?.throwIfAborted();
    const member = new Member(mutations, this.#parts.clock, options);
    try {
      this.#queue.add(member);
    } catch (error) {
      member.fail(error);
    }
    this.#loop ??= this.#run();
    return member.result;
  }

  /**
   * Takes no further request, commits what waits, and answers what it could not commit: `CLOSED` when
   * nothing was sent, *unknown* otherwise. Does not wait longer than `drainMs` for a silent bucket.
   */
  async close(drainMs: number): Promise<void> {
    this.#closed ??= new StoreError('CLOSED', 'not committed: the store is closed');
    const drained = new AbortController();
    const limit = this.#parts.clock.sleep(drainMs, { signal: drained.signal }).then(
      () => this.#end(),
      () => undefined,
    );
    await this.#loop;
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
      while (this.#queue.size > 0 && !this.#ended.signal.aborted) {
        const won = await this.#commitBatch();
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

  /** A broken log or a broken invariant: nothing is built on it until somebody opens the world anew. */
  #fail(error: unknown): void {
    if (isBroken(error)) {
      this.#closed ??= new StoreError(
        'INTEGRITY',
        `not committed, and this store takes no more writes: ${error.message}`,
        { cause: error, details: isStoreError(error) ? error.details : {} },
      );
    }
    this.#queue.failAll(this.#closed ?? error);
  }

  /** @returns whether a slot was won */
  async #commitBatch(): Promise<boolean> {
    const members = this.#queue.head(this.#limit.now);
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
    const parts: BuildParts = { bodies, operations, settings, now: () => clock.now() };
    const batch = await buildBatch(parts, follower.snapshot, members);
    if (batch.entries.length === 0) {
      await this.#answerAtTip(batch);
      return false;
    }
    const written = await this.#writer.write(batch);
    if (written.outcome !== 'won') return false;
    fairness.took(written.createMs);
    this.#limit.note(batch.judged.length, this.#queue.size - batch.judged.length);
    await this.#answer(batch.judged);
    return true;
  }

  /** Answers that commit nothing are judgements on a state: given only when that is still the tip. */
  async #answerAtTip(batch: Batch): Promise<void> {
    const snapshot = await this.#parts.follower.atTip({ signal: this.#ended.signal });
    if (snapshot.tip.sequence !== batch.base.tip.sequence) return;
    await this.#answer(batch.judged);
  }

  /** Answers in queue order. */
  async #answer(judged: readonly Judged[]): Promise<void> {
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
          await this.#recall(one.member, one.place);
          break;
        default:
          one satisfies never;
      }
    }
  }

  async #recall(member: Member, place: OperationPlace): Promise<void> {
    try {
      member.answer(await this.#parts.recall(place));
    } catch (error) {
      member.fail(error);
    }
  }
}
