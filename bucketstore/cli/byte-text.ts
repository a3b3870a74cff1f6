/** Bytes as a person reads them. */

/** Kilobytes, rounded up, or megabytes from one on. */
export function byteText(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
