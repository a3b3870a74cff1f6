/**
 * Goal: each complete unit is packed once, and packs that are mostly dead are packed again in rows.
 * Method: small units exhaustively; random packs against a pattern over their states; a world whose
 * versions die at random, for what repacking costs.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import {
  type PackUse,
  packedThroughAt,
  repackRows,
  unitsToPack,
} from '../../checkpoint/packing.ts';
import { SeededRandom } from '../support/seeded-random.ts';

describe('the units to pack', () => {
  test('cover all up to the last multiple of the unit, and each ends at the next one', () => {
    const problems: unknown[] = [];
    for (let unit = 2; unit <= 8; unit++) {
      for (let from = 1; from <= 3 * unit; from++) {
        for (let to = from; to <= 100; to++) {
          const units = unitsToPack(sequence(from), sequence(to), { unit });
          let end = from;
          for (let at = from + 1; at <= to; at++) {
            if (at % unit !== 0) continue;
            const next = units.find(({ through }) => through === at);
            if (next?.after !== end) problems.push({ unit, from, to, units });
            end = at;
          }
          const through = packedThroughAt(sequence(from), sequence(to), { unit });
          const count = Math.floor(to / unit) - Math.floor(from / unit);
          if (through !== end || units.length !== count) problems.push({ unit, from, to, through });
        }
      }
    }
    expect(problems.slice(0, 3)).toEqual([]);
  });

  test('are the same in steps', () => {
    const unit = 4;
    for (const start of [1, 3, 4, 5].map(sequence)) {
      const whole = unitsToPack(start, sequence(60), { unit });
      for (let stop = start as number; stop <= 60; stop++) {
        const before = unitsToPack(start, sequence(stop), { unit });
        const packed = packedThroughAt(start, sequence(stop), { unit });
        const after = unitsToPack(packed, sequence(60), { unit });
        expect([...before, ...after]).toEqual(whole);
      }
    }
  });

  test.each([
    { start: 1, at: 1_023, packed: 1, units: [] },
    { start: 1, at: 1_024, packed: 1_024, units: [[1, 1_024]] },
    { start: 1_024, at: 2_047, packed: 1_024, units: [] },
    { start: 1_024, at: 2_048, packed: 2_048, units: [[1_024, 2_048]] },
    {
      start: 1_500,
      at: 3_500,
      packed: 3_072,
      units: [
        [1_500, 2_048],
        [2_048, 3_072],
      ],
    },
    { start: 1_500, at: 1_500, packed: 1_500, units: [] },
  ])('of a life from $start, at $at, end at $packed', ({ start, at, packed, units }) => {
    const found = unitsToPack(sequence(start), sequence(at));
    expect(found.map(({ after, through }) => [after, through])).toEqual(units);
    expect(packedThroughAt(sequence(start), sequence(at))).toBe(packed);
  });

  test('cannot be those of before the start', () => {
    expect(() => unitsToPack(sequence(9), sequence(8))).toThrow(InvariantError);
  });
});

const pack = (first: number, last: number, bytes: number, readableBytes: number): PackUse => ({
  first: sequence(first),
  last: sequence(last),
  bytes,
  readableBytes,
});

describe('the packs to write again', () => {
  const ends = (packs: readonly PackUse[], base: number) =>
    repackRows(packs, sequence(base)).map((row) => row.map(({ last }) => last as number));

  test('are those with less than half readable, in rows as long as can be', () => {
    const packs = [
      pack(2, 10, 100, 49),
      pack(11, 20, 100, 50),
      pack(21, 30, 101, 50),
      pack(41, 50, 100, 0),
      pack(51, 60, 100, 100),
      pack(61, 70, 100, 10),
    ];
    expect(ends(packs, 70)).toEqual([[10], [30, 50], [70]]);
    expect(ends(packs, 60)).toEqual([[10], [30, 50]]);
    expect(ends(packs, 1)).toEqual([]);
    expect(ends([], 70)).toEqual([]);
  });

  test('are the longest rows of any packs, and the same objects', () => {
    const uses = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.nat({ max: 9 })), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(uses, fc.nat({ max: 30 }), (drawn, below) => {
        const packs = drawn.map(([bytes, readable], i) =>
          pack(3 * i + 2, 3 * i + 3, bytes, Math.min(bytes, readable)),
        );
        const states = packs
          .slice(0, below)
          .map(({ bytes, readableBytes }) => (bytes - readableBytes > readableBytes ? 'x' : '-'));
        const expected = [...states.join('').matchAll(/x+/g)].map((match) =>
          packs.slice(match.index, match.index + match[0].length),
        );
        const rows = repackRows(packs, sequence(3 * below + 1));
        const isSame = (found: PackUse, row: number, i: number) => found === expected[row]?.[i];
        expect(rows.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
        expect(rows.every((row, r) => row.every((found, i) => isSame(found, r, i)))).toBe(true);
      }),
    );
  });

  test('cost less than packing did, and leave at least half of every pack readable', () => {
    const random = new SeededRandom(5);
    // A pack is the versions in it; each has a size and the base from which it is dead.
    let packs: { size: number; dead: number }[][] = [];
    let packed = 0;
    let repacked = 0;
    let mostlyDead = 0;
    for (let base = 1; base <= 200; base++) {
      const fresh = Array.from({ length: 20 }, () => ({
        size: Math.ceil(random.number() * 50),
        dead: base + Math.floor(random.number() ** 3 * 100),
      }));
      packed += bytesOf(fresh);
      packs.push(fresh);
      const uses = packs.map((versions, i) => ({
        ...pack(i + 1, i + 1, bytesOf(versions), bytesOf(versions.filter((v) => v.dead > base))),
        versions,
      }));
      const rows = repackRows(uses, sequence(uses.length));
      const gone = new Set(rows.flat());
      const again = rows.map((row) => row.flatMap(({ versions }) => versions));
      const kept = again.map((versions) => versions.filter(({ dead }) => dead > base));
      repacked += kept.reduce((sum, versions) => sum + bytesOf(versions), 0);
      packs = [...uses.filter((use) => !gone.has(use)).map(({ versions }) => versions), ...kept];
      packs = packs.filter(({ length }) => length > 0);
      for (const versions of packs) {
        const readable = bytesOf(versions.filter(({ dead }) => dead > base));
        if (readable * 2 < bytesOf(versions)) mostlyDead += 1;
      }
    }
    expect(mostlyDead).toBe(0);
    expect(repacked).toBeGreaterThan(packed / 10);
    expect(repacked).toBeLessThan(packed);
  });

  test.each([
    { what: 'across the base', packs: [pack(2, 10, 9, 1)], base: 9 },
    { what: 'that overlap', packs: [pack(2, 10, 9, 9), pack(10, 12, 9, 9)], base: 20 },
    { what: 'that end before they begin', packs: [pack(3, 2, 9, 9)], base: 20 },
    { what: 'that hold less than is read', packs: [pack(2, 3, 9, 10)], base: 20 },
    { what: 'that hold less than nothing', packs: [pack(2, 3, 9, -1)], base: 20 },
    { what: 'that are empty', packs: [pack(2, 3, 0, 0)], base: 20 },
  ])('are not found among packs $what', ({ packs, base }) => {
    expect(() => repackRows(packs, sequence(base))).toThrow(InvariantError);
  });
});

function bytesOf(versions: readonly { readonly size: number }[]): number {
  return versions.reduce((sum, { size }) => sum + size, 0);
}
