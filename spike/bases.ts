/** Where the base of a checkpoint ends: read from its objects as JSON, nothing else is asked. */
import type { BlobStore } from '../blob/index.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { sequence } from '../bucketstore/base/sequence.ts';
import { CHECKPOINTS_PREFIX, checkpointKey, keyOf, MARKER_KEY } from '../bucketstore/log/names.ts';
import type { CheckpointCost } from './checkpoint-tally.ts';

interface RootName {
  readonly epoch: number;
  readonly hash: string;
}

/** Of the newest checkpoint, or of the start while there is none. A list and at most two `get`s. */
export async function newestBase(bucket: BlobStore): Promise<number> {
  const { objects } = await bucket.list({ prefix: CHECKPOINTS_PREFIX, limit: 1 });
  const key = objects[0]?.key;
  if (key !== undefined) return baseOf(bucket, key);
  const marker = await read<{ readonly start: { readonly sequence: number } }>(bucket, MARKER_KEY);
  return marker.start.sequence;
}

/** Whether each of these checkpoints has another base than the one before. Two `get`s for each. */
export async function builtBases(
  bucket: BlobStore,
  before: number,
  checkpoints: readonly Pick<CheckpointCost, 'sequence' | 'epoch'>[],
): Promise<readonly boolean[]> {
  const built: boolean[] = [];
  let last = before;
  for (const { sequence: at, epoch } of checkpoints) {
    const base = await baseOf(bucket, checkpointKey(sequence(at), epoch));
    built.push(base !== last);
    last = base;
  }
  return built;
}

async function baseOf(bucket: BlobStore, record: string): Promise<number> {
  const { root } = await read<{ readonly root: RootName }>(bucket, record);
  const key = keyOf({ kind: 'root', ...root });
  return (await read<{ readonly base: { readonly position: number } }>(bucket, key)).base.position;
}

async function read<T>(bucket: BlobStore, key: string): Promise<T> {
  const found = await bucket.get(key);
  if (!found.found) throw integrityError(key, 'missing, while a checkpoint was just made with it');
  return JSON.parse(Buffer.from(found.bytes).toString()) as T;
}
