/**
 * A world of which single documents can be read while the rest of it is still being loaded: what
 * stands in the place of a replica's parts until these are there.
 */
import type { BlobStore } from '../blob/index.ts';
import type { Clock } from './base/clock.ts';
import { StoreError } from './base/errors.ts';
import type { ReadMarker } from './genesis.ts';
import { Checkpoints } from './log/checkpoints.ts';
import { Log } from './log/log.ts';
import { Sightings } from './log/sightings.ts';
import type { Settings } from './options.ts';
import { applySlot } from './snapshot/apply.ts';
import { BodyReader, type PackedSource } from './snapshot/body-reader.ts';
import type { EarlySource } from './snapshot/early-base.ts';
import { EarlyFollower } from './snapshot/early-follower.ts';
import { type EarlyLoaded, loadEarly } from './snapshot/early-load.ts';
import { EarlyReader, type EarlyReaderParts } from './snapshot/early-reader.ts';
import type { EarlyState } from './snapshot/early-state.ts';
import type { Loaded } from './snapshot/load.ts';
import { SnapshotReader } from './snapshot/reader.ts';
import { Snapshot } from './snapshot/snapshot.ts';
import type { EarlyReads, ViewParts } from './view.ts';
import type { WorldParts } from './world.ts';

export interface EarlyOpenParts extends Pick<WorldParts, 'storeId' | 'release' | 'isReleased'> {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly found: ReadMarker;
  readonly settings: Settings;
  readonly loader: EarlySource & PackedSource;
  /** Loads all of it. @param onLoaded is told what was loaded before the parts are there */
  readonly load: (signal: AbortSignal, onLoaded: (loaded: Loaded) => void) => Promise<WorldParts>;
}

/** A world that is being loaded. */
export interface Opening extends ViewParts, Pick<WorldParts, 'storeId' | 'settings'> {
  readonly worldId: string;
  /** Rejects with what a whole load fails with. */
  readonly loading: Promise<WorldParts>;
  /** Ends loading; lets go of the bucket unless everything is there. Never rejects. */
  readonly stop: () => Promise<void>;
}

/** How long the load waits for the reads that came first, ms. */
const QUIET_MS = 250;

/**
 * As much of the newest checkpoint and the log as exact reads need; all of it is loaded behind, and
 * begins when the reads that are asked for at once have ended. Requests as `loadEarly` says.
 * @returns null when nothing can be told before all of it is loaded
 * @throws StoreError `UNAVAILABLE`, `LOCATION`; the signal's reason
 */
export async function openEarly(
  parts: EarlyOpenParts,
  signal: AbortSignal | undefined,
): Promise<Opening | null> {
  const { bucket, clock, found, settings, loader, storeId, isReleased } = parts;
  const { marker, hash } = found;
  const checkpoints = new Checkpoints(bucket);
  const sightings = new Sightings({ clock, checkpoints });
  const moment = (date?: number) => sightings.moment(date);
  const log = new Log(bucket, moment);
  const origin = Snapshot.atStart(marker, hash);
  const early = await loadEarly(
    {
      ...{ checkpoints, sightings, moment, log, origin },
      source: loader,
      openStart: (call) => loader.openStart(marker.start, call),
    },
    { signal },
  );
  if (early === null) return null;
  const follower = new EarlyFollower({ log, sightings }, early);
  const whole = loadWhole(parts, follower);
  const bodies = new BodyReader(bucket, settings.bodyCacheBytes, { packs: loader, log });
  const wholeAt = async (state: EarlyState) => {
    const [loaded, { bodies: all }] = await Promise.all([whole.loaded, whole.loading]);
    return new SnapshotReader(snapshotAt(loaded, early, state), all);
  };
  return {
    ...viewParts(whole, clock),
    ...{ worldId: marker.worldId, storeId, settings, isReleased },
    lifeMs: settings.deadlineMs,
    freshMs: settings.freshMs,
    early: earlyReads({ clock, log, bodies, follower, whole: wholeAt }),
    loading: whole.loading,
    stop: whole.stop,
  };
}

interface Whole extends Pick<Opening, 'loading' | 'stop'> {
  readonly loaded: Promise<Loaded>;
}

function loadWhole({ clock, load, release }: EarlyOpenParts, follower: EarlyFollower): Whole {
  const ending = new AbortController();
  let isLoaded = (_: Loaded): void => undefined;
  const loaded = new Promise<Loaded>((resolve) => {
    isLoaded = resolve;
  });
  const begin = async (): Promise<WorldParts> => {
    try {
      await firstReads(clock, follower, ending.signal);
      return await load(ending.signal, isLoaded);
    } finally {
      follower.end();
    }
  };
  const loading = begin();
  // Nobody may have asked for anything that needs it.
  loading.catch(() => undefined);
  const stop = async (): Promise<void> => {
    ending.abort(new StoreError('CLOSED', 'the world was closed while it was loaded'));
    follower.end();
    const isThere = await loading.then(
      () => true,
      () => false,
    );
    if (!isThere) await release();
  };
  return { loaded, loading, stop };
}

/** Waits for the reads that are asked for as soon as there is a world, so that they come first. */
async function firstReads(
  clock: Clock,
  follower: EarlyFollower,
  signal: AbortSignal,
): Promise<void> {
  const turn = async (): Promise<void> => clock.turn?.();
  const late = new AbortController();
  await turn();
  try {
    const sleep = clock.sleep(QUIET_MS, { signal: AbortSignal.any([late.signal, signal]) });
    await Promise.race([follower.quiet(turn), sleep]);
  } finally {
    late.abort(signal.reason);
  }
}

/** What views read when the early state is not enough: it is there when all is loaded. */
function viewParts(
  { loading }: Whole,
  clock: Clock,
): Pick<Opening, 'follower' | 'bodies' | 'clock' | 'loadedAt'> {
  let loadedAt: number | null = null;
  const note = (): void => {
    loadedAt = clock.monotonic();
  };
  loading.then(note, note);
  return {
    clock,
    loadedAt: () => loadedAt ?? clock.monotonic(),
    follower: {
      atTip: async (options) => (await loading).follower.atTip(options),
      within: async (ms, options) => (await loading).follower.within(ms, options),
    },
    bodies: {
      read: async (...asked) => (await loading).bodies.read(...asked),
      readUnverified: async (...asked) => (await loading).bodies.readUnverified(...asked),
    },
  };
}

function earlyReads(parts: EarlyReaderParts): EarlyReads {
  const { follower } = parts;
  const choose = async (path: string): Promise<EarlyReader | null> => {
    follower.warm(path);
    const state = await follower.atTip();
    return state === null ? null : new EarlyReader(parts, state);
  };
  return { reader: (path) => (follower.isOver ? null : follower.reading(choose(path))) };
}

/**
 * All of an early state, when the world is loaded.
 * @throws StoreError `VIEW_EXPIRED` when what was loaded is of another checkpoint and another time
 */
function snapshotAt(
  { base, snapshot }: Loaded,
  { place }: EarlyLoaded,
  { tip, slots }: EarlyState,
): Snapshot {
  if (snapshot.tip.hash === tip.hash) return snapshot;
  if (base.place?.sequence === place?.sequence && base.place?.epoch === place?.epoch) {
    return slots.reduce((state, { slot, hash }) => applySlot(state, slot, hash), base.snapshot);
  }
  throw new StoreError(
    'VIEW_EXPIRED',
    'the state that this view began with is not in memory; open another view',
  );
}
