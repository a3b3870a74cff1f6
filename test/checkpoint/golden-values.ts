/**
 * The values behind the golden files of packs, history blocks and roots of format 1. They never
 * change: a new case is a new file, and a changed format a new folder.
 */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { VersionRecord } from '../../bucketstore/snapshot/state.ts';
import type { PackInput } from '../../checkpoint/pack-cutter.ts';
import type { LifeStart, Root } from '../../checkpoint/root.ts';

/** What the objects were written in. */
export const GOLDEN_EPOCH = 3;

const HELLO_1 = '---\nversion: 1\narchived: false\ntype: Document\n---\n# Hello\n';
const HELLO_2 = `---\nversion: 2\narchived: false\nprevious-hash: sha256-${sha256Hex(HELLO_1)}
type: Document\n---\n# Hello\nmore\n`;
const CAFE = '---\nversion: 1\narchived: false\ntitle: Café\n---\nÜnïcödé 🜁 body\r\n';

function packed(at: number, text: string): PackInput {
  const bytes = new TextEncoder().encode(text);
  return { sequence: sequence(at), storedHash: sha256Hex(bytes), bytes };
}

/** What one pack was made of. */
export const GOLDEN_PACKS: { readonly [file: string]: readonly PackInput[] } = {
  'unit.pack': [packed(2, HELLO_1), packed(3, HELLO_2), packed(1024, CAFE)],
  'one.pack': [packed(1025, CAFE)],
  'rewritten.pack': [
    packed(1024, HELLO_1),
    packed(1025, 'x'),
    packed(4_294_967_296, CAFE),
    packed(9_007_199_254_740_991, HELLO_2),
  ],
};

/** Of a migrated document: its old blobs, then slots, with a large version among them. */
const RECORDS = Array.from({ length: 256 }, (_, index): VersionRecord => {
  const version = 257 + index;
  const at = index < 3 ? 0 : index === 200 ? 2 : null;
  return {
    version,
    storedHash: sha256Hex(`stored ${version}`),
    bodyHash: sha256Hex(`body ${version}`),
    modified: 1_787_400_000 + 60 * (index % 7),
    at: at === null ? { seq: sequence(5000 + 3 * index) } : { epoch: at },
  };
});

export const GOLDEN_HISTORY: {
  readonly [file: string]: { readonly path: string; readonly records: readonly VersionRecord[] };
} = {
  'history.json': { path: '/menü/café/日本 🜁.md', records: RECORDS },
};

const hash = (name: string): string => sha256Hex(name);

function run(kind: string, after: number, through: number, epoch: number): Root['runs'][number] {
  return {
    after: after === 0 ? 0 : sequence(after),
    through: sequence(through),
    epoch,
    hash: hash(`${kind} ${after} ${through}`),
  };
}

export const GOLDEN_ROOTS: {
  readonly [file: string]: { readonly root: Root; readonly life: LifeStart };
} = {
  'root-first.json': {
    life: { sequence: sequence(1), documents: 0, epoch: 1, hasRoot: false },
    root: {
      sequence: sequence(2500),
      packedThrough: sequence(2048),
      base: { position: sequence(1), documents: 0 },
      runs: [
        run('run', 0, 1, 1),
        run('run', 1, 1024, 1),
        run('run', 1024, 2048, 3),
        run('run', 2048, 2500, 3),
      ],
      records: [run('rec', 1, 1024, 1), run('rec', 1024, 2048, 3), run('rec', 2048, 2500, 3)],
      packs: [
        {
          first: sequence(2),
          last: sequence(1024),
          versions: 1023,
          bytes: 600_000,
          directory: { length: 49_155, hash: hash('directory') },
          epoch: 2,
          hash: hash('pack'),
        },
      ],
    },
  },
  'root-imported.json': {
    life: { sequence: sequence(1500), documents: 800, epoch: 2, hasRoot: true },
    root: {
      sequence: sequence(19_000),
      packedThrough: sequence(18_432),
      base: { position: sequence(18_432), documents: 16_777_216 },
      runs: [run('run', 0, 18_432, 3), run('run', 18_432, 19_000, 3)],
      records: [
        run('rec', 0, 1500, 2),
        run('rec', 1500, 2048, 2),
        run('rec', 2048, 10_240, 3),
        run('rec', 10_240, 18_432, 3),
        run('rec', 18_432, 19_000, 3),
      ],
      packs: [
        {
          first: sequence(2),
          last: sequence(17_408),
          versions: 9,
          bytes: 4000,
          directory: { length: 481, hash: hash('directory of a row') },
          epoch: 3,
          hash: hash('row'),
        },
        {
          first: sequence(17_409),
          last: sequence(17_409),
          versions: 1,
          bytes: 102,
          directory: { length: 101, hash: hash('directory of one') },
          epoch: 2,
          hash: hash('one'),
        },
      ],
    },
  },
};
