/**
 * Buckets that break one guarantee of the port and keep all others: what servers that "speak S3"
 * have been seen to do. The probe must name the guarantee; readers must survive or say so.
 */
import type { Attributes, BlobStore, ListQuery, ListResult } from '../../blob/blob.ts';
import { compareKeys } from '../../blob/order.ts';

/** The guarantee that is broken, in a few words. */
export const LIES = [
  /** A create on a taken name stores its bytes and answers `created`. */
  'create-overwrites',
  /** The same, but only while another create of the name is under way. */
  'racing-creates-win',
  /** Lists in the order of UTF-16 code units, and compares the start so too. */
  'lists-utf16',
  /** Lists ignoring case. */
  'lists-caseless',
  /** Lists from the beginning, wherever asked to start. */
  'ignores-after',
  /** Lists the key it was asked to start after, if it exists. */
  'includes-after',
  /** A list that starts after a key loses its first key. */
  'skips-first-of-page-two',
  /** A page that is not the last one is empty. */
  'empty-page-with-more',
  /** The keys of a page come in reverse. */
  'keys-out-of-order',
  /** A list lacks the newest object. */
  'late-list',
  /** Each read of a key answers what the one before it should have. */
  'stale-reads',
  /** The first read of a deleted key still finds it. */
  'late-not-found',
  /** A range is ignored and the whole object sent. */
  'ignores-range',
  /** A deleted name can never be created again. */
  'delete-marker',
  /** A delete answers and does nothing. */
  'ignores-delete',
  /** Any generation will do for a replace. */
  'replace-ignores-generation',
] as const;

export type Lie = (typeof LIES)[number];

/** `store` with one lie. Calls it does not concern are the store's own. */
export function withLie(store: BlobStore, lie: Lie): BlobStore {
  const own: BlobStore = {
    name: store.name,
    create: (key, bytes, options) => store.create(key, bytes, options),
    replace: (key, generation, bytes, o) => store.replace(key, generation, bytes, o),
    get: (key, options) => store.get(key, options),
    head: (key, options) => store.head(key, options),
    list: (query, options) => store.list(query, options),
    delete: (key, options) => store.delete(key, options),
    close: () => store.close(),
  };
  return { ...own, ...lies(store, lie) };
}

function lies(store: BlobStore, lie: Lie): Partial<BlobStore> {
  switch (lie) {
    case 'create-overwrites':
    case 'racing-creates-win':
    case 'delete-marker':
    case 'ignores-delete':
      return writeLie(store, lie);
    case 'stale-reads':
      return staleReads(store);
    case 'late-not-found':
      return lateNotFound(store);
    case 'ignores-range':
      return { get: (key, options) => store.get(key, { ...options, range: undefined }) };
    case 'replace-ignores-generation':
      return {
        async replace(key, generation, bytes) {
          const now = await store.head(key);
          return store.replace(key, now.found ? now.attributes.generation : generation, bytes);
        },
      };
    default:
      return listLie(store, lie);
  }
}

function writeLie(
  store: BlobStore,
  lie: 'create-overwrites' | 'racing-creates-win' | 'delete-marker' | 'ignores-delete',
): Partial<BlobStore> {
  const running = new Set<string>();
  const marked = new Set<string>();
  const overwrite: BlobStore['create'] = async (key, bytes) => {
    for (;;) {
      await store.delete(key);
      const result = await store.create(key, bytes);
      // Another liar may have come between the two.
      if (result.outcome === 'created') return result;
    }
  };
  switch (lie) {
    case 'create-overwrites':
      return { create: overwrite };
    case 'racing-creates-win':
      return {
        async create(key, bytes) {
          if (running.has(key)) return overwrite(key, bytes);
          running.add(key);
          const result = await store.create(key, bytes);
          running.delete(key);
          return result;
        },
      };
    case 'delete-marker':
      return {
        async create(key, bytes) {
          return marked.has(key) ? { outcome: 'exists' } : store.create(key, bytes);
        },
        delete(key) {
          marked.add(key);
          return store.delete(key);
        },
      };
    case 'ignores-delete':
      return { delete: async () => ({}) };
    default:
      return lie satisfies never;
  }
}

type ListLie = Exclude<
  Lie,
  | Parameters<typeof writeLie>[1]
  | 'stale-reads'
  | 'late-not-found'
  | 'ignores-range'
  | 'replace-ignores-generation'
>;

type Order = (a: string, b: string) => number;
const byUtf16: Order = (a, b) => (a < b ? -1 : Number(a > b));
const caseless: Order = (a, b) => compareKeys(a.toLowerCase(), b.toLowerCase());

function listLie(store: BlobStore, lie: ListLie): Partial<BlobStore> {
  let newest = '';
  const create: BlobStore['create'] = (key, bytes, options) => {
    newest = key;
    return store.create(key, bytes, options);
  };
  const list = async (query: ListQuery): Promise<ListResult> => {
    const objects = await everything(store, query.prefix);
    const { after } = query;
    switch (lie) {
      case 'lists-utf16':
        return page(objects, byUtf16, query);
      case 'lists-caseless':
        return page(objects, caseless, query);
      case 'ignores-after':
        return page(objects, compareKeys, { ...query, after: undefined });
      case 'includes-after': {
        const from = objects.filter(
          ({ key }) => after === undefined || compareKeys(key, after) >= 0,
        );
        return page(from, compareKeys, { ...query, after: undefined });
      }
      case 'skips-first-of-page-two': {
        const { objects: found } = await page(objects, compareKeys, { ...query, limit: 1 });
        const first = after === undefined ? undefined : found[0]?.key;
        return page(
          objects.filter(({ key }) => key !== first),
          compareKeys,
          query,
        );
      }
      case 'empty-page-with-more': {
        const honest = page(objects, compareKeys, query);
        return honest.more ? { objects: [], more: true } : honest;
      }
      case 'keys-out-of-order': {
        const honest = page(objects, compareKeys, query);
        return { ...honest, objects: honest.objects.toReversed() };
      }
      case 'late-list':
        return page(
          objects.filter(({ key }) => key !== newest),
          compareKeys,
          query,
        );
      default:
        return lie satisfies never;
    }
  };
  return { create, list };
}

async function everything(store: BlobStore, prefix: string): Promise<readonly Attributes[]> {
  const all: Attributes[] = [];
  for (let more = true; more; ) {
    const found = await store.list({ prefix, after: all.at(-1)?.key, limit: 1000 });
    all.push(...found.objects);
    more = found.more;
  }
  return all;
}

function page(objects: readonly Attributes[], order: Order, query: ListQuery): ListResult {
  const { after, limit } = query;
  const sorted = objects
    .filter(({ key }) => after === undefined || order(key, after) > 0)
    .toSorted((a, b) => order(a.key, b.key));
  return { objects: sorted.slice(0, limit), more: sorted.length > limit };
}

function staleReads(store: BlobStore): Partial<BlobStore> {
  const gets = new Map<string, ReturnType<BlobStore['get']>>();
  const heads = new Map<string, ReturnType<BlobStore['head']>>();
  return {
    get(key, options) {
      const now = store.get(key, options);
      const before = gets.get(key) ?? now;
      gets.set(key, now);
      return before;
    },
    head(key, options) {
      const now = store.head(key, options);
      const before = heads.get(key) ?? now;
      heads.set(key, now);
      return before;
    },
  };
}

function lateNotFound(store: BlobStore): Partial<BlobStore> {
  const ghosts = new Map<string, ReturnType<BlobStore['get']>>();
  return {
    async delete(key) {
      const last = store.get(key);
      await last;
      ghosts.set(key, last);
      return store.delete(key);
    },
    async get(key, options) {
      const ghost = ghosts.get(key);
      ghosts.delete(key);
      return ghost ?? store.get(key, options);
    },
  };
}
