/** Fetches stored versions by their records, verified, through a bounded cache. */
import type { BlobStore, CallOptions } from '../../blob/index.ts';
import { sha256Hex } from '../base/digest.ts';
import { integrityError } from '../base/errors.ts';
import { Lru } from '../base/lru.ts';
import { bucketFailure } from '../log/failure.ts';
import { blobKey, LOG_PREFIX, slotKey } from '../log/names.ts';
import type { CheckpointSource } from './load.ts';
import type { Snapshot } from './snapshot.ts';
import type { VersionRecord } from './state.ts';

/** Default bound of the cache, bytes of stored versions. */
const BODY_CACHE_BYTES: number = 16 * 1024 * 1024;

/** Where a record's bytes are: one object, or a range of one. */
interface Place {
  readonly key: string;
  readonly range?: readonly [number, number];
}

type PackedSource = Pick<CheckpointSource, 'readPacked'>;

/** Where stored versions come from. */
export interface BodySource {
  /** The stored version of a record, verified; not to be changed. @throws StoreError `INTEGRITY` */
  read(snapshot: Snapshot, record: VersionRecord, options?: CallOptions): Promise<Uint8Array>;
  /** What lies in its place, whatever it is. @throws StoreError `INTEGRITY` when nothing does */
  readUnverified(
    snapshot: Snapshot,
    record: VersionRecord,
    options?: CallOptions,
  ): Promise<Uint8Array>;
}

export class BodyReader implements BodySource {
  readonly #bucket: BlobStore;
  readonly #cache: Lru<string, Uint8Array>;
  readonly #packs: PackedSource | null;

  /**
   * @param cacheBytes bound of the cache in bytes; 0 keeps nothing
   * @param packs where inlined versions are whose slots are collected
   */
  constructor(
    bucket: BlobStore,
    cacheBytes: number = BODY_CACHE_BYTES,
    packs: PackedSource | null = null,
  ) {
    this.#bucket = bucket;
    this.#packs = packs;
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
   * it is inlined in a slot. The bytes must not be changed: they are shared.
   * @throws StoreError `INTEGRITY` naming the object when it is missing or other bytes;
   * `UNAVAILABLE`,
   *   `LOCATION`
   */
  async read(
    snapshot: Snapshot,
    record: VersionRecord,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    const cached = this.#cache.get(record.storedHash);
    if (cached !== undefined) return cached;
    const place = placeOf(snapshot, record);
    const lying = place === null ? null : await this.#get(place, options);
    // The slot's name may be another's by now: then the version is in a pack.
    const bytes = isVersion(lying, record) ? lying : await this.#packed(record, options);
    if (bytes === null) throw absent(place, lying, record);
    if (!isVersion(bytes, record)) {
      throw integrityError(keyOf(place), `does not hold stored version ${record.storedHash}`);
    }
    this.remember(record.storedHash, bytes);
    return bytes;
  }

  /**
   * What the bucket holds in the place of a stored version, whatever it is: for checks that say
   * what is wrong with it. One request, never cached.
   * @throws StoreError `INTEGRITY` when the object is missing
   */
  async readUnverified(
    snapshot: Snapshot,
    record: VersionRecord,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    const place = placeOf(snapshot, record);
    const lying = place === null ? null : await this.#get(place, options);
    const bytes = lying ?? (await this.#packed(record, options));
    if (bytes === null) throw absent(place, lying, record);
    return bytes;
  }

  async #get(place: Place, options: CallOptions): Promise<Uint8Array | null> {
    try {
      const found = await this.#bucket.get(place.key, { ...options, range: place.range });
      return found.found ? found.bytes : null;
    } catch (error) {
      throw bucketFailure(error);
    }
  }

  async #packed(
    { at, storedHash }: VersionRecord,
    options: CallOptions,
  ): Promise<Uint8Array | null> {
    if (!('seq' in at) || this.#packs === null) return null;
    return this.#packs.readPacked(at.seq, storedHash, options);
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
function placeOf(snapshot: Snapshot, record: VersionRecord): Place | null {
  const { at, storedHash } = record;
  if ('epoch' in at) return { key: blobKey(at.epoch, storedHash) };
  const slot = snapshot.slotOf(at.seq);
  const inlined = slot?.inlined.find(({ sequence }) => sequence === at.seq);
  if (slot === undefined || inlined === undefined) return null;
  const { offset, length } = inlined;
  return { key: slotKey(slot.first), range: [offset, offset + length] };
}
