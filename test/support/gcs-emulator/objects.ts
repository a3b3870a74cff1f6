/** The objects of one emulated bucket, and how each rule about their state is kept or broken. */
import { createHash } from 'node:crypto';
import type { RuleName } from './rules.ts';

/** One live object. */
export interface StoredObject {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly generation: string;
  readonly updatedMs: number;
  readonly contentType: string;
  readonly crc32c: string;
  readonly md5: string;
}

export interface ListParameters {
  readonly prefix: string;
  readonly startOffset: string | undefined;
  readonly endOffset: string | undefined;
  readonly maxResults: number;
  readonly pageToken: string | undefined;
}

type Broken = ReadonlySet<RuleName>;

export class Objects {
  readonly #live = new Map<string, StoredObject>();
  readonly #broken: Broken;
  /** What a broken read still shows once: the object before, or nothing. */
  readonly #stale = new Map<string, StoredObject | undefined>();
  #unlisted: string | undefined;
  #generation = 1_700_000_000_000_000n;

  constructor(broken: Broken) {
    this.#broken = broken;
  }

  /** The live object, for preconditions: never stale. */
  live(name: string): StoredObject | undefined {
    return this.#live.get(name);
  }

  /** What a read sees. */
  read(name: string): StoredObject | undefined {
    if (!this.#stale.has(name)) return this.#live.get(name);
    const stale = this.#stale.get(name);
    this.#stale.delete(name);
    return stale;
  }

  put(name: string, bytes: Uint8Array, contentType: string, nowMs: number): StoredObject {
    this.#generation += 1n;
    const broken = this.#broken.has('generation');
    const object: StoredObject = {
      name,
      bytes,
      contentType,
      generation: broken ? '1' : String(this.#generation),
      updatedMs: nowMs,
      crc32c: crc32c(bytes),
      md5: createHash('md5').update(bytes).digest('base64'),
    };
    if (this.#broken.has('read-after-write')) this.#stale.set(name, this.#live.get(name));
    if (this.#broken.has('list-after-write')) this.#unlisted = name;
    this.#live.set(name, object);
    return object;
  }

  remove(name: string): void {
    if (this.#broken.has('read-after-delete')) this.#stale.set(name, this.#live.get(name));
    this.#live.delete(name);
  }

  list(query: ListParameters): { readonly objects: StoredObject[]; readonly token?: string } {
    const { maxResults, pageToken } = query;
    let names = [...this.#live.keys()].filter((name) => name !== this.#unlisted);
    this.#unlisted = undefined;
    if (this.#broken.has('list-byte-order')) names.sort();
    else names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    names = this.#within(names, query);
    const start = pageToken === undefined ? 0 : names.indexOf(fromToken(pageToken)) + 1;
    const size = maxResults + (this.#broken.has('list-max-results') ? 1 : 0);
    const page = names.slice(start, start + size);
    const last = page.at(-1);
    const objects = page.flatMap((name) => this.#live.get(name) ?? []);
    const more = start + size < names.length && last !== undefined;
    return more && !this.#broken.has('list-page-token')
      ? { objects, token: Buffer.from(last).toString('base64url') }
      : { objects };
  }

  #within(sorted: readonly string[], query: ListParameters): string[] {
    const { startOffset, endOffset } = query;
    const prefix = this.#broken.has('list-prefix') ? query.prefix.slice(0, -1) : query.prefix;
    let names = sorted.filter((name) => name.startsWith(prefix));
    if (startOffset !== undefined) {
      const exclusive = this.#broken.has('list-start-offset-inclusive');
      names = names.filter((name) => order(name, startOffset) >= (exclusive ? 1 : 0));
      const losesOne = this.#broken.has('list-start-offset') && !this.#live.has(startOffset);
      if (losesOne) names = names.slice(1);
    }
    if (endOffset !== undefined) {
      const inclusive = this.#broken.has('list-end-offset');
      names = names.filter((name) => order(name, endOffset) < (inclusive ? 1 : 0));
    }
    return names;
  }
}

function order(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function fromToken(token: string): string {
  return Buffer.from(token, 'base64url').toString();
}

/** CRC-32C bit by bit: slow, and nothing in common with the driver's own. */
export function crc32c(bytes: Uint8Array): string {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  const out = Buffer.alloc(4);
  out.writeUInt32BE(~crc >>> 0);
  return out.toString('base64');
}
