/**
 * The derived objects of checkpoints in the bucket: the one place that reads them
 * (`object-writer.ts` is the one that writes). Each is verified by what named it, so a reader that
 * starts from a root it trusts trusts all of it.
 *
 * WHOLE OR BY RANGE. Roots, manifests, history blocks and the tables of a merge are read whole, in
 * parts of 8 MiB at most. Of tables and packs a reader takes ranges: a directory, verified by its
 * manifest or its root, then blocks or bodies, verified by the directory.
 */
import type { BlobStore, CallOptions, GetResult, Lane } from '../blob/index.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { bucketFailure } from '../bucketstore/log/failure.ts';
import type { VersionRecord } from '../bucketstore/snapshot/state.ts';
import { PACK_BYTES_MAX, ROOT_BYTES_MAX } from './constants.ts';
import { decodeHistory, type HistoryRef, historyKey } from './history.ts';
import { checkPacked, decodePackDirectory, type PackRef, packKey } from './pack.ts';
import type { PackDirectory, PackedVersion } from './pack-directory.ts';
import type { RunRef } from './root.ts';
import { decodeRoot, type LifeStart, type Root, type RootRef, rootKey } from './root.ts';
import {
  decodeRunManifest,
  RUN_MANIFEST_BYTES_MAX,
  type RunKind,
  type RunManifest,
  runKey,
} from './run-manifest.ts';
import { blocksFor, sliceBlocks } from './table-blocks.ts';
import {
  type DataRange,
  decodeDirectory,
  type TableDirectory,
  type TableKind,
  type TableRef,
  tableKey,
} from './table-directory.ts';

/** Reads a history block of schema 1 (epoch 0): as `decodeHistory`. */
export type DecodeOldHistory = (
  path: string,
  ref: HistoryRef,
  bytes: Uint8Array,
) => readonly VersionRecord[];

export interface ReaderParts {
  readonly bucket: BlobStore;
  /** Which queue its calls wait in unless they say. Default `read`. */
  readonly lane?: Lane | undefined;
  /** Without it a history block of schema 1 is refused. */
  readonly decodeOldHistory?: DecodeOldHistory | undefined;
}

/** Of one request, bytes at most: as every reader of the bucket. */
const PART_BYTES = 8_388_608;
/** A block has 256 records of 200 bytes at most, of schema 1 too. */
const HISTORY_BYTES_MAX = 262_144;

/**
 * Reads derived objects. Every method throws `StoreError`: `INTEGRITY` naming the object when it is
 * missing or not what named it, `UNSUPPORTED_FORMAT` for one of a newer schema, `UNAVAILABLE` and
 * `LOCATION`. Those of packs answer null when the pack is missing: it may have been collected.
 */
export class ObjectReader {
  readonly #bucket: BlobStore;
  readonly #lane: Lane;
  readonly #decodeOldHistory: DecodeOldHistory | null;

  constructor({ bucket, lane = 'read', decodeOldHistory }: ReaderParts) {
    this.#bucket = bucket;
    this.#lane = lane;
    this.#decodeOldHistory = decodeOldHistory ?? null;
  }

  /** A root in a life that began so. One `get` for each 8 MiB. */
  async root(ref: RootRef, life: LifeStart, options: CallOptions = {}): Promise<Root> {
    return decodeRoot(ref, await this.#whole(rootKey(ref), ROOT_BYTES_MAX, options), life);
  }

  /** A run manifest. One `get` for each 8 MiB. */
  async run(kind: RunKind, ref: RunRef, options: CallOptions = {}): Promise<RunManifest> {
    const bytes = await this.#whole(runKey(ref), RUN_MANIFEST_BYTES_MAX, options);
    return decodeRunManifest(kind, ref, bytes);
  }

  /** The directory of a table. One `get`. */
  async directory(
    kind: TableKind,
    ref: TableRef,
    options: CallOptions = {},
  ): Promise<TableDirectory> {
    const key = tableKey(kind, ref);
    const bytes = await this.#range(key, [0, ref.directory.length], options);
    return decodeDirectory(kind, ref, bytes ?? missing(key));
  }

  /** A range of a table's data, verified: a view of the blocks around it. One `get`. */
  async range(
    directory: TableDirectory,
    range: DataRange,
    options: CallOptions = {},
  ): Promise<Uint8Array> {
    const { key } = directory;
    const read = blocksFor(directory, range);
    const { offset, length } = read;
    const bytes = await this.#range(key, [offset, offset + length], options);
    return sliceBlocks(directory, range, read, bytes ?? missing(key));
  }

  /** A whole table as it lies there, for `openTable`. One `get` for each 8 MiB. */
  async table(kind: TableKind, ref: TableRef, options: CallOptions = {}): Promise<Uint8Array> {
    const key = tableKey(kind, ref);
    return (await this.#range(key, [0, ref.bytes], options)) ?? missing(key);
  }

  /** The version records of a history block, ascending. One `get`. */
  async history(
    path: string,
    ref: HistoryRef,
    options: CallOptions = {},
  ): Promise<readonly VersionRecord[]> {
    const key = historyKey(ref);
    const bytes = await this.#whole(key, HISTORY_BYTES_MAX, options);
    if (ref.epoch > 0) return decodeHistory(path, ref, bytes);
    if (this.#decodeOldHistory === null) {
      throw integrityError(key, 'a block of schema 1, and nothing here reads those');
    }
    return this.#decodeOldHistory(path, ref, bytes);
  }

  /** The directory of a pack, null when the pack is missing. One `get`. */
  async packDirectory(ref: PackRef, options: CallOptions = {}): Promise<PackDirectory | null> {
    const bytes = await this.#range(packKey(ref), [0, ref.directory.length], options);
    return bytes === null ? null : decodePackDirectory(ref, bytes);
  }

  /** A stored version out of a pack, verified; null when the pack is missing. One `get`. */
  async packed(
    ref: PackRef,
    version: PackedVersion,
    options: CallOptions = {},
  ): Promise<Uint8Array | null> {
    const key = packKey(ref);
    const { offset, length } = version;
    const bytes = await this.#range(key, [offset, offset + length], options);
    if (bytes !== null) checkPacked(key, version, bytes);
    return bytes;
  }

  /** A whole pack as it lies there, for `decodePack`; null when it is missing. One `get`. */
  async pack(ref: PackRef, options: CallOptions = {}): Promise<Uint8Array | null> {
    return this.#range(packKey(ref), [0, PACK_BYTES_MAX + 1], options);
  }

  /** An object whose length nobody has told; its hash is the caller's to check. */
  async #whole(key: string, bytesMax: number, options: CallOptions): Promise<Uint8Array> {
    const found = await this.#get(key, [0, PART_BYTES], options);
    if (!found.found) return missing(key);
    const { size } = found.attributes;
    if (size > bytesMax) throw integrityError(key, `${size} bytes, more than ${bytesMax}`);
    if (size <= PART_BYTES) return found.bytes;
    const rest = await this.#range(key, [PART_BYTES, size], options);
    return Buffer.concat([found.bytes, rest ?? missing(key)]);
  }

  #range(
    key: string,
    range: readonly [number, number],
    options: CallOptions,
  ): Promise<Uint8Array | null> {
    return readRange(this.#bucket, key, range, { lane: this.#lane, ...options });
  }

  async #get(
    key: string,
    range: readonly [number, number],
    options: CallOptions,
  ): Promise<GetResult> {
    try {
      return await this.#bucket.get(key, { lane: this.#lane, ...options, range });
    } catch (error) {
      throw bucketFailure(error);
    }
  }
}

/**
 * Bytes of an object, in parts of 8 MiB at most; null when it is missing. Fewer when it ends
 * before.
 * @throws StoreError `UNAVAILABLE`, `LOCATION`
 */
export async function readRange(
  bucket: BlobStore,
  key: string,
  [start, end]: readonly [number, number],
  options: CallOptions,
): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  try {
    for (let at = start; at < end; at += PART_BYTES) {
      const range = [at, Math.min(at + PART_BYTES, end)] as const;
      const found = await bucket.get(key, { ...options, range });
      if (!found.found) return null;
      parts.push(found.bytes);
    }
  } catch (error) {
    throw bucketFailure(error);
  }
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts);
}

function missing(key: string): never {
  throw integrityError(key, 'missing, and a checkpoint names it');
}
