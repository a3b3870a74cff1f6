/**
 * Keys of a schema 1 world's objects, all under `_demarkus/v1/`. `schema1Key` and `parseSchema1Key`
 * are inverses. Beside the objects of the new format (`bucketstore/log/names.ts`) they are told
 * apart by form alone: only the head, which a marker replaces, and the blobs and history blocks,
 * which stay in use, have a key in both.
 *
 *     head.json                                       roots/<hash>.json
 *     index/<shard, 00 to ff>/<hash>.json             docs/<path hash>/manifests/<hash>.json
 *     history/<hash>.json                             blobs/<hash>
 *     changes/<index of the block, 16 hex>.json       pins/<backup>.json
 */
import { assert } from '../bucketstore/base/assert.ts';
import { isSha256Hex } from '../bucketstore/base/digest.ts';
import { blobKey, keyOf, MARKER_KEY, WORLD_PREFIX } from '../bucketstore/log/names.ts';

/** The head, the one object that is ever replaced. */
export const HEAD_KEY: string = MARKER_KEY;

/** The change blocks, of which a world may have some, all or none. */
export const CHANGES_PREFIX: string = `${WORLD_PREFIX}changes/`;

/** Receipts of a change block. */
export const CHANGE_BLOCK_RECEIPTS = 8;

/** The block that holds 2^53 − 1, the last sequence. */
const CHANGE_BLOCK_INDEX_MAX = Math.floor((Number.MAX_SAFE_INTEGER - 1) / CHANGE_BLOCK_RECEIPTS);

/** What a key of schema 1 says. */
export type Schema1Name =
  | { readonly kind: 'head' }
  | { readonly kind: 'root'; readonly hash: string }
  /** `shard` is two hex digits: the first of the path hashes in it. */
  | { readonly kind: 'shard'; readonly shard: string; readonly hash: string }
  | { readonly kind: 'manifest'; readonly pathHash: string; readonly hash: string }
  | { readonly kind: 'history'; readonly hash: string }
  | { readonly kind: 'blob'; readonly hash: string }
  | { readonly kind: 'changes'; readonly index: number }
  /** Some backup's. Nothing is known of what such an object holds, nor of its name. */
  | { readonly kind: 'pin'; readonly id: string };

/**
 * The key of an object.
 * @throws InvariantError for a part that no key can hold
 */
export function schema1Key(name: Schema1Name): string {
  switch (name.kind) {
    case 'head':
      return HEAD_KEY;
    case 'root':
      return schema1RootKey(name.hash);
    case 'shard':
      return schema1ShardKey(name.shard, name.hash);
    case 'manifest':
      return schema1ManifestKey(name.pathHash, name.hash);
    case 'history':
      return schema1HistoryKey(name.hash);
    case 'blob':
      return schema1BlobKey(name.hash);
    case 'changes':
      return changeBlockKey(name.index);
    case 'pin':
      assert(/^[^/]+$/.test(name.id), () => `a pin's name is one segment, got ${name.id}`);
      return `${WORLD_PREFIX}pins/${name.id}.json`;
  }
}

/** The key of the root of this hash. */
export function schema1RootKey(hash: string): string {
  return `${WORLD_PREFIX}roots/${checked(hash)}.json`;
}

/** The key of a shard: its two digits, and its hash. */
export function schema1ShardKey(shard: string, hash: string): string {
  assert(/^[0-9a-f]{2}$/.test(shard), () => `a shard is two hex digits, got ${shard}`);
  return `${WORLD_PREFIX}index/${shard}/${checked(hash)}.json`;
}

/** The key of a manifest: the hash of its document's path, and its own. */
export function schema1ManifestKey(pathHash: string, hash: string): string {
  return `${WORLD_PREFIX}docs/${checked(pathHash)}/manifests/${checked(hash)}.json`;
}

/** The key of a history block; the new format reads it under the same. */
export function schema1HistoryKey(hash: string): string {
  return keyOf({ kind: 'history', epoch: 0, hash });
}

/** The key of a stored version; the new format reads it under the same. */
export function schema1BlobKey(hash: string): string {
  return blobKey(0, hash);
}

/** The key of the change block of this index; `changeBlockOf` says which holds a sequence. */
export function changeBlockKey(index: number): string {
  assert(
    Number.isInteger(index) && index >= 0 && index <= CHANGE_BLOCK_INDEX_MAX,
    () => `a change block is 0 to ${CHANGE_BLOCK_INDEX_MAX}, got ${index}`,
  );
  return `${CHANGES_PREFIX}${index.toString(16).padStart(16, '0')}.json`;
}

/** What a key says, or null when it says nothing in schema 1. Total. */
export function parseSchema1Key(key: string): Schema1Name | null {
  if (key === HEAD_KEY) return { kind: 'head' };
  if (!key.startsWith(WORLD_PREFIX)) return null;
  const [folder = '', ...rest] = key.slice(WORLD_PREFIX.length).split('/');
  const file = rest.pop();
  if (file === undefined) return null;
  if (folder === 'blobs') {
    return rest.length === 0 && isSha256Hex(file) ? { kind: 'blob', hash: file } : null;
  }
  if (!file.endsWith('.json')) return null;
  const stem = file.slice(0, -'.json'.length);
  if (rest.length === 0) return parseFlat(folder, stem);
  return isSha256Hex(stem) ? parseNested(folder, rest, stem) : null;
}

/** `folder/stem.json` */
function parseFlat(folder: string, stem: string): Schema1Name | null {
  switch (folder) {
    case 'roots':
      return isSha256Hex(stem) ? { kind: 'root', hash: stem } : null;
    case 'history':
      return isSha256Hex(stem) ? { kind: 'history', hash: stem } : null;
    case 'changes': {
      const index = /^[0-9a-f]{16}$/.test(stem) ? Number.parseInt(stem, 16) : null;
      return index !== null && index <= CHANGE_BLOCK_INDEX_MAX ? { kind: 'changes', index } : null;
    }
    case 'pins':
      return stem === '' ? null : { kind: 'pin', id: stem };
    default:
      return null;
  }
}

/** `folder/between…/<hash>.json` */
function parseNested(folder: string, between: readonly string[], hash: string): Schema1Name | null {
  const [first = '', second] = between;
  if (folder === 'index' && between.length === 1 && /^[0-9a-f]{2}$/.test(first)) {
    return { kind: 'shard', shard: first, hash };
  }
  if (folder === 'docs' && between.length === 2 && isSha256Hex(first) && second === 'manifests') {
    return { kind: 'manifest', pathHash: first, hash };
  }
  return null;
}

function checked(hash: string): string {
  assert(isSha256Hex(hash), () => `a hash is 64 lower-case hex digits, got ${hash}`);
  return hash;
}
