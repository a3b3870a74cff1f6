/** One candidate to one slot: creates it, and serves the state after it. */
import type { BlobStore } from '../../blob/index.ts';
import { InvariantError } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { publish } from '../base/diagnostics.ts';
import { isStoreError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { type AppendOutcome, append } from '../log/append.ts';
import { slotKey } from '../log/names.ts';
import type { Sighting } from '../log/sighting.ts';
import type { Sightings } from '../log/sightings.ts';
import { decodeSlot, type EncodedSlot, encodeSlot } from '../log/slot.ts';
import type { BodyReader } from '../snapshot/body-reader.ts';
import type { Follower } from '../snapshot/follower.ts';
import type { Candidate } from './batch.ts';
import type { Request } from './member.ts';

export interface SlotWriterParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly follower: Follower;
  readonly sightings: Sightings;
  readonly bodies: BodyReader;
  /** The random ID of this store, in every slot it creates. */
  readonly storeId: string;
  /** Aborts when the store ends: a create that is open then stays unknown. */
  readonly ended: AbortSignal;
}

/**
 * `won`: the slot is in the log and its state is served. `lost`: another store's slot is, and was
 * entered. `moved`: the tip is another than the candidate's, so nothing was
 * sent. `left`: a request left before anything was sent. `fenced`: what became of the slot cannot
 * be known; its requests have been told *unknown* and the state was loaded anew.
 */
export type WriteOutcome =
  /** `createMs`: how long its create took; null when that was settled otherwise than at once. */
  | { readonly outcome: 'won' | 'lost'; readonly createMs: number | null }
  | { readonly outcome: 'moved' | 'left' | 'fenced' };

/** Why a request is told *unknown* when its slot's name can say nothing any more. */
export const SLEPT = 'the store slept so long that the name of the slot may be another’s by now';

/** A create that is out. */
export interface OpenCreate {
  readonly ops: ReadonlySet<string>;
  readonly after: Sequence;
}

export class SlotWriter {
  readonly #parts: SlotWriterParts;
  #open: OpenCreate | null = null;
  #mayBeCommitted = false;

  constructor(parts: SlotWriterParts) {
    this.#parts = parts;
  }

  /** Whether what was written last can be in the log: it was sent, and not found to have lost. */
  get mayBeCommitted(): boolean {
    return this.#mayBeCommitted;
  }

  /** The operations whose create is out, and the tip it follows; null while none is. */
  get open(): OpenCreate | null {
    return this.#open;
  }

  /**
   * Commits the entries of a candidate, or says why they must be judged again.
   * @throws StoreError `INTEGRITY` when the log is broken; `LOCATION`, `UNAVAILABLE` when nothing
   * that was sent can have taken effect
   */
  async write(candidate: Candidate): Promise<WriteOutcome> {
    const { follower, sightings, clock } = this.#parts;
    const { base, requests } = candidate;
    this.#mayBeCommitted = false;
    const held = await this.#sight();
    if (follower.snapshot.tip.sequence !== base.tip.sequence) return { outcome: 'moved' };
    if (requests.some(({ isAnswered }) => isAnswered)) return { outcome: 'left' };
    const encoded = this.#encode(candidate);
    for (const request of requests) request.sent(base.tip.sequence);
    const startedAt = clock.monotonic();
    const result = await this.#append(requests, encoded, held);
    switch (result.outcome) {
      case 'committed': {
        sightings.note(encoded.slot.last, result.began, result.date);
        this.#install(candidate, encoded, clock.monotonic() - startedAt);
        return { outcome: 'won', createMs: result.createMs };
      }
      case 'lost':
        this.#enter(encoded.slot.first, result.bytes);
        return { outcome: 'lost', createMs: result.createMs };
      case 'fenced':
        for (const request of requests) request.giveUp(SLEPT);
        return { outcome: 'fenced' };
      default:
        return result satisfies never;
    }
  }

  /**
   * A fresh sighting of the tip, without which no create may begin. No request while there is one.
   * @throws StoreError when a reader has met a log that does not continue this state: going on
   * would fork it
   */
  async #sight(): Promise<Sighting> {
    const { follower, sightings, ended } = this.#parts;
    for (;;) {
      if (follower.broken !== null) throw follower.broken;
      // Nothing may be created behind a slot that is gone. Only after an idle time.
      if (follower.tipUnseen) await this.#checkTip();
      const held = sightings.freshOf(follower.snapshot.tip.sequence);
      if (held !== null) return held;
      await follower.advance(ended);
    }
  }

  /** That the slot this one follows is there: a look that fails says nothing about it. */
  async #checkTip(): Promise<void> {
    try {
      await this.#parts.follower.checkTip(this.#parts.ended);
    } catch (error) {
      if (isBroken(error)) throw error;
    }
  }

  /** The winner's slot carries everything that the next batch needs of it. */
  #enter(first: Sequence, bytes: Uint8Array): void {
    const { follower, storeId } = this.#parts;
    follower.enter({ ...decodeSlot(slotKey(first), bytes), size: bytes.byteLength });
    const { worldId } = follower.snapshot.identity;
    publish('bucketstore:lost', () => ({ world: worldId, store: storeId, first }));
  }

  #encode({ base, draft, entries, texts, bodies }: Candidate): EncodedSlot {
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

  /** Creates the slot; while its fate is open its requests can only be told *unknown*. */
  async #append(
    requests: readonly Request[],
    { slot, bytes }: EncodedSlot,
    held: Sighting,
  ): Promise<AppendOutcome> {
    const { ended } = this.#parts;
    const { first } = slot;
    const onUnresolved = (words: string): void => {
      for (const request of requests) request.unresolved(words);
    };
    const settle = (): void => {
      this.#mayBeCommitted = false;
      for (const request of requests) request.settled();
    };
    this.#mayBeCommitted = true;
    this.#open = { ops: new Set(slot.entries.map(({ op }) => op)), after: sequence(first - 1) };
    try {
      const options = { signal: ended, onUnresolved };
      const result = await append(this.#parts, { first, bytes, held }, options);
      // A committed request stays "maybe committed" until it has its answer.
      if (result.outcome === 'lost') settle();
      this.#open = null;
      return result;
    } catch (error) {
      // An append that was given up leaves the slot's fate open; any other end has settled it.
      if (!ended.aborted) {
        this.#open = null;
        settle();
      }
      throw error;
    }
  }

  #install(candidate: Candidate, { slot, hash, bytes }: EncodedSlot, durationMs: number): void {
    candidate.draft.endSlot(slot, hash);
    for (const [index, body] of candidate.bodies.entries()) {
      const inlined = slot.inlined[index];
      if (inlined !== undefined) this.#parts.bodies.remember(inlined.hash, body.bytes);
    }
    const entered = { slot, hash, size: bytes.byteLength };
    this.#parts.follower.install(candidate.draft.freeze(), entered);
    publish('bucketstore:commit', () => ({
      world: slot.worldId,
      store: slot.store,
      first: slot.first,
      entries: slot.entries.length,
      bytes: bytes.byteLength,
      durationMs,
    }));
  }
}

/**
 * Whether a failure is of the log, of the world's life or of an invariant: then nothing more may be
 * built on the state.
 */
export function isBroken(error: unknown): error is Error {
  if (error instanceof InvariantError) return true;
  return isStoreError(error) && (error.code === 'INTEGRITY' || error.code === 'SEALED');
}
