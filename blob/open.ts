/**
 * A location to a bucket: the driver it names, loaded only now, inside the decorators.
 *
 * ```
 * caller → retry → lanes → deadline → hedge → observer → [latency model] → driver
 * ```
 *
 * Retry is outermost, so that a call that waits to be repeated holds no place in its lane. The
 * deadline bounds both requests of a hedge. The observer is next to the driver: what it counts is
 * what the service bills.
 */
import type { BlobStore, Chance, Timing } from './blob.ts';
import { withDeadline } from './deadline.ts';
import { withHedge } from './hedge.ts';
import { type Lanes, withLanes } from './lanes.ts';
import { type Location, parseLocation } from './location.ts';
import { withLatencyModel } from './model.ts';
import { type Observer, withObserver } from './observe.ts';
import { withRetry } from './retry.ts';

export interface OpenBucketOptions {
  readonly timing: Timing;
  readonly chance: Chance;
  /** How many calls of each lane may run at once. */
  readonly lanes: Lanes;
  /** Is told of every request that is sent. */
  readonly observer?: Observer | undefined;
  /** `file:` only: make the directory when it is missing. Default false. */
  readonly createDirectory?: boolean | undefined;
  /**
   * Send slow gets and creates twice. Default true for services, false for `file:` and `memory:`.
   */
  readonly hedge?: boolean | undefined;
}

/**
 * Opens the bucket of a location. Sends nothing yet: a bucket that is missing or refuses is met at
 * the first call.
 * @throws RangeError for a location that cannot be read
 */
export async function openBucket(
  where: string | Location,
  options: OpenBucketOptions,
): Promise<BlobStore> {
  const location = typeof where === 'string' ? parseLocation(where) : where;
  return decorateBucket(await openDriver(location, options), location, options);
}

/**
 * The decorators of `openBucket` around a bucket of the caller's own, for instance an SDK client's.
 */
export function decorateBucket(
  driver: BlobStore,
  location: Pick<Location, 'kind' | 'model'>,
  options: OpenBucketOptions,
): BlobStore {
  const { timing, chance, lanes, observer } = options;
  const remote = location.model || location.kind === 'gcs' || location.kind === 's3';
  let store = driver;
  if (location.model) store = withLatencyModel(store, { timing, chance, model: 'gcs' });
  if (observer !== undefined) store = withObserver(store, observer, { timing });
  if (options.hedge ?? remote) store = withHedge(store, { timing });
  store = withDeadline(store, { timing });
  store = withLanes(store, lanes, { timing });
  return withRetry(store, { timing, chance });
}

/**
 * The bucket of a location without decorators, for who lays them around it more than once. Sends
 * nothing yet.
 */
export async function openDriver(
  location: Location,
  { timing, chance, createDirectory }: Omit<OpenBucketOptions, 'lanes' | 'observer' | 'hedge'>,
): Promise<BlobStore> {
  switch (location.kind) {
    case 'memory': {
      const { createMemoryBucket, sharedMemoryBucket } = await import('./memory.ts');
      if (location.name === null) return createMemoryBucket({ timing });
      return sharedMemoryBucket(location.name, { timing });
    }
    case 'file': {
      const { createFileBucket } = await import('./file.ts');
      return createFileBucket({ directory: location.path, timing, chance, createDirectory });
    }
    case 'gcs': {
      const { createGcsBucket } = await import('./gcs.ts');
      const { bucket, prefix, query } = location;
      return createGcsBucket({ bucket, prefix, apiEndpoint: query.get('endpoint'), timing });
    }
    case 's3': {
      const { createS3Bucket } = await import('./s3.ts');
      const { bucket, prefix, query } = location;
      const endpoint = query.get('endpoint');
      return createS3Bucket({
        bucket,
        prefix,
        endpoint,
        region: query.get('region'),
        // A server of one's own seldom has a host name for each bucket.
        forcePathStyle: (query.get('path-style') ?? String(endpoint !== undefined)) === 'true',
        checksums: query.get('checksums') === 'required' ? 'required' : 'default',
        timing,
      });
    }
    default:
      return location satisfies never;
  }
}
