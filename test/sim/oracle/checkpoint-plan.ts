/** Which runs a checkpoint has, by the oracle's own reading of the format. */
import type { CheckpointSizes } from '../sizes.ts';

export type Stretch = readonly [after: number, through: number];

/** Where the last base at or before a sequence ends. */
export function basePosition(
  start: number,
  through: number,
  documents: (sequence: number) => number,
  { unit, baseUnits }: CheckpointSizes,
): number {
  let position = start;
  for (;;) {
    const least = position + Math.max(baseUnits * unit, Math.floor(documents(position) / 2));
    const next = Math.ceil(least / unit) * unit;
    if (next > through) return position;
    position = next;
  }
}

/**
 * The stretches of (from, through]: the head up to where units are counted from, then full runs,
 * which are the digits of the number of units, then the tail.
 */
export function stretches(
  from: number,
  through: number,
  { unit, factor }: CheckpointSizes,
): readonly Stretch[] {
  const found: Stretch[] = [];
  let at = from;
  const add = (length: number): void => {
    if (length > 0) found.push([at, at + length]);
    at += length;
  };
  add(Math.min(Math.ceil(from / unit) * unit, through) - from);
  const digits = Math.floor((through - at) / unit).toString(factor);
  for (const [index, digit] of [...digits].entries()) {
    const length = unit * factor ** (digits.length - 1 - index);
    for (let count = Number.parseInt(digit, factor); count > 0; count--) add(length);
  }
  add(through - at);
  return found;
}
