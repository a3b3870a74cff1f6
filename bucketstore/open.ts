/** The composition root: the only place where all layers meet. */

import {
  type BlobStore,
  decorateBucket,
  type Lanes,
  openDriver,
  parseLocation,
} from '../blob/index.ts';
import { Compactor } from '../checkpoint/compactor.ts';
import { CheckpointLoader } from '../checkpoint/load.ts';
import { lifeStart } from '../checkpoint/root.ts';
import { integrityError, StoreError } from './base/errors.ts';
import { createLimit } from './base/limit.ts';
import { isUuid } from './base/uuid.ts';
import { Committer } from './commit/committer.ts';
import { Operations } from './commit/operations.ts';
import { recall } from './commit/recall.ts';
import { Turns } from './commit/turns.ts';
import { assertEmpty, createWorld, type ReadMarker, readMarker } from './genesis.ts';
import { Checkpoints } from './log/checkpoints.ts';
import { bucketFailure } from './log/failure.ts';
import { Log } from './log/log.ts';
import { MARKER_KEY } from './log/names.ts';
import type { Moment } from './log/sighting.ts';
import { Sightings } from './log/sightings.ts';
import {
  type Components,
  type OpenOptions,
  readComponents,
  readSettings,
  type Settings,
} from './options.ts';
import { BodyReader } from './snapshot/body-reader.ts';
import { Follower } from './snapshot/follower.ts';
import { type LoadParts, load } from './snapshot/load.ts';
import { World, type WorldParts } from './world.ts';

/**
 * Opens the world at a location and replays its log. One `get` for the marker, two lists of
 * checkpoint records, one list for a thousand slots and one `get` for each; with a source of
 * checkpoints what `load` says.
 * @param location as `parseLocation` reads it
 * @throws StoreError `NOT_FOUND` when no world is there and none was asked for; `LOCATION`,
 * `INTEGRITY`,
 *   `UNSUPPORTED_FORMAT`, `UNAVAILABLE`; RangeError for a location or setting that cannot be read
 */
export async function openWorld(location: string, options: OpenOptions = {}): Promise<World> {
  return new World(await openStore(location, options));
}

/** The parts of a world, for what is built beside its public face. As `openWorld`. */
export async function openStore(location: string, options: OpenOptions = {}): Promise<WorldParts> {
  const settings = readSettings(options.settings);
  const components = readComponents(options.components);
  if (options.worldId !== undefined && !isUuid(options.worldId)) {
    throw new TypeError(`worldId is a lower-case UUID, got ${JSON.stringify(options.worldId)}`);
  }
  const opened = await openStack(location, settings, components, options.create ?? false);
  try {
    const marker = await findWorld(opened, components, settings, options);
    return await openReplica(opened, marker, settings, components, options.signal);
  } catch (error) {
    await opened.release();
    throw bucketFailure(error);
  }
}

interface OpenedBucket {
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

async function openStack(
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

async function findWorld(
  { bucket, unhedged }: OpenedBucket,
  { clock, random }: Components,
  settings: Settings,
  { create = false, worldId, signal }: OpenOptions,
): Promise<ReadMarker> {
  const parts = { bucket, clock, random, signal };
  let found = await readMarker(parts);
  if (found === null && create && !settings.readOnly) {
    found = await createWorld(parts, unhedged(), worldId ?? null);
  }
  if (found === null) {
    await assertEmpty(parts);
    throw new StoreError(
      'NOT_FOUND',
      `no world is at ${bucket.name}; bucketstore init makes one (in code: create: true)`,
    );
  }
  if (worldId !== undefined && found.marker.worldId !== worldId) {
    throw new StoreError(
      'LOCATION',
      `${bucket.name} holds world ${found.marker.worldId}, not ${worldId}; name the right location`,
    );
  }
  return found;
}

async function openReplica(
  { bucket, release, isReleased }: OpenedBucket,
  found: ReadMarker,
  settings: Settings,
  { clock, random, logger, checkpoints: given }: Components,
  signal: AbortSignal | undefined,
): Promise<WorldParts> {
  const loader = new CheckpointLoader({ bucket, clock, start: found.marker.start });
  const source = given ?? loader;
  const checkpoints = new Checkpoints(bucket);
  const sightings = new Sightings({ clock, checkpoints });
  const moment = (date?: number): Moment => sightings.moment(date);
  const log = new Log(bucket, moment);
  const start = startReader(bucket, found, loader);
  const loading: LoadParts = { clock, logger, moment, log, checkpoints, start, source };
  const operations = new Operations(clock);
  const bodies = new BodyReader(bucket, settings.bodyCacheBytes, source);
  const storeId = random.uuid();
  const turns = new Turns(storeId, () => random.number(), clock.monotonic());
  const follower = new Follower(
    {
      log,
      sightings,
      load: (known) => load(loading, { known }),
      onSlot: ({ slot }, how) => {
        operations.note(slot);
        // A store in a slot that was loaded may be gone for long: it is nobody's rival now.
        if (how === 'live') turns.saw(slot.store, clock.monotonic());
      },
    },
    await load(loading, { signal }),
  );
  const shared = { clock, random, follower, sightings, bodies, operations, storeId };
  const committer = new Committer(
    {
      ...shared,
      bucket,
      turns,
      recall: (place, { op, answered }) => {
        const options = { signal: answered };
        return recall({ follower, bodies }, follower.snapshot, { ...place, op }, options);
      },
    },
    committerSettings(settings),
  );
  const life = lifeStart(found.marker.start);
  const compactor = new Compactor({
    ...{ bucket, clock, random, logger, log, checkpoints, loader, life, start },
    atTip: (options) => follower.atTip(options),
    onCheckpoint: (checkpoint) => follower.rest(checkpoint),
  });
  const { deadlineMs: lifeMs, freshMs } = settings;
  return { ...shared, committer, compactor, settings, lifeMs, freshMs, release, isReleased };
}

/**
 * The state that the marker starts from: of the marker that was found first, then read anew each
 * time. Another incarnation means that this world's life here has ended.
 */
function startReader(
  bucket: BlobStore,
  first: ReadMarker,
  loader: CheckpointLoader,
): LoadParts['start'] {
  let unread: ReadMarker | null = first;
  return async ({ signal }) => {
    const found = unread ?? (await readMarker({ bucket, signal }));
    unread = null;
    if (found === null) throw integrityError(MARKER_KEY, 'missing, and the world was open here');
    const { incarnationId } = found.marker;
    if (incarnationId !== first.marker.incarnationId) {
      throw new StoreError('SEALED', `another incarnation lives here now: ${incarnationId}`, {
        details: { successor: incarnationId },
      });
    }
    return loader.loadStart(found.marker, found.hash, { signal });
  };
}

function committerSettings(settings: Settings): ConstructorParameters<typeof Committer>[1] {
  const { inlineBytes, batchMax, queueMembers, queueBytes, documentsMax, requirePolicy } = settings;
  return {
    batchMax,
    queue: { members: queueMembers, bytes: queueBytes },
    // Half of the lane is left to slots, to their blobs, and to what is built now.
    warmAtOnce: Math.floor(settings.commitLane / 2),
    build: { inlineBytes, quota: documentsMax, requirePolicy },
  };
}
