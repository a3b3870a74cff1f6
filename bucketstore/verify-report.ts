/** What verification is asked, and what it answers. */
import type { Problem } from './log/problems.ts';
import type { OpenOptions } from './options.ts';

export interface VerifyOptions extends Pick<OpenOptions, 'settings' | 'components' | 'signal'> {
  /** Read blobs too, instead of asking for their size. Default false. */
  readonly deep?: boolean | undefined;
  /** Told after each slot and each blob. */
  readonly onProgress?: ((done: VerifyCounts) => void) | undefined;
}

export interface VerifyCounts {
  readonly slots: number;
  readonly entries: number;
  /** Stored versions in slots, each read and checked. */
  readonly inlined: number;
  /** Stored versions in blobs, read when `deep`, else asked for. */
  readonly blobs: number;
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
  /** The first thousand; empty when all is well. */
  readonly problems: readonly Problem[];
  readonly problemCount: number;
}
