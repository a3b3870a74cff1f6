/** What verification is asked, and what it answers. */
import type { DerivedCounts } from '../checkpoint/unused.ts';
import type { Problem } from './log/problems.ts';
import type { OpenOptions } from './options.ts';

export interface VerifyOptions extends Pick<OpenOptions, 'settings' | 'components' | 'signal'> {
  /**
   * Read all bodies: those in blobs, instead of asking for their size, and those in packs whose
   * slots are gone. Default false.
   */
  readonly deep?: boolean | undefined;
  /** Told after each slot, each derived object and each body. */
  readonly onProgress?: ((done: VerifyCounts) => void) | undefined;
}

export interface VerifyCounts {
  readonly slots: number;
  readonly entries: number;
  /** Stored versions in slots, each read and checked. */
  readonly inlined: number;
  /** Stored versions in blobs, read when `deep`, else asked for. */
  readonly blobs: number;
  /** Stored versions in packs alone, read when `deep`. */
  readonly packed: number;
  /** Checkpoints held against the log, or, where that is gone or broken, against themselves. */
  readonly checkpoints: number;
  /** Derived objects that were read and are right. */
  readonly objects: number;
}

/** Records that were not looked into. */
interface UnreadRecords {
  /** That the latest barrier did not name: what they consist of may be gone. */
  readonly checkpoints: number;
  /** Of an earlier life. */
  readonly earlier: number;
}

export interface VerifyReport extends VerifyCounts {
  /** null when the marker is not readable. */
  readonly worldId: string | null;
  readonly incarnationId: string | null;
  /** The last sequence that could be followed. */
  readonly sequence: number;
  readonly documents: number;
  readonly deep: boolean;
  /** Slots of an earlier life, below the start: nobody reads them. */
  readonly earlier: number;
  /**
   * Slot names inside the range of another slot, left by a writer that slept: nobody reads them.
   */
  readonly strays: readonly string[];
  /** Records that do not count; nothing is wrong with that. */
  readonly dead: UnreadRecords;
  /**
   * Derived objects by kind: those that are there, and those that no checkpoint needs. null when
   * the world could not be read at all.
   */
  readonly derived: DerivedCounts | null;
  /** The first thousand; empty when all is well. */
  readonly problems: readonly Problem[];
  readonly problemCount: number;
}
