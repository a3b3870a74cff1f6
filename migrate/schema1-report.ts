/** What is told of a world of schema 1. Plain data. */
import type { Problem } from '../bucketstore/log/problems.ts';
import type { Schema1Cost } from './schema1-cost.ts';
import type { AddressedKind, Count, Schema1Inventory } from './schema1-inventory.ts';
import type { Schema1Kind, Schema1Listing } from './schema1-listing.ts';

/** How far a reading has come. */
export interface Schema1Counts {
  /** Archived ones included. */
  readonly documents: number;
  readonly blocks: number;
  /** Retained ones. */
  readonly versions: number;
  /** Versions whose blobs were read: none unless `deep`. */
  readonly blobs: number;
  /** Objects that were listed. */
  readonly listed: number;
}

/** What is told of a world of schema 1 whether or not it is verified. */
export interface Schema1Facts {
  readonly schema: 1;
  /** Null when the head is not readable, as are `sequence`, `objects` and `cost`. */
  readonly worldId: string | null;
  /** The head's when it was read. */
  readonly sequence: number | null;
  readonly documents: number;
  readonly archived: number;
  /** What lies in the bucket. */
  readonly objects: Schema1Objects | null;
  /** What moving it takes. */
  readonly cost: Schema1Cost | null;
  /** The first thousand; empty when all is well. */
  readonly problems: readonly Problem[];
  readonly problemCount: number;
}

export interface Schema1Report extends Schema1Facts, Schema1Counts {
  readonly deep: boolean;
  /** What can be told of the past once the world is moved; null when the head is not readable. */
  readonly told: Schema1Told | null;
  /**
   * The head's sequence when all was read: what was verified is the state at `sequence` all the
   * same. `migrated` when a marker is in its place, null when it is not readable.
   */
  readonly headAfter: number | 'migrated' | null;
}

export interface Schema1Objects extends Count {
  readonly kinds: Readonly<Record<Schema1Kind, Count>>;
  /**
   * Those of them that the head does not lead to, of the kinds that have any; null when that was
   * not looked for. Earlier states, mostly; what is below something damaged counts too, and so does
   * what was committed since the head was read.
   */
  readonly unreachable: Readonly<Record<AddressedKind, Count>> | null;
  /** The first hundred objects that are neither of schema 1 nor of schema 2. */
  readonly others: readonly string[];
}

export interface Schema1Told {
  /** Receipts in the head that say what was committed, and those that do not. */
  readonly named: number;
  readonly unnamed: number;
  readonly changeBlocks: number;
  /** Complete blocks that nobody kept. */
  readonly changeGaps: number;
  /** The lowest sequence behind which every change is told: what cursors can resume from. */
  readonly resumesFrom: number;
}

/** What a listing says, beside what the head leads to where that is known. */
export function objectsOf(
  { objects, bytes, kinds, others }: Schema1Listing,
  inventory: Schema1Inventory | null,
): Schema1Objects {
  if (inventory === null) return { objects, bytes, kinds, others, unreachable: null };
  const unreachable = {
    root: inventory.unreachable('root'),
    shard: inventory.unreachable('shard'),
    manifest: inventory.unreachable('manifest'),
    history: inventory.unreachable('history'),
    blob: inventory.unreachable('blob'),
  };
  return { objects, bytes, kinds, others, unreachable };
}
