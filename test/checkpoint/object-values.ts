/** Packs, history blocks and roots that the tests are made of; all from a seed. */
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import type { VersionRecord } from '../../bucketstore/snapshot/state.ts';
import { type BasePosition, basePositionsThrough } from '../../checkpoint/base-positions.ts';
import { PACK_BYTES_MAX } from '../../checkpoint/constants.ts';
import type { Interval } from '../../checkpoint/interval.ts';
import { directoryBytes, type EncodedPack, type PackRef } from '../../checkpoint/pack.ts';
import { type PackCut, PackCutter, type PackInput } from '../../checkpoint/pack-cutter.ts';
import { packedThroughAt, unitsToPack } from '../../checkpoint/packing.ts';
import { planRecords, planRuns } from '../../checkpoint/plan.ts';
import type { LifeStart, Root, RunRef } from '../../checkpoint/root.ts';
import { hashOf } from '../log/values.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** What the objects are written in. */
export const EPOCH = 5;
/** Where packed versions are said to come from. */
export const SOURCE = '_demarkus/v1/log/0000000000000002.slot';

/** A stored version of so many bytes, filled with what its sequence says. */
export function packInput(at: number, length: number): PackInput {
  const bytes = Buffer.alloc(length, `${at};`);
  return { sequence: sequence(at), storedHash: sha256Hex(bytes), bytes };
}

/** What a cutter makes of a whole stream. */
export function cutAll(inputs: readonly PackInput[], cut: PackCut): EncodedPack[] {
  const cutter = new PackCutter(EPOCH, cut);
  const packs = inputs.map((input) => cutter.add(SOURCE, input));
  return [...packs, cutter.finish()].filter((pack) => pack !== null);
}

/** Ascending versions with gaps, `count` of them, each of 1 to `lengthMax` bytes. */
export function drawInputs(
  random: SeededRandom,
  from: number,
  count: number,
  lengthMax: number,
): PackInput[] {
  let at = from;
  return Array.from({ length: count }, () => {
    at += 1 + (random.integer(4) === 0 ? random.integer(40) : 0);
    return packInput(at, 1 + random.integer(lengthMax));
  });
}

/** The 256 records of the range that begins with `first`. */
export function drawRange(random: SeededRandom, first: number): VersionRecord[] {
  let seq = 2 + random.integer(1_000_000);
  let epoch = random.integer(2);
  return Array.from({ length: 256 }, (_, index) => {
    seq += 1 + random.integer(100);
    if (random.integer(100) === 0) epoch = Math.min(EPOCH, epoch + 1);
    return {
      version: first + index,
      storedHash: sha256Hex(`stored ${first + index}`),
      bodyHash: sha256Hex(`body ${first + index}`),
      modified: 1_700_000_000 + random.integer(90_000_000),
      at: random.integer(3) === 0 ? { epoch } : { seq: sequence(seq) },
    };
  });
}

/** A pack as a root might name it. */
export function packRef(first: number, last: number, change: Partial<PackRef> = {}): PackRef {
  const versions = change.versions ?? Math.min(2, last - first + 1);
  const head = { first: sequence(first), last: sequence(last), versions };
  const length = directoryBytes(head);
  return {
    ...head,
    bytes: length + versions * 500,
    directory: { length, hash: hashOf(first * 2) },
    epoch: 1,
    hash: hashOf(first * 2 + 1),
    ...change,
  };
}

/** The manifest of an interval. */
export function runRef(interval: Interval, n: number, epoch = 1): RunRef {
  return { after: interval.after, through: interval.through, epoch, hash: hashOf(n) };
}

/** A root as a compactor might write it at some sequence of some world, and how that began. */
export function drawRoot(random: SeededRandom): { readonly root: Root; readonly life: LifeStart } {
  const startHasRoot = random.integer(2) === 0;
  const scale = random.pick([3000, 100_000, 2 ** 52]);
  const start = sequence(1 + (startHasRoot ? random.integer(scale) : 0));
  const documents = startHasRoot ? random.integer(Math.min(start, 1_000_000)) : 0;
  const at = sequence(start + 1 + random.integer(random.pick([2, 5000, 400_000])));
  const base = baseAt(start, documents, at);
  const packedThrough = packedThroughAt(start, sequence(start + random.integer(at - start + 1)));
  const refOf = (interval: Interval, index: number): RunRef =>
    runRef(interval, index + 1, 1 + random.integer(EPOCH));
  const root = {
    sequence: at,
    packedThrough,
    base,
    runs: planRuns({ base: base.position, through: at }).map(refOf),
    records: planRecords({ start, startHasRoot, through: at }).map(refOf),
    packs: drawPacks(random, start, startHasRoot, packedThrough, base),
  };
  return { root, life: { sequence: start, documents, epoch: 1, hasRoot: startHasRoot } };
}

/** The last base, when every sequence made a document. */
function baseAt(start: Sequence, documents: number, at: Sequence): BasePosition {
  const from = { position: start, documents };
  const documentsAt = (position: Sequence) => documents + position - start;
  return basePositionsThrough(from, at, documentsAt).at(-1) ?? from;
}

function drawPacks(
  random: SeededRandom,
  start: Sequence,
  startHasRoot: boolean,
  packedThrough: Sequence,
  base: BasePosition,
): PackRef[] {
  const units = unitsToPack(start, packedThrough).slice(-20);
  // What came before the start may lie in packs that are cut by size only, and so may old units.
  const stretches = startHasRoot ? [{ after: 1, through: start as number }, ...units] : units;
  const packs: PackRef[] = [];
  for (let index = 0; index < stretches.length; index++) {
    const from = stretches[index];
    const joined = stretches[index + random.integer(3)];
    const to = joined !== undefined && joined.through <= base.position ? joined : from;
    if (from === undefined || to === undefined || random.integer(5) === 0) continue;
    if (to !== from) index = stretches.indexOf(to);
    packs.push(...drawPacksOf(random, Math.max(1, from.after), to.through));
  }
  return packs;
}

/** Up to three packs of (after, through]. */
function drawPacksOf(random: SeededRandom, after: number, through: number): PackRef[] {
  const packs: PackRef[] = [];
  let before = after;
  while (packs.length < 3 && before < through && random.integer(3) > 0) {
    const first = before + 1 + random.integer(through - before);
    const last = first + random.integer(through - first + 1);
    const versions = 1 + random.integer(Math.min(1024, last - first + 1));
    const { directory } = packRef(first, last, { versions });
    const room = Math.min(versions * 65_536, PACK_BYTES_MAX - directory.length) - versions;
    const bytes = directory.length + versions + random.integer(room + 1);
    packs.push(packRef(first, last, { versions, bytes, epoch: 1 + random.integer(EPOCH) }));
    before = last;
  }
  return packs;
}
