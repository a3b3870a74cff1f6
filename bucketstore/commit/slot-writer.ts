/** One batch to one slot: stages what is large, creates the slot, and serves the state after it. */
import type { BlobStore } from '../../blob/index.ts';
import { InvariantError } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { publish } from '../base/diagnostics.ts';
import { isStoreError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { type AppendOutcome, append } from '../log/append.ts';
import { blobKey, slotKey } from '../log/names.ts';
import { decodeSlot, type EncodedSlot, encodeSlot } from '../log/slot.ts';
import type { BodyReader } from '../snapshot/body-reader.ts';
import type { Follower } from '../snapshot/follower.ts';
import type { Batch } from './build.ts';
import type { Member } from './member.ts';
import { stage } from './stage.ts';

export interface SlotWriterParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly follower: Follower;
  readonly bodies: BodyReader;
  /** The random ID of this store, in every slot it creates. */
  readonly storeId: string;
  /** Aborts when the store ends: a create that is open then stays unknown. */
  readonly ended: AbortSignal;
}

/**
 * `won`: the slot is in the log and its state is served. `lost`: another store's slot is, and was
 * entered. `left`: a member left before anything was sent; the batch must be built without it.
 */
export type WriteOutcome =
  | { readonly outcome: 'won'; readonly createMs: number }
  | { readonly outcome: 'lost' | 'left' };

/** A create that is out. */
export interface OpenCreate {
  readonly ops: ReadonlySet<string>;
  readonly after: Sequence;
}

export class SlotWriter {
  readonly #parts: SlotWriterParts;
  /** Names lost one after another. */
  #losses = 0;
  #open: OpenCreate | null = null;
  /** Keys that the batch now written has staged: a lost name does not stage them again. */
  #staged: ReadonlySet<string> = new Set();

  constructor(parts: SlotWriterParts) {
    this.#parts = parts;
  }

  /** The operations whose create is out, and the tip it follows; null while none is. */
  get open(): OpenCreate | null {
    return this.#open;
  }

  /**
   * Commits the entries of a batch, or says that they must be judged again.
   * @throws StoreError `INTEGRITY` when the log is broken; `LOCATION`, `UNAVAILABLE` when nothing
   * that
   *   was sent can have taken effect
   */
  async write(batch: Batch): Promise<WriteOutcome> {
    const { follower, clock } = this.#parts;
    // A reader has met a log that does not continue this state: going on would fork it.
    if (follower.broken !== null) throw follower.broken;
    if (!(await this.#stageBlobs(batch))) return { outcome: 'left' };
    // First, not meanwhile: nothing may be created behind a slot that is gone. Only after an idle
    // time.
    const gone = follower.tipUnseen ? await this.#checkTip() : null;
    if (gone !== null) throw gone;
    const members = batch.judged.filter(({ kind }) => kind === 'entries').map(memberOf);
    if (members.some(({ answered }) => answered.aborted)) return { outcome: 'left' };
    const encoded = this.#encode(batch);
    const { first } = encoded.slot;
    for (const member of members) member.sent(batch.base.tip.sequence);
    const startedAt = clock.monotonic();
    const result = await this.#append(members, encoded);
    if (result.outcome === 'lost') {
      follower.enter({ ...decodeSlot(slotKey(first), result.bytes) });
      this.#publishLost(first);
      this.#losses += 1;
      // One loss is a race; more may be a backlog, which is cheaper read than met name by name.
      if (this.#losses > 1) await follower.advance(this.#parts.ended);
      return { outcome: 'lost' };
    }
    this.#losses = 0;
    const createMs = clock.monotonic() - startedAt;
    this.#install(batch, encoded, createMs);
    return { outcome: 'won', createMs };
  }

  /** @returns false when a member left meanwhile */
  async #stageBlobs({ base, staged }: Batch): Promise<boolean> {
    const known = this.#staged;
    const done = new Set<string>();
    const tasks = staged.map(async ({ member, storedHash, bytes }) => {
      const key = blobKey(base.control.epoch, storedHash);
      try {
        if (!known.has(key)) await stage(this.#parts, key, bytes, member.answered);
        done.add(key);
      } catch (error) {
        member.fail(error);
      }
    });
    await Promise.all(tasks);
    this.#staged = done;
    return staged.every(({ member }) => !member.answered.aborted);
  }

  /** That the slot this one follows is gone, or null: a look that fails says nothing about it. */
  async #checkTip(): Promise<Error | null> {
    try {
      await this.#parts.follower.checkTip(this.#parts.ended);
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

  /** Creates the slot; while its fate is open its members can only be told *unknown*. */
  async #append(members: readonly Member[], { slot, bytes }: EncodedSlot): Promise<AppendOutcome> {
    const { ended } = this.#parts;
    const onUnresolved = (words: string): void => {
      for (const member of members) member.unresolved(words);
    };
    const settle = (): void => {
      this.#open = null;
      for (const member of members) member.settled();
    };
    this.#open = {
      ops: new Set(slot.entries.map(({ op }) => op)),
      after: sequence(slot.first - 1),
    };
    try {
      const result = await append(this.#parts, slot.first, bytes, { signal: ended, onUnresolved });
      // A committed member stays "maybe committed" until it has its answer.
      if (result.outcome === 'lost') settle();
      this.#open = null;
      return result;
    } catch (error) {
      // An append that was given up leaves the slot's fate open; any other end has settled it.
      if (!ended.aborted) settle();
      throw error;
    }
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
}

/**
 * Whether a failure is of the log or of an invariant: then nothing more may be built on the state.
 */
export function isBroken(error: unknown): error is Error {
  return error instanceof InvariantError || (isStoreError(error) && error.code === 'INTEGRITY');
}

function memberOf({ member }: { readonly member: Member }): Member {
  return member;
}
