/** The bucket of a store that writes: the driver of its location, and the decorators around it. */
import {
  type BlobStore,
  decorateBucket,
  type Lanes,
  openDriver,
  parseLocation,
} from '../blob/index.ts';
import { createLimit } from './base/limit.ts';
import type { Components, Settings } from './options.ts';

export interface OpenedBucket {
  /** With every decorator. */
  readonly bucket: BlobStore;
  /**
   * The same bucket without hedging, which would make every refusal of a create look like a lost
   * answer: for the probe of a new world, and made for it alone.
   */
  readonly unhedged: () => BlobStore;
  readonly release: () => Promise<void>;
  /** Whether the bucket has been closed, so that no read can be answered any more. */
  readonly isReleased: () => boolean;
}

/**
 * Opens the bucket of a location with its decorators, or takes the one that was handed in.
 * @throws BlobError, RangeError as `openDriver` and `parseLocation`
 */
export async function openStack(
  location: string,
  settings: Settings,
  { clock, random, observer, bucket: given }: Components,
  createDirectory: boolean,
): Promise<OpenedBucket> {
  const lanes: Lanes = {
    commit: createLimit(settings.commitLane),
    read: createLimit(settings.readLane),
    bulk: createLimit(settings.bulkLane),
  };
  const parts = { timing: clock, chance: random, lanes, observer };
  if (given !== undefined) {
    const kept = { release: async () => undefined, isReleased: () => false };
    return { ...stackOn(given, OWN, parts), ...kept };
  }
  const where = parseLocation(location);
  const driver = await openDriver(where, { ...parts, createDirectory });
  let released = false;
  const release = (): Promise<void> => {
    released = true;
    return driver.close();
  };
  return { ...stackOn(driver, where, parts), release, isReleased: () => released };
}

/** A bucket of the caller's own is taken as it is: whatever it hedges or models, it does itself. */
const OWN = { kind: 'memory', model: false } as const;

function stackOn(
  driver: BlobStore,
  where: Parameters<typeof decorateBucket>[1],
  parts: Parameters<typeof decorateBucket>[2],
): Pick<OpenedBucket, 'bucket' | 'unhedged'> {
  return {
    bucket: decorateBucket(driver, where, parts),
    unhedged: () => decorateBucket(driver, where, { ...parts, hedge: false }),
  };
}
