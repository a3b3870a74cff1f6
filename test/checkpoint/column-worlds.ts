/**
 * Documents for the columns: worlds of odd names in odd places, and what is
 * plainly true of them. All of it follows from a seed.
 */
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { type Metadata, normaliseMetadata } from '../../bucketstore/document/metadata.ts';
import { ancestors, isHiddenName } from '../../bucketstore/document/path.ts';
import { SECONDS_MAX } from '../../bucketstore/log/entry-rules.ts';
import { VERSION_MAX } from '../../bucketstore/log/records.ts';
import type { ListQuery } from '../../bucketstore/snapshot/listing.ts';
import type { DocumentState, ListEntry } from '../../bucketstore/snapshot/state.ts';
import { ColumnsBuilder } from '../../checkpoint/columns.ts';
import { readColumns, type SegmentColumns } from '../../checkpoint/columns-reader.ts';
import type { ResidentColumns } from '../../checkpoint/resident.ts';
import { ResidentBuilder } from '../../checkpoint/resident-builder.ts';
import { hashOf } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';

/** Bytes around "/", hidden names and their neighbours, both spellings of é, planes 0 and 1. */
const NAMES = [
  ...['a', 'a-b', 'a.md', 'a b', 'a!', 'a\tb', 'a0', 'ab', 'a.b.md', 'a-b-c', 'aa', 'b', 'A'],
  ...['.h', '.', 'versions', 'versions.md', 'version', 'versionss', '...', 'x'.repeat(200)],
  ...['\u00e9.md', 'e\u0301.md', '\u{1d4b3}', '\uff5e', '\ufffd', '-', '+', '%2F', '日本語.md'],
] as const;

const TITLE_WORDS = [
  ...['Alpha', 'ALPHA', 'beta', 'Ünïcode', '\u0130stanbul', 'ΣΊΣΥΦΟΣ', '日本語', '\u{1d4b3}y'],
  ...['a', 'ab', 'abc', 'abcd', 'x\u0000', 'x', 'long'.repeat(60), '—', '\ufeff'],
] as const;

const SPACES = [' ', '  ', '\u00a0', '\t', '\u2028', '\n'] as const;
const TAGS = ['Go', 'go', 'two words', 'Ωmega', 'x', 'long-'.repeat(20), 'naïve'] as const;
const IMPORTANCES = ['0', '1', '0.5', '.50', '1e3', '0.30000000000000004', '2', ' 0.25 '] as const;

function titleOf(random: SeededRandom): string {
  const words = Array.from({ length: 1 + random.integer(6) }, () => random.pick(TITLE_WORDS));
  return words.map((word) => `${word}${random.pick(SPACES)}`).join('');
}

function metadataOf(random: SeededRandom): Metadata | null {
  const map: Record<string, string> = {};
  if (random.integer(3) > 0) map['type'] = random.pick(['Note', 'Document', '']);
  if (random.integer(3) > 0) {
    map['tags'] = Array.from({ length: random.integer(4) }, () => random.pick(TAGS)).join(',');
  }
  if (random.integer(2) > 0) map['importance'] = random.pick(IMPORTANCES);
  if (random.integer(3) === 0) map[`k${random.integer(50)}`] = `v=${random.integer(9)}`;
  return normaliseMetadata(map);
}

/** The state of some document at a path. */
export function stateAt(path: string, random: SeededRandom): DocumentState {
  const version = 1 + random.integer(random.pick([3, VERSION_MAX]));
  return {
    path,
    current: {
      version,
      storedHash: hashOf(random.bits()),
      // Few bodies, of which several documents have the same.
      bodyHash: `${'0123456789abcdef'[random.integer(16)]}`
        .repeat(32 + random.integer(33))
        .padEnd(64, '0'),
      modified: random.integer(random.pick([2, 2 ** 32, SECONDS_MAX + 1])),
      at: { epoch: 1 },
    },
    first: 1 + random.integer(version),
    archived: random.integer(3) === 0,
    catalog: { title: titleOf(random), metadata: metadataOf(random) },
  };
}

/** Documents in path order, none of them above another. */
export function someDocuments(random: SeededRandom, count: number): DocumentState[] {
  const documents = new Set<string>();
  const directories = new Set<string>();
  for (let i = 0; i < count; i++) {
    const names = Array.from({ length: 1 + random.integer(4) }, () => random.pick(NAMES));
    const path = `/${names.filter((name) => name !== '.').join('/')}`;
    const above = ancestors(path);
    if (path === '/' || directories.has(path)) continue;
    if (above.some((directory) => documents.has(directory))) continue;
    documents.add(path);
    for (const directory of above) directories.add(directory);
  }
  return [...documents].sort(compareUtf8).map((path) => stateAt(path, random));
}

/** Children of a directory by the book (documents, visible and live ones through each child). */
export function plainList(
  documents: readonly DocumentState[],
  directory: string,
  { after, includeArchived = false }: ListQuery = {},
): ListEntry[] {
  const prefix = directory === '/' ? '/' : `${directory}/`;
  const shown = new Map<string, boolean>();
  for (const { path, archived } of documents) {
    if (!path.startsWith(prefix)) continue;
    const names = path.slice(prefix.length).split('/');
    const [name = ''] = names;
    if (names.some(isHiddenName) || (archived && !includeArchived)) continue;
    shown.set(name, names.length > 1);
  }
  return [...shown]
    .filter(([name]) => after === undefined || compareUtf8(name, after) > 0)
    .sort(([a], [b]) => compareUtf8(a, b))
    .map(([name, isDir]) => ({ name, isDir }));
}

/** The smallest live path whose body has a hash. */
export function plainLookup(documents: readonly DocumentState[], hash: string): string | undefined {
  return documents.find(({ archived, current }) => !archived && current.bodyHash === hash)?.path;
}

/** The columns of documents, made one by one of their states. */
export function rangesOf(documents: readonly DocumentState[]): ReadonlyMap<string, Uint8Array> {
  const builder = new ColumnsBuilder();
  for (const document of documents) builder.add(document.path, document);
  return builder.finish();
}

export const SEGMENT = 'index/00000001/aa.seg';

/** The same, read. */
export function segmentOf(documents: readonly DocumentState[]): SegmentColumns {
  return readColumns(SEGMENT, documents.length, rangesOf(documents));
}

/** Bytes to compare and to show. */
export function hexOf(ranges: ReadonlyMap<string, Uint8Array>): Record<string, string> {
  const hex = [...ranges].map(([name, bytes]) => [name, Buffer.from(bytes).toString('hex')]);
  return Object.fromEntries(hex);
}

/** Cut at random into pieces, in order; none of them is empty. */
export function cutAtRandom<T>(random: SeededRandom, items: readonly T[], pieces: number): T[][] {
  const cuts = Array.from({ length: pieces - 1 }, () => random.integer(items.length + 1));
  const ends = [...cuts.sort((a, b) => a - b), items.length];
  return ends.map((end, i) => items.slice(ends[i - 1] ?? 0, end)).filter((piece) => piece.length);
}

/** A run's column set of documents in so many segments at most. */
function residentOf(
  random: SeededRandom,
  documents: readonly DocumentState[],
  pieces: number,
): ResidentColumns {
  const builder = new ResidentBuilder(documents.length);
  for (const piece of cutAtRandom(random, documents, pieces)) builder.append(segmentOf(piece));
  return builder.finish();
}

/** Every directory and document of a world, and some that are none. */
export function directoriesOf(documents: readonly DocumentState[]): ReadonlySet<string> {
  const directories = new Set(['/', '/none', '/a', '/.h', '/versions', '/a/.h']);
  for (const { path } of documents)
    for (const at of [path, ...ancestors(path)]) directories.add(at);
  return directories;
}

export const SEEDS: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8];

/** A world of up to 400 documents, and the column set of a run of all of them. */
export function worldOf(seed: number): {
  readonly documents: readonly DocumentState[];
  readonly columns: ResidentColumns;
} {
  const random = new SeededRandom(seed);
  const documents = someDocuments(random, 1 + random.integer(400));
  return { documents, columns: residentOf(random, documents, 1 + random.integer(5)) };
}
