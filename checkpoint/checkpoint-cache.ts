/**
 * What readers keep of the objects of checkpoints: parts of tables, directories and history blocks,
 * by name, for all states of a store together. Names are of content, so nothing kept is ever stale.
 */
import { abortable } from '../bucketstore/base/abortable.ts';
import { Lru } from '../bucketstore/base/lru.ts';

/** Default bound, bytes. */
const CACHE_BYTES: number = 32 * 1024 * 1024;
/**
 * One thing takes at most this part of the bound: a document of a million versions is read anew.
 */
const PART_OF_BOUND = 8;
/** What an entry costs beside what it holds, bytes. */
const ENTRY_BYTES = 256;

interface Kept {
  readonly value: unknown;
  readonly bytes: number;
}

/** Bounded in bytes; the least recently used go first (I17). */
export class CheckpointCache {
  readonly #bytesMax: number;
  readonly #kept: Lru<string, Kept>;
  readonly #reading = new Map<string, Promise<unknown>>();

  /** @param bytesMax bound in bytes; 0 keeps nothing */
  constructor(bytesMax: number = CACHE_BYTES) {
    this.#bytesMax = bytesMax;
    this.#kept = new Lru(bytesMax, ({ bytes }) => bytes);
  }

  /** Bytes held now, for the retention tests (I17). */
  get cachedBytes(): number {
    return this.#kept.weight;
  }

  /** Reads under way. */
  get reading(): number {
    return this.#reading.size;
  }

  /**
   * What has a name: kept, or read, once for all who ask meanwhile. The read belongs to none of
   * them, so it knows no signal: who leaves takes nothing from the others. A failed one is told to
   * all who share it, and not kept.
   * @param name also says what kind of thing it is
   * @param weigh what a value holds, bytes
   * @throws the read's error; the signal's reason when it aborts first
   */
  async get<T>(
    name: string,
    weigh: (value: T) => number,
    read: () => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept.value as T;
    let reading = this.#reading.get(name) as Promise<T> | undefined;
    if (reading === undefined) {
      signal?.throwIfAborted();
      reading = this.#read(name, weigh, read);
      this.#reading.set(name, reading);
    }
    return abortable(reading, signal);
  }

  async #read<T>(name: string, weigh: (value: T) => number, read: () => Promise<T>): Promise<T> {
    try {
      const value = await read();
      const bytes = weigh(value) + ENTRY_BYTES;
      if (bytes * PART_OF_BOUND <= this.#bytesMax) this.#kept.set(name, { value, bytes });
      return value;
    } finally {
      this.#reading.delete(name);
    }
  }
}
