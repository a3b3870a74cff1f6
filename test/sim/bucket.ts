/**
 * The server of a simulation: objects, their order, its own clock. Every method takes effect at
 * once, at the true time it is called; what lies between a process and the server is the client's
 * part (`client.ts`).
 *
 * Bytes are kept as they are given and handed out as they are kept: nobody may change them.
 */
import type { Attributes, ListQuery } from '../../blob/blob.ts';
import { compareKeys } from '../../blob/order.ts';
import { SortedKeys } from '../../blob/sorted-keys.ts';
import { EPOCH_MS } from './process.ts';
import type { Timeline } from './time.ts';

/** What a request did or found. */
export type EffectOutcome =
  | 'created'
  | 'exists'
  | 'replaced'
  | 'changed'
  | 'deleted'
  | 'found'
  | 'listed'
  /** Of a get, a head or a delete. */
  | 'absent';

/** One request that took effect, whoever was told of it. */
export interface Effect {
  readonly operation: 'create' | 'replace' | 'get' | 'head' | 'list' | 'delete';
  /** The key, or the prefix of a list. */
  readonly key: string;
  /** What a create or a replace brought, stored or not; of a get the stored object; else null. */
  readonly bytes: Uint8Array | null;
  readonly outcome: EffectOutcome;
  /** The `id` of the process that sent it. */
  readonly process: string;
  /** True time, ms. */
  readonly at: number;
}

/** An object as it is stored. */
export interface SimObject {
  readonly bytes: Uint8Array;
  readonly attributes: Attributes;
}

export interface SimBucketOptions {
  readonly timeline: Timeline;
  /** How far the server's clock is from the right time, all along. Default 0. */
  readonly serverOffsetMs?: number;
  /** A mutant: a create stores whatever is there. Default false. */
  readonly createDoesNotCheck?: boolean;
}

export class SimBucket {
  readonly #timeline: Timeline;
  readonly #offsetMs: number;
  readonly #createDoesNotCheck: boolean;
  readonly #objects = new Map<string, SimObject>();
  readonly #keys = new SortedKeys();
  readonly #listeners: ((effect: Effect) => void)[] = [];
  readonly #attempts = new Map<string, number>();
  #generation = 0;

  constructor({ timeline, serverOffsetMs = 0, createDoesNotCheck = false }: SimBucketOptions) {
    this.#timeline = timeline;
    this.#offsetMs = Math.round(serverOffsetMs);
    this.#createDoesNotCheck = createDoesNotCheck;
  }

  /** The server's clock, ms since the epoch. */
  now(): number {
    return EPOCH_MS + this.#offsetMs + this.#timeline.now;
  }

  /** The server's clock as its answers tell it: in whole seconds. */
  date(): number {
    return Math.floor(this.now() / 1000) * 1000;
  }

  /** Is called after every effect, in the order of registration; must not make effects itself. */
  onEffect(listener: (effect: Effect) => void): void {
    this.#listeners.push(listener);
  }

  /** Create-if-absent: attributes when it was stored, null when the name was taken. */
  create(key: string, bytes: Uint8Array, process: string): Attributes | null {
    const taken = this.#objects.has(key) && !this.#createDoesNotCheck;
    const attributes = taken ? null : this.#put(key, bytes);
    this.#tell('create', key, bytes, taken ? 'exists' : 'created', process);
    return attributes;
  }

  /** Stores over the object of that generation; null: there is no such object. */
  replace(key: string, generation: string, bytes: Uint8Array, process: string): Attributes | null {
    const matches = this.#objects.get(key)?.attributes.generation === generation;
    const attributes = matches ? this.#put(key, bytes) : null;
    this.#tell('replace', key, bytes, matches ? 'replaced' : 'changed', process);
    return attributes;
  }

  get(key: string, process: string): SimObject | null {
    const object = this.#objects.get(key) ?? null;
    this.#tell('get', key, object?.bytes ?? null, object ? 'found' : 'absent', process);
    return object;
  }

  head(key: string, process: string): Attributes | null {
    const attributes = this.#objects.get(key)?.attributes ?? null;
    this.#tell('head', key, null, attributes ? 'found' : 'absent', process);
    return attributes;
  }

  /** One page, in UTF-8 byte order. */
  list(
    { prefix, after, limit }: ListQuery,
    process: string,
  ): { readonly objects: readonly Attributes[]; readonly more: boolean } {
    const fromAfter = after !== undefined && compareKeys(after, prefix) > 0;
    const objects: Attributes[] = [];
    let more = false;
    for (const key of this.#keys.from(fromAfter ? after : prefix)) {
      if (key === after) continue;
      if (!key.startsWith(prefix)) break;
      more = objects.length === limit;
      if (more) break;
      const object = this.#objects.get(key);
      if (object !== undefined) objects.push(object.attributes);
    }
    this.#tell('list', prefix, null, 'listed', process);
    return { objects, more };
  }

  /** Whether there was an object to delete. */
  delete(key: string, process: string): boolean {
    const deleted = this.#objects.delete(key);
    if (deleted) this.#keys.delete(key);
    this.#tell('delete', key, null, deleted ? 'deleted' : 'absent', process);
    return deleted;
  }

  /** Puts other bytes in an object's place, or takes it away; nobody is told. */
  damage(key: string, bytes: Uint8Array | null): void {
    this.#timeline.trace(`damage ${key} ${bytes === null ? 'away' : digestOf(bytes)}`);
    if (bytes !== null) {
      this.#put(key, bytes);
      return;
    }
    if (this.#objects.delete(key)) this.#keys.delete(key);
  }

  /** What is stored now; no effect, nobody is told. For oracles. */
  peek(key: string): SimObject | null {
    return this.#objects.get(key) ?? null;
  }

  /** The keys below a prefix, in UTF-8 byte order; no effect. For oracles. */
  keys(prefix: string): readonly string[] {
    const keys: string[] = [];
    for (const key of this.#keys.from(prefix)) {
      if (!key.startsWith(prefix)) break;
      keys.push(key);
    }
    return keys;
  }

  /**
   * Notes an attempt to create a name, and answers how long ago the one before it was, in ms:
   * services limit how often one name may be written.
   */
  attempt(key: string): number {
    const before = this.#attempts.get(key) ?? Number.NEGATIVE_INFINITY;
    this.#attempts.set(key, this.#timeline.now);
    return this.#timeline.now - before;
  }

  #put(key: string, bytes: Uint8Array): Attributes {
    if (!this.#objects.has(key)) this.#keys.add(key);
    this.#generation += 1;
    const generation = String(this.#generation);
    const attributes = Object.freeze({
      key,
      generation,
      size: bytes.length,
      modifiedMs: this.now(),
    });
    this.#objects.set(key, { bytes, attributes });
    return attributes;
  }

  #tell(
    operation: Effect['operation'],
    key: string,
    bytes: Uint8Array | null,
    outcome: EffectOutcome,
    process: string,
  ): void {
    const written = operation === 'create' || operation === 'replace' ? bytes : null;
    const about = written === null ? '' : ` ${written.length} ${digestOf(written)}`;
    this.#timeline.trace(`${process} ${operation} ${key} ${outcome}${about}`);
    if (this.#listeners.length === 0) return;
    const effect: Effect = { operation, key, bytes, outcome, process, at: this.#timeline.now };
    for (const listener of this.#listeners) listener(effect);
  }
}

/** Enough to tell two bodies apart in a trace. */
function digestOf(bytes: Uint8Array): number {
  let digest = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) {
    digest = Math.imul(digest ^ (bytes[i] ?? 0), 0x01000193);
  }
  return digest >>> 0;
}
