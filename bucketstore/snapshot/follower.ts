/**
 * Keeps one replica's snapshot current: the loop that joins the log and the state.
 *
 * Only a missing next name confirms a tip, as of the time the look began: dating it later would
 * break the bound on how old a search may be (I14). Readers share a look that began after they
 * asked. An answer that the rule of sightings does not let be believed ends the look, and the state
 * is loaded anew.
 */
import type { CallOptions } from '../../blob/index.ts';
import { abortable } from '../base/abortable.ts';
import type { Clock } from '../base/clock.ts';
import { publish } from '../base/diagnostics.ts';
import { integrityError, isStoreError, type StoreError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import type { Log, Missing, ReadSlot } from '../log/log.ts';
import { slotKey } from '../log/names.ts';
import { Fenced, type Sightings } from '../log/sightings.ts';
import { applySlot } from './apply.ts';
import type { EnteredSlot, Loaded } from './load.ts';
import type { Snapshot } from './snapshot.ts';

export interface FollowerParts {
  readonly log: Log;
  readonly clock: Clock;
  readonly sightings: Sightings;
  /** Loads the state of now from the bucket, as a cold start does. */
  readonly load: (known: Sequence) => Promise<Loaded>;
  /** Called once for each slot that enters the served state, in order; must not throw. */
  readonly onSlot: (read: EnteredSlot) => void;
}

/** How long a look-up may take, ms. */
const LOOK_MS = 10_000;
/**
 * A tip not seen for this long is looked up itself too: a removed newest slot must not go
 * unnoticed.
 */
const TIP_SEEN_MS = 10_000;

interface Look {
  readonly result: Promise<void>;
}

export class Follower {
  readonly #parts: FollowerParts;
  #snapshot: Snapshot;
  /** Monotonic time before the look that last found the next name missing. */
  #confirmedAt: number;
  #tipSeenAt: number;
  #broken: StoreError | null = null;
  #running: Look | null = null;
  #waiting: Look | null = null;
  #reloading: Promise<void> | null = null;

  constructor(parts: FollowerParts, loaded: Loaded) {
    const { snapshot, missing } = loaded;
    this.#parts = parts;
    this.#snapshot = snapshot;
    this.#confirmedAt = missing.began.monotonic;
    this.#tipSeenAt = missing.began.monotonic;
    parts.sightings.note(missing.tip, missing.began, missing.date);
    for (const read of loaded.slots) parts.onSlot(read);
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
    return this.#parts.clock.monotonic() - this.#tipSeenAt > TIP_SEEN_MS;
  }

  /**
   * The state after every commit that was acknowledged before this call, on any replica. One `head`
   * of the next name, shared with readers that asked before it began; more only when there are new
   * slots.
   * @throws StoreError `UNAVAILABLE`, `LOCATION`, `INTEGRITY`, `SEALED`; the signal's reason when
   * it aborts
   */
  async atTip(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<Snapshot> {
    options.signal?.throwIfAborted();
    await abortable(this.#nextLook().result, options.signal);
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
    if (this.#parts.clock.monotonic() - this.#confirmedAt <= ms) return this.#snapshot;
    return this.atTip(options);
  }

  /**
   * Reads on until a name is missing, beside any shared look, which another reader's bad luck may
   * have stalled. At least one `get`. A sighting of the tip is there afterwards.
   */
  async advance(signal: AbortSignal): Promise<void> {
    await this.#orReload(async () => this.#replay(signal));
  }

  /** Loads the state of now from the bucket; callers at the same time share it. */
  reload(): Promise<void> {
    this.#reloading ??= this.#reload()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#reloading = null;
      });
    return this.#reloading;
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
   */
  install(snapshot: Snapshot, read: EnteredSlot): void {
    if (snapshot.tip.sequence <= this.#snapshot.tip.sequence) return;
    this.#snapshot = snapshot;
    this.#tipSeenAt = this.#parts.clock.monotonic();
    this.#parts.onSlot(read);
  }

  /**
   * Looks the tip's own slot up, and loads the state anew when that cannot be told any more.
   * @throws StoreError `INTEGRITY` naming it when it is gone: nothing may be built on it
   */
  async checkTip(signal?: AbortSignal): Promise<void> {
    await this.#orReload(() => this.#lookAtTip(signal));
  }

  async #lookAtTip(signal?: AbortSignal): Promise<void> {
    const at = this.#parts.clock.monotonic();
    const slot = this.#snapshot.slotOf(this.#snapshot.tip.sequence);
    if (slot === undefined) return;
    const answer = await this.#parts.log.exists(slot.first, { signal, deadlineMs: LOOK_MS });
    await this.#believe(this.#next(), answer.date);
    if (!answer.found) {
      throw integrityError(slotKey(slot.first), 'the newest slot this store applied is gone');
    }
    this.#tipSeenAt = at;
  }

  #next(): Sequence {
    return sequence(this.#snapshot.tip.sequence + 1);
  }

  /** A look that begins after now: the one that waits its turn, or a new one. */
  #nextLook(): Look {
    if (this.#waiting !== null) return this.#waiting;
    if (this.#running === null) return this.#start();
    const before = this.#running.result.catch(() => undefined);
    this.#waiting = { result: before.then(() => this.#start().result) };
    this.#waiting.result.catch(() => undefined);
    return this.#waiting;
  }

  #start(): Look {
    this.#waiting = null;
    const look: Look = {
      result: this.#orReload(() => this.#look())
        .catch((error: unknown) => this.#fail(error))
        .finally(() => {
          if (this.#running === look) this.#running = null;
        }),
    };
    // Readers may all have left by the time it fails.
    look.result.catch(() => undefined);
    this.#running = look;
    return look;
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

  async #orReload(look: () => Promise<void>): Promise<void> {
    try {
      await look();
    } catch (error) {
      if (!(error instanceof Fenced)) throw error;
      await this.reload();
    }
  }

  async #look(): Promise<void> {
    const began = this.#parts.sightings.moment();
    const next = this.#next();
    const [answer] = await Promise.all([
      this.#parts.log.exists(next, { deadlineMs: LOOK_MS }),
      this.tipUnseen ? this.#lookAtTip() : null,
    ]);
    await this.#believe(next, answer.date);
    // A slot that this store created after the look began only makes its state newer than the
    // answer.
    if (answer.found) await this.#replay(undefined);
    else this.#confirm({ tip: sequence(next - 1), began, date: answer.date });
  }

  async #replay(signal: AbortSignal | undefined): Promise<void> {
    const missing = await this.#parts.log.replay(this.#next(), (read) => this.#take(read), {
      signal,
      backlog: false,
      believe: (next, date) => this.#believe(next, date),
    });
    this.#confirm(missing);
  }

  /** @throws Fenced when an answer about a name cannot be believed */
  async #believe(next: Sequence, date: number | undefined): Promise<void> {
    const { sightings } = this.#parts;
    const tip = sequence(next - 1);
    const options = { deadlineMs: LOOK_MS };
    if (!(await sightings.believes(tip, sightings.newest, date, options))) throw new Fenced();
  }

  #confirm({ tip, began, date }: Missing): void {
    this.#parts.sightings.note(tip, began, date);
    this.#confirmedAt = Math.max(this.#confirmedAt, began.monotonic);
  }

  /** Enters a slot on the way; one that a commit entered meanwhile is passed over. */
  #take(read: ReadSlot): Sequence {
    this.enter(read);
    return this.#next();
  }

  async #reload(): Promise<void> {
    const known = this.#snapshot.tip.sequence;
    const { snapshot, missing, slots } = await this.#parts.load(known);
    publish('bucketstore:reload', () => ({ from: known, to: snapshot.tip.sequence }));
    this.#confirm(missing);
    const served = this.#snapshot.tip.sequence;
    if (snapshot.tip.sequence <= served) return;
    this.#snapshot = snapshot;
    this.#tipSeenAt = this.#parts.clock.monotonic();
    for (const read of slots) if (read.slot.first > served) this.#parts.onSlot(read);
  }
}
