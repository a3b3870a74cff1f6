/** What lies in the bucket of a schema 1 world: one listing of all of it, counted by kind. */
import type { Attributes, BlobStore } from '../blob/blob.ts';
import {
  CHECKPOINTS_PREFIX,
  LOG_PREFIX,
  parseKey,
  WORLD_PREFIX,
} from '../bucketstore/log/names.ts';
import type { Schema1Inventory } from './schema1-inventory.ts';
import { parseSchema1Key, type Schema1Name } from './schema1-keys.ts';

/** Kinds of objects: those of schema 1, those of schema 2, and what is neither. */
export type Schema1Kind = Schema1Name['kind'] | 'schema-2' | 'other';

export interface Schema1Listing {
  readonly kinds: Readonly<
    Record<Schema1Kind, { readonly objects: number; readonly bytes: number }>
  >;
  readonly objects: number;
  readonly bytes: number;
  /** The change blocks by index, ascending. */
  readonly changes: readonly { readonly index: number; readonly size: number }[];
  /** The last key of a log of schema 2, and the first of a checkpoint. */
  readonly logLast: string | null;
  readonly checkpointFirst: string | null;
  /** The first hundred keys that are neither of schema 1 nor of schema 2. */
  readonly others: readonly string[];
}

export interface ListingOptions {
  readonly signal?: AbortSignal | undefined;
  /** Told of all that is listed. */
  readonly inventory?: Schema1Inventory | undefined;
  /** Told after each page how many objects were listed. */
  readonly onPage?: ((objects: number) => void) | undefined;
}

const LIST_LIMIT = 1000;
/** A page of a directory with a million files takes a while. */
const LIST_DEADLINE_MS = 60_000;
/** What a report names at most (I17). */
const OTHERS_MAX = 100;

/**
 * Lists everything under the world's prefix. One list for a thousand objects, one after another,
 * not in the bulk lane, so that it goes on beside a reading.
 */
export async function listSchema1(
  bucket: BlobStore,
  { signal, inventory, onPage }: ListingOptions = {},
): Promise<Schema1Listing> {
  const tally = new Tally(inventory);
  for (let after: string | undefined; ; ) {
    const query = { prefix: WORLD_PREFIX, after, limit: LIST_LIMIT };
    const page = await bucket.list(query, { signal, deadlineMs: LIST_DEADLINE_MS });
    for (const object of page.objects) tally.take(object);
    after = page.objects.at(-1)?.key;
    onPage?.(tally.objects);
    if (!page.more || after === undefined) return tally;
  }
}

class Tally implements Schema1Listing {
  readonly #inventory: Schema1Inventory | undefined;
  readonly kinds: Record<Schema1Kind, { objects: number; bytes: number }> = {
    head: { objects: 0, bytes: 0 },
    root: { objects: 0, bytes: 0 },
    shard: { objects: 0, bytes: 0 },
    manifest: { objects: 0, bytes: 0 },
    history: { objects: 0, bytes: 0 },
    blob: { objects: 0, bytes: 0 },
    changes: { objects: 0, bytes: 0 },
    pin: { objects: 0, bytes: 0 },
    'schema-2': { objects: 0, bytes: 0 },
    other: { objects: 0, bytes: 0 },
  };
  objects = 0;
  bytes = 0;
  readonly changes: { readonly index: number; readonly size: number }[] = [];
  readonly others: string[] = [];
  logLast: string | null = null;
  checkpointFirst: string | null = null;

  constructor(inventory: Schema1Inventory | undefined) {
    this.#inventory = inventory;
  }

  take(object: Attributes): void {
    const { key, size } = object;
    const name = parseSchema1Key(key);
    const count = this.kinds[name === null ? this.#takeOther(key) : name.kind];
    count.objects++;
    count.bytes += size;
    this.objects++;
    this.bytes += size;
    if (name === null) return;
    this.#inventory?.list(name, object);
    if (name.kind === 'changes') this.changes.push({ index: name.index, size });
  }

  #takeOther(key: string): 'schema-2' | 'other' {
    if (key.startsWith(LOG_PREFIX)) this.logLast = key;
    if (key.startsWith(CHECKPOINTS_PREFIX)) this.checkpointFirst ??= key;
    if (parseKey(key) !== null) return 'schema-2';
    if (this.others.length < OTHERS_MAX) this.others.push(key);
    return 'other';
  }
}
