/**
 * The commit point: one create-only slot, and the one place that decides what became of it.
 *
 * A create answers success, *exists*, or nothing that can be trusted. The last two are settled by
 * reading the name: our exact bytes are a commit, other bytes a loss, and a missing object means
 * that the identical create is sent again. Different bytes are never sent for a name while an
 * attempt of our own on it is open, so a late landing is always one of these (I1, I6).
 */
import { type BlobStore, type CallOptions, isBlobError } from '../../blob/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { Sequence } from '../base/sequence.ts';
import { bucketFailure } from './failure.ts';
import { slotKey } from './names.ts';

/** `lost`: another store's slot has the name; its bytes. */
export type AppendOutcome =
  | { readonly outcome: 'committed' }
  | { readonly outcome: 'lost'; readonly bytes: Uint8Array };

export interface AppendOptions {
  /** Ends the wait; the create may still land, so the outcome is then unknown. */
  readonly signal: AbortSignal;
  /** Called when an attempt has been left open, with what is known of it in words. */
  readonly onUnresolved?: (state: string) => void;
}

interface AppendParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
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
 * Creates the slot that begins at `first` and returns only when its fate is known. One request when
 * all goes well; one more for each answer that must be settled by reading.
 * @throws StoreError `LOCATION` or `UNAVAILABLE` when nothing that was sent can have taken effect
 * @throws the signal's reason when it aborts; the outcome is unknown then
 */
export async function append(
  parts: AppendParts,
  first: Sequence,
  bytes: Uint8Array,
  options: AppendOptions,
): Promise<AppendOutcome> {
  const key = slotKey(first);
  let open = false;
  for (let round = 0; ; round++) {
    // Longer each time: on a slow link another store's slot may be larger than ours.
    const deadlineMs = attemptMs(bytes.byteLength) * 2 ** Math.min(round, ROUNDS_LONGER);
    const calls = { signal: options.signal, deadlineMs, lane: 'commit' } as const;
    const created = await tryCreate(parts.bucket, key, bytes, calls);
    if (created.kind === 'created') return { outcome: 'committed' };
    // Nothing was sent, now or before: the failure is the whole truth.
    if (created.kind === 'not sent' && !open) throw bucketFailure(created.error);
    open = true;
    const found = await tryRead(parts.bucket, key, calls);
    if (found.kind === 'bytes') {
      return equal(found.bytes, bytes)
        ? { outcome: 'committed' }
        : { outcome: 'lost', bytes: found.bytes };
    }
    options.onUnresolved?.(`${key}: create ${created.words}, read ${found.words}`);
    await parts.clock.sleep(backoff(round, parts.random), { signal: options.signal });
  }
}

type Attempt = CallOptions & { readonly signal: AbortSignal };

type Created =
  | { readonly kind: 'created' }
  | { readonly kind: 'unclear'; readonly words: string }
  | { readonly kind: 'not sent'; readonly words: string; readonly error: unknown };

async function tryCreate(
  bucket: BlobStore,
  key: string,
  bytes: Uint8Array,
  options: Attempt,
): Promise<Created> {
  try {
    const { outcome } = await bucket.create(key, bytes, options);
    return outcome === 'created'
      ? { kind: 'created' }
      : { kind: 'unclear', words: 'was refused: the name exists' };
  } catch (error) {
    options.signal.throwIfAborted();
    // A driver's own defect says nothing of what it sent.
    if (!isBlobError(error)) return { kind: 'unclear', words: `failed: ${String(error)}` };
    const words = `failed: ${error.code}`;
    return error.ambiguous ? { kind: 'unclear', words } : { kind: 'not sent', words, error };
  }
}

type Found =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'nothing'; readonly words: string };

async function tryRead(bucket: BlobStore, key: string, options: Attempt): Promise<Found> {
  try {
    const found = await bucket.get(key, options);
    return found.found
      ? { kind: 'bytes', bytes: found.bytes }
      : { kind: 'nothing', words: 'finds nothing' };
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
