/**
 * The commit point: one create-only slot, and the one place that decides what became of it.
 *
 * A create answers success, *exists*, or nothing that can be trusted. The last two are settled by
 * reading the name: our exact bytes are a commit, other bytes a loss, and a missing object means
 * that the identical create is sent again. Different bytes are never sent for a name while an
 * attempt of our own on it is open, so a late landing is always one of these (I1, I6).
 *
 * No answer is taken for anything unless the rule of sightings lets it be believed: the name may
 * have been used, collected and freed while this store slept.
 */
import { type BlobStore, type CallOptions, isBlobError } from '../../blob/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { bucketFailure } from './failure.ts';
import { slotKey } from './names.ts';
import type { Moment, Sighting } from './sighting.ts';
import type { Sightings } from './sightings.ts';

/**
 * `committed`: with what a sighting of the slot's last sequence is dated by. `lost`: another
 * store's slot has the name; its bytes. `fenced`: answers about the name cannot be believed any
 * more, so what became of the slot cannot be known from it. `createMs`: how long the create took
 * that said so; null when that was settled otherwise.
 */
export type AppendOutcome =
  | {
      readonly outcome: 'committed';
      readonly began: Moment;
      readonly date: number | undefined;
      readonly createMs: number | null;
    }
  | { readonly outcome: 'lost'; readonly bytes: Uint8Array; readonly createMs: number | null }
  | { readonly outcome: 'fenced' };

export interface AppendOptions {
  /** Ends the wait; the create may still land, so the outcome is then unknown. */
  readonly signal: AbortSignal;
  /** Called when an attempt has been left open, with what is known of it in words. */
  readonly onUnresolved?: (state: string) => void;
}

export interface AppendParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly sightings: Sightings;
}

/** The slot to create, and what the store knows of the end of the log it continues. */
export interface Appended {
  readonly first: Sequence;
  readonly bytes: Uint8Array;
  /** A fresh sighting of the tip that the slot follows: without one, no create may begin. */
  readonly held: Sighting;
}

/**
 * One attempt's time, ms: short enough that a silent create is read back inside a member's
 * deadline.
 */
const ATTEMPT_MS = 3_000;
/** Bytes a millisecond that the slowest usable link moves: large objects get more time. */
const SLOWEST_BYTES_PER_MS = 100;
/** Rounds in which an attempt's time doubles. */
const ROUNDS_LONGER = 4;
const BACKOFF_MS_MIN = 50;
const BACKOFF_MS_MAX = 5_000;

/**
 * Creates a slot and returns only when its fate is known. One request when all goes well; one more
 * for each answer that must be settled by reading, and a list for each that comes when the sighting
 * has become old.
 * @throws StoreError `LOCATION` or `UNAVAILABLE` when nothing that was sent can have taken effect
 * @throws the signal's reason when it aborts; the outcome is unknown then
 */
export async function append(
  parts: AppendParts,
  slot: Appended,
  options: AppendOptions,
): Promise<AppendOutcome> {
  const { sightings, clock, random } = parts;
  const key = slotKey(slot.first);
  const tip = sequence(slot.first - 1);
  const began = sightings.moment();
  let open = false;
  for (let round = 0; ; round++) {
    // Longer each time: on a slow link another store's slot may be larger than ours.
    const deadlineMs = attemptMs(slot.bytes.byteLength) * 2 ** Math.min(round, ROUNDS_LONGER);
    const calls = { signal: options.signal, deadlineMs, lane: 'commit' } as const;
    const believed = (date: number | undefined): Promise<boolean> => {
      return believe(parts, tip, slot.held, date, { ...options, ...calls });
    };
    // A pause may have aged the sighting: then this round only reads.
    const allowed = round === 0 || sightings.freshOf(tip) !== null;
    const startedAt = clock.monotonic();
    const created = allowed ? await tryCreate(parts.bucket, key, slot.bytes, calls) : WAITS;
    const tookMs = round === 0 ? clock.monotonic() - startedAt : null;
    if (created.kind === 'created') {
      if (!(await believed(created.date))) return { outcome: 'fenced' };
      return { outcome: 'committed', began, date: created.date, createMs: tookMs };
    }
    // Nothing was sent, now or before: the failure is the whole truth.
    if (created.kind === 'not sent' && !open) throw bucketFailure(created.error);
    open = true;
    const readAt = sightings.moment();
    const found = await tryRead(parts.bucket, key, calls);
    if (found.kind !== 'nothing') {
      if (!(await believed(found.date))) return { outcome: 'fenced' };
      if (found.kind === 'absent') sightings.note(tip, readAt, found.date);
      else if (!equal(found.bytes, slot.bytes)) {
        const createMs = created.kind === 'refused' ? tookMs : null;
        return { outcome: 'lost', bytes: found.bytes, createMs };
      } else return { outcome: 'committed', began, date: found.date, createMs: null };
    }
    options.onUnresolved?.(`${key}: create ${created.words}, read ${found.words}`);
    await clock.sleep(backoff(round, random), { signal: options.signal });
  }
}

type Attempt = CallOptions & { readonly signal: AbortSignal };

/** Lists until that succeeds: until then nothing may be concluded from the answer. */
async function believe(
  { sightings, clock, random }: AppendParts,
  tip: Sequence,
  held: Sighting,
  date: number | undefined,
  options: Attempt & AppendOptions,
): Promise<boolean> {
  for (let round = 0; ; round++) {
    try {
      return await sightings.believes(tip, held, date, options);
    } catch (error) {
      options.signal.throwIfAborted();
      const words = error instanceof Error ? error.message : String(error);
      options.onUnresolved?.(`${slotKey(sequence(tip + 1))}: answered, not believed yet: ${words}`);
      await clock.sleep(backoff(round, random), { signal: options.signal });
    }
  }
}

type Created =
  | { readonly kind: 'created'; readonly date: number | undefined }
  /** `refused`: the service answered, in its usual time, that another create came before. */
  | { readonly kind: 'refused' | 'unclear'; readonly words: string }
  | { readonly kind: 'not sent'; readonly words: string; readonly error: unknown };

const WAITS: Created = { kind: 'unclear', words: 'waits for a fresh look at the name' };

async function tryCreate(
  bucket: BlobStore,
  key: string,
  bytes: Uint8Array,
  options: Attempt,
): Promise<Created> {
  try {
    const { outcome, date } = await bucket.create(key, bytes, options);
    return outcome === 'created'
      ? { kind: 'created', date }
      : { kind: 'refused', words: 'was refused: the name exists' };
  } catch (error) {
    options.signal.throwIfAborted();
    // A driver's own defect says nothing of what it sent.
    if (!isBlobError(error)) return { kind: 'unclear', words: `failed: ${String(error)}` };
    const words = `failed: ${error.code}`;
    if (!error.ambiguous) return { kind: 'not sent', words, error };
    return { kind: error.code === 'throttled' ? 'refused' : 'unclear', words };
  }
}

type Found =
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      readonly words: string;
      readonly date: number | undefined;
    }
  | { readonly kind: 'absent'; readonly words: string; readonly date: number | undefined }
  /** No answer. */
  | { readonly kind: 'nothing'; readonly words: string };

async function tryRead(bucket: BlobStore, key: string, options: Attempt): Promise<Found> {
  try {
    const found = await bucket.get(key, options);
    const { date } = found;
    if (!found.found) return { kind: 'absent', words: 'finds nothing', date };
    return { kind: 'bytes', words: 'finds bytes', bytes: found.bytes, date };
  } catch (error) {
    options.signal.throwIfAborted();
    const words = isBlobError(error) ? error.code : String(error);
    return { kind: 'nothing', words: `failed: ${words}` };
  }
}

/** How long one attempt with an object of a size may take, ms. */
export function attemptMs(bytes: number): number {
  return ATTEMPT_MS + bytes / SLOWEST_BYTES_PER_MS;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function backoff(round: number, random: Random): number {
  const ceiling = Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** Math.min(round, 10));
  return ceiling * (0.5 + random.number() / 2);
}
