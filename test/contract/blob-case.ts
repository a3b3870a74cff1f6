/** What the cases of the bucket contract share: how they are given a bucket, and small helpers. */
import assert from 'node:assert/strict';
import type { Attributes, BlobStore, CreateResult, ListQuery } from '../../blob/blob.ts';
import { type BlobErrorCode, isBlobError } from '../../blob/errors.ts';

/** One fresh, empty bucket or prefix of one, for one case. */
export interface BlobFixture {
  readonly store: BlobStore;
  /** Called after the case, also when it failed. Default: `store.close()`. */
  readonly cleanup?: (() => Promise<void>) | undefined;
}

/** What a service may lack without being refused. By default it lacks nothing. */
export interface BlobSupports {
  /** `replace` at a generation. */
  readonly replace?: boolean | undefined;
  /**
   * Deleting and creating again the *same bytes* changes the generation (not where it is an ETag).
   */
  readonly uniqueGenerations?: boolean | undefined;
  /** Keys with an empty segment: `a//b`, `/a`, `a/`. */
  readonly emptySegments?: boolean | undefined;
  /** Longest key, in bytes; less than 1024 where the store keeps its keys below a prefix. */
  readonly keyBytes?: number | undefined;
}

export interface BlobContractOptions {
  /** Registers one case with the caller's test runner; vitest's and `node:test`'s `test` fit. */
  readonly test: (name: string, run: () => Promise<void>) => unknown;
  /** Called once a case. */
  readonly factory: () => BlobFixture | Promise<BlobFixture>;
  readonly supports?: BlobSupports | undefined;
  /**
   * Share of the full counts, in (0, 1], for slow servers. Default 1. The case of more than 1,000
   * keys keeps its count at any scale, since it is about the page limit.
   */
  readonly scale?: number | undefined;
}

/** What a case is given. */
export interface BlobCaseContext {
  readonly store: BlobStore;
  readonly supports: { readonly [K in keyof BlobSupports]-?: NonNullable<BlobSupports[K]> };
  /** A full count at this run's scale, at least `min`. */
  count(full: number, min?: number): number;
}

export type BlobCase = (context: BlobCaseContext) => Promise<void>;

/** The UTF-8 bytes of a text. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** `length` bytes that follow from `seed`, all values among them. */
export function patternOf(length: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

/** Fails unless two byte strings are equal; says where they differ, not what they hold. */
export function assertBytes(actual: Uint8Array, expected: Uint8Array, what: string): void {
  assert.equal(actual.length, expected.length, `${what}: length`);
  if (Buffer.compare(actual, expected) === 0) return;
  const at = expected.findIndex((byte, i) => byte !== actual[i]);
  assert.fail(`${what}: bytes differ at ${at}`);
}

/** The bytes of an object that must be there. */
export async function readBytes(store: BlobStore, key: string): Promise<Uint8Array> {
  const result = await store.get(key);
  assert.ok(result.found, `${key} is not found`);
  return result.bytes;
}

/** The attributes of an object that must be there. */
export async function attributesOf(store: BlobStore, key: string): Promise<Attributes> {
  const result = await store.head(key);
  assert.ok(result.found, `${key} is not found`);
  return result.attributes;
}

/** Creates an object that must not be there. */
export async function mustCreate(
  store: BlobStore,
  key: string,
  bytes: Uint8Array,
): Promise<CreateResult> {
  const result = await store.create(key, bytes);
  assert.equal(result.outcome, 'created', key);
  return result;
}

/** Fails unless a call rejects with a `BlobError` of that code. */
export async function assertRejects(
  call: () => Promise<unknown>,
  code: BlobErrorCode,
  what: string,
): Promise<void> {
  let error: unknown;
  try {
    await call();
  } catch (thrown) {
    error = thrown;
  }
  assert.ok(error !== undefined, `${what}: did not reject`);
  assert.ok(isBlobError(error), `${what}: rejected with ${String(error)}`);
  assert.equal(error.code, code, `${what}: ${error.message}`);
}

/** Every attribute a query finds, page after page, each page checked against its query. */
export async function listPages(
  store: BlobStore,
  query: ListQuery,
): Promise<readonly Attributes[]> {
  const found: Attributes[] = [];
  let after = query.after;
  for (;;) {
    const page = await store.list({ ...query, after });
    assert.ok(page.objects.length <= query.limit, `a page of ${page.objects.length}`);
    found.push(...page.objects);
    const last = page.objects.at(-1);
    if (!page.more) return found;
    assert.ok(last !== undefined, 'a page says that there is more, but not after which key');
    assert.notEqual(last.key, after, 'a page does not get beyond its start');
    after = last.key;
  }
}

/** The keys a query finds, page after page. */
export async function listKeys(store: BlobStore, query: ListQuery): Promise<readonly string[]> {
  return (await listPages(store, query)).map(({ key }) => key);
}

/** Keys in the order of their UTF-8 bytes. */
export function sortKeys(keys: readonly string[]): readonly string[] {
  return keys.toSorted((a, b) => Buffer.compare(bytesOf(a), bytesOf(b)));
}

/** Runs `run` over the items, at most `width` at a time. */
export async function eachOf<T>(
  items: readonly T[],
  width: number,
  run: (item: T) => Promise<unknown>,
): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await run(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
