/**
 * Whose turn it is to create the next slot, by what this store has seen in the log. Pure: it knows
 * no clock and no bucket, and a wrong guess costs a lost create, never more.
 *
 * Stores that write at the same time take turns: whoever won longest ago is next, and the others
 * leave it the time for that. Each reads the next name while it waits, so that it learns of a slot
 * soon after it is there: a create on old knowledge is lost, and costs more than ten reads. A store
 * that nobody has seen in a slot cannot be left a turn, so one that wins without a break leaves a
 * name free once in a while.
 *
 * Figures of this rule, and of the one it replaces: docs/adr/0009-turns.md.
 */

/** A length of time that depends on the bucket: so many creates and so many reads long. */
interface Span {
  readonly creates: number;
  readonly reads: number;
}

/** How long a store that was seen in a slot counts as a rival, ms. */
const RIVAL_MS = 3_000;
/** What a store is given to take its turn: it must learn of the slot, judge anew, and create. */
const TURN: Span = { creates: 1.5, reads: 2 };
/** Part of that which is chance, so that stores do not march in step. */
const SPREAD = 0.25;
/** No turn is waited for longer, ms: a slow create must not idle the store. */
const WAIT_MS_MAX = 1_000;
/** Turns that a store may let pass before it is waited for no longer. */
const PASSED_MAX = 3;
/** A slot that comes so soon after its name was found missing has been met as it came. */
const MET: Span = { creates: 0.5, reads: 1 };
/** A name that has been free for so long is nobody's. */
const FREE: Span = { creates: 1, reads: 2 };
/**
 * How long a name is left free for stores that nobody knows: one that reads the log comes before
 * the end of it; one that has just sent a create that loses may come too late, and has the next.
 */
const PAUSE: Span = { creates: 0.25, reads: 2 };
/** Two slots so far apart had such a pause between them. */
const PAUSED: Span = { creates: 1.25, reads: 2 };
/** Names are left free so often, ms: the longer nobody has come, the rarer. */
const PAUSE_EVERY_MS_MIN = 250;
const PAUSE_EVERY_MS_MAX = 4_000;
/** So often while a store is about that writes now and then, ms. */
const PAUSE_EVERY_MS_PASSED = 500;
/** Reads of the next name begin so far apart. */
const READ_GAP: Span = { creates: 1 / 3, reads: 0 };
const READ: Span = { creates: 0, reads: 1 };
/** What a read takes, in creates, as long as none was timed. */
const READ_CREATES = 0.5;
/** Weight of the newest in a running mean. */
const NEWEST = 0.125;

/** What to do next: `create` the slot, or `read` the next name after `ms`, and ask again. */
export type Move = { readonly kind: 'create' } | { readonly kind: 'read'; readonly ms: number };

interface Rival {
  /** Monotonic time when it was seen last. */
  readonly at: number;
  /** The number of its last slot, among those seen. */
  readonly slot: number;
  /** Turns it has let pass since. */
  readonly passed: number;
}

export class Turns {
  readonly #storeId: string;
  /** Uniform in [0, 1). */
  readonly #chance: () => number;
  /** Each other store seen lately; kept no longer than it counts. */
  readonly #rivals = new Map<string, Rival>();
  /** Running means of this store's own creates and reads, ms; 0 before the first. */
  #createMs = 0;
  #readMs = 0;
  /** Slots seen so far. */
  #slots = 0;
  /** The number of this store's last slot; null before its first. */
  #ownSlot: number | null = null;
  /** Whose the last slot was, and how many of that store there were in a row. */
  #last: string | null = null;
  #inRow = 0;
  #slotAt = Number.NEGATIVE_INFINITY;
  /** When the next name was last found missing; null when not since the last slot. */
  #missingAt: number | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Whether the last slot is known since it came. */
  #fresh = true;
  #spread = 0;
  /** When a name was last left free for a while. */
  #freeAt: number;
  #pauseUntil = Number.NEGATIVE_INFINITY;
  #pauseEveryMs = PAUSE_EVERY_MS_MIN;

  /** @param now monotonic, ms, as every time here */
  constructor(storeId: string, chance: () => number, now: number) {
    this.#storeId = storeId;
    this.#chance = chance;
    this.#freeAt = now;
  }

  /** Stores that are remembered now (I17). */
  get rivals(): number {
    return this.#rivals.size;
  }

  /** Notes how long a create of this store took, ms, whether it won or not. */
  created(ms: number): void {
    this.#createMs = mean(this.#createMs, ms);
  }

  /** Notes how long a read of the next name took, ms. */
  read(ms: number): void {
    this.#readMs = mean(this.#readMs, ms);
  }

  /** Notes whose slot has entered the served state, in the order of the log. */
  saw(storeId: string, now: number): void {
    const own = storeId === this.#storeId;
    const met = this.#missingAt !== null && now - this.#missingAt <= this.#ms(MET);
    this.#fresh = own || met;
    this.#missingAt = null;
    if (now - this.#slotAt >= this.#ms(PAUSED)) this.#freeAt = now;
    this.#slotAt = now;
    this.#inRow = this.#last === storeId ? this.#inRow + 1 : 1;
    this.#last = storeId;
    this.#spread = 1 - SPREAD + 2 * SPREAD * this.#chance();
    this.#notePassed(storeId);
    const slot = this.#slots++;
    if (own) this.#ownSlot = slot;
    else {
      // Where one has come, there may be more.
      if (!this.#rivals.has(storeId)) this.#pauseEveryMs = PAUSE_EVERY_MS_MIN;
      this.#rivals.set(storeId, { at: now, slot, passed: 0 });
    }
    this.#forget(now);
    this.#pauseUntil = this.#pauseEnd(now);
  }

  /** Notes that the next name was found missing. */
  sawNone(now: number): void {
    this.#missingAt = now;
  }

  /** Notes a lost create: what is known of the log is old. */
  lost(now: number): void {
    this.#fresh = false;
    this.#missingAt = null;
    this.#freeAt = now;
  }

  /** What to do next. */
  next(now: number): Move {
    this.#forget(now);
    this.#noteIdle(now);
    const rank = this.#rank();
    if (this.#turnAt(rank) > now) {
      // A pause ends with one read; among others each is read as soon as it can be.
      return this.#nextRead(now, rank === 0 ? this.#pauseUntil - this.#ms(READ) : now);
    }
    if (!this.#fresh && !this.#mayGuess(now)) return this.#nextRead(now, now);
    this.#noteFree(now);
    return { kind: 'create' };
  }

  /** After an idle time among others the log has gone on. */
  #noteIdle(now: number): void {
    const known = Math.max(this.#slotAt, this.#missingAt ?? this.#slotAt);
    if (this.#rivals.size === 0 || now - known <= this.#ms(MET)) return;
    this.#fresh = false;
    this.#freeAt = now;
  }

  #turnAt(rank: number): number {
    if (rank === 0) return this.#pauseUntil;
    return this.#slotAt + Math.min(rank * this.#ms(TURN) * this.#spread, WAIT_MS_MAX);
  }

  /** How many stores are to have their turn before this one. */
  #rank(): number {
    const own = this.#ownSlot;
    if (own === null) return 0;
    let rank = 0;
    for (const { slot, passed } of this.#rivals.values()) {
      if (slot < own && passed < PASSED_MAX) rank += 1;
    }
    return rank;
  }

  /**
   * Whether to create though the last slot was not met as it came. One of those that take turns
   * does, when it is its turn; any other only where a pause can be meant for it: where one store
   * writes alone, or nobody does.
   */
  #mayGuess(now: number): boolean {
    if (this.#missingAt === null) return false;
    return this.#takesTurns() || this.#inRow > 1 || now - this.#slotAt >= this.#ms(FREE);
  }

  /** Whether one of the last slots was its own: of two rounds, when all take turns. */
  #takesTurns(): boolean {
    const round = this.#rivals.size + 1;
    return this.#ownSlot !== null && this.#slots - this.#ownSlot <= 2 * round + 1;
  }

  #nextRead(now: number, earliest: number): Move {
    this.#readAt = Math.max(this.#readAt + this.#ms(READ_GAP), earliest, now);
    return { kind: 'read', ms: this.#readAt - now };
  }

  /** Those who won longer ago than this store's last time had their turn, and let it pass. */
  #notePassed(storeId: string): void {
    const own = storeId === this.#storeId;
    const before = own ? this.#ownSlot : this.#rivals.get(storeId)?.slot;
    if (before === null || before === undefined) return;
    for (const [id, rival] of this.#rivals) {
      if (id === storeId || rival.slot > before) continue;
      this.#rivals.set(id, { ...rival, passed: rival.passed + 1 });
    }
  }

  #pauseEnd(now: number): number {
    const rare = [...this.#rivals.values()].some(({ passed }) => passed >= PASSED_MAX);
    const every = rare ? Math.min(this.#pauseEveryMs, PAUSE_EVERY_MS_PASSED) : this.#pauseEveryMs;
    if (now - this.#freeAt <= every || !this.#takesTurns()) return Number.NEGATIVE_INFINITY;
    return now + this.#ms(PAUSE);
  }

  /** Whether the name that is created now was left free for a while, meant so or not. */
  #noteFree(now: number): void {
    if (this.#pauseUntil > this.#slotAt) {
      this.#pauseEveryMs = Math.min(2 * this.#pauseEveryMs, PAUSE_EVERY_MS_MAX);
    } else if (now - this.#slotAt < this.#ms(PAUSE)) return;
    this.#freeAt = now;
  }

  #ms({ creates, reads }: Span): number {
    const readMs = this.#readMs === 0 ? READ_CREATES * this.#createMs : this.#readMs;
    return creates * this.#createMs + reads * readMs;
  }

  #forget(now: number): void {
    for (const [storeId, { at }] of this.#rivals) {
      if (now - at > RIVAL_MS) this.#rivals.delete(storeId);
    }
  }
}

function mean(before: number, newest: number): number {
  return before + (newest - before) * (before === 0 ? 1 : NEWEST);
}
