/**
 * Loads the state of now from nothing but the bucket: a cold start, and a reload of a store that
 * slept too long to believe what it is told.
 *
 * The newest checkpoint that counts, then every slot behind it. Slots may be collected while it
 * loads, so nothing is concluded before the records have been listed once more: a checkpoint beyond
 * the tip that was found means that the names read may have been freed, and loading starts again.
 */
import type { CallOptions } from '../../blob/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/diagnostics.ts';
import { integrityError, isStoreError, StoreError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { belongs } from '../log/chain.ts';
import type { CheckpointPlace, Checkpoints } from '../log/checkpoints.ts';
import type { Log, Missing, ReadSlot } from '../log/log.ts';
import { checkpointKey } from '../log/names.ts';
import { type CheckpointRecord, SLOT_ENTRIES_MAX } from '../log/records.ts';
import { FENCE_MS, type Moment, mostElapsed } from '../log/sighting.ts';
import { applySlot } from './apply.ts';
import { counts } from './checkpoint-state.ts';
import { SnapshotDraft } from './draft.ts';
import { RecentSlots } from './recent-slots.ts';
import { readRetained } from './retained.ts';
import type { Snapshot } from './snapshot.ts';
import type { ControlState } from './state.ts';

/** Where the states of checkpoints come from. */
export interface CheckpointSource {
  /**
   * The state at a record, its tip and control state included.
   * @throws StoreError `INTEGRITY` when it does not verify; the next older one is tried then
   */
  load(record: CheckpointRecord, options: CallOptions): Promise<Snapshot>;
  /**
   * The stored version of an inlined entry whose slot is gone, or null when no pack of a checkpoint
   * that is known here holds it.
   */
  readPacked(at: Sequence, storedHash: string, options: CallOptions): Promise<Uint8Array | null>;
  /**
   * The same out of the packs of a checkpoint that may not be known; no other part of it is read.
   * null also for one of which `readPacked` has told already.
   * @throws StoreError `INTEGRITY` when what names its packs does not verify
   */
  readPackedAt(
    record: CheckpointRecord,
    at: Sequence,
    storedHash: string,
    options: CallOptions,
  ): Promise<Uint8Array | null>;
}

export interface LoadParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly moment: (date?: number) => Moment;
  readonly log: Log;
  readonly checkpoints: Checkpoints;
  /** The state that the marker starts from; reads it again. */
  readonly start: (options: CallOptions) => Promise<Snapshot>;
  /** null: every state is replayed from the start. */
  readonly source: CheckpointSource | null;
}

export interface LoadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Slots up to here are known to the caller: not read for their operations again. */
  readonly known?: Sequence | undefined;
}

export interface Loaded {
  readonly snapshot: Snapshot;
  /** What it was replayed from. */
  readonly base: {
    readonly snapshot: Snapshot;
    /** null: the start. */
    readonly place: CheckpointPlace | null;
  };
  /** The look that found the next name missing. */
  readonly missing: Missing;
  /**
   * The recent ones of the slots that were read, in order, those before the checkpoint too: as many
   * as there can be operations to be found in, not all of a long log.
   */
  readonly slots: readonly EnteredSlot[];
}

/** A slot that entered a state. */
export interface EnteredSlot extends Pick<ReadSlot, 'slot' | 'hash'> {
  /** Of the object, bytes. */
  readonly size: number;
}

const ATTEMPTS_MAX = 40;
/** Between attempts, ms: what made one fail is another's work under way. */
const AGAIN_MS = 250;

/**
 * The state of now. One `get` of the marker, two lists of records, one list for a thousand slots
 * and one `get` for each, and one of the name that is missing. With a source and a checkpoint also
 * a third list of records, one `get` of a record, and what the checkpoint's own loading costs; and
 * a list and a `get` for each recent slot before it. All of it again for each time that the world
 * moved on under its hands.
 * @throws StoreError `INTEGRITY` naming what is missing or wrong; `SEALED`, `UNAVAILABLE`,
 *   `LOCATION`
 */
export async function load(parts: LoadParts, options: LoadOptions): Promise<Loaded> {
  const dead: Dead = { judged: null };
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const loaded = await tryLoad(parts, dead, options);
    if (loaded !== null) return loaded;
    await parts.clock.sleep(AGAIN_MS, { signal: options.signal });
  }
  throw new StoreError(
    'UNAVAILABLE',
    `the world changed ${ATTEMPTS_MAX} times while it was loaded; try again`,
  );
}

/** What earlier attempts of a load have found out. */
interface Dead {
  /** The control state behind a checkpoint that was found dead. */
  judged: ControlState | null;
}

/** A checkpoint that a state says is dead stays so; what is written in a later epoch may count. */
function isDead({ judged }: Dead, place: CheckpointPlace): boolean {
  return judged !== null && place.epoch <= judged.epoch && !counts(judged, place);
}

/** Where a load begins. */
interface Base {
  readonly snapshot: Snapshot;
  /** null: the start. */
  readonly place: CheckpointPlace | null;
  /** The newest record listed, whether it is the base or not; 0 for none. */
  readonly newest: number;
  readonly began: Moment;
}

/** @returns null when the world moved on meanwhile, so that what was read means nothing */
async function tryLoad(parts: LoadParts, dead: Dead, options: LoadOptions): Promise<Loaded | null> {
  const base = await chooseBase(parts, dead, options);
  let { snapshot } = base;
  const recent = new RecentSlots<EnteredSlot>();
  const next = (): Sequence => sequence(snapshot.tip.sequence + 1);
  const take = ({ slot, hash, bytes }: ReadSlot): Sequence => {
    snapshot = applySlot(snapshot, slot, hash);
    recent.add({ slot, hash, size: bytes.byteLength });
    return next();
  };
  // What the names say is judged at the end, all of it at once.
  const { signal } = options;
  const replay = { signal, backlog: true, believe: async () => true, next };
  let missing: Missing;
  try {
    missing = await parts.log.replay(next(), take, replay);
  } catch (error) {
    if (!isStoreError(error) || error.code !== 'INTEGRITY') throw error;
    const { place } = await parts.checkpoints.newest(options);
    if (place !== null && place.sequence > base.newest) return null;
    throw error;
  }
  if (await isOvertaken(parts, base, snapshot.tip.sequence, options)) return null;
  if (base.place !== null && !counts(snapshot.control, base.place)) {
    dead.judged = snapshot.control;
    return null;
  }
  const { tip, base: documents } = base.snapshot;
  const { packedThrough } = documents;
  const range = {
    // The first one wanted may begin so far before what it holds.
    known: Math.min(options.known ?? 0, packedThrough - SLOT_ENTRIES_MAX),
    floor: snapshot.control.floor.at,
  };
  const before = await readRetained(parts, tip, range, options);
  const unpacked = before.filter(({ slot }) => slot.last > packedThrough);
  const entered = before.filter(({ slot }) => slot.last > (options.known ?? 0));
  return {
    snapshot: withSlots(snapshot, unpacked),
    base: { snapshot: withSlots(base.snapshot, unpacked), place: base.place },
    missing,
    slots: [...entered, ...recent.take()],
  };
}

/** A state that also knows where slots before its checkpoint hold what is in no pack yet. */
function withSlots(state: Snapshot, slots: readonly EnteredSlot[]): Snapshot {
  if (slots.length === 0) return state;
  const draft = new SnapshotDraft(state);
  for (const { slot } of slots) draft.noteSlot(slot);
  return draft.freeze();
}

/**
 * The newest checkpoint whose state can be loaded, else the start. A record that cannot is skipped
 * with a warning: an older one and the slots behind it make the same state (I3).
 */
async function chooseBase(
  { checkpoints, source, logger, moment, ...parts }: LoadParts,
  dead: Dead,
  { signal }: LoadOptions,
): Promise<Base> {
  const start = await parts.start({ signal });
  // Before the request, not at its answer: a pause in between must count.
  const before = moment();
  const { place: first, date } = await checkpoints.newest({ signal });
  const began = { ...before, date: date ?? null };
  const newest = first?.sequence ?? 0;
  if (source !== null && first !== null) {
    for await (const place of checkpoints.all({ signal })) {
      // Records of an earlier life of this location.
      if (place.sequence <= start.tip.sequence) break;
      if (isDead(dead, place)) continue;
      const snapshot = await tryRecord({ checkpoints, source, logger }, start, place, { signal });
      if (snapshot !== null) return { snapshot, place, newest, began };
    }
  }
  return { snapshot: start, place: null, newest, began };
}

async function tryRecord(
  {
    checkpoints,
    source,
    logger,
  }: Pick<LoadParts, 'checkpoints' | 'logger'> & {
    readonly source: CheckpointSource;
  },
  { identity }: Snapshot,
  place: CheckpointPlace,
  options: CallOptions,
): Promise<Snapshot | null> {
  try {
    const record = await checkpoints.read(place, options);
    if (record === null) return null;
    const problem = belongs(identity, record);
    if (problem !== null) throw integrityError(keyOf(place), problem);
    return await source.load(record, options);
  } catch (error) {
    if (!isStoreError(error) || error.code !== 'INTEGRITY') throw error;
    logger.warn({ object: keyOf(place), err: error }, 'checkpoint skipped: it does not verify');
    return null;
  }
}

/**
 * Whether names that were read may have been freed and used again meanwhile: there is a checkpoint
 * beyond the tip that was found, or a newer one and the load took too long to rely on its
 * beginning.
 * @throws StoreError `INTEGRITY` when the log ends before a checkpoint that was there all along
 */
async function isOvertaken(
  { checkpoints, moment }: LoadParts,
  base: Base,
  tip: Sequence,
  { signal }: LoadOptions,
): Promise<boolean> {
  const { place, date } = await checkpoints.newest({ signal });
  if (place === null) return false;
  if (place.sequence > base.newest) {
    return place.sequence > tip || mostElapsed(base.began, moment(date)) > FENCE_MS;
  }
  if (place.sequence > tip) {
    throw integrityError(keyOf(place), `is beyond the log, which ends at ${tip}`);
  }
  return false;
}

function keyOf({ sequence: at, epoch }: CheckpointPlace): string {
  return checkpointKey(at, epoch);
}
