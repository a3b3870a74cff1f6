/**
 * Keeps one replica's snapshot current: the loop that joins the log and the state.
 *
 * Only a missing next name confirms a tip, as of the time the look began: dating it later would
 * break the bound on how old a search may be (I14). Readers share a look that began after they
 * asked. An answer that the rule of sightings does not let be believed ends the look, and the state
 * is loaded anew.
 *
 * Longer than 300 lines because looks, replays and reloads share one state that nothing else may
 * move.
 */
import type { CallOptions } from '../../blob/index.ts';
import { abortable } from '../base/abortable.ts';
import { publish } from '../base/diagnostics.ts';
import { integrityError, isStoreError, type StoreError } from '../base/errors.ts';
import { inTurns, type Turn } from '../base/in-turns.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import type { Log, Missing, ReadSlot, ReplayOptions } from '../log/log.ts';
import { slotKey } from '../log/names.ts';
import { laterMoment, type Moment, mostElapsed, type Sighting } from '../log/sighting.ts';
import { Fenced, type Sightings } from '../log/sightings.ts';
import { applySlot } from './apply.ts';
import type { BaseState } from './base.ts';
import type { EnteredSlot, Loaded } from './load.ts';
import { Resting } from './resting.ts';
import { SharedLook } from './shared-look.ts';
import type { Snapshot } from './snapshot.ts';

export interface FollowerParts {
  readonly log: Log;
  readonly sightings: Sightings;
  /** Loads the state of now from the bucket, as a cold start does. */
  readonly load: (known: Sequence) => Promise<Loaded>;
  /**
   * Called once for each slot that enters the served state, in order; must not throw. `loaded`: it
   * came with a whole state, and tells nothing of when it was written.
   */
  readonly onSlot: (read: EnteredSlot, how: 'live' | 'loaded') => void;
}

/** How long a look-up may take, ms. */
const LOOK_MS = 10_000;
/** A tip not seen for so long is looked up itself too: no removed slot must go unnoticed, ms. */
const TIP_SEEN_MS = 10_000;

export class Follower {
  readonly #parts: FollowerParts;
  readonly #looks = new SharedLook(() => {
    return this.#orReload(() => this.#look()).catch((error: unknown) => this.#fail(error));
  });
  #snapshot: Snapshot;
  /** Before the look that last found the next name missing. */
  #confirmed: Moment;
  #tipSeen: Moment;
  #broken: StoreError | null = null;
  #reloading: Promise<void> | null = null;
  /** The move onto a newer checkpoint that is under way. */
  #resting: Resting | null = null;

  constructor(parts: FollowerParts, loaded: Loaded) {
    const { snapshot, missing } = loaded;
    this.#parts = parts;
    this.#snapshot = snapshot;
    this.#confirmed = missing.began;
    this.#tipSeen = missing.began;
    parts.sightings.note(missing.tip, missing.began, missing.date);
    for (const read of loaded.slots) parts.onSlot(read, 'loaded');
  }

  /** The newest state this replica knows. No request. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  /** Why nothing may be built on this state any more; null while it may. */
  get broken(): StoreError | null {
    return this.#broken;
  }

  /** Whether the tip's own slot has not been met for so long that it must be looked up. */
  get tipUnseen(): boolean {
    return mostElapsed(this.#tipSeen, this.#parts.sightings.moment()) > TIP_SEEN_MS;
  }

  /**
   * The state after every commit that was acknowledged before this call, on any replica. One `head`
   * of the next name, shared with readers that asked before it began; one more, of the tip's own
   * slot, when that was not seen for 10 s; more only when there are new slots, or after a sleep.
   * @throws StoreError `UNAVAILABLE`, `LOCATION`, `INTEGRITY`, `SEALED`; the signal's reason when
   * it aborts
   */
  async atTip(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<Snapshot> {
    options.signal?.throwIfAborted();
    await abortable(this.#looks.next(), options.signal);
    return this.#snapshot;
  }

  /**
   * A state confirmed current at most `ms` ago. No request while the last confirmation is that
   * young.
   */
  async within(
    ms: number,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Snapshot> {
    options.signal?.throwIfAborted();
    const age = mostElapsed(this.#confirmed, this.#parts.sightings.moment());
    if (age <= ms) return this.#snapshot;
    return this.atTip(options);
  }

  /**
   * Reads on until a name is missing, beside any shared look, which another reader's bad luck may
   * have stalled. At least one `get`. A sighting of the tip is there afterwards, unless that has
   * moved on meanwhile.
   */
  async advance(signal: AbortSignal): Promise<void> {
    await this.#orReload(() => this.#replay(signal), signal);
  }

  /**
   * Reads the next name, and no further: one `get`. A sighting of the tip is there afterwards when
   * it is missing.
   * @returns whether it is missing
   */
  async readNext(signal: AbortSignal): Promise<boolean> {
    let missing = false;
    await this.#orReload(async () => {
      const read = await this.#parts.log.readNext(...this.#onwards(signal));
      if (typeof read === 'number') return;
      this.#confirm(read);
      missing = true;
    }, signal);
    return missing;
  }

  /**
   * Lists once and reads what is listed: behind a store that wins all the time, reading on to the
   * end would never end.
   */
  async catchUp(signal: AbortSignal): Promise<void> {
    await this.#orReload(async () => {
      await this.#parts.log.readListed(...this.#onwards(signal));
    }, signal);
  }

  /**
   * Loads the state of now from the bucket; callers at the same time share it, so the state may be
   * older than the call of one who joins.
   */
  reload(): Promise<void> {
    if (this.#reloading !== null) return this.#reloading;
    const reloading = this.#reload()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#reloading = null;
      });
    // All who share it may have left by the time it fails.
    reloading.catch(() => undefined);
    this.#reloading = reloading;
    return reloading;
  }

  /** Enters a slot that was read and is believed, when it is the next one. */
  enter(read: EnteredSlot): void {
    const { slot, hash } = read;
    if (slot.first !== this.#next()) return;
    const { sequence: tip } = this.#snapshot.tip;
    this.install(applySlot(this.#snapshot, slot, hash), read);
    this.#parts.sightings.pass(tip, slot.last);
  }

  /**
   * Serves a state built elsewhere, when it is newer than the served one: a late confirmation never
   * rolls a replica back.
   * @param read the slot that made it
   */
  install(snapshot: Snapshot, read: EnteredSlot): void {
    if (snapshot.tip.sequence <= this.#snapshot.tip.sequence) return;
    // What was built before this store rested on its checkpoint is made once more, on that.
    const isSame = snapshot.base === this.#snapshot.base;
    this.#snapshot = isSame ? snapshot : applySlot(this.#snapshot, read.slot, read.hash);
    this.#resting?.enter(read);
    this.#tipSeen = this.#parts.sightings.moment();
    this.#parts.onSlot(read, 'live');
  }

  /**
   * Rests what is served on a newer checkpoint: it says the same, and holds less in memory. Views
   * that are held keep theirs. In steps, between which slots go on entering; a reload meanwhile
   * ends it, and so does another call.
   * @param base the checkpoint
   * @param turn awaited between two steps; ends it by throwing
   * @returns whether this state rests on it now
   * @throws StoreError `INTEGRITY` when it has a document otherwise than this store saw it made
   */
  async rest(base: BaseState, turn: Turn): Promise<boolean> {
    const { sequence: at } = base;
    if (at <= this.#snapshot.base.sequence || at > this.#snapshot.tip.sequence) return false;
    this.#resting?.stop();
    const resting = new Resting();
    this.#resting = resting;
    const serve = (moved: Snapshot): void => {
      this.#snapshot = moved;
    };
    try {
      return await inTurns(resting.steps(this.#snapshot, base, serve), turn);
    } finally {
      if (this.#resting === resting) this.#resting = null;
    }
  }

  /**
   * Looks the tip's own slot up, and loads the state anew when that cannot be told any more.
   * @throws StoreError `INTEGRITY` naming it when it is gone: nothing may be built on it
   */
  async checkTip(signal?: AbortSignal): Promise<void> {
    await this.#orReload(() => this.#lookAtTip(signal), signal);
  }

  async #lookAtTip(signal?: AbortSignal): Promise<void> {
    const { log, sightings } = this.#parts;
    const [at, held, next] = [sightings.moment(), sightings.newest, this.#next()];
    const slot = this.#snapshot.slotOf(next - 1);
    if (slot === undefined) return;
    const answer = await log.exists(slot.first, { signal, deadlineMs: LOOK_MS });
    // Of a slot that is no longer the newest, nothing follows: it may be collected by now.
    if (this.#next() !== next || !(await this.#believe(next, answer.date, held))) return;
    // A checkpoint may stand on this very slot, and a floor behind it have had it collected.
    if (!answer.found) await this.#replay(signal);
    if (this.#next() !== next) return;
    if (!answer.found) {
      throw integrityError(slotKey(slot.first), 'the newest slot this store applied is gone');
    }
    this.#tipSeen = at;
  }

  #next(): Sequence {
    return sequence(this.#snapshot.tip.sequence + 1);
  }

  /** A log that does not continue this state: what is served may be another's past. */
  #fail(error: unknown): never {
    if (isStoreError(error) && (error.code === 'INTEGRITY' || error.code === 'SEALED')) {
      this.#broken ??= error;
    }
    throw error;
  }

  /**
   * A slot at or below the tip, or null when it has been collected. One `get`; a look more when the
   * answer comes after a long sleep.
   * @throws StoreError `INTEGRITY` when it is missing and the floor does not say why
   */
  async slotAt(first: Sequence, options: CallOptions): Promise<ReadSlot | null> {
    const { log, sightings } = this.#parts;
    const { read, date } = await log.read(first, options);
    // What lies at a name below the floor may be another's: a state confirmed now knows the floor.
    if (!sightings.bears(date)) await this.atTip({ signal: options.signal });
    if (first < this.#snapshot.control.floor.at) return null;
    if (read === null)
      throw integrityError(slotKey(first), 'missing, and its entries are asked for');
    return read;
  }

  /**
   * The slot that holds a sequence at or below the tip, or null when it has been collected. As
   * `slotAt`; one list more when it lies before the checkpoint that this state was loaded from.
   * @throws StoreError `INTEGRITY` when there is none and the floor does not say why
   */
  async slotHolding(at: Sequence, options: CallOptions): Promise<ReadSlot | null> {
    const known = this.#snapshot.slotOf(at)?.first;
    const first = known ?? (await this.#parts.log.firstOf(at, options)) ?? at;
    const read = await this.slotAt(first, options);
    if (read === null || read.slot.last >= at) return read;
    const missing = slotKey(sequence(read.slot.last + 1));
    throw integrityError(missing, `missing, and entry ${at} is asked for`);
  }

  /** Looks, and looks again after a reload: one that was joined may be older than the look. */
  async #orReload(look: () => Promise<void>, signal?: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return await look();
      } catch (error) {
        if (!(error instanceof Fenced)) throw error;
        await abortable(this.reload(), signal);
      }
    }
  }

  async #look(): Promise<void> {
    const began = this.#parts.sightings.moment();
    const held = this.#parts.sightings.newest;
    const next = this.#next();
    const [answer] = await Promise.all([
      this.#parts.log.exists(next, { deadlineMs: LOOK_MS }),
      this.tipUnseen ? this.#lookAtTip() : null,
    ]);
    const believed = await this.#believe(next, answer.date, held);
    // A slot that this store created after the look began only makes its state newer than the
    // answer.
    if (answer.found || !believed) await this.#replay(undefined);
    else this.#confirm({ tip: sequence(next - 1), began, date: answer.date });
  }

  async #replay(signal: AbortSignal | undefined): Promise<void> {
    this.#confirm(await this.#parts.log.replay(...this.#onwards(signal)));
  }

  /** What a read from the tip on is told. */
  #onwards(
    signal: AbortSignal | undefined,
  ): [Sequence, (read: ReadSlot) => Sequence, ReplayOptions] {
    return [this.#next(), (read) => this.#take(read), this.#reading(signal)];
  }

  #reading(signal: AbortSignal | undefined): ReplayOptions {
    const held = this.#parts.sightings.newest;
    return {
      signal,
      backlog: false,
      next: () => this.#next(),
      believe: (next, date) => this.#believe(next, date, held),
    };
  }

  /**
   * Whether an answer about a name is believed. Not when the state has gone on beyond that name by
   * another way: then it says nothing of this state.
   * @param held the sighting there was when the name was asked for
   * @throws Fenced when it cannot be, and the state is still the one that asked
   */
  async #believe(
    next: Sequence,
    date: number | undefined,
    held: Sighting | null,
  ): Promise<boolean> {
    const { sightings } = this.#parts;
    const { newest } = sightings;
    const tip = sequence(next - 1);
    const best = newest !== null && newest.tip <= tip ? newest : held;
    if (await sightings.believes(tip, best, date, { deadlineMs: LOOK_MS })) return true;
    if (this.#next() > next) return false;
    throw new Fenced();
  }

  #confirm({ tip, began, date }: Missing): void {
    this.#parts.sightings.note(tip, began, date);
    this.#confirmed = laterMoment(this.#confirmed, began);
  }

  /** Enters a slot on the way; one that a commit entered meanwhile is passed over. */
  #take({ slot, hash, bytes }: ReadSlot): Sequence {
    this.enter({ slot, hash, size: bytes.byteLength });
    return this.#next();
  }

  async #reload(): Promise<void> {
    const known = this.#snapshot.tip.sequence;
    const { snapshot, missing, slots } = await this.#parts.load(known);
    publish('bucketstore:reload', () => ({ from: known, to: snapshot.tip.sequence }));
    this.#confirm(missing);
    const served = this.#snapshot.tip.sequence;
    if (snapshot.tip.sequence <= served) return;
    this.#resting?.stop();
    this.#snapshot = snapshot;
    this.#tipSeen = this.#parts.sightings.moment();
    for (const read of slots) if (read.slot.first > served) this.#parts.onSlot(read, 'loaded');
  }
}
