/** What the cases of the store contract share: how they are given stores, and small helpers. */
import assert from 'node:assert/strict';
import type { BlobStore } from '../../../blob/blob.ts';
import {
  isStoreError,
  type Settings,
  type StateReader,
  type StoreError,
  type StoreErrorCode,
  type World,
  type WriteResult,
} from '../../../bucketstore/index.ts';

/** A view as the contract uses it. */
export interface ContractView extends StateReader {
  /** Catalog lookup: only where `supports.lookup` says so. */
  lookup?(query: string): Promise<readonly { readonly path: string }[]>;
  close(): Promise<void>;
}

/** A store as the contract uses it: a `World`, or something that hands its calls on to one. */
export interface ContractStore
  extends Pick<
    World,
    'worldId' | 'storeId' | 'publish' | 'append' | 'setArchived' | 'commit' | 'operation' | 'stat'
  > {
  view(): ContractView;
  close(): Promise<void>;
}

/** One fresh, empty location, for one case. */
export interface StoreFixture {
  /** Opens one more store on the location; the first makes the world. The case closes it. */
  open(settings: Partial<Settings>): Promise<ContractStore>;
  /** Lets that much time pass for the stores, ms: moves their clock, or waits. */
  advance(ms: number): Promise<void>;
  /** The location's bucket, to damage objects behind the stores' back. */
  readonly bucket: BlobStore;
  /** Called after the case and after its stores are closed, also when it failed. */
  readonly cleanup?: (() => Promise<void>) | undefined;
}

/** What a store may lack. */
export interface StoreSupports {
  /** Catalog lookup, `view.lookup`. Default false. */
  readonly lookup?: boolean | undefined;
}

export interface StoreContractOptions {
  /** Registers one case with the caller's test runner; vitest's and `node:test`'s `test` fit. */
  readonly test: (name: string, run: () => Promise<void>) => unknown;
  /** Called once a case. */
  readonly factory: () => StoreFixture | Promise<StoreFixture>;
  readonly supports?: StoreSupports | undefined;
}

/** What a case is given. */
export interface StoreCaseContext {
  /** Opens one more store; it is closed after the case. */
  open(settings?: Partial<Settings>): Promise<ContractStore>;
  advance(ms: number): Promise<void>;
  readonly bucket: BlobStore;
}

export type StoreCase = (context: StoreCaseContext) => Promise<void>;

/** Runs a case on a fresh location and gives everything back, however it ends. */
export async function runCase(
  factory: StoreContractOptions['factory'],
  run: StoreCase,
): Promise<void> {
  const fixture = await factory();
  const opened: ContractStore[] = [];
  const open = async (settings: Partial<Settings> = {}): Promise<ContractStore> => {
    const store = await fixture.open(settings);
    opened.push(store);
    return store;
  };
  try {
    await run({ open, advance: (ms) => fixture.advance(ms), bucket: fixture.bucket });
  } finally {
    for (const store of opened) await store.close();
    await fixture.cleanup?.();
  }
}

/** The error of a call that must be refused with `code`. */
export async function refused(work: Promise<unknown>, code: StoreErrorCode): Promise<StoreError> {
  let result: unknown;
  try {
    result = await work;
  } catch (error) {
    if (!isStoreError(error)) throw error;
    assert.equal(error.code, code, error.message);
    return error;
  }
  return assert.fail(`expected ${code}, got ${JSON.stringify(result)}`);
}

/** Fails unless a call is refused with CONFLICT, naming the version that is current. */
export async function conflicts(work: Promise<unknown>, currentVersion: number): Promise<void> {
  const { details } = await refused(work, 'CONFLICT');
  assert.equal(details.currentVersion, currentVersion);
}

/** What `read` finds in a view of its own. */
export async function inView<T>(
  store: ContractStore,
  read: (view: ContractView) => Promise<T>,
): Promise<T> {
  const view = store.view();
  try {
    return await read(view);
  } finally {
    await view.close();
  }
}

/** The text of bytes that are UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** Makes the first version of a document; it must be one. */
export async function create(
  store: ContractStore,
  path: string,
  body: string,
  metadata: Readonly<Record<string, string>> | null = null,
): Promise<WriteResult> {
  const result = await store.publish({ path, expected: 'absent', body, metadata });
  assert.equal(result.committed, true);
  assert.equal(result.document.version, 1);
  return result;
}

/** Makes the next version of a document that is at `expected`. */
export async function update(
  store: ContractStore,
  path: string,
  expected: number,
  body: string,
  metadata: Readonly<Record<string, string>> | null = null,
): Promise<WriteResult> {
  const result = await store.publish({ path, expected, body, metadata });
  assert.equal(result.committed, true);
  assert.equal(result.document.version, expected + 1);
  return result;
}

/** The names that a directory lists, directories with a trailing slash. */
export async function namesIn(
  store: ContractStore,
  path: string,
  query: Parameters<StateReader['listEntries']>[1] = {},
): Promise<readonly string[]> {
  return inView(store, async (view) => {
    // An exact read chooses the state, so that the list is of now through any store.
    await view.isDir('/');
    const entries = await view.listEntries(path, query);
    return entries.map(({ name, isDir }) => (isDir ? `${name}/` : name));
  });
}

/**
 * Replaces a text by another of the same length in every object that holds it, at its last place
 * there: a slot names a text in its header too, and its bodies come last.
 */
export async function tamper(bucket: BlobStore, from: string, to: string): Promise<void> {
  assert.equal(Buffer.byteLength(from), Buffer.byteLength(to), 'of the same length');
  let found = 0;
  for (let after: string | undefined; ; ) {
    const page = await bucket.list({ prefix: '', after, limit: 1000 });
    for (const { key } of page.objects) if (await tamperObject(bucket, key, from, to)) found++;
    after = page.objects.at(-1)?.key;
    if (!page.more) break;
  }
  assert.ok(found > 0, `no object holds ${JSON.stringify(from)}`);
}

async function tamperObject(
  bucket: BlobStore,
  key: string,
  from: string,
  to: string,
): Promise<boolean> {
  const read = await bucket.get(key);
  if (!read.found) return false;
  const bytes = Buffer.from(read.bytes);
  const at = bytes.lastIndexOf(from);
  if (at < 0) return false;
  bytes.write(to, at);
  await bucket.delete(key);
  await bucket.create(key, bytes);
  return true;
}
