/**
 * A bucket in this process's memory: the reference driver, for tests, load models and
 * demonstrations.
 *
 * Every call takes effect in one turn of the event loop, at the moment it is made, so reads are
 * strong and of any number of concurrent creators the first to call wins. Generations are numbers
 * that are never used twice in a bucket. Bytes are copied on the way in and on the way out.
 */
import type {
  Attributes,
  BlobStore,
  CallOptions,
  CreateResult,
  DeleteResult,
  GetOptions,
  GetResult,
  HeadResult,
  ListQuery,
  ListResult,
  ReplaceResult,
  Timing,
} from './blob.ts';
import { abortOf } from './cancel.ts';
import type { BlobOperation } from './errors.ts';
import { compareKeys } from './order.ts';
import { SortedKeys } from './sorted-keys.ts';
import { checkGeneration, checkKey, checkList, checkRange, checkStart } from './validate.ts';

export interface MemoryBucketOptions {
  /** Gives every answer its `date` and every object its `modifiedMs`. */
  readonly timing: Timing;
  /** What `BlobStore.name` says. Default `memory:`. */
  readonly name?: string | undefined;
}

interface Stored {
  readonly bytes: Uint8Array;
  readonly attributes: Attributes;
}

/** What the handles of one bucket share. */
class Contents {
  readonly objects = new Map<string, Stored>();
  readonly keys = new SortedKeys();
  #generation = 0;

  put(key: string, bytes: Uint8Array, modifiedMs: number): Attributes {
    if (!this.objects.has(key)) this.keys.add(key);
    this.#generation += 1;
    const generation = String(this.#generation);
    const attributes = Object.freeze({ key, generation, size: bytes.length, modifiedMs });
    this.objects.set(key, { bytes: new Uint8Array(bytes), attributes });
    return attributes;
  }

  remove(key: string): void {
    if (this.objects.delete(key)) this.keys.delete(key);
  }
}

/** The buckets that have a name in this process; they hold their objects until it ends. */
const shared = new Map<string, Contents>();

/** A fresh, empty bucket. No call fails but for its arguments, its signal, or after `close`. */
export function createMemoryBucket({ timing, name }: MemoryBucketOptions): BlobStore {
  return new MemoryBucket(new Contents(), timing, name ?? 'memory:');
}

/**
 * The bucket of that name in this process (`memory:NAME`): every call with one name gives a handle
 * on the same objects. Closing a handle closes no other and drops nothing.
 */
export function sharedMemoryBucket(
  name: string,
  { timing }: Pick<MemoryBucketOptions, 'timing'>,
): BlobStore {
  const contents = shared.get(name) ?? new Contents();
  shared.set(name, contents);
  return new MemoryBucket(contents, timing, `memory:${name}`);
}

class MemoryBucket implements BlobStore {
  readonly name: string;
  readonly #contents: Contents;
  readonly #timing: Timing;
  #closed = false;

  constructor(contents: Contents, timing: Timing, name: string) {
    this.#contents = contents;
    this.#timing = timing;
    this.name = name;
  }

  async create(key: string, bytes: Uint8Array, options?: CallOptions): Promise<CreateResult> {
    checkKey('create', key);
    const date = this.#begin('create', key, options);
    if (this.#contents.objects.has(key)) return { outcome: 'exists', date };
    return { outcome: 'created', attributes: this.#contents.put(key, bytes, date), date };
  }

  async replace(
    key: string,
    generation: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<ReplaceResult> {
    checkKey('replace', key);
    checkGeneration(key, generation);
    const date = this.#begin('replace', key, options);
    const stored = this.#contents.objects.get(key);
    if (stored?.attributes.generation !== generation) return { outcome: 'changed', date };
    return { outcome: 'replaced', attributes: this.#contents.put(key, bytes, date), date };
  }

  async get(key: string, options?: GetOptions): Promise<GetResult> {
    checkKey('get', key);
    checkRange(key, options?.range);
    const date = this.#begin('get', key, options);
    const stored = this.#contents.objects.get(key);
    if (stored === undefined) return { found: false, date };
    const [start, end] = options?.range ?? [0, stored.bytes.length];
    return {
      found: true,
      bytes: stored.bytes.slice(start, end),
      attributes: stored.attributes,
      date,
    };
  }

  async head(key: string, options?: CallOptions): Promise<HeadResult> {
    checkKey('head', key);
    const date = this.#begin('head', key, options);
    const stored = this.#contents.objects.get(key);
    if (stored === undefined) return { found: false, date };
    return { found: true, attributes: stored.attributes, date };
  }

  async list(query: ListQuery, options?: CallOptions): Promise<ListResult> {
    checkList(query);
    const date = this.#begin('list', query.prefix, options);
    const { prefix, after, limit } = query;
    const fromAfter = after !== undefined && compareKeys(after, prefix) > 0;
    const objects: Attributes[] = [];
    for (const key of this.#contents.keys.from(fromAfter ? after : prefix)) {
      if (key === after) continue;
      if (!key.startsWith(prefix)) break;
      if (objects.length === limit) return { objects, more: true, date };
      const stored = this.#contents.objects.get(key);
      if (stored !== undefined) objects.push(stored.attributes);
    }
    return { objects, more: false, date };
  }

  async delete(key: string, options?: CallOptions): Promise<DeleteResult> {
    checkKey('delete', key);
    const date = this.#begin('delete', key, options);
    this.#contents.remove(key);
    return { date };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  /** Refuses a call that must have no effect; otherwise the date of its answer. */
  #begin(operation: BlobOperation, key: string, options: CallOptions | undefined): number {
    checkStart({ operation, key }, options && abortOf(options), this.#closed);
    return this.#timing.now();
  }
}
