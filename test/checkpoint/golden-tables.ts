/**
 * The values behind the golden files of segments, record tables and run manifests of format 1. They
 * never change: a new case is a new file, and a changed format a new folder.
 */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { DocumentState, VersionRecord } from '../../bucketstore/snapshot/state.ts';
import type { RecordEntry } from '../../checkpoint/record-entry.ts';
import type { RunManifest } from '../../checkpoint/run-manifest.ts';
import { GOLDEN_EPOCH } from './golden-values.ts';

function record(version: number, at: VersionRecord['at']): VersionRecord {
  return {
    version,
    storedHash: sha256Hex(`stored ${version}`),
    bodyHash: sha256Hex(`body ${version}`),
    modified: 1_787_400_000 + 60 * version,
    at,
  };
}

/** Twenty documents of long names: more than a block of entries, and more than a block of paths. */
const LONG = Array.from({ length: 20 }, (_, n): DocumentState => {
  const name = String(n).padStart(2, '0');
  return {
    path: `/long/${'folder-'.repeat(500)}/document-${name}.md`,
    current: record(n + 1, { seq: sequence(100 + n) }),
    first: 1,
    archived: n % 5 === 4,
    catalog: { title: `Document ${name} of twenty`, metadata: { tags: `all,t${n % 3}` } },
  };
});

/** What each segment was made of. */
export const GOLDEN_SEGMENTS: { readonly [file: string]: readonly DocumentState[] } = {
  'small.seg': [
    {
      path: '/.hidden/notes.md',
      current: record(1, { seq: sequence(2) }),
      first: 1,
      archived: false,
      catalog: { title: 'Hello hello World', metadata: null },
    },
    {
      path: '/a.md',
      current: { ...record(300, { epoch: 2 }), modified: 4_294_967_301 },
      first: 7,
      archived: true,
      catalog: {
        title: 'A "World" of\tits own',
        metadata: { agent: 'ann', importance: '1', tags: 'B,a,b', type: 'Note' },
      },
    },
    {
      path: '/a/menü/café/日本 🜁.md',
      current: { ...record(2_147_483_647, { epoch: 0 }), modified: 0 },
      first: 2_147_483_647,
      archived: false,
      catalog: { title: 'Ünïcödé 🜁', metadata: { importance: '0.25', timestamp: '2026' } },
    },
  ],
  'long.seg': LONG,
};

/** What each table of version records was made of. */
export const GOLDEN_RECORDS: {
  readonly [file: string]: readonly (RecordEntry & { readonly path: string })[];
} = {
  'small.rec': [
    { path: '/a.md', first: 1, blocks: [], records: [record(1, { seq: sequence(2) })] },
    {
      path: '/b/old.md',
      first: 300,
      blocks: [
        { first: 257, hash: sha256Hex('block of 257'), epoch: 0 },
        { first: 513, hash: sha256Hex('block of 513'), epoch: 2 },
      ],
      records: [record(769, { epoch: 3 }), record(770, { seq: sequence(9_007_199_254_740_991) })],
    },
    {
      path: '/日本.md',
      first: 12,
      blocks: [],
      records: [
        record(10, { epoch: 0 }),
        record(11, { epoch: 1 }),
        record(12, { seq: sequence(4_294_967_296) }),
      ],
    },
  ],
};

const NOTHING = { epoch: GOLDEN_EPOCH, entries: 0 } as const;

function table(name: string, entries: number, [first, last]: readonly [string, string]) {
  const directory = { length: 1000 + (entries % 1000), hash: sha256Hex(`directory of ${name}`) };
  return { ...NOTHING, bytes: 70_000, directory, entries, first, last, hash: sha256Hex(name) };
}

/** What each run manifest says. */
export const GOLDEN_RUNS: { readonly [file: string]: RunManifest } = {
  'empty.run': {
    ...{ kind: 'run', after: 0, through: sequence(1), entries: 0, objects: [] },
  },
  'segments.run': {
    ...{ kind: 'run', after: sequence(1024), through: sequence(9216), entries: 6 },
    objects: [
      { ...table('one', 1, ['/a.md', '/a.md']), epoch: 1 },
      table('two', 5, ['/a/menü/"q".md', '/日本 🜁.md']),
    ],
  },
  'records.run': {
    ...{ kind: 'records', after: 0, through: sequence(9_007_199_254_740_991), entries: 16_777_216 },
    objects: [table('all', 16_777_216, ['/a.md', '/z.md'])],
  },
};
