/** Immutable objects on their way into a bucket and out of it, some at once. */
import type { BlobStore } from '../../blob/blob.ts';
import { isBlobError } from '../../blob/errors.ts';
import { demand } from './error.ts';

/** An object and its name. */
export interface OldObject {
  readonly key: string;
  readonly bytes: Uint8Array;
}

export interface Parallel {
  /** How many calls at once. Default 32. */
  readonly atOnce?: number | undefined;
}

/** How often an unsure create is asked about before it is given up. */
const ASKED_MAX = 5;

/** Creates objects in any order; each may be there already, with the same bytes. */
export async function createAll(
  bucket: BlobStore,
  objects: Iterable<OldObject>,
  options: Parallel = {},
): Promise<number> {
  return inParallel(objects, (object) => createSame(bucket, object), options);
}

/**
 * Creates an immutable object. One request when the name is free, two when it is taken.
 * @throws OldStoreError `integrity` when other bytes have the name
 */
export async function createSame(bucket: BlobStore, { key, bytes }: OldObject): Promise<void> {
  for (let asked = 1; ; asked++) {
    try {
      const { outcome } = await bucket.create(key, bytes);
      if (outcome === 'created') return;
    } catch (error) {
      if (!isBlobError(error) || !error.retryable || asked === ASKED_MAX) throw error;
    }
    const found = await bucket.get(key);
    if (!found.found) continue;
    demand(Buffer.compare(found.bytes, bytes) === 0, key, 'is there with other bytes');
    return;
  }
}

/** The bytes of an object. @throws OldStoreError `integrity` when it is absent */
export async function fetchObject(bucket: BlobStore, key: string): Promise<Uint8Array> {
  const found = await bucket.get(key);
  demand(found.found, key, 'is absent');
  return found.bytes;
}

/** Does `work` for each item, at most some at once; answers how many there were. */
export async function inParallel<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
  { atOnce = 32 }: Parallel = {},
): Promise<number> {
  let count = 0;
  let failed = false;
  const shared = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = shared.next(); next.done !== true && !failed; next = shared.next()) {
      count++;
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  for (const ended of workers) if (ended.status === 'rejected') throw ended.reason;
  return count;
}
