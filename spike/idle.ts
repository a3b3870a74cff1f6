/** c, the unit of every ratio: what a small create takes on the idle location. */
import { type BlobStore, isBlobError, type Observer, openBucket } from '../blob/index.ts';
import { createLimit } from '../bucketstore/base/limit.ts';
import type { Machine } from './machine.ts';
import { Samples } from './measure.ts';

const CREATES = 200;
const BYTES = 1024;
const LANE = 64;
const PAUSE_MS = 1_100;

/** What c must be with the model, ms: outside it something else held the machine. */
export const MODEL_C_MS: readonly [least: number, most: number] = [38, 44];

export interface StackOptions {
  readonly observer?: Observer | undefined;
  /** As of `openBucket`. */
  readonly hedge?: boolean | undefined;
}

/** The bucket of a location behind every decorator, as a store opens it. */
export function openStack(
  machine: Machine,
  location: string,
  options: StackOptions = {},
): Promise<BlobStore> {
  const { clock: timing, random: chance } = machine;
  const lanes = { commit: createLimit(1024), read: createLimit(LANE), bulk: createLimit(LANE) };
  return openBucket(location, { timing, chance, lanes, createDirectory: true, ...options });
}

/** A prefix of this run's own, where the probe's names are. */
export function ownPrefix({ random }: Machine): string {
  return `_demarkus/v1/probe/${random.uuid()}/`;
}

/**
 * The median of 200 creates of 1 KiB, one after another, ms. Removes them again: 400 requests.
 * @throws the signal's reason when it aborts, after the removal; BlobError when a request fails
 */
export async function measureIdle(machine: Machine, location: string): Promise<number> {
  const { clock, signal, progress } = machine;
  const bucket = await openStack(machine, location);
  const prefix = ownPrefix(machine);
  const body = Buffer.alloc(BYTES, 'x');
  const samples = new Samples();
  const keys: string[] = [];
  try {
    while (keys.length < CREATES) {
      signal.throwIfAborted();
      progress(`measuring c: ${keys.length} of ${CREATES} creates`);
      const key = `${prefix}${keys.length}`;
      keys.push(key);
      const startMs = clock.monotonic();
      await createOwn(bucket, key, body);
      samples.add(0, clock.monotonic() - startMs);
    }
  } finally {
    await removeAll(machine, bucket, keys);
    await bucket.close();
  }
  return samples.percentile(0.5);
}

/** Creates a name of this run's own: whether a doubled request of it won changes nothing. */
async function createOwn(bucket: BlobStore, key: string, body: Uint8Array): Promise<void> {
  try {
    await bucket.create(key, body, { lane: 'commit' });
  } catch (error) {
    if (!isBlobError(error) || !error.ambiguous) throw error;
  }
}

/**
 * Deletes names, 64 at once, and a second after they may have been made: a bucket may refuse a
 * second mutation of a name sooner.
 */
export async function removeAll(
  { clock }: Machine,
  bucket: BlobStore,
  keys: readonly string[],
): Promise<void> {
  await clock.sleep(PAUSE_MS);
  const limit = createLimit(LANE);
  await Promise.all(keys.map((key) => limit.run(() => bucket.delete(key, { lane: 'bulk' }))));
}
