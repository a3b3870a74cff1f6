/**
 * Keeps one replica's snapshot current: the loop that joins the log and the state.
 *
 * Only a missing next name confirms a tip, as of the time the look began: dating it later would
 * break the bound on how old a search may be (I14). Readers share a look that began after they
 * asked.
 */
import { abortable } from '../base/abortable.ts';
import type { Clock } from '../base/clock.ts';
import { integrityError, isStoreError, type StoreError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import type { Log, ReadSlot } from '../log/log.ts';
import { slotKey } from '../log/names.ts';
import { applySlot } from './apply.ts';
import type { Snapshot } from './snapshot.ts';

export interface FollowerParts {
  readonly log: Log;
  readonly clock: Clock;
  /** Called once for each slot that enters the served state, in order; must not throw. */
  readonly onSlot: (read: Pick<ReadSlot, 'slot' | 'hash'>) => void;
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

  constructor(parts: FollowerParts, snapshot: Snapshot, confirmedAt: number) {
    this.#parts = parts;
    this.#snapshot = snapshot;
    this.#confirmedAt = confirmedAt;
    this.#tipSeenAt = confirmedAt;
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
   * @throws StoreError `UNAVAILABLE`, `LOCATION`, `INTEGRITY`; the signal's reason when it aborts
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
   * have stalled. At least one `get`.
   */
  async advance(signal: AbortSignal): Promise<void> {
    const take = (read: ReadSlot): Sequence => this.#take(read);
    const { at } = await this.#parts.log.replay(this.#next(), take, { signal, backlog: false });
    this.#confirmedAt = Math.max(this.#confirmedAt, at);
  }

  /** Enters a slot that was read elsewhere, when it is the next one. Returns the state after it. */
  enter(read: Pick<ReadSlot, 'slot' | 'hash'>): Snapshot {
    if (read.slot.first === this.#next()) {
      this.install(applySlot(this.#snapshot, read.slot, read.hash), read);
    }
    return this.#snapshot;
  }

  /**
   * Serves a state built elsewhere, when it is newer than the served one: a late confirmation never
   * rolls a replica back.
   */
  install(snapshot: Snapshot, read: Pick<ReadSlot, 'slot' | 'hash'>): void {
    if (snapshot.tip.sequence <= this.#snapshot.tip.sequence) return;
    this.#snapshot = snapshot;
    this.#tipSeenAt = this.#parts.clock.monotonic();
    this.#parts.onSlot(read);
  }

  /**
   * Looks the tip's own slot up.
   * @throws StoreError `INTEGRITY` naming it when it is gone: nothing may be built on it
   */
  async checkTip(signal?: AbortSignal): Promise<void> {
    const { slot, at } = this.#tipSlot();
    if (slot === null) return;
    const there = await this.#parts.log.exists(slot, { signal, deadlineMs: LOOK_MS });
    if (!there) throw integrityError(slotKey(slot), 'the newest slot this store applied is gone');
    this.#tipSeenAt = at;
  }

  #tipSlot(): { readonly slot: Sequence | null; readonly at: number } {
    const slot = this.#snapshot.slotOf(this.#snapshot.tip.sequence);
    return { slot: slot?.first ?? null, at: this.#parts.clock.monotonic() };
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
      result: this.#look()
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
    if (isStoreError(error) && error.code === 'INTEGRITY') this.#broken ??= error;
    throw error;
  }

  async #look(): Promise<void> {
    const at = this.#parts.clock.monotonic();
    const checked = this.tipUnseen ? this.checkTip() : null;
    const next = this.#next();
    const [found] = await Promise.all([
      this.#parts.log.exists(next, { deadlineMs: LOOK_MS }),
      checked,
    ]);
    // A slot that this store created after the look began only makes its state newer than the
    // answer.
    if (!found) {
      this.#confirmedAt = at;
      return;
    }
    const confirmation = await this.#parts.log.replay(next, (read) => this.#take(read), {
      backlog: false,
    });
    this.#confirmedAt = Math.max(this.#confirmedAt, confirmation.at);
  }

  /** Enters a slot on the way; one that a commit entered meanwhile is passed over. */
  #take(read: ReadSlot): Sequence {
    this.enter(read);
    return sequence(Math.max(read.slot.last, this.#snapshot.tip.sequence) + 1);
  }
}
