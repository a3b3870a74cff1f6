/** Puts derived objects into the bucket, and asks whether they are there. */
import { type BlobStore, type CallOptions, isBlobError, type Lane } from '../blob/index.ts';
import type { Clock } from '../bucketstore/base/clock.ts';
import { integrityError, isStoreError, StoreError } from '../bucketstore/base/errors.ts';
import type { Random } from '../bucketstore/base/random.ts';
import { attemptMs } from '../bucketstore/log/append.ts';
import { bucketFailure } from '../bucketstore/log/failure.ts';
import { readRange } from './objects.ts';

export interface WriterParts {
  readonly bucket: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Which queue its calls wait in. Default `bulk`. */
  readonly lane?: Lane | undefined;
}

/** Attempts to put one object, with a longer pause behind each. */
const ATTEMPTS_MAX = 8;
const BACKOFF_MS_MAX = 4_000;

/** Writes derived objects. */
export class ObjectWriter {
  readonly #parts: WriterParts;
  readonly #lane: Lane;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#lane = parts.lane ?? 'bulk';
  }

  /**
   * Makes sure that an object named after its content is in the bucket. One `create` when all goes
   * well. A name that is taken, or an answer that was lost, is success only when the bytes there
   * are read and are the same: a service may keep less than it was sent.
   * @returns `kept` when it was there before, or may have been
   * @throws StoreError `INTEGRITY` when other bytes have the name; `LOCATION`; `UNAVAILABLE` after
   *   eight attempts; the signal's reason. Whatever of it, the object may have been stored
   */
  async put(
    key: string,
    bytes: Uint8Array,
    options: Pick<CallOptions, 'signal'> = {},
  ): Promise<'created' | 'kept'> {
    const { clock, random } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      const done = await this.#tryPut(key, bytes, options, attempt === ATTEMPTS_MAX);
      if (done !== null) return done;
      const ceiling = Math.min(BACKOFF_MS_MAX, 50 * 2 ** attempt);
      await clock.sleep(ceiling * (0.5 + random.number() / 2), options);
    }
  }

  /**
   * Whether an object is there with its length. One `head`.
   * @throws StoreError `UNAVAILABLE`, `LOCATION`
   */
  async isThere(
    key: string,
    size: number,
    options: Pick<CallOptions, 'signal'> = {},
  ): Promise<boolean> {
    try {
      const found = await this.#parts.bucket.head(key, { ...options, lane: this.#lane });
      return found.found && found.attributes.size === size;
    } catch (error) {
      throw bucketFailure(error);
    }
  }

  /** One attempt; null when another may do better. */
  async #tryPut(
    key: string,
    bytes: Uint8Array,
    { signal }: Pick<CallOptions, 'signal'>,
    isLast: boolean,
  ): Promise<'created' | 'kept' | null> {
    const { bucket } = this.#parts;
    const options = { signal, deadlineMs: attemptMs(bytes.byteLength), lane: this.#lane };
    let failure: unknown = new StoreError('UNAVAILABLE', `${key}: taken, and yet not there`);
    try {
      const { outcome } = await bucket.create(key, bytes, options);
      if (outcome === 'created') return 'created';
    } catch (error) {
      signal?.throwIfAborted();
      if (!mayPass(error)) throw bucketFailure(error);
      failure = bucketFailure(error);
    }
    try {
      // One byte more, so that a longer object is not taken for it.
      const found = await readRange(bucket, key, [0, bytes.length + 1], options);
      if (found !== null) {
        if (Buffer.compare(found, bytes) === 0) return 'kept';
        throw integrityError(key, 'holds other bytes than its name says');
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isStoreError(error) || error.code !== 'UNAVAILABLE') throw error;
      failure = error;
    }
    if (isLast) throw failure;
    return null;
  }
}

/** Whether another attempt may do better. */
function mayPass(error: unknown): boolean {
  return isBlobError(error) && (error.retryable || error.ambiguous);
}
