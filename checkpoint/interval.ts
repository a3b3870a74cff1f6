/** Intervals of sequences: what a run, a record run and a pack unit cover. */
import type { Sequence } from '../bucketstore/base/sequence.ts';
import { BASE_UNITS_MIN, RUN_FACTOR, UNIT } from './constants.ts';

/** The sequences beyond `after` up to and with `through`; never empty. */
export interface Interval {
  /** 0: from the beginning, whatever the world's life began with. */
  readonly after: Sequence | 0;
  readonly through: Sequence;
}

/** What measures runs and bases. A world knows `FORMAT_SIZES` only; others are for proofs. */
export interface PlanSizes {
  /** Sequences of a unit, ≥ 1. */
  readonly unit: number;
  /** A run is this many times as long as those it is made of, ≥ 2. */
  readonly factor: number;
  /** Units between two bases at least, ≥ 1. */
  readonly baseUnitsMin: number;
}

/** The sizes of the format: two compactors with others would write different bytes (I4). */
export const FORMAT_SIZES: PlanSizes = {
  unit: UNIT,
  factor: RUN_FACTOR,
  baseUnitsMin: BASE_UNITS_MIN,
};

export function isSameInterval(one: Interval, other: Interval): boolean {
  return one.after === other.after && one.through === other.through;
}

/** The least multiple of `unit` that is ≥ `value`. It may lie beyond the last sequence. */
export function multipleFrom(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}

/** As a message names it: half open, as in the format. */
export function intervalText({ after, through }: Interval): string {
  return `(${after}, ${through}]`;
}
