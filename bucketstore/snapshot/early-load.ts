/**
 * The first part of a cold start: as much as exact reads of single documents need. The newest
 * checkpoint's record, where its documents lie, and the slots behind it, in five requests one after
 * another at most. It never falls back: whatever is odd is left to a whole load (`load.ts`).
 */
import { isStoreError } from '../base/errors.ts';
import { sequence } from '../base/sequence.ts';
import { belongs } from '../log/chain.ts';
import type { CheckpointPlace } from '../log/checkpoints.ts';
import { FENCE_MS, type Moment, mostElapsed } from '../log/sighting.ts';
import type { Sightings } from '../log/sightings.ts';
import { controlOf, counts, tipOf } from './checkpoint-state.ts';
import type { EarlyBase, EarlySource } from './early-base.ts';
import { type EarlyParts, EarlyState } from './early-state.ts';
import type { EnteredSlot, LoadParts } from './load.ts';
import type { Snapshot } from './snapshot.ts';

export interface EarlyLoadParts extends Pick<LoadParts, 'checkpoints' | 'log' | 'moment'> {
  readonly sightings: Sightings;
  readonly source: EarlySource;
  /** Of the marker: the state that it starts from, without its documents. */
  readonly origin: Pick<Snapshot, 'identity' | 'tip' | 'control'>;
  readonly openStart: (options: Call) => Promise<EarlyBase>;
}

interface Call {
  readonly signal?: AbortSignal | undefined;
}

export interface EarlyLoaded {
  readonly state: EarlyState;
  /** The checkpoint; null: the start. */
  readonly place: CheckpointPlace | null;
  /**
   * Whether the names that were read may be believed: a list of records that was made after it says
   * so. Then there is a sighting of the tip. Never rejects but for the signal's reason.
   */
  readonly believed: Promise<boolean>;
}

/** Slots behind a checkpoint at most: more of them are a load of its own. */
const SLOTS_MAX = 512;

/**
 * The state of now, without the documents of its checkpoint. A list of records and one `get`; the
 * root and its manifests, and beside them a list of `log/` and one `get` for each slot, at most
 * 512, all at once; behind it, and not waited for, a list of records.
 * @returns null when it takes a whole load to tell it
 * @throws StoreError `UNAVAILABLE`, `LOCATION`; the signal's reason
 */
export async function loadEarly(parts: EarlyLoadParts, call: Call): Promise<EarlyLoaded | null> {
  try {
    return await tryLoad(parts, call);
  } catch (error) {
    if (!isDoubt(error)) throw error;
    return null;
  }
}

/** Whether an error says that something is not as it must be, and not that nobody answered. */
export function isDoubt(error: unknown): boolean {
  if (!isStoreError(error)) return false;
  return error.code === 'INTEGRITY' || error.code === 'UNSUPPORTED_FORMAT';
}

/** What is replayed from. */
interface Begin {
  readonly from: Pick<EarlyParts, 'identity' | 'tip' | 'control'>;
  readonly place: CheckpointPlace | null;
  readonly open: () => Promise<EarlyBase>;
}

async function tryLoad(parts: EarlyLoadParts, call: Call): Promise<EarlyLoaded | null> {
  const began = parts.moment();
  const newest = await parts.checkpoints.newest(call);
  const begin = await beginAt(parts, newest.place, call);
  if (begin === null) return null;
  const { from, place } = begin;
  const [base, behind] = await Promise.all([
    begin.open(),
    readBehind(parts, from.tip.sequence, call),
  ]);
  if (behind === null) return null;
  const beginning = new EarlyState({ ...from, base, from: from.tip, slots: [] });
  const state = beginning.after(behind.slots);
  if (place !== null && !counts(state.control, place)) return null;
  const since = { ...began, date: newest.date ?? null };
  const believed = believes(parts, state, since, call);
  believed.catch(() => undefined);
  return { state, place, believed };
}

/** @returns null when the record is not to be used */
async function beginAt(
  { checkpoints, source, origin, openStart }: EarlyLoadParts,
  place: CheckpointPlace | null,
  call: Call,
): Promise<Begin | null> {
  // Records of an earlier life of this location.
  if (place === null || place.sequence <= origin.tip.sequence) {
    const { identity, tip, control } = origin;
    return { from: { identity, tip, control }, place: null, open: () => openStart(call) };
  }
  const record = await checkpoints.read(place, call);
  if (record === null || belongs(origin.identity, record) !== null) return null;
  const from = { identity: origin.identity, tip: tipOf(record), control: controlOf(record) };
  return { from, place, open: () => source.open(record, call) };
}

/** Slots behind a sequence. */
interface Behind {
  readonly slots: readonly EnteredSlot[];
  /** Of the last answer, the service's own, ms. */
  readonly date: number | undefined;
}

/**
 * The slots behind a sequence. One list, and one `get` for each, all at once.
 * @returns null when they are too many, or not in a row
 */
export async function readBehind(
  { log }: Pick<EarlyLoadParts, 'log'>,
  tip: number,
  { signal }: Call,
): Promise<Behind | null> {
  const slots: EnteredSlot[] = [];
  let last: number | undefined;
  for await (const names of log.names(sequence(tip + 1), signal)) {
    if (names.length > SLOTS_MAX) return null;
    let next = tip + 1;
    const answers = await Promise.all(names.map((name) => log.read(name, { signal })));
    for (const { read, date } of answers) {
      if (read === null || read.slot.first > next) return null;
      if (date !== undefined) last = Math.max(last ?? 0, date);
      // A name inside the range already covered is a stray's.
      if (read.slot.first < next) continue;
      slots.push({ slot: read.slot, hash: read.hash, size: read.bytes.byteLength });
      next = read.slot.last + 1;
    }
  }
  return { slots, date: last };
}

/** As a whole load judges it at its end, and stricter: what a newer checkpoint makes odd is. */
async function believes(
  { checkpoints, sightings, moment }: EarlyLoadParts,
  { tip }: EarlyState,
  since: Moment,
  call: Call,
): Promise<boolean> {
  const began = moment();
  try {
    const { place, date } = await checkpoints.newest(call);
    if (place !== null && place.sequence > tip.sequence) return false;
    if (mostElapsed(since, moment(date)) > FENCE_MS) return false;
    sightings.note(tip.sequence, began, date);
    return true;
  } catch (error) {
    if (isStoreError(error)) return false;
    throw error;
  }
}
