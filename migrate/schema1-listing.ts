/** What lies in the bucket of a schema 1 world: one listing of all of it, tallied by kind. */
import type { Attributes, BlobStore } from '../blob/blob.ts';
import {
  CHECKPOINTS_PREFIX,
  LOG_PREFIX,
  parseKey,
  WORLD_PREFIX,
} from '../bucketstore/log/names.ts';
import { parseSchema1Key, type Schema1Name } from './schema1-keys.ts';
import type { Schema1Reached } from './schema1-reached.ts';

/** Kinds of objects: those of schema 1, those of schema 2, and what is neither. */
export type Schema1Kind = Schema1Name['kind'] | 'schema-2' | 'other';

export interface ObjectTally {
  readonly objects: number;
  readonly bytes: number;
  /** Those of them that nothing refers to; null when that was not asked. */
  readonly unreachable: { readonly objects: number; readonly bytes: number } | null;
}

export interface Schema1Listing {
  readonly kinds: { readonly [kind in Schema1Kind]: ObjectTally };
  /** Of all kinds. */
  readonly objects: number;
  readonly bytes: number;
  /** Indices of the change blocks, ascending. */
  readonly changes: readonly number[];
  /** Keys of schema 2's log and checkpoints, in order; more than these are not kept. */
  readonly logLast: string | null;
  readonly checkpointFirst: string | null;
  /** The first objects that are neither of schema 1 nor of schema 2. */
  readonly others: readonly string[];
}

export interface ListingOptions {
  readonly signal?: AbortSignal | undefined;
  /** What the head leads to; without it nothing is called unreachable. */
  readonly reached?: Schema1Reached | undefined;
  /** Told of each blob that the head leads to. */
  readonly onBlob?: ((blob: Attributes, hash: string) => void) | undefined;
  /** Told after each page how many objects were listed. */
  readonly onPage?: ((objects: number) => void) | undefined;
}

const LIST_LIMIT = 1000;
/** What a report names at most. */
const OTHERS_MAX = 100;

/**
 * Lists everything under the world's prefix, page by page. One list for a thousand objects, one
 * after another.
 */
export async function listSchema1(
  bucket: BlobStore,
  options: ListingOptions = {},
): Promise<Schema1Listing> {
  const { signal, onPage } = options;
  const tallies = new Tallies(options);
  for (let after: string | undefined; ; ) {
    const query = { prefix: WORLD_PREFIX, after, limit: LIST_LIMIT };
    const page = await bucket.list(query, { signal, lane: 'bulk', deadlineMs: LIST_DEADLINE_MS });
    for (const object of page.objects) tallies.take(object);
    after = page.objects.at(-1)?.key;
    onPage?.(tallies.objects);
    if (!page.more || after === undefined) return tallies.listing();
  }
}

/** A directory of a hundred thousand files takes a while. */
const LIST_DEADLINE_MS = 60_000;

interface Tally {
  objects: number;
  bytes: number;
  unreachable: { objects: number; bytes: number } | null;
}

class Tallies {
  readonly #options: ListingOptions;
  readonly #kinds: Record<Schema1Kind, Tally>;
  readonly #changes: number[] = [];
  readonly #others: string[] = [];
  #logLast: string | null = null;
  #checkpointFirst: string | null = null;

  constructor(options: ListingOptions) {
    this.#options = options;
    const isAsked = options.reached !== undefined;
    const none = (): Tally => {
      return { objects: 0, bytes: 0, unreachable: isAsked ? { objects: 0, bytes: 0 } : null };
    };
    this.#kinds = {
      head: none(),
      root: none(),
      shard: none(),
      manifest: none(),
      history: none(),
      blob: none(),
      changes: none(),
      pin: none(),
      'schema-2': none(),
      other: none(),
    };
  }

  get objects(): number {
    return this.#sum('objects');
  }

  take(object: Attributes): void {
    const { key, size } = object;
    const name = parseSchema1Key(key);
    const tally = this.#kinds[name === null ? this.#takeOther(key) : name.kind];
    tally.objects++;
    tally.bytes += size;
    if (name === null) return;
    if (name.kind === 'changes') this.#changes.push(name.index);
    const { reached, onBlob } = this.#options;
    if (reached?.sees(name) === true) {
      if (name.kind === 'blob') onBlob?.(object, name.hash);
    } else if (tally.unreachable !== null) {
      tally.unreachable.objects++;
      tally.unreachable.bytes += size;
    }
  }

  listing(): Schema1Listing {
    return {
      kinds: this.#kinds,
      objects: this.objects,
      bytes: this.#sum('bytes'),
      changes: this.#changes,
      logLast: this.#logLast,
      checkpointFirst: this.#checkpointFirst,
      others: this.#others,
    };
  }

  #takeOther(key: string): 'schema-2' | 'other' {
    if (key.startsWith(LOG_PREFIX)) this.#logLast = key;
    if (key.startsWith(CHECKPOINTS_PREFIX)) this.#checkpointFirst ??= key;
    if (parseKey(key) !== null) return 'schema-2';
    if (this.#others.length < OTHERS_MAX) this.#others.push(key);
    return 'other';
  }

  #sum(field: 'objects' | 'bytes'): number {
    return Object.values(this.#kinds).reduce((sum, tally) => sum + tally[field], 0);
  }
}
