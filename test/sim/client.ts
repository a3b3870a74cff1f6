/**
 * The bucket as one process of a simulation sees it: a `BlobStore` whose calls travel, meet faults
 * (`faults.ts`) and take effect at the server (`bucket.ts`) without their caller, as on a network.
 */
import type {
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
} from '../../blob/blob.ts';
import { abortOf } from '../../blob/cancel.ts';
import { BlobError, type BlobOperation } from '../../blob/errors.ts';
import {
  checkGeneration,
  checkKey,
  checkList,
  checkRange,
  checkSignal,
} from '../../blob/validate.ts';
import type { SimBucket } from './bucket.ts';
import type { Coverage } from './coverage.ts';
import { Exchange, type ExchangeWorld, type Outcome } from './exchange.ts';
import type { Faults } from './faults.ts';
import type { SimProcess } from './process.ts';
import type { SimRandom } from './random.ts';
import type { Timeline } from './time.ts';

/**
 * Connects a process to the bucket. Keeps the contract of the port, and fails as real drivers do:
 *
 * - A request in flight goes on while its process is paused, crashed, or no longer waits for it.
 *   What a process calls in the turn in which it was paused leaves at the end of the pause; after a
 *   crash, never.
 * - `signal` rejects the caller at once with `aborted`, ambiguous for a write that was sent.
 *   `deadlineMs` is left to the decorator: a call may never be answered.
 * - Answers, and errors that a server sent, carry its `date` of the moment of their effect, in
 *   whole seconds.
 *
 * Draws come from a fork of `random` for this process and this connection of it.
 */
export function connect(
  timeline: Timeline,
  bucket: SimBucket,
  process: SimProcess,
  faults: Faults,
  random: SimRandom,
  coverage: Coverage,
): BlobStore {
  const draws = random.fork(`client ${process.id} ${process.nextConnection()}`);
  return new SimClient({ timeline, bucket, process, faults, coverage, random: draws });
}

class SimClient implements BlobStore {
  readonly name: string;
  readonly #world: ExchangeWorld;
  #closed = false;

  constructor(world: ExchangeWorld) {
    this.name = `sim:${world.process.id}`;
    this.#world = world;
  }

  async create(key: string, bytes: Uint8Array, options?: CallOptions): Promise<CreateResult> {
    checkKey('create', key);
    const { bucket, process } = this.#world;
    const copy = new Uint8Array(bytes);
    return this.#send<CreateResult>('create', key, options, () => {
      const attributes = bucket.create(key, copy, process.id);
      const date = bucket.date();
      return attributes ? { outcome: 'created', attributes, date } : { outcome: 'exists', date };
    });
  }

  async replace(
    key: string,
    generation: string,
    bytes: Uint8Array,
    options?: CallOptions,
  ): Promise<ReplaceResult> {
    checkKey('replace', key);
    checkGeneration(key, generation);
    const { bucket, process } = this.#world;
    const copy = new Uint8Array(bytes);
    return this.#send<ReplaceResult>('replace', key, options, () => {
      const attributes = bucket.replace(key, generation, copy, process.id);
      const date = bucket.date();
      return attributes ? { outcome: 'replaced', attributes, date } : { outcome: 'changed', date };
    });
  }

  async get(key: string, options?: GetOptions): Promise<GetResult> {
    checkKey('get', key);
    checkRange(key, options?.range);
    const { bucket, process } = this.#world;
    const range = options?.range;
    return this.#send<GetResult>('get', key, options, () => {
      const object = bucket.get(key, process.id);
      const date = bucket.date();
      if (object === null) return { found: false, date };
      const { attributes } = object;
      const bytes = range ? object.bytes.slice(range[0], range[1]) : object.bytes.slice();
      return { found: true, bytes, attributes, date };
    });
  }

  async head(key: string, options?: CallOptions): Promise<HeadResult> {
    checkKey('head', key);
    const { bucket, process } = this.#world;
    return this.#send<HeadResult>('head', key, options, () => {
      const attributes = bucket.head(key, process.id);
      const date = bucket.date();
      return attributes ? { found: true, attributes, date } : { found: false, date };
    });
  }

  async list(query: ListQuery, options?: CallOptions): Promise<ListResult> {
    checkList(query);
    const { bucket, process } = this.#world;
    const { prefix, after, limit } = query;
    return this.#send<ListResult>('list', prefix, options, () => {
      const page = bucket.list({ prefix, after, limit }, process.id);
      return { objects: page.objects, more: page.more, date: bucket.date() };
    });
  }

  async delete(key: string, options?: CallOptions): Promise<DeleteResult> {
    checkKey('delete', key);
    const { bucket, process } = this.#world;
    return this.#send<DeleteResult>('delete', key, options, () => {
      bucket.delete(key, process.id);
      return { date: bucket.date() };
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #send<T extends Outcome>(
    operation: BlobOperation,
    key: string,
    options: CallOptions | undefined,
    effect: () => T,
  ): Promise<T> {
    if (this.#closed) {
      throw new BlobError({ code: 'invalid', operation, key, message: 'the store is closed' });
    }
    const source = options && abortOf(options);
    checkSignal(operation, key, source);
    return new Promise((resolve, reject) => {
      const exchange = new Exchange<T>(this.#world, { operation, key, effect, resolve, reject });
      exchange.start(source);
    });
  }
}
