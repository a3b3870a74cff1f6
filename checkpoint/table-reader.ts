/**
 * Single documents out of tables: a directory, then the stretch of entries that can hold the path,
 * each read once for all who ask, and kept in a bounded cache.
 */
import type { CallOptions } from '../blob/index.ts';
import type { VersionRecord } from '../bucketstore/snapshot/state.ts';
import type { CheckpointCache } from './checkpoint-cache.ts';
import { type HistoryRef, historyKey } from './history.ts';
import type { ObjectReader } from './objects.ts';
import { type Stretch, stretchOf } from './table-blocks.ts';
import { type TableDirectory, type TableKind, type TableRef, tableKey } from './table-directory.ts';
import { type FoundEntry, findEntry } from './table-entry.ts';

/** An entry, and the table that it was found in. */
export interface TableEntry extends FoundEntry {
  /** Key of the table, for errors. */
  readonly key: string;
}

/** A record in memory: two hashes as text, and two objects. */
const RECORD_BYTES = 256;

export class TableReader {
  readonly #objects: ObjectReader;
  readonly #cache: CheckpointCache;

  constructor(objects: ObjectReader, cache: CheckpointCache) {
    this.#objects = objects;
    this.#cache = cache;
  }

  /**
   * The entry of a path in a table, null when it has none; not to be changed. At most two `get`s,
   * one for the directory and one for 128 KiB or so of entries (more only for an entry that is
   * longer); none for what is kept.
   * @throws StoreError `INTEGRITY` naming the table, `UNSUPPORTED_FORMAT`, `UNAVAILABLE`,
   *   `LOCATION`; the signal's reason
   */
  async find(
    kind: TableKind,
    ref: TableRef,
    path: string,
    options: CallOptions,
  ): Promise<TableEntry | null> {
    const directory = await this.#directory(kind, ref, options);
    const stretch = stretchOf(directory, path);
    if (stretch === null) return null;
    const bytes = await this.#stretch(directory, stretch, options);
    const { key } = directory;
    const found = findEntry(key, bytes, Buffer.from(path), stretch.row);
    return found === null ? null : { key, ...found };
  }

  /**
   * The records of a history block, ascending. One `get` when they are not kept.
   * @throws StoreError as `find`, naming the block
   */
  history(path: string, ref: HistoryRef, options: CallOptions): Promise<readonly VersionRecord[]> {
    return this.#cache.get(
      // With the path, which a block is checked against as it is read.
      `${historyKey(ref)} ${path}`,
      (records) => records.length * RECORD_BYTES,
      () => this.#objects.history(path, ref, unbound(options)),
      options.signal,
    );
  }

  #directory(kind: TableKind, ref: TableRef, options: CallOptions): Promise<TableDirectory> {
    return this.#cache.get(
      tableKey(kind, ref),
      // Hashes and paths as text of their own.
      ({ length }) => length * 2,
      () => this.#objects.directory(kind, ref, unbound(options)),
      options.signal,
    );
  }

  /** The bytes of a stretch of entries, verified: a copy, so that nothing else is kept with it. */
  #stretch(directory: TableDirectory, stretch: Stretch, options: CallOptions): Promise<Uint8Array> {
    return this.#cache.get(
      `${directory.key}@${stretch.offset}`,
      (bytes) => bytes.byteLength,
      async () => {
        return new Uint8Array(await this.#objects.range(directory, stretch, unbound(options)));
      },
      options.signal,
    );
  }
}

/** What a read that others share takes of its first asker's options. */
function unbound({ lane }: CallOptions): CallOptions {
  return lane === undefined ? {} : { lane };
}
