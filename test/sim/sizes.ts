/**
 * The sizes of the checkpoints of simulated worlds. The format's are too large for logs of some
 * hundred entries; with these a run sees units, packs, bases and closed history blocks come and go.
 * `mutants/small-sizes.ts` puts them into the store; the oracle judges checkpoints by them.
 */

/** What the oracle must know of the format to judge a checkpoint. */
export interface CheckpointSizes {
  /** Sequences of a unit. */
  readonly unit: number;
  /** A run is so many times as long as those that it is made of. */
  readonly factor: number;
  /** Units between two bases at least. */
  readonly baseUnits: number;
  /** What is hashed at once of a table, bytes. */
  readonly blockBytes: number;
  /** Versions of a closed history block. */
  readonly historyVersions: number;
  /** A pack at most, bytes. */
  readonly packBytes: number;
}

export const SMALL: CheckpointSizes = {
  unit: 8,
  factor: 2,
  baseUnits: 5,
  blockBytes: 512,
  historyVersions: 4,
  packBytes: 2_600,
};

/** Stored versions up to so many bytes are inlined at most: a pack must have room for one. */
export const INLINE_BYTES = 2_048;
