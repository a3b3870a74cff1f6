/** The composition root: the only place where all layers meet. */

import type { BlobStore, CallOptions } from '../blob/index.ts';
import { Background } from '../checkpoint/background.ts';
import { Compactor } from '../checkpoint/compactor.ts';
import { CheckpointLoader } from '../checkpoint/load.ts';
import { lifeStart } from '../checkpoint/root.ts';
import { decodeOldHistory } from '../migrate/schema1-versions.ts';
import { integrityError, StoreError } from './base/errors.ts';
import type { Turn } from './base/in-turns.ts';
import { isUuid } from './base/uuid.ts';
import { type OpenedBucket, openStack } from './bucket-stack.ts';
import { Committer } from './commit/committer.ts';
import { Operations } from './commit/operations.ts';
import { recall } from './commit/recall.ts';
import { Turns } from './commit/turns.ts';
import { type Opening, openEarly } from './early.ts';
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
import { type Loaded, type LoadParts, load } from './snapshot/load.ts';
import { PackedBodies } from './snapshot/packed-bodies.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
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
  if (options.early !== true) return new World(await openStore(location, options));
  const { signal } = options;
  return atLocation(location, options, async (at) => new World(await openBehind(at, signal)));
}

/** The parts of a world, for what is built beside its public face. As `openWorld`. */
export function openStore(location: string, options: OpenOptions = {}): Promise<WorldParts> {
  return atLocation(location, options, (at) => openReplica(at, { signal: options.signal }));
}

/** A world that was found. */
interface Found {
  readonly opened: OpenedBucket;
  readonly found: ReadMarker;
  readonly settings: Settings;
  readonly components: Components;
}

/** Finds or makes the world at a location; lets go of the bucket when nothing comes of it. */
async function atLocation<T>(
  location: string,
  options: OpenOptions,
  build: (at: Found) => Promise<T>,
): Promise<T> {
  const settings = readSettings(options.settings);
  const components = readComponents(options.components);
  if (options.worldId !== undefined && !isUuid(options.worldId)) {
    throw new TypeError(`worldId is a lower-case UUID, got ${JSON.stringify(options.worldId)}`);
  }
  const opened = await openStack(location, settings, components, options.create ?? false);
  try {
    const found = await findWorld(opened, components, settings, options);
    return await build({ opened, found, settings, components });
  } catch (error) {
    await opened.release();
    throw bucketFailure(error);
  }
}

/** A replica that answers its first reads while it is loaded; a loaded one when that cannot be. */
async function openBehind(at: Found, signal?: AbortSignal): Promise<WorldParts | Opening> {
  const { opened, found, settings, components } = at;
  const { bucket, release, isReleased } = opened;
  const { clock, random, checkpoints } = components;
  const loader = loaderOf(at);
  const begun = { loader, storeId: random.uuid() };
  if (checkpoints === null) {
    const own = { bucket, clock, found, settings, release, isReleased, ...begun };
    const whole = (ending: AbortSignal, onLoaded: (loaded: Loaded) => void) =>
      openReplica(at, { ...begun, onLoaded, signal: ending });
    const opening = await openEarly({ ...own, load: whole }, signal);
    if (opening !== null) return opening;
  }
  return openReplica(at, { ...begun, signal });
}

function loaderOf({ opened: { bucket }, found, components: { clock } }: Found): CheckpointLoader {
  const { start } = found.marker;
  return new CheckpointLoader({ bucket, clock, start, decodeOldHistory });
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

/** What a replica may be given that was there before it. */
interface Begun {
  readonly signal?: AbortSignal | undefined;
  readonly loader?: CheckpointLoader;
  readonly storeId?: string;
  readonly onLoaded?: (loaded: Loaded) => void;
}

async function openReplica(at: Found, begun: Begun): Promise<WorldParts> {
  const { opened, found, settings, components } = at;
  const { bucket, release, isReleased } = opened;
  const { clock, random, logger, merger, checkpoints: given } = components;
  const loader = begun.loader ?? loaderOf(at);
  const source = given ?? loader;
  const checkpoints = new Checkpoints(bucket);
  const sightings = new Sightings({ clock, checkpoints });
  const moment = (date?: number): Moment => sightings.moment(date);
  const log = new Log(bucket, moment);
  const start = startReader(bucket, found, loader);
  const loading: LoadParts = { clock, logger, moment, log, checkpoints, start, source };
  const operations = new Operations(clock);
  const newest = (options: CallOptions): Promise<Snapshot> => follower.atTip(options);
  const packs = new PackedBodies({ source, checkpoints, logger, newest });
  const bodies = new BodyReader(bucket, settings.bodyCacheBytes, { packs, log, newest });
  const storeId = begun.storeId ?? random.uuid();
  const turns = new Turns(storeId, () => random.number(), clock.monotonic());
  const inBackground = { clock, random, logger, storeId, writes: !settings.readOnly };
  const background = settings.compact ? new Background(inBackground) : null;
  const loaded = await load(loading, { signal: begun.signal });
  begun.onLoaded?.(loaded);
  background?.checkpoint(loaded.snapshot.base.sequence);
  const follower = new Follower(
    {
      log,
      sightings,
      load: (known) => load(loading, { known }),
      onSlot: (read, how) => {
        operations.note(read.slot);
        background?.note(read);
        // A store in a slot that was loaded may be gone for long: it is nobody's rival now.
        if (how === 'live') turns.saw(read.slot.store, clock.monotonic());
      },
    },
    loaded,
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
    ...{ bucket, clock, random, logger, log, checkpoints, loader, merger, life, start },
    ...restingOf(clock, follower, background),
  });
  background?.start(compactor);
  const parts = { ...shared, committer, compactor, background, settings, release, isReleased };
  return { ...parts, lifeMs: settings.deadlineMs, freshMs: settings.freshMs };
}

/** How a store rests on the checkpoints that it is told of. */
function restingOf(
  clock: Components['clock'],
  follower: Follower,
  background: Background | null,
): Pick<ConstructorParameters<typeof Compactor>[0], 'atTip' | 'onCheckpoint'> {
  return {
    atTip: (options) => follower.atTip(options),
    onCheckpoint: async (checkpoint, limits) => {
      await follower.rest(checkpoint.base, turnOf(clock, limits.signal));
      background?.checkpoint(checkpoint.tip.sequence);
    },
  };
}

/** A turn of others between two steps of what may be ended. */
function turnOf(clock: Components['clock'], signal: AbortSignal | undefined): Turn {
  return async () => {
    signal?.throwIfAborted();
    await clock.turn?.();
  };
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
