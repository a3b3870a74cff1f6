/**
 * Goal: the packs of a stream hold all of it, end where the format says, and are the same whoever
 * cuts them, from where (I4).
 * Method: streams from seeds against the rule said again; streams at the limits.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { PACK_BYTES_MAX } from '../../checkpoint/constants.ts';
import { decodePack, type EncodedPack } from '../../checkpoint/pack.ts';
import { PackCutter, type PackInput } from '../../checkpoint/pack-cutter.ts';
import { refusal } from '../log/forge.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { cutAll, drawInputs, EPOCH, packInput, SOURCE } from './object-values.ts';

const hashes = (packs: readonly EncodedPack[]): string[] => packs.map(({ ref }) => ref.hash);
const unitOf = ({ sequence: at }: PackInput): number => Math.ceil(at / 1024);

/** Packs of three units, some of several packs. */
function threeUnits(seed: number): PackInput[] {
  return drawInputs(new SeededRandom(seed), 1000, 420, 50_000);
}

/** What is in packs, each version checked against its hash. */
function contents(packs: readonly EncodedPack[]): (readonly [at: number, hash: string])[] {
  return packs.flatMap(({ ref, bytes }) =>
    [...decodePack(ref, bytes).directory].map(({ sequence: at, hash }) => [at, hash] as const),
  );
}

/** Length of a pack of these, by the format's own words. */
function packBytes(inputs: readonly PackInput[]): number {
  const [first, last] = [inputs[0]?.sequence, inputs.at(-1)?.sequence];
  const line = `{"first":${first},"last":${last},"schema":2,"versions":${inputs.length}}\n`;
  return inputs.reduce((sum, { bytes }) => sum + 48 + bytes.length, line.length);
}

describe('`PackCutter`', () => {
  test.each(['unit', 'rewritten'] as const)(
    'loses and reorders nothing when it cuts by %s',
    (cut) => {
      for (const seed of [1, 2]) {
        const inputs = threeUnits(seed);
        const expected = inputs.map(({ sequence: at, storedHash }) => [at, storedHash]);
        expect(contents(cutAll(inputs, cut))).toEqual(expected);
      }
    },
  );

  test.each(['unit', 'rewritten'] as const)('ends a pack only where it must, by %s', (cut) => {
    const inputs = threeUnits(4);
    const packs = cutAll(inputs, cut);
    expect(packs.length).toBeGreaterThan(2);
    let from = 0;
    let ends = 0;
    for (const { ref, bytes } of packs) {
      const mine = inputs.slice(from, from + ref.versions);
      from += ref.versions;
      expect(bytes.length).toBe(packBytes(mine));
      expect(bytes.length).toBeLessThanOrEqual(PACK_BYTES_MAX);
      const next = inputs[from];
      if (next === undefined) continue;
      const isFull = packBytes([...mine, next]) > PACK_BYTES_MAX;
      const isUnit = unitOf(next) !== Math.ceil(ref.first / 1024);
      expect(isFull || (cut === 'unit' && isUnit), `${ref.first}`).toBe(true);
      if (cut === 'unit')
        expect(unitOf({ ...next, sequence: ref.last })).toBe(Math.ceil(ref.first / 1024));
      if (isUnit && !isFull) ends += 1;
    }
    expect(from).toBe(inputs.length);
    expect(ends).toBe(cut === 'unit' ? new Set(inputs.map(unitOf)).size - 1 : 0);
  });

  test('makes the packs of a unit of that unit alone', () => {
    const inputs = threeUnits(5);
    const units = [...new Set(inputs.map(unitOf))];
    const apart = units.flatMap((unit) =>
      cutAll(
        inputs.filter((i) => unitOf(i) === unit),
        'unit',
      ),
    );
    expect(hashes(apart)).toEqual(hashes(cutAll(inputs, 'unit')));
  });

  test('begins a unit behind a multiple of 1,024 and ends it with the next', () => {
    const inputs = [1024, 1025, 2048, 2049, 5000].map((at) => packInput(at, 10));
    const ranges = cutAll(inputs, 'unit').map(({ ref }) => [ref.first, ref.last]);
    expect(ranges).toEqual([
      [1024, 1024],
      [1025, 2048],
      [2049, 2049],
      [5000, 5000],
    ]);
    expect(cutAll(inputs, 'rewritten').map(({ ref }) => ref.versions)).toEqual([5]);
  });

  test('reaches the last sequences there are', () => {
    const inputs = [2 ** 53 - 1025, 2 ** 53 - 1024, 2 ** 53 - 1].map((at) => packInput(at, 3));
    const packs = cutAll(inputs, 'unit');
    expect(packs.map(({ ref }) => ref.versions)).toEqual([2, 1]);
    expect(contents(packs).map(([at]) => at)).toEqual(inputs.map((input) => input.sequence));
  });

  test('fills packs with the shortest versions, whose rows are most of them', () => {
    const short = packInput(2, 1);
    const inputs = Array.from({ length: 86_000 }, (_, index) => {
      return { ...short, sequence: sequence(2 + index) };
    });
    const [first, second, ...rest] = cutAll(inputs, 'rewritten');
    expect(rest).toEqual([]);
    expect(first?.bytes.length).toBeGreaterThan(PACK_BYTES_MAX - 49);
    expect((first?.ref.versions ?? 0) + (second?.ref.versions ?? 0)).toBe(inputs.length);
    if (first !== undefined) expect(decodePack(first.ref, first.bytes).ref).toEqual(first.ref);
  });

  test('gives nothing of nothing, and goes on behind what it finished', () => {
    const cutter = new PackCutter(EPOCH, 'unit');
    expect(cutter.finish()).toBeNull();
    expect(cutter.add(SOURCE, packInput(5, 10))).toBeNull();
    expect(cutter.finish()?.ref).toMatchObject({ first: 5, last: 5, versions: 1 });
    expect(cutter.finish()).toBeNull();
    expect(cutter.add(SOURCE, packInput(6, 10))).toBeNull();
    expect(cutter.finish()?.ref).toMatchObject({ first: 6, last: 6, epoch: EPOCH });
  });

  test('keeps a copy: the bytes may change behind it', () => {
    const cutter = new PackCutter(EPOCH, 'unit');
    const input = packInput(5, 1000);
    cutter.add(SOURCE, input);
    input.bytes.fill(0);
    const pack = cutter.finish();
    expect(pack && decodePack(pack.ref, pack.bytes).ref).toEqual(pack?.ref);
    expect(pack?.ref.hash).toBe(cutAll([packInput(5, 1000)], 'unit')[0]?.ref.hash);
  });

  test('refuses a body of another hash by its source and sequence, and stays as it was', () => {
    const cutter = new PackCutter(EPOCH, 'unit');
    cutter.add(SOURCE, packInput(5, 10));
    const right = packInput(2000, 10);
    const wrong = { ...right, bytes: packInput(2001, 10).bytes };
    const error = refusal(SOURCE, () => cutter.add(SOURCE, wrong));
    expect(error.message).toContain('sequence 2000');
    expect(cutter.add(SOURCE, right)?.ref).toMatchObject({ first: 5, last: 5 });
    expect(cutter.finish()?.ref).toMatchObject({ first: 2000, last: 2000 });
  });

  test('takes nothing that no slot inlines, and nothing out of order', () => {
    const cutter = new PackCutter(EPOCH, 'unit');
    expect(cutter.add(SOURCE, packInput(5, 65_536))).toBeNull();
    const wrong = [packInput(6, 65_537), packInput(6, 0), packInput(5, 1), packInput(4, 1)];
    for (const input of wrong) expect(() => cutter.add(SOURCE, input)).toThrow(InvariantError);
    expect(cutter.finish()?.ref.versions).toBe(1);
    // 1 is genesis: no slot holds it, so no pack is made of it.
    cutter.add(SOURCE, packInput(6, 1));
    const genesis = new PackCutter(EPOCH, 'unit');
    genesis.add(SOURCE, { ...packInput(2, 1), sequence: sequence(1) });
    expect(() => genesis.finish()).toThrow(InvariantError);
  });
});
