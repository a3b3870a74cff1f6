/** The beginning of a world at a location: its marker, created once (I2). */
import { assertUsable, type BlobStore, probe } from '../blob/index.ts';
import type { Clock } from './base/clock.ts';
import { sha256Hex } from './base/digest.ts';
import { integrityError, StoreError } from './base/errors.ts';
import type { Random } from './base/random.ts';
import { bucketFailure } from './log/failure.ts';
import { SCHEMA_1_ADVICE, unsupportedFormat } from './log/format.ts';
import { encodeMarker, genesisMarker, recogniseHead } from './log/marker.ts';
import {
  CHECKPOINTS_PREFIX,
  LOG_PREFIX,
  MARKER_KEY,
  PROBE_PREFIX,
  parseKey,
  WORLD_PREFIX,
} from './log/names.ts';
import type { Marker } from './log/records.ts';

export interface ReadMarker {
  readonly marker: Marker;
  /** SHA-256 of its bytes: what the first slot names. */
  readonly hash: string;
}

export interface GenesisParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal | undefined;
}

/**
 * The marker of a location, or null when it has none. One `get`.
 * @throws StoreError `UNSUPPORTED_FORMAT` for a world of schema 1 or of newer code, `INTEGRITY`,
 *   `LOCATION`, `UNAVAILABLE`
 */
export async function readMarker({
  bucket,
  signal,
}: Pick<GenesisParts, 'bucket' | 'signal'>): Promise<ReadMarker | null> {
  try {
    const found = await bucket.get(MARKER_KEY, { signal });
    return found.found ? markerOf(found.bytes, bucket.name) : null;
  } catch (error) {
    throw bucketFailure(error);
  }
}

function markerOf(bytes: Uint8Array, location: string): ReadMarker {
  const head = recogniseHead(bytes);
  switch (head.kind) {
    case 'marker':
      return { marker: head.marker, hash: sha256Hex(bytes) };
    case 'schema-1':
      throw new StoreError(
        'UNSUPPORTED_FORMAT',
        `${location} holds world ${head.worldId ?? 'unknown'} in the old format, schema 1: ` +
          SCHEMA_1_ADVICE,
        { details: { object: MARKER_KEY, schema: 1 } },
      );
    case 'newer':
      throw unsupportedFormat(MARKER_KEY, head.schema, head.format);
    default:
      return head satisfies never;
  }
}

/**
 * Refuses a location without a marker that is not empty: a world that lost its marker, or a bucket
 * that is somebody else's. Four lists at most.
 * @throws StoreError `INTEGRITY`, `LOCATION`
 */
export async function assertEmpty({ bucket, signal }: GenesisParts): Promise<void> {
  for (const prefix of [LOG_PREFIX, CHECKPOINTS_PREFIX]) {
    const key = await firstKey(bucket, prefix, undefined, signal);
    if (key !== null) {
      throw integrityError(
        MARKER_KEY,
        `missing, while ${key} is there: the world at ${bucket.name} has lost its marker; bring ` +
          'it back from a backup, nothing is written here',
      );
    }
  }
  const first = await firstKey(bucket, '', undefined, signal);
  const beyond = await firstKey(bucket, '', `${WORLD_PREFIX}~`, signal);
  const foreign = [first, beyond].find((key) => key !== null && isForeign(key));
  if (foreign !== undefined && foreign !== null) {
    throw new StoreError(
      'LOCATION',
      `${bucket.name} holds objects that are no world's, such as ${foreign}; choose an empty ` +
        'bucket, prefix or directory',
    );
  }
}

/** What an import or a probe that died has left is fine: those names mean nothing to a world. */
function isForeign(key: string): boolean {
  const ours = key.startsWith(PROBE_PREFIX) || parseKey(key) !== null;
  return !key.startsWith(WORLD_PREFIX) || !ours;
}

async function firstKey(
  bucket: BlobStore,
  prefix: string,
  after: string | undefined,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  try {
    const page = await bucket.list({ prefix, after, limit: 1 }, { signal });
    return page.objects[0]?.key ?? null;
  } catch (error) {
    throw bucketFailure(error);
  }
}

/**
 * Makes a new, empty world: probes the location, then creates the marker. Of several that do so at
 * once one wins, and the others take its world.
 * @param worldId the ID it shall have, and that a winner's must have; null for a random one
 * @throws StoreError `LOCATION` naming a missing guarantee, or another world that is there
 */
export async function createWorld(
  parts: GenesisParts,
  probed: BlobStore,
  worldId: string | null,
): Promise<ReadMarker> {
  const { clock, random, signal } = parts;
  try {
    await assertEmpty(parts);
  } catch (error) {
    // Another may have made a world since the look at the marker, and written to it.
    const made = await readMarker(parts);
    if (made === null) throw error;
    return made;
  }
  try {
    assertUsable(await probe(probed, { chance: random, timing: clock, replace: false, signal }));
  } catch (error) {
    throw bucketFailure(error);
  }
  return createMarker(parts, genesisMarker(worldId ?? random.uuid(), random.uuid()));
}

/**
 * Creates the marker of a location that was found empty and usable. One `create`, one `get`.
 * @returns what is there then: this marker, or that of another who was quicker
 * @throws StoreError `UNAVAILABLE` when none is there; `LOCATION`, and what `readMarker` throws
 */
export async function createMarker(
  { bucket, signal }: Pick<GenesisParts, 'bucket' | 'signal'>,
  marker: Marker,
): Promise<ReadMarker> {
  const created = await tryCreate(bucket, encodeMarker(marker), signal);
  const found = await readMarker({ bucket, signal });
  if (found === null) {
    const words = created === null ? 'was answered' : `failed: ${created}`;
    throw new StoreError(
      'UNAVAILABLE',
      `the marker's create ${words}, and it is not there; again?`,
    );
  }
  return found;
}

/** @returns what went wrong, or null; whether it is there is for a read to say */
async function tryCreate(
  bucket: BlobStore,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  try {
    await bucket.create(MARKER_KEY, bytes, { signal, lane: 'commit' });
    return null;
  } catch (error) {
    const failure = bucketFailure(error);
    if (failure instanceof StoreError && failure.code === 'UNAVAILABLE') return failure.message;
    throw failure;
  }
}
