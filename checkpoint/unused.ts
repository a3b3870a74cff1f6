/** What lies under the prefixes of derived objects, and is part of no checkpoint that counts. */
import type { BlobStore } from '../blob/index.ts';
import { CHECKPOINTS_PREFIX, parseKey, WORLD_PREFIX } from '../bucketstore/log/names.ts';
import { NAMED_MAX } from '../bucketstore/log/problems.ts';

/** Kinds of derived objects, as they are counted. */
export type DerivedKind = 'record' | 'root' | 'run' | 'segment' | 'versions' | 'history' | 'pack';

export interface Count {
  readonly objects: number;
  readonly bytes: number;
}

export interface DerivedCounts {
  /** Of all that is there. */
  readonly there: Readonly<Record<DerivedKind, Count>>;
  /** Of those, what no checkpoint that counts names. */
  readonly unused: Readonly<Record<DerivedKind, Count>>;
  /** Keys that are no names of this format; the first thousand. */
  readonly unknown: readonly string[];
}

const FOLDERS = ['roots/', 'index/', 'history/', 'packs/'];
const PREFIXES: readonly string[] = [
  CHECKPOINTS_PREFIX,
  ...FOLDERS.map((folder) => `${WORLD_PREFIX}${folder}`),
];
const KINDS = ['record', 'root', 'run', 'segment', 'versions', 'history', 'pack'] as const;
const LIST_LIMIT = 1000;

/**
 * Counts derived objects. One list for a thousand of them, and one for each of five prefixes.
 * @param isNamed whether a checkpoint that counts consists of the object
 */
export async function countDerived(
  bucket: BlobStore,
  isNamed: (key: string) => boolean,
  signal: AbortSignal | undefined,
): Promise<DerivedCounts> {
  const there = noCounts();
  const unused = noCounts();
  const unknown: string[] = [];
  for (const prefix of PREFIXES) {
    for await (const { key, size } of listed(bucket, prefix, signal)) {
      const kind = kindOf(key);
      if (kind === null) {
        if (unknown.length < NAMED_MAX) unknown.push(key);
        continue;
      }
      there[kind] = added(there[kind], size);
      if (!isNamed(key)) unused[kind] = added(unused[kind], size);
    }
  }
  return { there, unused, unknown };
}

/** The kind of a derived object's key; null for any other. */
export function kindOf(key: string): DerivedKind | null {
  const name = parseKey(key);
  switch (name?.kind) {
    case 'checkpoint':
      return 'record';
    case 'root':
    case 'history':
    case 'pack':
      return name.kind;
    case 'index':
      return name.type === 'seg' ? 'segment' : name.type === 'rec' ? 'versions' : 'run';
    default:
      return null;
  }
}

/** All kinds together. */
export function sumOf(counts: Readonly<Record<DerivedKind, Count>>): Count {
  return KINDS.reduce((sum, kind) => {
    const { objects, bytes } = counts[kind];
    return { objects: sum.objects + objects, bytes: sum.bytes + bytes };
  }, NONE);
}

const NONE: Count = { objects: 0, bytes: 0 };

function noCounts(): Record<DerivedKind, Count> {
  return {
    record: NONE,
    root: NONE,
    run: NONE,
    segment: NONE,
    versions: NONE,
    history: NONE,
    pack: NONE,
  };
}

function added({ objects, bytes }: Count, size: number): Count {
  return { objects: objects + 1, bytes: bytes + size };
}

async function* listed(
  bucket: BlobStore,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ readonly key: string; readonly size: number }> {
  let after: string | undefined;
  for (;;) {
    const page = await bucket.list({ prefix, after, limit: LIST_LIMIT }, { signal, lane: 'bulk' });
    yield* page.objects;
    after = page.objects.at(-1)?.key;
    if (!page.more || after === undefined) return;
  }
}
