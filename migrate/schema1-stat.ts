/** What a world of schema 1 is, without reading every document. */
import type { BlobStore } from '../blob/blob.ts';
import { Problems } from '../bucketstore/log/problems.ts';
import { checkLogBeside, hasLogBeside, readHeadAfter, tryHead } from './schema1-beside.ts';
import { baseEntryBytes, schema1Cost } from './schema1-cost.ts';
import { Schema1Graph } from './schema1-graph.ts';
import { listSchema1, type Schema1Listing } from './schema1-listing.ts';
import { objectsOf, type Schema1Counts, type Schema1Facts } from './schema1-report.ts';

export interface Schema1StatOptions {
  readonly signal?: AbortSignal | undefined;
  /** The world that must be there. Default any. */
  readonly worldId?: string | undefined;
  /** Told now and then how far it is. */
  readonly onProgress?: ((done: Pick<Schema1Counts, 'documents' | 'listed'>) => void) | undefined;
}

/**
 * Reads the head, the root and the shards of a world of schema 1, all of them checked, and lists
 * what lies in the bucket: 258 `get`s, and one list for a thousand objects; where a log of schema 2
 * lies beside, two `get`s more, for its last slot and the head once more. Versions and history
 * blocks are counted as they were listed, so their number is at most that: what nothing refers to
 * is among them.
 * @throws StoreError `LOCATION` for another world than `worldId`; as `readSchema1Head`, damage
 *   apart
 */
export async function statSchema1Bucket(
  bucket: BlobStore,
  { signal, worldId, onProgress }: Schema1StatOptions = {},
): Promise<Schema1Facts> {
  const problems = new Problems();
  const head = await tryHead({ bucket, signal, problems }, worldId);
  const sums = { documents: 0, archived: 0, entryBytes: 0, pathBytes: 0 };
  let listing: Schema1Listing | null = null;
  if (head !== null) {
    const report = (found: { readonly object: string; readonly problem: string }): void => {
      problems.note(found.object, found.problem);
    };
    for await (const { entry } of new Schema1Graph(bucket, head, { signal, report }).entries()) {
      signal?.throwIfAborted();
      sums.documents++;
      if (entry.archived) sums.archived++;
      sums.entryBytes += baseEntryBytes(entry);
      sums.pathBytes += Buffer.byteLength(entry.path);
      if (sums.documents % 1000 === 0) onProgress?.({ documents: sums.documents, listed: 0 });
    }
    const onPage = (listed: number): void => onProgress?.({ documents: sums.documents, listed });
    listing = await listSchema1(bucket, { signal, onPage });
    if (hasLogBeside(listing)) {
      const parts = { bucket, signal, problems };
      await checkLogBeside(head, listing, await readHeadAfter(head, parts), parts);
    }
  }
  const { documents, archived, entryBytes, pathBytes } = sums;
  const cost =
    listing &&
    schema1Cost({
      documents,
      entryBytes,
      pathBytes,
      versions: listing.kinds.blob.objects,
      blocks: listing.kinds.history.objects,
      objects: listing.objects,
    });
  return {
    schema: 1,
    worldId: head?.worldId ?? null,
    sequence: head?.sequence ?? null,
    documents,
    archived,
    objects: listing && objectsOf(listing, null),
    cost,
    problems: problems.named,
    problemCount: problems.count,
  };
}
