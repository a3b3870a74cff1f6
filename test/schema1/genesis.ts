/** The first objects of an old world: 256 empty shards, a root and a head. */
import type { BlobStore } from '../../blob/blob.ts';
import { decodeHead } from './decode.ts';
import { OldStoreError } from './error.ts';
import { HEAD_KEY, rootKey, SHARDS, sha256, shardKey, shardLabel } from './names.ts';
import { createAll, type OldObject } from './objects.ts';
import { encodeHead, encodeRoot, encodeShard } from './records.ts';

/** The 258 objects of an empty world, the head last. A function of the world's ID. */
export function genesisObjects(worldId: string): readonly OldObject[] {
  const objects: OldObject[] = [];
  const shards: string[] = [];
  for (let index = 0; index < SHARDS; index++) {
    const bytes = encodeShard({ index, entries: [] });
    const hash = sha256(bytes);
    shards.push(hash);
    objects.push({ key: shardKey(shardLabel(index), hash), bytes });
  }
  const root = encodeRoot({ worldId, documents: 0, shards });
  objects.push({ key: rootKey(sha256(root)), bytes: root });
  const head = encodeHead({ worldId, sequence: 1, rootHash: sha256(root), receipts: [] });
  objects.push({ key: HEAD_KEY, bytes: head });
  return objects;
}

/**
 * Makes an empty world, unless it is there already. The head comes last, so nobody opens half of
 * one.
 * @throws OldStoreError `precondition` when the bucket holds a world of another ID, or other things
 *   without a head
 */
export async function createGenesis(bucket: BlobStore, worldId: string): Promise<void> {
  if (await isThere(bucket, worldId)) return;
  const { objects } = await bucket.list({ prefix: '', limit: 1000 });
  const own = new Set(genesisObjects(worldId).map(({ key }) => key));
  const stranger = objects.find(({ key }) => !own.has(key));
  if (stranger !== undefined) {
    throw new OldStoreError('precondition', stranger.key, 'lies in a bucket without a head');
  }
  const made = genesisObjects(worldId);
  await createAll(bucket, made.slice(0, -1));
  for (const head of made.slice(-1)) {
    const { outcome } = await bucket.create(head.key, head.bytes);
    if (outcome === 'exists') await isThere(bucket, worldId);
  }
}

async function isThere(bucket: BlobStore, worldId: string): Promise<boolean> {
  const head = await bucket.get(HEAD_KEY);
  if (!head.found) return false;
  const { worldId: found } = decodeHead(head.bytes);
  if (found === worldId) return true;
  throw new OldStoreError('precondition', HEAD_KEY, `is of world ${found}`);
}
