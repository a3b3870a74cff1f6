/** What the headers of HTTP say alike at every service. */

/** Bytes of an object: `[start, endExclusive]`. */
type Range = readonly [start: number, endExclusive: number];

/** The part of an object that an answer holds. */
export interface ContentRange {
  readonly range: Range;
  /** Bytes of the whole object. */
  readonly size: number;
}

/** The `Range` header that asks for a range of at least one byte. */
export function formatRange([start, end]: Range): string {
  return `bytes=${start}-${end - 1}`;
}

/** Reads a `Content-Range`; null for none, for one of unknown size, and for other text. */
export function parseContentRange(header: string | undefined): ContentRange | null {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(header ?? '');
  if (match === null) return null;
  return { range: [Number(match[1]), Number(match[2]) + 1], size: Number(match[3]) };
}

/** Reads a `Date`, ms since the epoch; undefined for none, and for other text. */
export function parseDate(header: string | undefined): number | undefined {
  const ms = Date.parse(header ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** Reads a `Retry-After` in seconds, as ms; undefined for none, and for the form with a date. */
export function parseRetryAfter(header: string | undefined): number | undefined {
  const seconds = Number(header);
  return seconds > 0 ? seconds * 1000 : undefined;
}
