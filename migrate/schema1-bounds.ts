/**
 * How large the objects of schema 1 are at most. Readers look at a size before they take the bytes,
 * decoders before they make values of them.
 *
 * WHY. The old format bounds counts, not bytes: 256 shards, 100,000 documents in all of them, 256
 * versions to a history block, 16 and 8 receipts. It bounds no title and names 2^31 − 1 versions of
 * a document, whose manifest no text could hold; so shards and manifests have bounds of our own,
 * beyond anything that a server could rewrite with each commit.
 */
import { STORED_BYTES_MAX } from '../bucketstore/document/stored.ts';
import type { JsonBounds } from '../bucketstore/log/strict.ts';
import type { Schema1Name } from './schema1-keys.ts';

/** Most documents that a schema 1 world can hold, archived ones included. */
export const SCHEMA1_DOCUMENTS_MAX = 100_000;

/** Of the kinds that are JSON. */
export const SCHEMA1_BOUNDS: Readonly<
  Record<'head' | 'root' | 'shard' | 'manifest' | 'history' | 'changes', JsonBounds>
> = {
  /** 16 receipts; a path takes six bytes for one where all of it is escaped. */
  head: { bytesMax: 1_048_576, depthMax: 4, commasMax: 1024 },
  /** Any root is 48,476 bytes and the digits of its count, less one. */
  root: { bytesMax: 65_536, depthMax: 3, commasMax: 1024 },
  /** All documents of a world in one shard, 1,300 bytes each; a full world's are some 330 KB. */
  shard: { bytesMax: 134_217_728, depthMax: 5, commasMax: 10_000_000 },
  /** Room for 200,000 blocks: 50 million versions of one document. */
  manifest: { bytesMax: 67_108_864, depthMax: 3, commasMax: 2_000_000 },
  /** 256 versions take less than 350 bytes each. */
  history: { bytesMax: 131_072, depthMax: 4, commasMax: 2048 },
  /** Half as many receipts as a head's. */
  changes: { bytesMax: 1_048_576, depthMax: 4, commasMax: 512 },
};

/** Most bytes of an object of a kind; nothing is known of pins. */
export function schema1BytesMax(kind: Exclude<Schema1Name['kind'], 'pin'>): number {
  return kind === 'blob' ? STORED_BYTES_MAX : SCHEMA1_BOUNDS[kind].bytesMax;
}
