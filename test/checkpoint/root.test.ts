/**
 * Goal: a root gives back what was written, and nothing else passes for one.
 * Method: roots of many worlds, planned as a compactor plans them, through bytes and back; every
 * field of one that uses all of them damaged under a name that is right again; roots of no world.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { canonicalText } from '../../bucketstore/base/canonical.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { genesisMarker } from '../../bucketstore/log/marker.ts';
import { PACK_BYTES_MAX } from '../../checkpoint/constants.ts';
import { directoryBytes, type PackRef } from '../../checkpoint/pack.ts';
import { planRecords } from '../../checkpoint/plan.ts';
import {
  decodeRoot,
  encodeRoot,
  type LifeStart,
  lifeStart,
  type Root,
  type RootRef,
  rootKey,
} from '../../checkpoint/root.ts';
import { changed, type Loose, placesOf, refusal } from '../log/forge.ts';
import { hashOf, INCARNATION, WORLD } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { drawRoot, EPOCH, packRef, runRef } from './object-values.ts';

type Members = { [name: string]: Loose };

/** After `after`, each up to a sequence; of epochs 1, 2 … */
function runs(after: number, ...ends: readonly number[]): Root['runs'] {
  let from = after === 0 ? (0 as const) : sequence(after);
  return ends.map((end, index) => {
    const run = runRef({ after: from, through: sequence(end) }, index + 1, 1 + (index % EPOCH));
    from = run.through;
    return run;
  });
}

/** An imported world that has built a base: uses every field. */
const LIFE: LifeStart = { sequence: sequence(1500), documents: 800, epoch: 1, hasRoot: true };
const ROOT: Root = {
  sequence: sequence(30_000),
  packedThrough: sequence(28_672),
  base: { position: sequence(18_432), documents: 900 },
  runs: runs(0, 18_432, 26_624, 27_648, 28_672, 29_696, 30_000),
  records: runs(0, 1500, 2048, 10_240, 18_432, 26_624, 27_648, 28_672, 29_696, 30_000),
  packs: [
    packRef(2, 5000),
    packRef(5002, 18_432),
    packRef(18_433, 19_000),
    packRef(19_001, 19_456),
    packRef(28_672, 28_672),
  ],
};
const { bytes: BYTES, ref: REF } = encodeRoot(ROOT, EPOCH, LIFE);
const MEMBERS = JSON.parse(Buffer.from(BYTES).toString()) as Members;
const PLACES = placesOf(MEMBERS);

const refOf = (text: string): RootRef => ({ epoch: EPOCH, hash: sha256Hex(text) });
const decode = (text: string): Root => decodeRoot(refOf(text), Buffer.from(text), LIFE);

/** What the reader of a root of this text says. */
function problem(text: string): string {
  const key = rootKey(refOf(text));
  return refusal(key, () => decode(text)).message.slice(key.length + 2);
}

const nameOf = (path: readonly (string | number)[]): string =>
  path.map((step, at) => (at === 0 || typeof step === 'number' ? step : `.${step}`)).join('/');

describe('a root', () => {
  test('decode then encode gives the same bytes', () => {
    const seen = { packs: 0, bases: 0, heads: 0 };
    for (let seed = 1; seed <= 150; seed++) {
      const { root, life } = drawRoot(new SeededRandom(seed));
      const { bytes, ref } = encodeRoot(root, EPOCH, life);
      expect(ref).toEqual({ epoch: EPOCH, hash: sha256Hex(bytes) });
      const decoded = decodeRoot(ref, bytes, life);
      expect(decoded).toEqual(root);
      expect(Buffer.compare(encodeRoot(decoded, EPOCH, life).bytes, bytes)).toBe(0);
      seen.packs += root.packs.length;
      if (root.base.position > life.sequence) seen.bases += 1;
      if (root.runs.length === 2) seen.heads += 1;
    }
    // The seeds reach worlds with packs, with bases and with little behind the base.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(10);
  });

  test('of a new world is its empty base and a head', () => {
    const life = lifeStart(genesisMarker(WORLD, INCARNATION).start);
    expect(life).toEqual({ sequence: 1, documents: 0, epoch: 1, hasRoot: false });
    const root: Root = {
      sequence: sequence(50),
      packedThrough: sequence(1),
      base: { position: sequence(1), documents: 0 },
      runs: runs(0, 1, 50),
      records: runs(1, 50),
      packs: [],
    };
    const { bytes, ref } = encodeRoot(root, EPOCH, life);
    expect(decodeRoot(ref, bytes, life)).toEqual(root);
    // There is none of the start itself.
    const start = { ...root, sequence: sequence(1), runs: runs(0, 1), records: [] };
    expect(() => encodeRoot(start, EPOCH, life)).toThrow('root: sequence: ');
  });

  test('of a start is its base and its records', () => {
    const root: Root = {
      sequence: LIFE.sequence,
      packedThrough: LIFE.sequence,
      base: { position: LIFE.sequence, documents: LIFE.documents },
      runs: runs(0, 1500),
      records: runs(0, 1500),
      packs: [packRef(2, 700), packRef(702, 1500)],
    };
    const { bytes, ref } = encodeRoot(root, 1, LIFE);
    expect(decodeRoot(ref, bytes, LIFE)).toEqual(root);
  });

  test('at the last sequence of all is read', () => {
    const end = sequence(2 ** 53 - 1);
    const position = sequence(2 ** 53 - 1024);
    const start = sequence(2 ** 53 - 17_500_000);
    const life = { ...LIFE, sequence: start };
    const root: Root = {
      sequence: end,
      packedThrough: position,
      base: { position, documents: 16_777_216 },
      runs: runs(0, position, end),
      records: planRecords({ start, startHasRoot: true, through: end }).map((run) =>
        runRef(run, 1),
      ),
      packs: [packRef(2 ** 53 - 1025, 2 ** 53 - 1024)],
    };
    const { bytes, ref } = encodeRoot(root, 0xffff_ffff, life);
    expect(decodeRoot(ref, bytes, life)).toEqual(root);
  });

  test('of a newer schema is refused by both versions, not called damaged', () => {
    const text = canonicalText({ ...MEMBERS, schema: 3, colour: 'red' });
    expect(() => decode(text)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_FORMAT' }));
  });

  test('names nothing younger than itself, or older than the life that it is of', () => {
    const older = { ...REF, epoch: 3 };
    const { message } = refusal(rootKey(older), () => decodeRoot(older, BYTES, LIFE));
    expect(message).toBe(`${rootKey(older)}: runs[3].epoch: 4 is not 1 to 3`);
    expect(() => encodeRoot(ROOT, 3, LIFE)).toThrow(InvariantError);
    const later = { ...LIFE, epoch: 2 };
    const error = refusal(rootKey(REF), () => decodeRoot(REF, BYTES, later));
    expect(error.message).toBe(`${rootKey(REF)}: runs[0].epoch: 1 is not 2 to 5`);
    expect(() => encodeRoot(ROOT, 1, { ...later, epoch: 6 })).toThrow('root: epoch: ');
  });

  test('is of one life only', () => {
    const lives: readonly [Partial<LifeStart>, string][] = [
      [{ sequence: sequence(1501) }, 'records[0].through'],
      [{ sequence: sequence(3000) }, 'base.position'],
      [{ sequence: sequence(30_001) }, 'sequence'],
      [{ hasRoot: false }, 'records[0].after'],
      [{ documents: 40_000 }, 'base.position'],
    ];
    for (const [change, field] of lives) {
      const life = { ...LIFE, ...change };
      const { message } = refusal(rootKey(REF), () => decodeRoot(REF, BYTES, life));
      expect(message).toContain(`${rootKey(REF)}: ${field}: `);
    }
  });
});

describe('a damaged root', () => {
  test('is none: undamaged it is read', () => {
    expect(decode(canonicalText(MEMBERS))).toEqual(ROOT);
    expect(Buffer.compare(Buffer.from(canonicalText(MEMBERS)), BYTES)).toBe(0);
  });

  test('is refused with a field missing, naming it', () => {
    for (const path of PLACES) {
      // A unit without inlined versions has no pack: only the log tells that one is missing.
      if (path[0] === 'packs' && path.length === 2) continue;
      const drop = changed(MEMBERS, path, (at, step) =>
        Array.isArray(at) ? at.splice(Number(step), 1) : Reflect.deleteProperty(at, step),
      );
      const last = path.at(-1);
      const named = typeof last === 'string' ? `${last}: missing` : (path[0] ?? '');
      expect(problem(canonicalText(drop))).toMatch(`${named}`);
    }
  });

  test('is refused with a field twice or unknown', () => {
    for (const path of PLACES) {
      const twice = changed(MEMBERS, path, (at, step) => {
        if (Array.isArray(at)) at.splice(Number(step), 0, at[Number(step)] ?? null);
        else Object.assign(at, { [`${step}x`]: at[step] });
      });
      const last = path.at(-1);
      const named = typeof last === 'string' ? `${last}x: unknown field` : (path[0] ?? '');
      expect(problem(canonicalText(twice))).toMatch(`${named}`);
    }
    const text = canonicalText(MEMBERS);
    for (const [name, value] of Object.entries(MEMBERS)) {
      const repeated = text.replace(`"${name}":`, `"${name}":${canonicalText(value)},"${name}":`);
      expect(problem(repeated)).toMatch('not canonical JSON');
    }
  });

  test('is refused with items or members in another order', () => {
    for (const [name, items] of Object.entries(MEMBERS)) {
      if (!Array.isArray(items)) continue;
      for (let index = 0; index + 1 < items.length; index++) {
        const swapped = items.slice(index, index + 2).reverse();
        const forged = { ...MEMBERS, [name]: items.toSpliced(index, 2, ...swapped) };
        expect(problem(canonicalText(forged))).toMatch(
          new RegExp(`^${name}\\[${index}|^${name}\\[${index + 1}`),
        );
      }
    }
    const turned = JSON.stringify(Object.fromEntries(Object.entries(MEMBERS).reverse()));
    expect(problem(turned)).toMatch('not canonical JSON');
  });

  test('is refused with a value of another type', () => {
    for (const path of PLACES) {
      for (const value of [null, true, '', 1.5, -1, 2 ** 53, [], {}] as Loose[]) {
        // No packs at all are those of another valid root.
        if (path[0] === 'packs' && path.length === 1 && Array.isArray(value)) continue;
        const forged = changed(MEMBERS, path, (at, step) => Object.assign(at, { [step]: value }));
        expect(problem(JSON.stringify(forged)), nameOf(path)).toMatch(`${path[0]}`);
      }
    }
  });

  test('is refused with a number changed by one, unless only what it leads to can tell', () => {
    const accepted = new Set<string>();
    for (const path of PLACES) {
      const value = path.reduce<Loose>((at, step) => (at as Members)[step] as Loose, MEMBERS);
      // A newer schema is no damage.
      if (typeof value !== 'number' || path[0] === 'schema') continue;
      for (const by of [-1, 1]) {
        const change = (at: object, step: string | number): object =>
          Object.assign(at, { [step]: value + by });
        const text = canonicalText(changed(MEMBERS, path, change));
        try {
          decode(text);
          accepted.add(path.filter((step) => typeof step === 'string').join('.'));
        } catch (error) {
          expect(error).toMatchObject({
            code: 'INTEGRITY',
            details: { object: rootKey(refOf(text)) },
          });
        }
      }
    }
    expect([...accepted].sort()).toEqual([
      'base.documents', // the manifest of the base
      'packs.bytes', // the directory
      'packs.epoch', // there is no such object
      'packs.first', // the directory
      'packs.last', // the directory
      'records.epoch', // there is no such object
      'runs.epoch', // there is no such object
    ]);
  });

  test('is refused in another spelling, cut, or with any bit of any byte flipped', () => {
    const text = Buffer.from(BYTES).toString();
    for (const spelling of [` ${text}`, `${text}\n`, text.slice(0, -1), '', '[]', 'null']) {
      problem(spelling);
    }
    problem(`{"packs":${'['.repeat(100_000)}`);
    problem(text.replace('"schema":2', '"schema":2.0'));
    for (let at = 0; at < BYTES.length; at++) {
      const damaged = Uint8Array.from(BYTES);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      refusal(rootKey(REF), () => decodeRoot(REF, damaged, LIFE));
    }
  });
});

describe('a root of no world', () => {
  const pack = (index: number, change: Partial<PackRef>): Partial<Root> => ({
    packs: ROOT.packs.map((one, at) => (at === index ? { ...one, ...change } : one)),
  });
  const packs = (...list: readonly PackRef[]): Partial<Root> => ({ packs: list });
  const small = packRef(18_433, 18_434);
  test.each<[string, Partial<Root>, string]>([
    ['packs beyond its sequence', { packedThrough: sequence(30_720) }, 'packed_through'],
    ['packs that end before the start', { packedThrough: sequence(1024) }, 'packed_through'],
    ['half a unit packed', { packedThrough: sequence(28_673) }, 'packed_through'],
    ['a base beyond it', { base: { ...ROOT.base, position: sequence(30_720) } }, 'base.position'],
    ['a base in a unit', { base: { ...ROOT.base, position: sequence(18_433) } }, 'base.position'],
    ['a base too early', { base: { ...ROOT.base, position: sequence(17_408) } }, 'base.position'],
    ['a base too late', { sequence: sequence(34_816) }, 'base.position'],
    ['too many documents', { base: { ...ROOT.base, documents: 2 ** 24 + 1 } }, 'base.documents'],
    ['a start of others', { base: { documents: 9, position: sequence(1500) } }, 'base.documents'],
    ['no runs', { runs: [] }, 'runs'],
    ['a base that begins later', { runs: ROOT.runs.slice(1) }, 'runs[0].after'],
    ['a gap between runs', { runs: ROOT.runs.toSpliced(1, 1) }, 'runs[1].after'],
    ['a run too long', { runs: runs(0, 18_432, 27_648) }, 'runs[1].through'],
    ['a run too many', { runs: [...ROOT.runs, ...runs(30_000, 30_001)] }, 'runs[6]'],
    ['runs short of its sequence', { runs: ROOT.runs.slice(0, 5) }, 'runs'],
    ['no records', { records: [] }, 'records'],
    ['records from the start on', { records: ROOT.records.slice(1) }, 'records[0].after'],
    ['records in other runs', { records: runs(0, 1500, 2048, 18_432) }, 'records[2].through'],
    ['records short of its sequence', { records: ROOT.records.slice(0, 8) }, 'records'],
    ['a pack of genesis', packs(packRef(1, 2)), 'packs[0].first'],
    ['packs that overlap', pack(1, packRef(5000, 18_432)), 'packs[1].first'],
    ['packs out of order', packs(packRef(19_001, 19_456), small), 'packs[1].first'],
    ['a pack beyond what is packed', packs(packRef(28_673, 28_673)), 'packs[0].first'],
    ['a pack across what is packed', packs(packRef(28_672, 28_673)), 'packs[0].last'],
    ['a pack across a unit end', packs(packRef(19_456, 19_457)), 'packs[0].last'],
    ['a pack across the base', packs(packRef(18_432, 18_433)), 'packs[0].last'],
    ['a pack of nothing', packs({ ...small, versions: 0 }), 'packs[0].versions'],
    ['more versions than sequences', packs({ ...small, versions: 3 }), 'packs[0].versions'],
    [
      'a directory of another length',
      packs({ ...small, directory: { length: 9, hash: hashOf(1) } }),
      'packs[0].directory[0]',
    ],
    [
      'a directory without a hash',
      packs({ ...small, directory: { length: directoryBytes(small), hash: '' } }),
      'packs[0].directory[1]',
    ],
    ['a pack without bodies', packs({ ...small, bytes: small.directory.length }), 'packs[0].bytes'],
    [
      'bodies that are too long',
      packs({ ...small, bytes: small.directory.length + 131_073 }),
      'packs[0].bytes',
    ],
    [
      'a pack that is too large',
      packs(packRef(18_433, 18_900, { versions: 300, bytes: PACK_BYTES_MAX + 1 })),
      'packs[0].bytes',
    ],
    ['a pack of epoch 0', packs({ ...small, epoch: 0 }), 'packs[0].epoch'],
    ['a pack without a hash', packs({ ...small, hash: 'x' }), 'packs[0].hash'],
  ])('%s is neither written nor read', (_, change, field) => {
    const root = { ...ROOT, ...change };
    expect(() => encodeRoot(root, EPOCH, LIFE)).toThrow(InvariantError);
    expect(() => encodeRoot(root, EPOCH, LIFE)).toThrow(`root: ${field}: `);
    const members: Members = {
      schema: 2,
      sequence: root.sequence,
      packed_through: root.packedThrough,
      base: { ...root.base },
      runs: root.runs.map((run) => ({ ...run })),
      records: root.records.map((run) => ({ ...run })),
      packs: root.packs.map(({ directory: { length, hash }, ...rest }) => ({
        ...rest,
        directory: [length, hash],
      })),
    };
    expect(problem(canonicalText(members))).toMatch(`${field}: `);
  });
});
