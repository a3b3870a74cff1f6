/** What the probe's checks work with: settled calls on names of its own, counted and removed. */
import type { Attributes, BlobStore, CallOptions, GetResult, HeadResult, Timing } from './blob.ts';
import { type BlobError, type BlobOperation, isBlobError } from './errors.ts';
import { rightsAdvice } from './file-errors.ts';
import type { Guarantee, GuaranteeName, MissingPermission } from './probe.ts';
import { abortedError } from './signal.ts';

/** One guarantee and how it is tried. */
export interface Check {
  readonly name: GuaranteeName;
  readonly needed: Guarantee['needed'];
  /** For a person, when it does not hold. */
  readonly advice: string;
  /** Answers what was seen; throws `Broken` with what was seen instead. */
  run(bench: Bench): Promise<string>;
}

/** Thrown by a check: the guarantee does not hold. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

/** What racing creators were told, and what was there afterwards. */
export interface Race {
  readonly told: readonly ('created' | 'exists' | 'unknown')[];
  readonly stored: GetResult;
}

export interface BenchInit {
  readonly store: BlobStore;
  readonly timing: Timing;
  /** All names begin with it. */
  readonly prefix: string;
  readonly creators: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Attempts of one call, and the wait after the first failed one: longer than a per-name limit of
 * 1/s.
 */
const ATTEMPTS_MAX = 5;
const PAUSE_MS = 1_100;
const CLEAR_ROUNDS = 3;

const PERMISSIONS: Readonly<Record<BlobOperation, Omit<MissingPermission, 'operation'>>> = {
  create: { gcs: 'storage.objects.create', s3: 's3:PutObject' },
  replace: { gcs: 'storage.objects.delete', s3: 's3:PutObject' },
  get: { gcs: 'storage.objects.get', s3: 's3:GetObject' },
  head: { gcs: 'storage.objects.get', s3: 's3:GetObject' },
  list: { gcs: 'storage.objects.list', s3: 's3:ListBucket' },
  delete: { gcs: 'storage.objects.delete', s3: 's3:DeleteObject' },
};

export class Bench {
  readonly creators: number;
  readonly #init: BenchInit;
  readonly #written = new Set<string>();
  readonly #missing = new Map<string, MissingPermission>();
  #requests = 0;
  #mayRead = false;

  constructor(init: BenchInit) {
    this.#init = init;
    this.creators = init.creators;
  }

  get requests(): number {
    return this.#requests;
  }

  get missingPermissions(): readonly MissingPermission[] {
    return [...this.#missing.values()];
  }

  /** A name of this probe. */
  key(name: string): string {
    return this.#init.prefix + name;
  }

  /** Runs a check and says what became of it. Throws what says nothing about the guarantee. */
  async try({ name, needed, advice, run }: Check): Promise<Guarantee> {
    try {
      return { name, needed, holds: true, detail: await run(this), advice: '' };
    } catch (error) {
      if (error instanceof Broken) {
        return { name, needed, holds: false, detail: error.message, advice };
      }
      if (!isBlobError(error)) throw error;
      switch (error.code) {
        case 'forbidden': {
          const detail = `${error.operation} is forbidden`;
          const forbidden = rightsAdvice(error) ?? this.#missingPermission(error);
          return { name, needed, holds: 'not tried', detail, advice: forbidden };
        }
        case 'unsupported':
        case 'integrity':
          return { name, needed, holds: false, detail: error.message, advice };
        default:
          throw error;
      }
    }
  }

  /**
   * Creates a name. An unknown outcome is settled by reading: our bytes mean `created`; anything
   * else is another attempt, for only the service's own word proves that it refuses.
   */
  async create(name: string, bytes: Uint8Array): Promise<'created' | 'exists'> {
    const key = this.key(name);
    this.#written.add(key);
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#once((o) => this.#init.store.create(key, bytes, o))).outcome;
      } catch (error) {
        await this.#beforeAnother(error, attempt);
        if (!isBlobError(error) || !error.ambiguous) continue;
        const found = await this.get(name);
        if (found.found && sameBytes(found.bytes, bytes)) return 'created';
      }
    }
  }

  /** As `create`, unless an earlier check has created the name. */
  async ensure(name: string, bytes: Uint8Array): Promise<void> {
    if (!this.#written.has(this.key(name))) await this.create(name, bytes);
  }

  /**
   * Concurrent creators of one name, one for each item; nothing is settled. A round in which the
   * service admitted none proves nothing and is repeated under another name.
   */
  async race(name: string, items: readonly Uint8Array[]): Promise<Race> {
    for (let attempt = 1; ; attempt++) {
      const key = this.key(`${name}-${attempt}`);
      this.#written.add(key);
      let failure: unknown;
      const told = await Promise.all(
        items.map(async (bytes) => {
          try {
            return (await this.#once((o) => this.#init.store.create(key, bytes, o))).outcome;
          } catch (error) {
            if (!isBlobError(error) || !error.retryable) throw error;
            failure = error;
            return 'unknown';
          }
        }),
      );
      const stored = await this.get(`${name}-${attempt}`);
      if (stored.found || told.some((answer) => answer !== 'unknown')) return { told, stored };
      await this.#beforeAnother(failure, attempt);
    }
  }

  /** Replaces a name; an unknown outcome is settled by reading. */
  async replace(
    name: string,
    generation: string,
    bytes: Uint8Array,
  ): Promise<'replaced' | 'changed'> {
    const { store } = this.#init;
    const key = this.key(name);
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#once((o) => store.replace(key, generation, bytes, o))).outcome;
      } catch (error) {
        await this.#beforeAnother(error, attempt);
        const found = await this.get(name);
        if (found.found && sameBytes(found.bytes, bytes)) return 'replaced';
      }
    }
  }

  async get(name: string, range?: readonly [number, number]): Promise<GetResult> {
    const { store } = this.#init;
    const result = await this.#settled((o) => store.get(this.key(name), { ...o, range }));
    this.#mayRead ||= result.found;
    return result;
  }

  head(name: string): Promise<HeadResult> {
    return this.#settled((o) => this.#init.store.head(this.key(name), o));
  }

  async delete(name: string): Promise<void> {
    await this.#settled((o) => this.#init.store.delete(this.key(name), o));
    this.#written.delete(this.key(name));
  }

  /** One page of this probe's names, without the common prefix. */
  async page(
    within: string,
    after: string | undefined,
    limit: number,
  ): Promise<{ readonly names: readonly string[]; readonly more: boolean }> {
    const query = {
      prefix: this.key(within),
      after: after === undefined ? undefined : this.key(after),
      limit,
    };
    const { objects, more } = await this.#settled((o) => this.#init.store.list(query, o));
    const names = objects.map(({ key }: Attributes) => key.slice(this.#init.prefix.length));
    return { names, more };
  }

  /**
   * Removes every name, as far as that is possible; answers the ones that may be left. Never
   * throws. All at once and not under the caller's signal: an aborted probe cleans up too, and
   * soon.
   */
  async clear(): Promise<readonly string[]> {
    const { store, timing } = this.#init;
    let left = [...this.#written];
    for (let round = 1; left.length > 0 && round <= CLEAR_ROUNDS; round++) {
      // A name that was just created may be refused its next mutation for a second.
      if (round > 1) await timing.sleep(PAUSE_MS);
      this.#requests += left.length;
      const answers = await Promise.allSettled(left.map(async (key) => store.delete(key)));
      left = left.filter((_, i) => answers[i]?.status !== 'fulfilled');
    }
    return left;
  }

  #once<T>(send: (options: CallOptions) => Promise<T>): Promise<T> {
    this.#requests++;
    return send({ signal: this.#init.signal });
  }

  async #settled<T>(send: (options: CallOptions) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#once(send);
      } catch (error) {
        await this.#beforeAnother(error, attempt);
      }
    }
  }

  async #beforeAnother(error: unknown, attempt: number): Promise<void> {
    if (!isBlobError(error) || !error.retryable || attempt >= ATTEMPTS_MAX) throw error;
    const { timing, signal } = this.#init;
    try {
      await timing.sleep(Math.max(PAUSE_MS * attempt, error.retryAfterMs ?? 0), { signal });
    } catch {
      throw abortedError(error.operation, error.key, signal?.reason, error.ambiguous);
    }
  }

  /** A service says 403 for an absent name to a caller who may read but not list. */
  #missingPermission({ operation }: BlobError): string {
    const isRead = operation === 'get' || operation === 'head';
    const names = PERMISSIONS[isRead && this.#mayRead ? 'list' : operation];
    const missing = { operation, ...names };
    this.#missing.set(missing.gcs, this.#missing.get(missing.gcs) ?? missing);
    return `grant ${missing.gcs} (${missing.s3})`;
  }
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
