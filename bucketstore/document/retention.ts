/**
 * Retention: how many versions a document keeps. Pruning is logical; bytes go with the collector.
 */

/**
 * What a write leaves of a document's versions: always a contiguous range that ends at the newest.
 */
export interface Retained {
  /** The oldest version kept. */
  readonly first: number;
  /** Oldest and newest version that this write prunes; null when it prunes none. */
  readonly pruned: readonly [oldest: number, newest: number] | null;
}

/**
 * What is kept after `version` was written.
 * @param first the oldest version kept before; for a new document, 1
 * @param version the new version
 * @param retention versions to keep, the new one included; null when the write does not say, which
 *   prunes nothing and brings nothing back
 */
export function pruneRange({
  first,
  version,
  retention,
}: {
  readonly first: number;
  readonly version: number;
  readonly retention: number | null;
}): Retained {
  if (retention === null || version - retention < first) return { first, pruned: null };
  return { first: version - retention + 1, pruned: [first, version - retention] };
}
