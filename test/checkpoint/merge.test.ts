/**
 * Goal: a merge of runs is what laying their entries over each other gives, the newest on top, to
 * the byte and in whatever order runs are merged; and it says where each entry came from.
 * Method: runs drawn from seeds against a map; merges in two groupings compared as bytes; tables
 * fed one by one.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { RunMerge } from '../../checkpoint/merge.ts';
import { RunBuilder } from '../../checkpoint/run-builder.ts';
import type { BuiltTable } from '../../checkpoint/table-builder.ts';
import { refusal } from '../log/forge.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import {
  bytesOf,
  cursorOf,
  drawEntries,
  EPOCH,
  keyOfTable,
  mergeTablesOf,
  type PlainEntry,
  plain,
  readAll,
  runOf,
  SMALL_CUT,
  tableOf,
  utf8,
} from './table-values.ts';

type Run = readonly BuiltTable[];

interface Origin {
  readonly run: number;
  readonly object: number;
  readonly row: number;
}

/** Drives a merge to its end; tables are handed out only when it comes to them. */
function drive(runs: readonly Run[], onEntry: (merge: RunMerge) => void): void {
  const merge = new RunMerge(runs.map((run) => mergeTablesOf(run)));
  const opened = runs.map(() => 0);
  for (let step = merge.advance(); step !== 'done'; step = merge.advance()) {
    if (step === 'entry') {
      onEntry(merge);
      continue;
    }
    const { run, object } = merge;
    const table = runs[run]?.[object];
    expect(object).toBe(opened[run]);
    opened[run] = object + 1;
    if (table === undefined) throw new RangeError('no table');
    merge.open(cursorOf(table));
  }
  // Every table was opened, in order.
  expect(opened).toEqual(runs.map((run) => run.length));
}

function mergeRuns(runs: readonly Run[]): { tables: BuiltTable[]; origins: Origin[] } {
  const tables: BuiltTable[] = [];
  const origins: Origin[] = [];
  const run = new RunBuilder(
    'segment',
    EPOCH,
    (builder) => tables.push(builder.finish()),
    SMALL_CUT,
  );
  drive(runs, (merge) => {
    origins.push({ run: merge.run, object: merge.object, row: merge.row });
    run.copy(merge.cursor);
  });
  run.end();
  return { tables, origins };
}

function drawRuns(random: SeededRandom, count: number): PlainEntry[][] {
  return Array.from({ length: count }, () => {
    // Few names, so that runs have most paths in common; some runs are empty.
    return drawEntries(random, random.pick([0, 1, 5, 30, 60]), 120, 3);
  });
}

/** All entries, the newest of each path. */
function overlay(runs: readonly (readonly PlainEntry[])[]): PlainEntry[] {
  const map = new Map(runs.flat().map((entry) => [entry.path, entry]));
  return [...map.values()].sort((a, b) => compareUtf8(a.path, b.path));
}

const SEEDS = Array.from({ length: 20 }, (_, seed) => seed);

describe('a merge of runs', () => {
  test.each([1, 2, 3, 5, 9, 17])('of %i is their overlay', (count) => {
    for (const seed of SEEDS) {
      const entries = drawRuns(new SeededRandom(seed * 100 + count), count);
      const runs = entries.map((run) => runOf(run));
      const { tables, origins } = mergeRuns(runs);
      const expected = overlay(entries);
      expect(tables.flatMap((table) => readAll(table))).toEqual(expected);
      expect(Buffer.compare(bytesOf(tables), bytesOf(runOf(expected)))).toBe(0);
      // Later runs take the place of earlier ones.
      const newest = new Map(entries.flatMap((list, run) => list.map(({ path }) => [path, run])));
      const read = runs.map((run) => run.map((table) => readAll(table)));
      for (const [index, { run, object, row }] of origins.entries()) {
        expect(read[run]?.[object]?.[row]).toEqual(expected[index]);
        expect(run).toBe(newest.get(expected[index]?.path ?? ''));
      }
    }
  });

  test('is the same in any grouping', () => {
    for (const seed of SEEDS) {
      const random = new SeededRandom(seed);
      const [a, b, c] = drawRuns(random, 3).map((run) => runOf(run));
      if (a === undefined || b === undefined || c === undefined) throw new RangeError('too few');
      const left = mergeRuns([mergeRuns([a, b]).tables, c]).tables;
      const right = mergeRuns([a, mergeRuns([b, c]).tables]).tables;
      const atOnce = mergeRuns([a, b, c]).tables;
      expect(Buffer.compare(bytesOf(left), bytesOf(right))).toBe(0);
      expect(Buffer.compare(bytesOf(left), bytesOf(atOnce))).toBe(0);
      expect(left.map(({ ref }) => ref)).toEqual(right.map(({ ref }) => ref));
    }
  });

  test('names every run that has the path, the newest first', () => {
    const random = new SeededRandom(7);
    const entries = drawRuns(random, 6);
    drive(
      entries.map((run) => runOf(run)),
      (merge) => {
        const { path } = plain(merge.cursor);
        const having = entries.flatMap((list, run) =>
          list.some((entry) => entry.path === path) ? [run] : [],
        );
        expect(merge.sources).toEqual(having.reverse());
        for (const run of merge.sources) {
          expect(entries[run]).toContainEqual(plain(merge.cursorOf(run)));
        }
      },
    );
  });

  test('refuses a run whose tables are out of order, naming the table', () => {
    const tables = runOf(drawEntries(new SeededRandom(8), 60));
    const [first, second] = tables;
    if (first === undefined || second === undefined) throw new RangeError('too few tables');
    for (const run of [
      [second, first],
      [first, first],
    ]) {
      refusal(keyOfTable(first), () => mergeRuns([run]));
    }
  });

  test('comes to each table before its first entry, and to none twice', () => {
    const [table] = runOf(drawEntries(new SeededRandom(9), 2));
    if (table === undefined) throw new RangeError('no table');
    const merge = new RunMerge([mergeTablesOf([table]), []]);
    expect(() => merge.run).toThrow(InvariantError);
    expect(() => merge.open(cursorOf(table))).toThrow(InvariantError);
    expect(merge.advance()).toBe('table');
    expect(() => merge.advance()).toThrow(InvariantError);
    expect([merge.run, merge.object]).toEqual([0, 0]);
    expect([merge.isAlone, merge.isFollowedByOwn, merge.isLastOfRun]).toEqual([true, true, true]);
    merge.open(cursorOf(table));
    expect(() => merge.open(cursorOf(table))).toThrow(InvariantError);
    expect(merge.advance()).toBe('entry');
    expect(() => merge.pass()).toThrow(InvariantError);
    expect(merge.advance()).toBe('entry');
    expect(merge.advance()).toBe('done');
    expect(merge.advance()).toBe('done');
    expect(() => new RunMerge([])).toThrow(InvariantError);
  });

  test('passes a table only where no other run has an entry', () => {
    const entry = (path: string): PlainEntry => ({ path, json: '{}' });
    const table = tableOf([entry('/c.md'), entry('/f.md')]);
    for (const [paths, isAlone, isFollowedByOwn] of [
      [['/a.md', '/b.md'], true, true],
      [['/g.md'], true, false],
      [['/d.md'], false, false],
      [['/c.md'], false, false],
      [['/f.md'], false, false],
    ] as const) {
      const others = paths.map((path) => tableOf([entry(path)]));
      const merge = new RunMerge([mergeTablesOf([table]), mergeTablesOf(others)]);
      for (let step = merge.advance(); step !== 'table' || merge.run !== 0; ) {
        const other = others[step === 'table' ? merge.object : -1];
        if (other !== undefined) merge.open(cursorOf(other));
        step = merge.advance();
      }
      expect([paths, merge.isAlone, merge.isFollowedByOwn]).toEqual([
        paths,
        isAlone,
        isFollowedByOwn,
      ]);
      if (isAlone) {
        merge.pass();
        expect(merge.advance()).toBe(isFollowedByOwn ? 'done' : 'table');
      } else {
        expect(() => merge.pass()).toThrow(InvariantError);
      }
    }
  });

  test('refuses a table that begins or ends elsewhere than its manifest says', () => {
    const table = tableOf(drawEntries(new SeededRandom(10), 3));
    for (const change of [{ first: utf8('/-.md') }, { last: utf8('/~.md') }]) {
      refusal(keyOfTable(table), () => {
        const merge = new RunMerge([mergeTablesOf([table]).map((one) => ({ ...one, ...change }))]);
        merge.advance();
        merge.open(cursorOf(table));
        while (merge.advance() !== 'done');
      });
    }
  });

  test('of nothing is nothing', () => {
    expect(mergeRuns([[], [], []])).toEqual({ tables: [], origins: [] });
  });
});
