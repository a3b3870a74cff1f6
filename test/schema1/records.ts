/**
 * The old store's objects as values, and their bytes. The order of the members written here is the
 * order of the fields in the bucket.
 */
import type { OldCatalog } from './catalog.ts';
import { encodeGoJson, type GoRecord, type Spelling } from './go-json.ts';
import { blobKey, historyKey, manifestKey, rootKey, shardKey, shardLabel } from './names.ts';

export interface OldReceipt {
  readonly operationId: string;
  readonly sequence: number;
  /** Null in receipts of the first releases, which told no more. */
  readonly change: OldChange | null;
}

export interface OldChange {
  readonly path: string;
  /** An unarchive is told as `publish`. */
  readonly op: 'publish' | 'append' | 'archive';
  /** Empty when there was none. */
  readonly agent: string;
  readonly version: number;
  /** With its prefix `sha256-`. */
  readonly bodyHash: string;
}

export interface OldHead {
  readonly worldId: string;
  readonly sequence: number;
  readonly rootHash: string;
  readonly receipts: readonly OldReceipt[];
}

export interface OldRoot {
  readonly worldId: string;
  readonly documents: number;
  /** Hashes of the 256 shards. */
  readonly shards: readonly string[];
}

export interface OldEntry {
  readonly path: string;
  readonly pathHash: string;
  readonly manifestHash: string;
  readonly current: number;
  readonly archived: boolean;
  readonly bodyHash: string;
  readonly modified: string;
  readonly catalog: OldCatalog;
}

export interface OldShard {
  readonly index: number;
  /** Ascending by the bytes of the path. */
  readonly entries: readonly OldEntry[];
}

export interface OldManifest {
  readonly pathHash: string;
  readonly current: number;
  readonly archived: boolean;
  readonly history: readonly OldRange[];
}

/** A reference to a history block. */
export interface OldRange {
  readonly first: number;
  readonly last: number;
  readonly hash: string;
}

export interface OldBlock {
  readonly pathHash: string;
  readonly first: number;
  readonly last: number;
  readonly entries: readonly OldVersionRecord[];
}

export interface OldVersionRecord {
  readonly version: number;
  readonly blobHash: string;
  readonly bodyHash: string;
  readonly modified: string;
}

/** Receipts that outlive the window of the head; worlds of the last releases have them. */
export interface OldChangeBlock {
  readonly worldId: string;
  readonly first: number;
  readonly receipts: readonly OldReceipt[];
}

/** `head.json`. */
export function encodeHead(head: OldHead, spelling?: Spelling): Uint8Array {
  const { worldId, sequence, rootHash, receipts } = head;
  const root = { key: rootKey(rootHash), hash: rootHash };
  const told = receipts.map(receiptFields);
  const fields = { schema: 1, world_id: worldId, sequence, root, receipts: told };
  return encodeGoJson(fields, spelling);
}

/** `roots/<hash>.json`. */
export function encodeRoot({ worldId, documents, shards }: OldRoot): Uint8Array {
  return encodeGoJson({
    schema: 1,
    world_id: worldId,
    document_count: documents,
    shards: shards.map((hash, index) => {
      const shard = shardLabel(index);
      return { shard, key: shardKey(shard, hash), hash };
    }),
  });
}

/** `index/<xx>/<hash>.json`. */
export function encodeShard({ index, entries }: OldShard, spelling?: Spelling): Uint8Array {
  const fields = { schema: 1, shard: shardLabel(index), entries: entries.map(entryFields) };
  return encodeGoJson(fields, spelling);
}

/** `docs/<path hash>/manifests/<hash>.json`. */
export function encodeManifest(manifest: OldManifest): Uint8Array {
  const { pathHash, current, archived, history } = manifest;
  const ranges = history.map(({ first, last, hash }) => {
    return { path_hash: pathHash, first, last, key: historyKey(hash), hash };
  });
  return encodeGoJson({ schema: 1, path_hash: pathHash, current, archived, history: ranges });
}

/** `history/<hash>.json`. */
export function encodeBlock({ pathHash, first, last, entries }: OldBlock): Uint8Array {
  const versions = entries.map(({ version, blobHash, bodyHash, modified }) => {
    const blob = { key: blobKey(blobHash), hash: blobHash };
    return { version, blob, body_hash: bodyHash, modified };
  });
  return encodeGoJson({ schema: 1, path_hash: pathHash, first, last, entries: versions });
}

/** `changes/<block>.json`. */
export function encodeChangeBlock(block: OldChangeBlock, spelling?: Spelling): Uint8Array {
  const { worldId, first, receipts } = block;
  const told = receipts.map(receiptFields);
  return encodeGoJson({ schema: 1, world_id: worldId, first, receipts: told }, spelling);
}

function receiptFields({ operationId, sequence, change }: OldReceipt): GoRecord {
  const bare = { operation_id: operationId, sequence, result: 'committed' };
  if (change === null) return bare;
  const { path, op, agent, version, bodyHash } = change;
  const named = { path, op, agent: agent === '' ? undefined : agent, version, hash: bodyHash };
  return { ...bare, ...named };
}

function entryFields(entry: OldEntry): GoRecord {
  const { path, pathHash, manifestHash: hash, current, archived, bodyHash, modified } = entry;
  const { title, tags, importance, metadata, ...rest } = entry.catalog;
  return {
    path,
    path_hash: pathHash,
    manifest: { key: manifestKey(pathHash, hash), hash },
    current,
    archived,
    body_hash: bodyHash,
    modified,
    catalog: { path: rest.path, title, tags, importance, modified: rest.modified, metadata },
  };
}
