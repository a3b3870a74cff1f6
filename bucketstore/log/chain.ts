/** Whether a slot belongs behind what came before it (I1). */
import type { Sequence } from '../base/sequence.ts';
import type { Slot } from './records.ts';

/** Whose log it is. */
export interface ChainIdentity {
  readonly worldId: string;
  readonly incarnationId: string;
}

/** The end of a chain, as far as it was followed: what the next slot must continue. */
export interface ChainEnd {
  /** The last sequence in it. */
  readonly sequence: Sequence;
  /** SHA-256 of the whole object that holds it, 64 hex: of a slot, or of the marker. */
  readonly hash: string;
  /** That slot's time, ms since the epoch; 0 for a marker. */
  readonly time: number;
}

/**
 * What is wrong with `slot` as one of this log, or null. Ask it first: a foreign slot's numbers
 * mean nothing.
 */
export function belongs(identity: ChainIdentity, slot: ChainIdentity): string | null {
  if (slot.worldId !== identity.worldId) {
    return `world_id: of world ${slot.worldId}, not ${identity.worldId}`;
  }
  if (slot.incarnationId !== identity.incarnationId) {
    return `incarnation_id: of incarnation ${slot.incarnationId}, not ${identity.incarnationId}`;
  }
  return null;
}

/** What is wrong with `slot` as the next of the chain, or null. */
export function follows(end: ChainEnd, slot: Slot): string | null {
  if (slot.first !== end.sequence + 1) {
    return `first: ${slot.first} does not continue ${end.sequence}`;
  }
  if (slot.prev !== end.hash) {
    return `prev: ${slot.prev} is not the hash of what comes before, ${end.hash}`;
  }
  if (slot.time <= end.time) return `time: ${slot.time} is not after ${end.time}`;
  return null;
}
