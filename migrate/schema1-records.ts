/**
 * What the objects of the old format, schema 1, say. Names are those of the new format where both
 * have the thing; times are seconds, hashes are 64 hex digits without a prefix, whatever their
 * spelling in the bucket.
 *
 * A world of schema 1 is a tree of immutable objects below one head that every commit replaces:
 *
 *     head ──► root ──► 256 shards ──► an entry for each document ──► manifest
 *                                                                  └► history blocks ──► blobs
 *
 * Every reference names the SHA-256 of the bytes it refers to.
 */
import type { Catalog } from '../bucketstore/document/catalog.ts';

/** The last commits, told in the head: at most 16. */
export interface Receipt {
  readonly operationId: string;
  readonly sequence: number;
  /** What was committed; null in receipts of the first releases, which did not say. */
  readonly change: ReceiptChange | null;
}

export interface ReceiptChange {
  readonly path: string;
  /** An unarchive was recorded as `publish`. */
  readonly op: 'publish' | 'append' | 'archive';
  /** Empty when there was none. */
  readonly agent: string;
  readonly version: number;
  /** Of the body. */
  readonly bodyHash: string;
}

export interface Schema1Head {
  readonly worldId: string;
  /** 1 is genesis. */
  readonly sequence: number;
  readonly rootHash: string;
  /** Exactly min(sequence − 1, 16), the last one of this very sequence. */
  readonly receipts: readonly Receipt[];
}

export interface Schema1Root {
  readonly worldId: string;
  /** Archived ones included. */
  readonly documents: number;
  /** Hash of shard `00` to `ff`, in order. */
  readonly shards: readonly string[];
}

/** A document in its shard: its current version. */
export interface Schema1Entry {
  readonly path: string;
  readonly manifestHash: string;
  readonly version: number;
  readonly archived: boolean;
  readonly bodyHash: string;
  readonly modified: number;
  readonly catalog: Catalog;
}

/** Which history blocks hold a document's retained versions. */
export interface Schema1Manifest {
  readonly pathHash: string;
  readonly version: number;
  readonly archived: boolean;
  readonly blocks: readonly BlockReference[];
}

export interface BlockReference {
  readonly pathHash: string;
  readonly first: number;
  readonly last: number;
  readonly hash: string;
}

/** Versions `first` to `last` of a document, all within one absolute block of 256. */
export interface Schema1Block {
  readonly pathHash: string;
  readonly first: number;
  readonly last: number;
  readonly versions: readonly Schema1Version[];
}

export interface Schema1Version {
  readonly version: number;
  readonly storedHash: string;
  readonly bodyHash: string;
  readonly modified: number;
}

/** Receipts kept beyond the head's window; a world has them only if its server wrote them. */
export interface ChangeBlock {
  readonly worldId: string;
  readonly first: number;
  readonly receipts: readonly Receipt[];
}
