/** Fetches stored versions by their records, verified, through a bounded cache. */
import type { BlobStore, CallOptions } from '../../blob/index.ts';
import { sha256Hex } from '../base/digest.ts';
import { integrityError, StoreError } from '../base/errors.ts';
import { Lru } from '../base/lru.ts';
import type { Sequence } from '../base/sequence.ts';
import { bucketFailure } from '../log/failure.ts';
import type { Log } from '../log/log.ts';
import { blobKey, LOG_PREFIX, slotKey } from '../log/names.ts';
import { readInSlot } from './slot-body.ts';
import type { Snapshot } from './snapshot.ts';
import type { VersionRecord } from './state.ts';

/** Default bound of the cache, bytes of stored versions. */
const BODY_CACHE_BYTES: number = 16 * 1024 * 1024;

/** Where a record's bytes are: one object, or a range of one. */
interface Place {
  readonly key: string;
  readonly range?: readonly [number, number];
}

/** Where inlined versions are whose slots are gone. */
export interface PackedSource {
  /** The stored version of an inlined entry, verified; null when no pack holds it. */
  readPacked(at: Sequence, storedHash: string, options: CallOptions): Promise<Uint8Array | null>;
}

/** What a state says of where stored versions lie. */
export type SlotPlaces = Pick<Snapshot, 'slotOf'>;

export interface BodyOptions extends CallOptions {
  /**
   * The document that the version is of: then one that is nowhere is looked up in the newest state,
   * which may not retain it any more. Default: whoever asks is sure that it is retained.
   */
  readonly path?: string | undefined;
}

/** Where stored versions come from. */
export interface BodySource {
  /**
   * The stored version of a record, verified; not to be changed.
   * @throws StoreError `INTEGRITY` when it is nowhere, or not what its record says; `VIEW_EXPIRED`
   *   when it is nowhere because it is retained no more
   */
  read(state: SlotPlaces, record: VersionRecord, options?: BodyOptions): Promise<Uint8Array>;
  /** What lies in its place, whatever it is. @throws StoreError as `read` when nothing does */
  readUnverified(
    state: SlotPlaces,
    record: VersionRecord,
    options?: BodyOptions,
  ): Promise<Uint8Array>;
}

export interface BodyParts {
  /** Where inlined versions are whose slots are collected. Default nowhere. */
  readonly packs?: PackedSource | null | undefined;
  /** Where a slot is looked for that the state does not tell. Default nowhere. */
  readonly log?: Pick<Log, 'firstOf' | 'read'> | undefined;
  /** The state of now. Without it every version that is nowhere is one that should be there. */
  readonly newest?: ((options: CallOptions) => Promise<Snapshot>) | undefined;
}

export class BodyReader implements BodySource {
  readonly #bucket: BlobStore;
  readonly #cache: Lru<string, Uint8Array>;
  readonly #packs: PackedSource | null;
  readonly #log: BodyParts['log'];
  readonly #newest: BodyParts['newest'];

  /** @param cacheBytes bound of the cache in bytes; 0 keeps nothing */
  constructor(
    bucket: BlobStore,
    cacheBytes: number = BODY_CACHE_BYTES,
    { packs, log, newest }: BodyParts = {},
  ) {
    this.#bucket = bucket;
    this.#packs = packs ?? null;
    this.#log = log;
    this.#newest = newest;
    this.#cache = new Lru(cacheBytes, (bytes) => bytes.byteLength);
  }

  /** Bytes held now, for the retention tests (I17). */
  get cachedBytes(): number {
    return this.#cache.weight;
  }

  /** Keeps bytes that are known to have a hash, so that their first reader asks nobody. */
  remember(storedHash: string, bytes: Uint8Array): void {
    this.#cache.set(storedHash, bytes);
  }

  /**
   * The stored version of a record. No request when it is cached, else one `get`, of a range when
   * it is inlined in a slot; more when its slot is gone. The bytes must not be changed: they are
   * shared.
   * @throws StoreError `INTEGRITY` naming the object when it is missing or other bytes;
   *   `VIEW_EXPIRED` when the version is retained no more; `UNAVAILABLE`, `LOCATION`
   */
  async read(
    state: SlotPlaces,
    record: VersionRecord,
    { path, ...call }: BodyOptions = {},
  ): Promise<Uint8Array> {
    const cached = this.#cache.get(record.storedHash);
    if (cached !== undefined) return cached;
    const place = placeOf(state, record);
    const lying = place === null ? null : await this.#get(place, call);
    // The slot's name may be another's by now: then the version is in a pack.
    const bytes = isVersion(lying, record) ? lying : await this.#elsewhere(place, record, call);
    if (bytes === null) throw await this.#absent(absent(place, lying, record), path, record, call);
    if (!isVersion(bytes, record)) {
      throw integrityError(keyOf(place), `does not hold stored version ${record.storedHash}`);
    }
    this.remember(record.storedHash, bytes);
    return bytes;
  }

  /**
   * What the bucket holds in the place of a stored version, whatever it is: for checks that say
   * what is wrong with it. One request, never cached.
   * @throws StoreError as `read` when the object is missing
   */
  async readUnverified(
    state: SlotPlaces,
    record: VersionRecord,
    { path, ...call }: BodyOptions = {},
  ): Promise<Uint8Array> {
    const place = placeOf(state, record);
    const lying = place === null ? null : await this.#get(place, call);
    const bytes = lying ?? (await this.#elsewhere(place, record, call));
    if (bytes === null) throw await this.#absent(absent(place, lying, record), path, record, call);
    return bytes;
  }

  /** What it means that a version is nowhere: only one that is still retained should be there. */
  async #absent(
    error: Error,
    path: string | undefined,
    { version }: VersionRecord,
    options: CallOptions,
  ): Promise<Error> {
    if (path === undefined || this.#newest === undefined) return error;
    const head = (await this.#newest(options)).head(path);
    if (head !== undefined && head.first <= version && version <= head.version) return error;
    return new StoreError(
      'VIEW_EXPIRED',
      `version ${version} of ${path} is retained no more; open another view`,
      { details: { path }, cause: error },
    );
  }

  async #get(place: Place, options: CallOptions): Promise<Uint8Array | null> {
    try {
      const found = await this.#bucket.get(place.key, { ...options, range: place.range });
      return found.found ? found.bytes : null;
    } catch (error) {
      throw bucketFailure(error);
    }
  }

  /**
   * An inlined version out of a pack; else out of a slot that the state does not tell: it was not
   * packed, as another of its unit could not be.
   */
  async #elsewhere(
    place: Place | null,
    { at, storedHash }: VersionRecord,
    options: CallOptions,
  ): Promise<Uint8Array | null> {
    if (!('seq' in at)) return null;
    const packed = await this.#packs?.readPacked(at.seq, storedHash, options);
    if (packed != null) return packed;
    if (place !== null || this.#log === undefined) return null;
    return (await readInSlot(this.#log, at.seq, storedHash, options)).bytes;
  }
}

function isVersion(bytes: Uint8Array | null, { storedHash }: VersionRecord): bytes is Uint8Array {
  return bytes !== null && sha256Hex(bytes) === storedHash;
}

function absent(place: Place | null, lying: Uint8Array | null, record: VersionRecord): Error {
  const problem =
    lying === null
      ? 'missing, and a retained version is in it'
      : `does not hold stored version ${record.storedHash}`;
  return integrityError(keyOf(place), problem);
}

function keyOf(place: Place | null): string {
  return place?.key ?? LOG_PREFIX;
}

/** null: in no slot that this state was replayed from. */
function placeOf(state: SlotPlaces, record: VersionRecord): Place | null {
  const { at, storedHash } = record;
  if ('epoch' in at) return { key: blobKey(at.epoch, storedHash) };
  const slot = state.slotOf(at.seq);
  const inlined = slot?.inlined.find(({ sequence }) => sequence === at.seq);
  if (slot === undefined || inlined === undefined) return null;
  const { offset, length } = inlined;
  return { key: slotKey(slot.first), range: [offset, offset + length] };
}
