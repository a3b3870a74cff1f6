/**
 * Goal: the thread that merges makes the bytes that merging on the caller's thread makes, fails as
 * that fails, and is gone when nobody needs it.
 * Method: real threads of the compiled program; runs from seeds, whole and damaged; ends by signal,
 * sink and `close()`.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { silentLogger } from '../../bucketstore/base/diagnostics.ts';
import { InTurnsMerger } from '../../checkpoint/in-turns-merger.ts';
import { tableKey } from '../../checkpoint/table-directory.ts';
import { ManualClock } from '../support/manual-clock.ts';
import {
  Collected,
  collect,
  MERGE_CUT,
  MERGE_EPOCH,
  type MergeBench,
  mergeBench,
  sourcesOf,
} from '../support/merge-bench.ts';
import { failureOf } from '../support/outcome.ts';

type Compiled = typeof import('../../checkpoint/worker-merger.ts');
type WorkerMerger = InstanceType<Compiled['WorkerMerger']>;

/** As text, so that types do not depend on what has been compiled. */
const COMPILED: string = new URL('../../dist/checkpoint/worker-merger.js', import.meta.url).href;
const { WorkerMerger } = (await import(COMPILED)) as Compiled;

const OPTIONS = { epoch: MERGE_EPOCH, sizes: MERGE_CUT };
const SIZE = { documents: 1200, changed: 40, runs: 3 };
const open: WorkerMerger[] = [];

function threaded(worthBytes = 0): WorkerMerger {
  const merger = new WorkerMerger({ clock: systemClock, logger: silentLogger, worthBytes });
  open.push(merger);
  return merger;
}

afterEach(async () => {
  for (const merger of open.splice(0)) await merger.close();
});

/** One bit of a table of the oldest run is another. */
function damaged({ runs, expected }: MergeBench): { bench: MergeBench; key: string } {
  const [first = [], ...newer] = runs;
  const [table, ...rest] = first;
  if (table === undefined) throw new RangeError('no table');
  const bytes = Uint8Array.from(table.bytes);
  const at = bytes.length - 9;
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  const bench = { runs: [[{ ...table, bytes }, ...rest], ...newer], expected };
  return { bench, key: tableKey('segment', table.ref) };
}

describe('`WorkerMerger`', () => {
  test('makes in its thread what is made without one, merge after merge', async () => {
    const merger = threaded();
    for (const seed of [1, 2, 3]) {
      const bench = await mergeBench(seed, SIZE);
      const { sink: alone } = await collect(new InTurnsMerger(async () => undefined), bench);
      const { sink: made } = await collect(merger, bench);
      expect(merger.hasThread).toBe(true);
      expect(made.refs).toEqual(alone.refs);
      expect(made.keptTables).toEqual(alone.keptTables);
      for (const [at, { bytes }] of made.made.entries()) {
        expect(Buffer.compare(bytes, alone.made[at]?.bytes ?? new Uint8Array())).toBe(0);
      }
    }
  });

  test('ends a thread that has nothing to do, and begins another for the next merge', async () => {
    const clock = new ManualClock();
    const merger = new WorkerMerger({ clock, logger: silentLogger, worthBytes: 0 });
    open.push(merger);
    const bench = await mergeBench(7, SIZE);
    for (const _ of [1, 2]) {
      await collect(merger, bench);
      expect(merger.hasThread).toBe(true);
      await clock.advance(10_000);
      expect(merger.hasThread).toBe(false);
    }
  });

  test('begins no thread for little', async () => {
    const merger = threaded(1_000_000_000);
    const bench = await mergeBench(4, SIZE);
    const { refs } = (await collect(merger, bench)).sink;
    expect(refs).toEqual(bench.expected.map(({ ref }) => ref));
    expect(merger.hasThread).toBe(false);
  });

  test('names the table that is damaged, and merges again', async () => {
    const merger = threaded();
    const whole = await mergeBench(5, { ...SIZE, documents: 60 });
    const { bench, key } = damaged(whole);
    const failure = await failureOf(collect(merger, bench));
    expect(failure).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
    const { refs } = (await collect(merger, whole)).sink;
    expect(refs).toEqual(whole.expected.map(({ ref }) => ref));
  });

  test('ends with the signal, with what fails beside it, and when it is closed', async () => {
    const merger = threaded();
    const bench = await mergeBench(6, SIZE);
    const sources = () => sourcesOf(bench.runs, () => undefined);
    const ending = new AbortController();
    class Ends extends Collected {
      override async table(): Promise<void> {
        ending.abort(new RangeError('ended'));
        await new Promise(() => undefined);
      }
    }
    const signalled = { ...OPTIONS, signal: ending.signal };
    const merging = merger.merge('segment', sources(), new Ends(bench.runs), signalled);
    expect(await failureOf(merging)).toMatchObject({ message: 'ended' });
    class Full extends Collected {
      override table(): Promise<void> {
        return Promise.reject(new RangeError('full'));
      }
    }
    const full = merger.merge('segment', sources(), new Full(bench.runs), OPTIONS);
    expect(await failureOf(full)).toMatchObject({ message: 'full' });
    const broken = sources().map((source) => ({
      ...source,
      read: () => Promise.reject(new RangeError('no read')),
    }));
    const reading = merger.merge('segment', broken, new Collected(bench.runs), OPTIONS);
    expect(await failureOf(reading)).toMatchObject({ message: 'no read' });
    class Closes extends Collected {
      override async table(): Promise<void> {
        void merger.close();
        await new Promise(() => undefined);
      }
    }
    const closing = merger.merge('segment', sources(), new Closes(bench.runs), OPTIONS);
    expect(await failureOf(closing)).toMatchObject({ code: 'CLOSED' });
    const late = merger.merge('segment', sources(), new Collected(bench.runs), OPTIONS);
    expect(await failureOf(late)).toMatchObject({ code: 'CLOSED' });
    expect(merger.hasThread).toBe(false);
  });
});
