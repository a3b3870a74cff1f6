/** The state that a head of the old store names, as an old replica loads and keeps it. */
import type { BlobStore } from '../../blob/blob.ts';
import { decodeHead, decodeRoot, decodeShard } from './decode.ts';
import { demand, OldStoreError } from './error.ts';
import { ancestorsOf, HEAD_KEY, rootKey, sha256, shardKey, shardLabel, shardOf } from './names.ts';
import { fetchObject, inParallel } from './objects.ts';
import type { OldEntry, OldHead, OldRoot, OldShard } from './records.ts';

/** A shard and the hash that it is known by. */
export interface LoadedShard {
  readonly hash: string;
  readonly shard: OldShard;
}

export class OldSnapshot {
  readonly head: OldHead;
  /** Of the head; what the next commit replaces. */
  readonly generation: string;
  /** All 256. */
  readonly shards: readonly LoadedShard[];

  constructor(head: OldHead, generation: string, shards: readonly LoadedShard[]) {
    this.head = head;
    this.generation = generation;
    this.shards = shards;
  }

  /** Archived ones included. */
  get documentCount(): number {
    return this.shards.reduce((sum, { shard }) => sum + shard.entries.length, 0);
  }

  /** Every entry, by shard and path. */
  *entries(): Iterable<OldEntry> {
    for (const { shard } of this.shards) yield* shard.entries;
  }

  /** The shard that a path is in, whether or not there is a document. */
  shardFor(path: string): LoadedShard {
    const loaded = this.shards[shardOf(sha256(path))];
    if (loaded === undefined) throw new RangeError(`no shard for ${path}`);
    return loaded;
  }

  /** The entry of a document; null when there is none. */
  find(path: string): OldEntry | null {
    return this.shardFor(path).shard.entries.find((entry) => entry.path === path) ?? null;
  }

  /** The sequence at which an operation was committed, as far back as the window tells. */
  sequenceOf(operationId: string): number | null {
    const found = this.head.receipts.find((receipt) => receipt.operationId === operationId);
    return found?.sequence ?? null;
  }

  /** Whether a new document could not be there: it is above or below another. */
  collides(path: string): boolean {
    if (ancestorsOf(path).some((above) => this.find(above) !== null)) return true;
    for (const entry of this.entries()) if (entry.path.startsWith(`${path}/`)) return true;
    return false;
  }
}

/**
 * Loads what the head names now; what `before` had already is not read again. One request when
 * nothing changed; else two, and one for the root and each changed shard.
 * @throws OldStoreError `not-found` without a head, `precondition` for another world, `integrity`
 *   for anything that is not exactly what it must be, a head of another schema included
 */
export async function loadSnapshot(
  bucket: BlobStore,
  worldId: string,
  before: OldSnapshot | null,
): Promise<OldSnapshot> {
  if (before !== null) {
    const found = await bucket.head(HEAD_KEY);
    if (found.found && found.attributes.generation === before.generation) return before;
  }
  const found = await bucket.get(HEAD_KEY);
  if (!found.found) throw new OldStoreError('not-found', HEAD_KEY, 'is absent: no world is here');
  const head = decodeHead(found.bytes);
  if (head.worldId !== worldId) {
    throw new OldStoreError('precondition', HEAD_KEY, `is of world ${head.worldId}`);
  }
  const older = before !== null && head.sequence < before.head.sequence;
  demand(!older, HEAD_KEY, `went back to sequence ${head.sequence}`);
  const root = decodeRoot(head.rootHash, await fetchObject(bucket, rootKey(head.rootHash)));
  demand(root.worldId === worldId, rootKey(head.rootHash), `is of world ${root.worldId}`);
  const shards = await loadShards(bucket, root, before);
  const snapshot = new OldSnapshot(head, found.attributes.generation, shards);
  checkWhole(snapshot, root);
  return snapshot;
}

async function loadShards(
  bucket: BlobStore,
  root: OldRoot,
  before: OldSnapshot | null,
): Promise<readonly LoadedShard[]> {
  const loaded: LoadedShard[] = [];
  await inParallel(root.shards.entries(), async ([index, hash]) => {
    const held = before?.shards[index];
    if (held?.hash === hash) {
      loaded[index] = held;
      return;
    }
    const bytes = await fetchObject(bucket, shardKey(shardLabel(index), hash));
    loaded[index] = { hash, shard: decodeShard(index, hash, bytes) };
  });
  return loaded;
}

/** What no shard knows alone: how many documents there are, and that none lies under another. */
function checkWhole(snapshot: OldSnapshot, root: OldRoot): void {
  const key = rootKey(snapshot.head.rootHash);
  const paths = new Set<string>();
  for (const { path } of snapshot.entries()) paths.add(path);
  demand(paths.size === root.documents, key, `counts ${root.documents}, has ${paths.size}`);
  for (const path of paths) {
    const above = ancestorsOf(path).find((ancestor) => paths.has(ancestor));
    demand(above === undefined, key, `${path} lies under the document ${above}`);
  }
}
