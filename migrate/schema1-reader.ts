/**
 * Reading objects of schema 1: an object's bytes, decoded, or what is wrong with it.
 */
import type { BlobStore } from '../blob/blob.ts';
import { integrityError, StoreError } from '../bucketstore/base/errors.ts';
import { bucketFailure } from '../bucketstore/log/failure.ts';
import { unsupportedFormat } from '../bucketstore/log/format.ts';
import { recogniseHead } from '../bucketstore/log/marker.ts';
import { integrityProblem, type Problem } from '../bucketstore/log/problems.ts';
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
    const found = await bucket.get(HEAD_KEY, { signal });
    if (!found.found) throw new StoreError('NOT_FOUND', `no world is at ${bucket.name}`);
    assertSchema1(found.bytes, bucket.name);
    return { head: decodeSchema1Head(found.bytes), generation: found.attributes.generation };
  } catch (error) {
    throw bucketFailure(error);
  }
}

/** Reads in the bulk lane; damage is thrown, or told to `report`, when its turn has come. */
export class Schema1Reader {
  readonly #bucket: BlobStore;
  readonly #options: Schema1ReadOptions;

  constructor(bucket: BlobStore, options: Schema1ReadOptions) {
    this.#bucket = bucket;
    this.#options = options;
  }

  /**
   * An object, decoded. One `get`.
   * @param decode throws `INTEGRITY` for what is wrong with the bytes
   * @throws StoreError what is no damage: the bucket's failures
   */
  async read<T extends object>(
    name: Schema1Name,
    decode: (key: string, bytes: Uint8Array) => T,
  ): Promise<Read<T>> {
    const { signal, onReference } = this.#options;
    onReference?.(name);
    const key = schema1Key(name);
    try {
      const found = await this.#bucket.get(key, { signal, lane: 'bulk' });
      return found.found ? decode(key, found.bytes) : { object: key, problem: 'missing' };
    } catch (error) {
      return integrityProblem(error, key);
    }
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
