/** The entries of a log, one after another, with their places. */
import type { CallOptions } from '../blob/index.ts';
import { StoreError } from './base/errors.ts';
import { type Sequence, sequence } from './base/sequence.ts';
import type { Entry, Slot } from './log/records.ts';
import type { Follower } from './snapshot/follower.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

/** An entry of the log with its place. */
export interface LogEntry {
  readonly sequence: Sequence;
  readonly entry: Entry;
  /** Of its slot, ms since the epoch. */
  readonly time: number;
  /** The store that committed it. */
  readonly store: string;
}

/**
 * The entries from a sequence on, up to the tip of a state. One `get` for each slot, and one list
 * when the first lies before the checkpoint that the store loaded.
 * @throws StoreError `RESYNC` below the floor, naming the oldest and the newest sequence
 */
export async function* readEntries(
  follower: Follower,
  snapshot: Snapshot,
  from: number,
  options: CallOptions,
): AsyncGenerator<LogEntry> {
  const { tip } = snapshot;
  if (from < snapshot.control.floor.at) throw resync(snapshot);
  const calls = { ...options, lane: 'bulk' } as const;
  for (let at = from; at <= tip.sequence; ) {
    // Only the first may lie inside a slot: each that follows begins one.
    const read = await (at === from
      ? follower.slotHolding(sequence(at), calls)
      : follower.slotAt(sequence(at), calls));
    if (read === null) throw resync(follower.snapshot);
    yield* entriesOf(read.slot, at);
    at = read.slot.last + 1;
  }
}

function resync({ control, tip }: Snapshot): StoreError {
  return new StoreError('RESYNC', `the log is kept from ${control.floor.at} on`, {
    details: { oldest: control.floor.at, newest: tip.sequence },
  });
}

function* entriesOf(slot: Slot, from: number): Generator<LogEntry> {
  for (const [index, entry] of slot.entries.entries()) {
    const at = sequence(slot.first + index);
    if (at >= from) yield { sequence: at, entry, time: slot.time, store: slot.store };
  }
}
