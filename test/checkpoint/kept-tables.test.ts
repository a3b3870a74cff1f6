/**
 * Goal: a merge names the tables that nothing has touched again, without reading them, and what it
 * names in all is what making everything anew would give.
 * Method: a large run under small ones, from seeds; references compared with those of all documents
 * at once; reads noted.
 */
import { describe, expect, test } from 'vitest';
import { InTurnsMerger } from '../../checkpoint/in-turns-merger.ts';
import {
  type Collected,
  collect,
  MERGE_EPOCH,
  type MergeBench,
  mergeBench,
} from '../support/merge-bench.ts';

function merged(
  bench: MergeBench,
  epoch: number = MERGE_EPOCH,
): Promise<{ readonly sink: Collected; readonly reads: readonly string[] }> {
  return collect(new InTurnsMerger(async () => undefined), bench, epoch);
}

const SIZES = [
  { documents: 1500, changed: 1, runs: 1 },
  { documents: 1500, changed: 3, runs: 2 },
  { documents: 600, changed: 60, runs: 3 },
  { documents: 40, changed: 40, runs: 2 },
];

describe.each(SIZES)(
  'of $documents documents and $runs runs of $changed changes, a merge',
  (size) => {
    test.each([1, 2, 3, 4, 5, 6])(
      'names what making all of it anew would (seed %i)',
      async (seed) => {
        const bench = await mergeBench(seed, size);
        const { sink, reads } = await merged(bench);
        expect(sink.refs).toEqual(bench.expected.map(({ ref }) => ref));
        // What is named again is not read, and all else once.
        const tables = bench.runs.flatMap((run, at) => run.map((_, table) => `${at} ${table}`));
        const kept = new Set(sink.keptTables.map(([run, table]) => `${run} ${table}`));
        expect(reads.toSorted()).toEqual(tables.filter((table) => !kept.has(table)).toSorted());
      },
    );
  },
);

test('a change of one document leaves most of a large run as it is', async () => {
  const bench = await mergeBench(9, { documents: 1500, changed: 1, runs: 1 });
  const { sink } = await merged(bench);
  const [old = []] = bench.runs;
  expect(old.length).toBeGreaterThan(8);
  // Two documents of the new run: each in one table, which may end elsewhere than it did.
  expect(sink.made.length).toBeLessThanOrEqual(old.length / 2);
  expect(sink.keptTables.length + sink.made.length).toBe(bench.expected.length);
});

test('a table that is named again keeps the epoch that it was written in', async () => {
  const bench = await mergeBench(9, { documents: 1500, changed: 1, runs: 1 });
  const { sink } = await merged(bench, MERGE_EPOCH + 1);
  const epochs = sink.refs.map(({ epoch }) => epoch);
  expect(new Set(epochs)).toEqual(new Set([MERGE_EPOCH, MERGE_EPOCH + 1]));
  expect(epochs.filter((epoch) => epoch === MERGE_EPOCH)).toHaveLength(sink.keptTables.length);
});
