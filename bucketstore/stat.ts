/** What a world is and what it costs, from the bucket alone: no store is opened. */
import type { BlobStore } from '../blob/index.ts';
import { CheckpointLoader } from '../checkpoint/load.ts';
import { type CheckpointStat, statCheckpoint } from '../checkpoint/stat.ts';
import { decodeOldHistory } from '../migrate/schema1-versions.ts';
import type { Clock } from './base/clock.ts';
import { integrityError, isStoreError, StoreError } from './base/errors.ts';
import { type Sequence, sequence } from './base/sequence.ts';
import { assertEmpty, type ReadMarker, readMarker } from './genesis.ts';
import { belongs } from './log/chain.ts';
import { type CheckpointPlace, Checkpoints } from './log/checkpoints.ts';
import { isMutation } from './log/entry-rules.ts';
import { Log, type ReadSlot } from './log/log.ts';
import { checkpointKey } from './log/names.ts';
import { Sightings } from './log/sightings.ts';
import { applySlot } from './snapshot/apply.ts';
import { counts } from './snapshot/checkpoint-state.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import type { ControlState } from './snapshot/state.ts';
import { type Opening, withBucket } from './with-bucket.ts';
import type { WorldStat } from './world.ts';

export type { RunStat } from '../checkpoint/stat.ts';

export type StatWorldOptions = Opening;

export interface WorldFacts extends Omit<WorldStat, 'storeId'>, CheckpointStat {
  readonly checkpoints: {
    /** Records that are there, of whatever use. */
    readonly there: number;
    /** The newest that counts and can be loaded; null: the world is replayed from its start. */
    readonly newest: (CheckpointPlace & { readonly documents: number }) | null;
    /** Keys of newer ones that cannot: `verifyWorld` says what is wrong. */
    readonly skipped: readonly string[];
  };
  /** What a store that opens the world reads of the log. */
  readonly behind: { readonly slots: number; readonly mutations: number; readonly bytes: number };
}

/**
 * What a world is now: its newest checkpoint, and what lies behind it in the log. As a store that
 * opens it, and what `statCheckpoint` takes. Memory: the state of the world.
 * @throws StoreError `NOT_FOUND` when no world is there; `UNSUPPORTED_FORMAT` for one of another
 *   schema (`details.schema`: 1 is for `statSchema1`); `INTEGRITY` when the log cannot be followed;
 *   `LOCATION`, `UNAVAILABLE`
 */
export async function statWorld(
  location: string,
  options: StatWorldOptions = {},
): Promise<WorldFacts> {
  return withBucket(location, options, async (bucket, { clock, random }) => {
    const { signal } = options;
    const parts = { bucket, clock, random, signal };
    const found = await readMarker(parts);
    if (found !== null) return factsOf(bucket, clock, found, signal);
    await assertEmpty(parts);
    throw new StoreError('NOT_FOUND', `no world is at ${bucket.name}; bucketstore init makes one`);
  });
}

/** What is loaded: the checkpoint, or the start. */
interface Loaded {
  readonly snapshot: Snapshot;
  readonly checkpoints: WorldFacts['checkpoints'];
}

/** What is there now. */
interface Replayed {
  readonly state: Snapshot;
  readonly behind: WorldFacts['behind'];
}

async function factsOf(
  bucket: BlobStore,
  clock: Clock,
  found: ReadMarker,
  signal: AbortSignal | undefined,
): Promise<WorldFacts> {
  const records = new Checkpoints(bucket);
  const sightings = new Sightings({ clock, checkpoints: records });
  const log = new Log(bucket, () => sightings.moment());
  const load = async (control: ControlState | null): Promise<Loaded & Replayed> => {
    const loaded = await loadNewest({ bucket, records, control }, found, signal);
    const replayed = await replay(log, loaded.snapshot, signal);
    const { newest } = loaded.checkpoints;
    const isDead = newest !== null && !counts(replayed.state.control, newest);
    // Only what comes after a checkpoint says that it is dead.
    return isDead ? load(replayed.state.control) : { ...loaded, ...replayed };
  };
  const { snapshot, checkpoints, state, behind } = await load(null);
  const options = { signal, lane: 'bulk' } as const;
  const parts = await statCheckpoint(bucket, snapshot.base, options);
  const { identity, tip, control, documentCount } = state;
  return {
    worldId: identity.worldId,
    incarnationId: identity.incarnationId,
    sequence: tip.sequence,
    documents: documentCount,
    epoch: control.epoch,
    floor: control.floor.at,
    sealed: control.seal !== null,
    ...{ checkpoints, behind },
    ...parts,
  };
}

interface Records {
  readonly bucket: BlobStore;
  readonly records: Checkpoints;
  /** By which those that do not count are passed over; null: not known yet. */
  readonly control: ControlState | null;
}

/** The newest checkpoint that can be loaded, or the start. */
async function loadNewest(
  { bucket, records, control }: Records,
  { marker, hash }: ReadMarker,
  signal: AbortSignal | undefined,
): Promise<Loaded> {
  const options = { signal, lane: 'bulk' } as const;
  const loader = new CheckpointLoader({ bucket, start: marker.start, decodeOldHistory });
  const skipped: string[] = [];
  let there = 0;
  let loaded: Snapshot | null = null;
  let newest: WorldFacts['checkpoints']['newest'] = null;
  for await (const place of records.all(options)) {
    if (place.sequence <= marker.start.sequence) break;
    there += 1;
    if (loaded !== null || (control !== null && !counts(control, place))) continue;
    const key = checkpointKey(place.sequence, place.epoch);
    try {
      const record = await records.read(place, options);
      if (record === null) continue;
      const problem = belongs(marker, record);
      if (problem !== null) throw integrityError(key, problem);
      loaded = await loader.load(record, options);
      newest = { ...place, documents: record.documents };
    } catch (error) {
      if (!isStoreError(error) || error.code !== 'INTEGRITY') throw error;
      skipped.push(key);
    }
  }
  const checkpoints = { there, newest, skipped };
  return { snapshot: loaded ?? (await loader.loadStart(marker, hash, options)), checkpoints };
}

async function replay(
  log: Log,
  from: Snapshot,
  signal: AbortSignal | undefined,
): Promise<Replayed> {
  let state = from;
  const behind = { slots: 0, mutations: 0, bytes: 0 };
  const next = (): Sequence => sequence(state.tip.sequence + 1);
  const take = ({ slot, hash, bytes }: ReadSlot): Sequence => {
    state = applySlot(state, slot, hash);
    behind.slots += 1;
    behind.mutations += slot.entries.filter(isMutation).length;
    behind.bytes += bytes.byteLength;
    return next();
  };
  await log.replay(next(), take, { signal, backlog: true, believe: async () => true, next });
  return { state, behind };
}
