/** Figures as they stand in a report. */

/** A share of something; null where there is nothing to divide by. */
export function ratio(sum: number, of: number): number | null {
  return of === 0 ? null : rounded(sum / of);
}

/** Four digits behind the point: enough for every figure, and the same text on every machine. */
export function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

/** The middle one; the lower of two. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
}
