/** A bucket for one look at a world that is not opened: of `verify` and `stat`. */
import { type BlobStore, openBucket } from '../blob/index.ts';
import { createLimit } from './base/limit.ts';
import { bucketFailure } from './log/failure.ts';
import { type Components, type OpenOptions, readComponents, readSettings } from './options.ts';

/** How the bucket is opened. */
export type Opening = Pick<OpenOptions, 'settings' | 'components' | 'signal'>;

/**
 * Opens the bucket of a location, uses it, and closes it whatever happens; one that was handed in
 * as a component is used as it is and stays open. Nothing is committed through it: its lane for
 * commits has one place.
 * @throws StoreError `LOCATION`, `UNAVAILABLE` for what the bucket refuses; what `use` throws;
 *   RangeError for a location or setting that cannot be read
 */
export async function withBucket<T>(
  location: string,
  options: Opening,
  use: (bucket: BlobStore, components: Components) => Promise<T>,
): Promise<T> {
  const components = readComponents(options.components);
  const { clock, random, observer, bucket: given } = components;
  const { readLane, bulkLane } = readSettings(options.settings);
  const lanes = {
    commit: createLimit(1),
    read: createLimit(readLane),
    bulk: createLimit(bulkLane),
  };
  const parts = { timing: clock, chance: random, lanes, observer };
  try {
    const bucket = given ?? (await openBucket(location, parts));
    try {
      return await use(bucket, components);
    } finally {
      if (given === undefined) await bucket.close();
    }
  } catch (error) {
    throw bucketFailure(error);
  }
}
