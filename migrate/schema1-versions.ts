/**
 * The version records of a history block of schema 1, as record runs of the new format refer to it:
 * the versions keep their block, and their stored versions stay blobs of epoch 0. Times before
 * 1970, which the new format cannot hold, are read as its first second.
 */
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import type { VersionRecord } from '../bucketstore/snapshot/state.ts';
import type { HistoryRef } from '../checkpoint/history.ts';
import { decodeSchema1Block } from './schema1-history.ts';
import { schema1HistoryKey } from './schema1-keys.ts';

/**
 * The versions of the block, ascending.
 * @param ref of epoch 0, in the record run of `path`
 * @throws StoreError INTEGRITY naming the block unless it is a valid one, of that path and range
 */
export function decodeOldHistory(
  path: string,
  { first, hash }: HistoryRef,
  bytes: Uint8Array,
): readonly VersionRecord[] {
  const key = schema1HistoryKey(hash);
  const block = decodeSchema1Block(key, bytes);
  if (block.pathHash !== sha256Hex(path)) throw integrityError(key, `path_hash: not of ${path}`);
  if (block.first !== first) {
    throw integrityError(key, `first: ${block.first}, the record run says ${first}`);
  }
  return block.versions.map(({ modified, ...version }) => {
    return { ...version, modified: Math.max(modified, 0), at: { epoch: 0 } };
  });
}
