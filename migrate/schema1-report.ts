/** What verification of a world of schema 1 answers. */
import type { Problem } from '../bucketstore/log/problems.ts';
import type { Schema1Cost } from './schema1-cost.ts';
import type { Schema1Listing } from './schema1-listing.ts';

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
  /** null when the head is not readable, as is `sequence`. */
  readonly worldId: string | null;
  /** The head's when it was read. */
  readonly sequence: number | null;
  readonly documents: number;
  readonly archived: number;
  /** What lies in the bucket; null when there is no head to hold it against. */
  readonly listing: Schema1Listing | null;
  /** What moving it takes. */
  readonly cost: Schema1Cost;
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
