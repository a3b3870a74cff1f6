/**
 * Goal: where tables end depends on paths, so that a change moves as little as it can, and no table
 * is longer than it may be.
 * Method: runs of drawn paths and lengths, cut at small sizes and at the format's; one entry put in
 * and taken out at every place.
 */
import { describe, expect, test } from 'vitest';
import {
  SEGMENT_BYTES_MAX,
  SEGMENT_BYTES_MIN,
  SEGMENT_CUT_MODULUS,
} from '../../checkpoint/constants.ts';
import { type CutSizes, isCutPath, TableCut } from '../../checkpoint/cut.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { utf8 } from './table-values.ts';

interface Item {
  readonly path: Uint8Array;
  readonly bytes: number;
}

const SMALL: CutSizes = { bytesMin: 1000, bytesMax: 4000, modulus: 8 };

function draw(random: SeededRandom, count: number, bytesMax: number): Item[] {
  const numbers = Array.from({ length: count }, () => random.integer(2 ** 40)).sort(
    (a, b) => a - b,
  );
  return numbers.map((number) => item(number, 10 + random.integer(bytesMax - 9)));
}

function item(number: number, bytes: number): Item {
  return { path: utf8(`/${number.toString(16).padStart(11, '0')}`), bytes };
}

/** Tables as the numbers of entries in each. */
function cut(items: readonly Item[], sizes?: CutSizes): Item[][] {
  const rule = new TableCut(sizes);
  const tables: Item[][] = [[]];
  for (const one of items) {
    if (rule.endsBefore(one.bytes)) tables.push([]);
    tables.at(-1)?.push(one);
    if (rule.endsBehind(one.path, one.bytes)) tables.push([]);
  }
  if (tables.at(-1)?.length === 0) tables.pop();
  return tables;
}

const size = (table: readonly Item[]): number => table.reduce((sum, { bytes }) => sum + bytes, 0);

describe('tables of a run', () => {
  test.each([1, 2, 3, 4, 5])(
    'are none longer and none shorter than they may be, seed %i',
    (seed) => {
      const items = draw(new SeededRandom(seed), 2000, 200);
      const tables = cut(items, SMALL);
      expect(tables.flat()).toEqual(items);
      const ends = { hash: 0, length: 0 };
      for (const [index, table] of tables.entries()) {
        expect(size(table)).toBeLessThanOrEqual(SMALL.bytesMax);
        const next = tables[index + 1]?.[0];
        if (next === undefined) continue;
        const last = table.at(-1);
        const byHash =
          last !== undefined && size(table) >= SMALL.bytesMin && isCutPath(last.path, 8);
        if (!byHash) expect(size(table) + next.bytes).toBeGreaterThan(SMALL.bytesMax);
        ends[byHash ? 'hash' : 'length'] += 1;
        // And it could not have ended before.
        let sum = 0;
        for (const { path, bytes } of table.slice(0, -1)) {
          sum += bytes;
          expect(sum >= SMALL.bytesMin && isCutPath(path, 8)).toBe(false);
        }
      }
      expect(ends.hash).toBeGreaterThan(0);
      expect(ends.length).toBeGreaterThan(0);
    },
  );

  test('change where an entry comes or goes, up to an end that both have', () => {
    let changed = 0;
    let places = 0;
    for (const seed of [6, 7, 8]) {
      const random = new SeededRandom(seed);
      const items = draw(random, 600, 200);
      const before = cut(items, SMALL);
      for (let at = 0; at < items.length; at++) {
        const without = cut([...items.slice(0, at), ...items.slice(at + 1)], SMALL);
        const names = new Set(before.map(nameOf));
        const others = without.map(nameOf);
        // Nothing before the table that has it, and nothing behind the first end in common.
        const first = before.findIndex((table) => table.includes(items[at] ?? item(0, 0)));
        expect(others.slice(0, first)).toEqual(before.slice(0, first).map(nameOf));
        const same = others.findIndex((name, index) => index >= first && names.has(name));
        if (same >= 0) {
          const from = before.findIndex((table) => nameOf(table) === others[same]);
          expect(others.slice(same)).toEqual(before.slice(from).map(nameOf));
        }
        changed += others.filter((name) => !names.has(name)).length;
        places += 1;
      }
    }
    // Cut by count, half of all tables would change each time: here two or so do.
    expect(changed / places).toBeLessThan(3);
    expect(changed / places).toBeGreaterThan(0.9);
  });

  test('have about 4 MiB when entries have 850 bytes', () => {
    const random = new SeededRandom(9);
    const items = draw(random, 80_000, 10).map(({ path }) => ({ path, bytes: 850 }));
    const tables = cut(items).slice(0, -1);
    const sizes = tables.map(size);
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(SEGMENT_BYTES_MIN);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(SEGMENT_BYTES_MAX);
    const mean = sizes.reduce((sum, bytes) => sum + bytes, 0) / sizes.length;
    expect(mean).toBeGreaterThan(3 * 2 ** 20);
    expect(mean).toBeLessThan(5 * 2 ** 20);
  });

  test('have an entry that is longer than a table alone in one', () => {
    const items = [item(1, 100), item(2, 5000), item(3, 100), item(4, 9000), item(5, 9000)];
    const tables = cut(items, { bytesMin: 1000, bytesMax: 4000, modulus: 2 ** 32 });
    expect(tables.map((table) => table.map(({ bytes }) => bytes))).toEqual([
      [100],
      [5000],
      [100],
      [9000],
      [9000],
    ]);
  });

  test('are full to the byte, and not one beyond', () => {
    const never = { bytesMin: 1, bytesMax: 300, modulus: 2 ** 32 };
    expect(cut([item(1, 100), item(2, 200), item(3, 1)], never).map(size)).toEqual([300, 1]);
    expect(cut([item(1, 100), item(2, 201), item(3, 1)], never).map(size)).toEqual([100, 202]);
    const always = { bytesMin: 300, bytesMax: 1000, modulus: 1 };
    expect(cut([item(1, 299), item(2, 1), item(3, 1)], always).map(size)).toEqual([300, 1]);
  });
});

test('a path that a table may end behind has 32 bits of its hash divisible by 2048', () => {
  // Found with another implementation of SHA-256.
  const found = Array.from({ length: 20_000 }, (_, n) => n).filter((n) => isCutPath(utf8(`/${n}`)));
  expect(found).toEqual([985, 1548, 4472, 4527, 7682, 11200, 11459, 14416, 16867]);
  expect(SEGMENT_CUT_MODULUS).toBe(2048);
});

function nameOf(table: readonly Item[]): string {
  return Buffer.concat(table.map(({ path }) => path)).toString();
}
