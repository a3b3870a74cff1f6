/**
 * When a checkpoint is due, from what lies behind the newest one that is known. Pure.
 *
 * RULE. Only mutations count: a slot with a control entry is nothing behind. A checkpoint is due
 * - `full`: at once, when 1024 slots or 32 MiB of slots are behind, which is one step of a
 *   compactor: what a store that opens the world has to read stays about that much;
 * - `many`: 60 s after the oldest mutation behind was met, when there are 512;
 * - `any`: an hour after it, whatever there is.
 * Age is that of the oldest mutation behind, and not of the checkpoint: a write after a quiet day
 * is no reason for a checkpoint of its own.
 *
 * WAIT. All stores of a world find one due at about the same moment, and only one is to make it.
 * Each waits for a random part of `waitMs` and then looks whether another was quicker. A step takes
 * a second or two on a real bucket (1024 reads, 16 at a time), so of k stores about
 * 1 + (k − 1) · 2 s / `waitMs` begin one: the longer the trigger took, the longer the wait may be.
 * Those that begin nevertheless write the same bytes (I4), so a race costs requests and no more.
 */

/** What lies behind the newest checkpoint that is known. */
export interface Behind {
  /** Slots with mutations. */
  readonly slots: number;
  /** Bytes of these slots. */
  readonly bytes: number;
  /** Entries of these slots. */
  readonly mutations: number;
  /** When the oldest of them was met here, monotonic ms; without meaning when there are none. */
  readonly sinceMs: number;
}

export type Trigger = 'full' | 'many' | 'any';

export interface Due {
  readonly trigger: Trigger;
  /** 0: now. ms. */
  readonly inMs: number;
  /** At most so long a random wait follows, ms. */
  readonly waitMs: number;
}

/** Slots, or bytes of slots, that make a checkpoint due at once. */
const FULL_SLOTS = 1024;
const FULL_BYTES = 33_554_432;
/** Mutations that make one due after a minute. */
const MANY_MUTATIONS = 512;
const MANY_MS = 60_000;
/** After so long any mutation makes one due. */
const ANY_MS = 3_600_000;

/** Waits at most, ms, by what made the checkpoint due. */
const WAIT_MS: { readonly [trigger in Trigger]: number } = {
  full: 5_000,
  many: 15_000,
  any: 300_000,
};

/**
 * When a checkpoint is due; null while nothing is behind.
 * @param nowMs of the same clock as `sinceMs`
 */
export function dueOf({ slots, bytes, mutations, sinceMs }: Behind, nowMs: number): Due | null {
  if (mutations === 0) return null;
  if (slots >= FULL_SLOTS || bytes >= FULL_BYTES) return due('full', 0);
  const trigger = mutations >= MANY_MUTATIONS ? 'many' : 'any';
  const afterMs = trigger === 'many' ? MANY_MS : ANY_MS;
  return due(trigger, Math.max(0, sinceMs + afterMs - nowMs));
}

function due(trigger: Trigger, inMs: number): Due {
  return { trigger, inMs, waitMs: WAIT_MS[trigger] };
}
