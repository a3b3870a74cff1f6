/**
 * Reading objects of schema 1: an object's bytes, decoded, or what is wrong with it.
 *
 * MEMORY. Of an object no more than its first 1 MiB is read before its size is known, and none that
 * is larger than its kind can be is read further. Of those that are larger than that MiB, shards
 * and manifests of worlds unlike any that we know, one at a time is read and decoded.
 */
import type { BlobStore } from '../blob/blob.ts';
import { integrityError, StoreError } from '../bucketstore/base/errors.ts';
import { createLimit } from '../bucketstore/base/limit.ts';
import { STORED_BYTES_MAX } from '../bucketstore/document/stored.ts';
import { bucketFailure } from '../bucketstore/log/failure.ts';
import { unsupportedFormat } from '../bucketstore/log/format.ts';
import { recogniseHead } from '../bucketstore/log/marker.ts';
import { integrityProblem, type Problem } from '../bucketstore/log/problems.ts';
import { schema1BytesMax } from './schema1-bounds.ts';
import { decodeSchema1Head } from './schema1-head.ts';
import { HEAD_KEY, type Schema1Name, schema1Key } from './schema1-keys.ts';
import type { Schema1Head } from './schema1-records.ts';

export interface Schema1ReadOptions {
  readonly signal?: AbortSignal | undefined;
  /** Told of what is wrong, which is then not thrown. */
  readonly report?: ((problem: Problem) => void) | undefined;
  /** Told of each object that is referred to, before it is read. */
  readonly onReference?: ((name: Schema1Name) => void) | undefined;
}

export interface ReadSchema1Head {
  readonly head: Schema1Head;
  /** Of the object: what a replace must name. */
  readonly generation: string;
}

/** The first bytes of an object, or others, and the size of all of it. */
interface Part {
  readonly bytes: Uint8Array;
  readonly size: number;
}

/** What a read made of an object, or what is wrong with it. */
export type Read<T extends object> = T | Problem;

/**
 * The head of a location. One `get`.
 * @throws StoreError `NOT_FOUND` without one; `UNSUPPORTED_FORMAT` when a marker of schema 2 or of
 *   newer code is in its place; `INTEGRITY`; the bucket's failures
 */
export async function readSchema1Head(
  bucket: BlobStore,
  { signal }: Pick<Schema1ReadOptions, 'signal'> = {},
): Promise<ReadSchema1Head> {
  try {
    // Whole, as every start of a store reads it: it has no hash, so a driver's checksum counts.
    const found = await bucket.get(HEAD_KEY, { signal });
    if (!found.found) throw new StoreError('NOT_FOUND', `no world is at ${bucket.name}`);
    assertSchema1(found.bytes, bucket.name);
    return { head: decodeSchema1Head(found.bytes), generation: found.attributes.generation };
  } catch (error) {
    throw bucketFailure(error);
  }
}

/** What can be read: nothing is known of pins. */
type ReadName = Exclude<Schema1Name, { readonly kind: 'pin' }>;

/** The longest blob: what is read of an object at first. */
const FIRST_BYTES = STORED_BYTES_MAX;
/** A large object is read in parts, so that no call takes longer than its deadline. */
const PART_BYTES = 8_388_608;

/** Reads in the bulk lane; damage is thrown, or told to `report`, when its turn has come. */
export class Schema1Reader {
  readonly #bucket: BlobStore;
  readonly #options: Schema1ReadOptions;
  readonly #large = createLimit(1);

  constructor(bucket: BlobStore, options: Schema1ReadOptions) {
    this.#bucket = bucket;
    this.#options = options;
  }

  /**
   * An object, decoded. One `get`, and one more for each 8 MiB behind the first MiB.
   * @param decode throws `INTEGRITY` for what is wrong with the bytes
   * @throws StoreError what is no damage: the bucket's failures
   */
  async read<T extends object>(
    name: ReadName,
    decode: (key: string, bytes: Uint8Array) => T,
  ): Promise<Read<T>> {
    this.#options.onReference?.(name);
    const key = schema1Key(name);
    try {
      const first = await this.#get(key, 0, FIRST_BYTES);
      if (first === null) return { object: key, problem: 'missing' };
      const { bytes, size } = first;
      const sizeMax = schema1BytesMax(name.kind);
      if (size > sizeMax) return { object: key, problem: `${size} bytes, more than ${sizeMax}` };
      if (size <= FIRST_BYTES) return decode(key, bytes);
      // Decoded in here too: that takes several times its bytes.
      return await this.#large.run(async () => decode(key, await this.#readLarge(key, first)));
    } catch (error) {
      return integrityProblem(error, key);
    }
  }

  async #get(key: string, start: number, end: number): Promise<Part | null> {
    const { signal } = this.#options;
    const found = await this.#bucket.get(key, { signal, lane: 'bulk', range: [start, end] });
    return found.found ? { bytes: found.bytes, size: found.attributes.size } : null;
  }

  async #readLarge(key: string, { bytes, size }: Part): Promise<Uint8Array> {
    const whole = Buffer.allocUnsafe(size);
    whole.set(bytes);
    for (let start = bytes.length; start < size; start += PART_BYTES) {
      const end = Math.min(start + PART_BYTES, size);
      const part = await this.#get(key, start, end);
      if (part?.bytes.length !== end - start) {
        throw integrityError(key, 'changed while it was read');
      }
      whole.set(part.bytes, start);
    }
    return whole;
  }

  /** @throws StoreError `INTEGRITY` when nobody is told */
  report({ object, problem }: Problem): void {
    const { report } = this.#options;
    if (report === undefined) throw integrityError(object, problem);
    report({ object, problem });
  }
}

/** Whether a read found something wrong. */
export function isProblem(read: Read<object>): read is Problem {
  return 'problem' in read;
}

function assertSchema1(bytes: Uint8Array, location: string): void {
  const found = recogniseHead(bytes);
  switch (found.kind) {
    case 'schema-1':
      return;
    case 'marker':
      throw new StoreError('UNSUPPORTED_FORMAT', `${location} holds a world of schema 2`, {
        details: { object: HEAD_KEY, schema: 2 },
      });
    case 'newer':
      throw unsupportedFormat(HEAD_KEY, found.schema, found.format);
    default:
      found satisfies never;
  }
}
