/**
 * The loop that turns requests into slots: one for each world in each store. One slot at a time; a batch
 * that loses its name is still at the head of the queue, and is judged again on the new tip.
 */

import type { BlobStore } from '../../blob/index.ts';
import { InvariantError } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { publish } from '../base/diagnostics.ts';
import { isStoreError, StoreError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { sequence } from '../base/sequence.ts';
import { type AppendOutcome, append } from '../log/append.ts';
import { blobKey, slotKey } from '../log/names.ts';
import { decodeSlot, type EncodedSlot, encodeSlot } from '../log/slot.ts';
import type { BodyReader } from '../snapshot/body-reader.ts';
import type { Follower } from '../snapshot/follower.ts';
import { type Batch, type BuildParts, buildBatch, type Judged } from './build.ts';
import { Member, type MemberOptions } from './member.ts';
import type { Mutation } from './mutation.ts';
import type { OperationPlace, Operations } from './operations.ts';
import { BatchLimit } from './pacing.ts';
import { Queue, type QueueBounds } from './queue.ts';
import type { MutationResult } from './result.ts';
import { stage } from './stage.ts';

export interface CommitterParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly follower: Follower;
  readonly bodies: BodyReader;
  readonly operations: Operations;
  /** The random ID of this store, in every slot it creates. */
  readonly storeId: string;
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
  readonly #ended = new AbortController();
  #loop: Promise<void> | null = null;
  /** Why no further request is taken; null while they are. */
  #closed: StoreError | null = null;

  constructor(parts: CommitterParts, settings: CommitterSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#queue = new Queue(settings.queue);
    this.#limit = new BatchLimit(settings.batchMax);
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
      while (this.#queue.size > 0 && !this.#ended.signal.aborted) await this.#commitBatch();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#loop = null;
    }
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

  async #commitBatch(): Promise<void> {
    const members = this.#queue.head(this.#limit.now);
    try {
      await this.#commit(members);
    } catch (error) {
      if (isBroken(error)) throw error;
      // The bucket refuses or does not answer, and nothing of theirs is open: they may try again.
      for (const member of members) member.fail(error);
    }
  }

  async #commit(members: readonly Member[]): Promise<void> {
    const { follower, clock } = this.#parts;
    const parts: BuildParts = {
      bodies: this.#parts.bodies,
      operations: this.#parts.operations,
      settings: this.#settings.build,
      now: () => clock.now(),
    };
    const batch = await buildBatch(parts, follower.snapshot, members);
    if (batch.entries.length === 0) return this.#answerAtTip(batch);
    if (!(await this.#stageBlobs(batch))) return;
    await this.#createSlot(batch);
  }

  /** Answers that commit nothing are judgements on a state: given only when that is still the tip. */
  async #answerAtTip(batch: Batch): Promise<void> {
    const snapshot = await this.#parts.follower.atTip({ signal: this.#ended.signal });
    if (snapshot.tip.sequence !== batch.base.tip.sequence) return;
    await this.#answer(batch.judged);
  }

  /** @returns false when a member left meanwhile, so that the batch must be built without it */
  async #stageBlobs({ base, staged }: Batch): Promise<boolean> {
    const done = staged.map(async ({ member, storedHash, bytes }) => {
      try {
        await stage(this.#parts, blobKey(base.control.epoch, storedHash), bytes, member.answered);
      } catch (error) {
        member.fail(error);
      }
    });
    await Promise.all(done);
    return staged.every(({ member }) => !member.answered.aborted);
  }

  async #createSlot(batch: Batch): Promise<void> {
    const { follower, clock } = this.#parts;
    // First, not meanwhile: nothing may be created behind a slot that is gone. Only after an idle time.
    const gone = follower.tipUnseen ? await this.#checkTip() : null;
    if (gone !== null) throw gone;
    const members = batch.judged.filter(isCommitting).map(({ member }) => member);
    if (members.some(({ answered }) => answered.aborted)) return;
    const encoded = this.#encode(batch);
    const { first } = encoded.slot;
    for (const member of members) member.sent(batch.base.tip.sequence);
    const startedAt = clock.monotonic();
    const result = await this.#append(members, encoded);
    if (result.outcome === 'lost') {
      follower.enter({ ...decodeSlot(slotKey(first), result.bytes) });
      this.#publishLost(first);
      return;
    }
    this.#install(batch, encoded, clock.monotonic() - startedAt);
    this.#limit.note(batch.judged.length, this.#queue.size - batch.judged.length);
    await this.#answer(batch.judged);
  }

  /** Creates the slot; while its fate is open its members can only be told *unknown*. */
  async #append(members: readonly Member[], { slot, bytes }: EncodedSlot): Promise<AppendOutcome> {
    const ended = this.#ended.signal;
    const onUnresolved = (words: string): void => {
      for (const member of members) member.unresolved(words);
    };
    try {
      return await append(this.#parts, slot.first, bytes, { signal: ended, onUnresolved });
    } finally {
      // An append that was given up leaves the slot's fate open; any other end has settled it.
      if (!ended.aborted) for (const member of members) member.settled();
    }
  }

  /** That the slot this one follows is gone, or null: a look that fails says nothing about it. */
  async #checkTip(): Promise<Error | null> {
    try {
      await this.#parts.follower.checkTip(this.#ended.signal);
      return null;
    } catch (error) {
      return isBroken(error) ? error : null;
    }
  }

  #encode({ base, draft, entries, texts, bodies }: Batch): EncodedSlot {
    return encodeSlot({
      ...base.identity,
      first: sequence(base.tip.sequence + 1),
      store: this.#parts.storeId,
      time: Math.max(base.tip.time + 1, this.#parts.clock.now()),
      documents: draft.documentCount,
      prev: base.tip.hash,
      epoch: base.control.epoch,
      entries,
      texts,
      bodies,
    });
  }

  #install(batch: Batch, { slot, hash, bytes }: EncodedSlot, durationMs: number): void {
    batch.draft.endSlot(slot, hash);
    for (const [index, body] of batch.bodies.entries()) {
      const inlined = slot.inlined[index];
      if (inlined !== undefined) this.#parts.bodies.remember(inlined.hash, body.bytes);
    }
    this.#parts.follower.install(batch.draft.freeze(), { slot, hash });
    publish('bucketstore:commit', () => ({
      world: slot.worldId,
      store: slot.store,
      first: slot.first,
      entries: slot.entries.length,
      bytes: bytes.byteLength,
      durationMs,
    }));
  }

  #publishLost(first: number): void {
    const { worldId } = this.#parts.follower.snapshot.identity;
    const store = this.#parts.storeId;
    publish('bucketstore:lost', () => ({ world: worldId, store, first }));
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

function isBroken(error: unknown): error is Error {
  return error instanceof InvariantError || (isStoreError(error) && error.code === 'INTEGRITY');
}

function isCommitting(judged: Judged): boolean {
  return judged.kind === 'entries';
}
