/**
 * The loop that turns requests into slots: one for each world in each store. While one slot is
 * created, what comes in is built ahead; a slot is never created before the one before is confirmed
 * (I7). What loses its name is carried over to the new tip, with all that was built on it.
 */
import { abortable } from '../base/abortable.ts';
import { sequence } from '../base/sequence.ts';
import { Ahead, type AheadParts } from './ahead.ts';
import { answerAll } from './answers.ts';
import type { Batch, Candidate } from './batch.ts';
import { BatchLimit } from './batch-limit.ts';
import type { Built } from './built.ts';
import { publishCarried } from './carried.ts';
import { type ClosedBatch, closeBatch } from './close.ts';
import { judgeControl } from './control-candidate.ts';
import { Control, type Member, type Request } from './member.ts';
import type { Operations } from './operations.ts';
import { PolicyGate } from './policy-gate.ts';
import type { Queue } from './queue.ts';
import { type Recall, Repeats } from './repeats.ts';
import { isBroken, SlotWriter, type SlotWriterParts, type WriteOutcome } from './slot-writer.ts';
import { Stager } from './stager.ts';
import { TurnTaking } from './turn-taking.ts';
import type { Turns } from './turns.ts';
import { Twins } from './twins.ts';
import { Verdicts } from './verdicts.ts';

export interface CommitLoopParts extends SlotWriterParts {
  readonly operations: Operations;
  readonly turns: Turns;
  readonly recall: Recall;
  readonly queue: Queue;
  /** Stored versions, some of them being read ahead. */
  readonly warm: AheadParts['bodies'];
  /** Told of a broken log or a broken invariant: nothing more may be built on the state. */
  readonly onBroken: (error: unknown) => void;
}

export interface CommitLoopSettings {
  readonly batchMax: number;
  readonly build: AheadParts['settings'];
}

/** Batches that may be built ahead of the slot that is being created. */
const BATCHES_AHEAD = 2;
/** Members built without a break: so long, and no longer, do all others wait for the thread. */
const BUILT_AT_ONCE = 32;
/** Steps of promises after which a member is taken to wait for something outside. */
const STEPS_MAX = 64;

export class CommitLoop {
  readonly #parts: CommitLoopParts;
  readonly #settings: CommitLoopSettings;
  readonly #queue: Queue;
  readonly #limit: BatchLimit;
  readonly #writer: SlotWriter;
  readonly #turn: TurnTaking;
  readonly #policy: PolicyGate;
  readonly #repeats: Repeats;
  readonly #stager: Stager;
  readonly #verdicts = new Verdicts();
  readonly #twins = new Twins();
  #ahead: Ahead;
  /** The batch whose slot is being created. */
  #underWay: readonly Built[] = [];
  #filling: Promise<void> | null = null;
  /** The member that is being built, or was last. */
  #adding: Promise<unknown> = Promise.resolve();
  /** The turn of others, between members; null when it is not theirs. */
  #turning: Promise<void> | null = null;
  #running: Promise<void> | null = null;

  constructor(parts: CommitLoopParts, settings: CommitLoopSettings) {
    this.#parts = parts;
    this.#settings = settings;
    this.#queue = parts.queue;
    this.#limit = new BatchLimit(settings.batchMax);
    this.#repeats = new Repeats(parts.recall);
    this.#policy = new PolicyGate(settings.build.requirePolicy);
    this.#writer = new SlotWriter(parts);
    this.#turn = new TurnTaking(parts);
    this.#stager = new Stager(parts);
    this.#ahead = this.#newAhead();
  }

  /** Resolves when nothing waits any more. */
  async done(): Promise<void> {
    await this.#running;
    await this.#repeats.done();
  }

  /** Begins the loop, or lets it build what has just come. */
  wake(): void {
    if (this.#running === null) this.#running = this.#run();
    // Under load most requests come when all that may be is built already.
    else if (!this.#isFull()) void this.#fill();
  }

  /** Whether as much is built as may be. */
  #isFull(): boolean {
    return this.#ahead.isFull(BATCHES_AHEAD * this.#limit.now);
  }

  #newAhead(): Ahead {
    const { warm: bodies, operations, clock, follower } = this.#parts;
    const parts: AheadParts = {
      bodies,
      operations,
      ...{ policy: this.#policy, stager: this.#stager, settings: this.#settings.build },
      served: () => follower.snapshot,
      now: () => clock.now(),
    };
    return new Ahead(parts, follower.snapshot, this.#verdicts);
  }

  /** A request sent again while its first create is out cannot be told *not committed*. */
  noteOpen(member: Member): void {
    this.#twins.note(member, this.#writer.open);
  }

  async #run(): Promise<void> {
    // One turn, so that requests of the same moment share the first batch.
    await Promise.resolve();
    try {
      while (!this.#parts.ended.aborted && this.#queue.size > 0) {
        await this.#turn.come(() => this.#queue.size > 0);
        await this.#prepare();
        if (!(await this.#commitNext())) break;
      }
    } catch (error) {
      this.#parts.onBroken(error);
    } finally {
      this.#rewind();
      this.#running = null;
    }
  }

  /**
   * Builds what waits: a batch, or all there is. What is built waits no longer than code runs: the
   * read or the condition of another must not hold it up.
   */
  async #prepare(): Promise<void> {
    let filled = false;
    const filling = this.#fill().then(() => {
      filled = true;
    });
    for (let steps = 0, seen = 0; !filled && steps < STEPS_MAX; ) {
      if (this.#ahead.isFull(this.#limit.now)) return;
      const { length } = this.#ahead.built;
      steps = length > 0 && length === seen ? steps + 1 : 0;
      seen = length;
      // A turn is short, and a slot with a part of a batch is as dear as a full one.
      await (this.#turning ?? (length > 0 ? undefined : Promise.race([filling, this.#adding])));
    }
  }

  /** Builds what waits, as far as two batches ahead. */
  #fill(): Promise<void> {
    this.#filling ??= this.#build()
      .catch((error: unknown) => this.#parts.onBroken(error))
      .finally(() => {
        this.#filling = null;
      });
    return this.#filling;
  }

  async #build(): Promise<void> {
    for (let built = 1; !this.#parts.ended.aborted; built++) {
      if (built % BUILT_AT_ONCE === 0) await this.#turnOfOthers();
      this.#follow();
      const ahead = this.#ahead;
      if (this.#isFull()) return;
      const next = this.#queue.next();
      if (next === undefined || next instanceof Control) return;
      this.#queue.take(next);
      const adding = ahead.add(next);
      this.#adding = adding.catch(() => undefined);
      const added = await adding;
      // Everything was given back meanwhile, this one too.
      if (ahead !== this.#ahead || added === 'added') continue;
      this.#queue.giveBack(next);
      if (added === 'waits') return;
      this.#repeats.answer(next, added);
    }
  }

  async #turnOfOthers(): Promise<void> {
    this.#turning = this.#parts.clock.turn?.() ?? null;
    await this.#turning;
    this.#turning = null;
  }

  /** What is built next follows the tip of now, when nothing is built that follows another. */
  #follow(): void {
    if (this.#underWay.length + this.#ahead.built.length > 0) return;
    if (this.#ahead.next !== this.#parts.follower.snapshot.tip.sequence + 1) this.#rewind();
  }

  /** Gives all that is not committed back to the queue, with what it was judged to be. */
  #rewind(): void {
    for (const { member, judged } of [...this.#underWay, ...this.#ahead.built]) {
      this.#verdicts.keep(member, judged.verdict);
    }
    this.#underWay = [];
    this.#queue.rewind();
    this.#ahead = this.#newAhead();
  }

  /** @returns false when nothing is left to do */
  async #commitNext(): Promise<boolean> {
    const bounds = { members: this.#limit.now, entries: this.#settings.batchMax };
    const closing = closeBatch(this.#ahead, this.#parts.follower.snapshot, bounds);
    switch (closing.kind) {
      case 'batch':
        await this.#attempt(
          closing.built.map(({ member }) => member),
          () => this.#commit(closing),
        );
        return true;
      case 'waits':
        await abortable(closing.until, this.#parts.ended).catch(() => undefined);
        return true;
      case 'stale':
        this.#rewind();
        return true;
      case 'empty': {
        const next = this.#queue.next();
        if (next instanceof Control) await this.#attempt([next], () => this.#commitOne(next));
        return next !== undefined;
      }
      default:
        return closing satisfies never;
    }
  }

  /** Commits, and gives back what is not committed. */
  async #attempt(requests: readonly Request[], commit: () => Promise<boolean>): Promise<void> {
    try {
      if (await commit()) return;
    } catch (error) {
      if (isBroken(error)) throw error;
      // The bucket refuses or does not answer, and nothing of theirs is open: they may try again.
      for (const request of requests) request.fail(error);
    }
    this.#rewind();
  }

  /** @returns whether a slot was won */
  async #commit({ batch, built }: ClosedBatch): Promise<boolean> {
    const { follower } = this.#parts;
    this.#underWay = built;
    publishCarried(this.#ahead.takeCarried(), this.#parts.storeId);
    if (batch.entries.length === 0) {
      await this.#answerAtTip(batch);
      return false;
    }
    const writing = this.#write(batch);
    void this.#fill();
    const written = await writing;
    if (written.outcome !== 'won') return false;
    this.#limit.note(batch.judged.length, this.#queue.size - batch.judged.length, batch.full);
    this.#ahead.committed(built, follower.snapshot);
    this.#underWay = [];
    answerAll(batch.judged);
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
    try {
      const written = await this.#writer.write(candidate);
      this.#turn.wrote(written);
      this.#twins.settle(written.outcome);
      // Only now: those who must be told *unknown* have been, whatever becomes of it.
      if (written.outcome === 'fenced') await this.#parts.follower.reload();
      return written;
    } catch (error) {
      this.#twins.settle(this.#writer.mayBeCommitted ? 'won' : 'lost');
      throw error;
    }
  }

  /**
   * Answers that commit nothing are judgements on a state: given only when that is still the tip.
   */
  async #answerAtTip(batch: Batch): Promise<void> {
    const snapshot = await this.#parts.follower.atTip({ signal: this.#parts.ended });
    if (snapshot.tip.sequence === batch.base.tip.sequence) answerAll(batch.judged);
  }
}
