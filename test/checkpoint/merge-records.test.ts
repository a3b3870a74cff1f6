/**
 * Goal: merging the version records of a document loses none that is retained, doubles none, closes
 * every complete range, and gives the same bytes in any grouping (I4).
 * Method: histories drawn from seeds, with retention that sets in, moves and jumps; cut into
 * intervals and merged in drawn trees; what comes out compared with the versions that went in.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import type { VersionRecord } from '../../bucketstore/snapshot/state.ts';
import { HISTORY_VERSIONS } from '../../checkpoint/constants.ts';
import {
  decodeHistory,
  type EncodedHistory,
  type HistoryRef,
  historyFirst,
} from '../../checkpoint/history.ts';
import { RunMerge } from '../../checkpoint/merge.ts';
import { addMergedRecords, mergeRecords, recordEntryOf } from '../../checkpoint/merge-records.ts';
import {
  decodeRecordEntry,
  encodeRecordEntry,
  type RecordEntry,
} from '../../checkpoint/record-entry.ts';
import { RunBuilder } from '../../checkpoint/run-builder.ts';
import type { BuiltTable } from '../../checkpoint/table-builder.ts';
import { tableKey } from '../../checkpoint/table-directory.ts';
import { refusal } from '../log/forge.ts';
import { hashOf } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { drawVersions } from './state-values.ts';
import {
  bytesOf,
  cursorOf,
  EPOCH,
  keyOfTable,
  mergeTablesOf,
  SMALL_CUT,
  text,
  utf8,
} from './table-values.ts';

const PATH = '/log.md';
const KEY = tableKey('records', { epoch: EPOCH, hash: hashOf(9) });

/** A document's versions, and the oldest retained after each of them. */
interface History {
  readonly versions: readonly VersionRecord[];
  readonly firsts: readonly number[];
}

/** Retention that is none, a window that slides, or one that is changed now and then. */
function drawHistory(random: SeededRandom, from: number, count: number): History {
  const versions = drawVersions(random, from, count);
  let keep = random.pick([Infinity, 1, 10, 300, 700]);
  let first = random.integer(2) * (from - 1) + 1;
  const firsts = versions.map(({ version }) => {
    if (random.integer(300) === 0) keep = random.pick([Infinity, 1, 10, 300, 700]);
    first = Math.max(first, version - keep + 1);
    return first;
  });
  return { versions, firsts };
}

/** The entry over the versions `from` to `to`, by their place in the history. */
function entryOver({ versions, firsts }: History, from: number, to: number): RecordEntry {
  return recordEntryOf(PATH, firsts[to - 1] ?? 0, versions.slice(from, to), EPOCH).entry;
}

const jsonOf = (entry: RecordEntry): string => text(encodeRecordEntry(PATH, entry, EPOCH));

/** All versions that an entry has, those of its blocks read back. */
function versionsOf(entry: RecordEntry, blocks: ReadonlyMap<string, Uint8Array>): VersionRecord[] {
  const closed = entry.blocks.flatMap((ref: HistoryRef) => {
    return decodeHistory(PATH, ref, blocks.get(ref.hash) ?? new Uint8Array(0));
  });
  return [...closed, ...entry.records].sort((a, b) => a.version - b.version);
}

/** Merges entries in a drawn tree; all blocks that were closed on the way go into `blocks`. */
function mergeTree(
  random: SeededRandom,
  entries: readonly RecordEntry[],
  blocks: Map<string, Uint8Array>,
): RecordEntry {
  const [only] = entries;
  if (only !== undefined && entries.length === 1) return only;
  const cuts = new Set([0, entries.length, 1 + random.integer(entries.length - 1)]);
  cuts.add(random.integer(entries.length));
  const places = [...cuts].sort((a, b) => a - b);
  const parts = places.slice(1).map((to, index) => {
    return mergeTree(random, entries.slice(places[index], to), blocks);
  });
  const sources = parts.map((entry) => ({ key: KEY, entry }));
  const { entry, closed } = mergeRecords(PATH, sources, EPOCH);
  keep(closed, blocks);
  return entry;
}

function keep(closed: readonly EncodedHistory[], blocks: Map<string, Uint8Array>): void {
  for (const { bytes, ref } of closed) blocks.set(ref.hash, bytes);
}

const SEEDS = Array.from({ length: 16 }, (_, seed) => seed);

describe('merged version records', () => {
  test('have every retained version once, and are the same in any grouping', () => {
    const met = { closed: 0, dropped: 0, entered: 0 };
    for (const seed of SEEDS) {
      const random = new SeededRandom(seed);
      const from = random.pick([1, 2, 200, 256, 257, 1000]);
      const history = drawHistory(random, from, 1 + random.integer(1500));
      const { versions, firsts } = history;
      const places = new Set([0, versions.length]);
      for (let i = 0; i < 8; i++) places.add(random.integer(versions.length));
      const cuts = [...places].sort((a, b) => a - b);
      const blocks = new Map<string, Uint8Array>();
      const entries = cuts.slice(1).map((to, index) => {
        const [start, first] = [cuts[index] ?? 0, firsts[to - 1] ?? 0];
        const built = recordEntryOf(PATH, first, versions.slice(start, to), EPOCH);
        keep(built.closed, blocks);
        return built.entry;
      });
      const atOnce = recordEntryOf(PATH, firsts.at(-1) ?? 0, versions, EPOCH);
      keep(atOnce.closed, blocks);
      const merged = mergeTree(random, entries, blocks);
      expect(jsonOf(merged)).toBe(jsonOf(atOnce.entry));
      expect(jsonOf(mergeTree(random, entries, blocks))).toBe(jsonOf(atOnce.entry));
      const first = firsts.at(-1) ?? 0;
      // Of the range that retention has entered, all of it stays.
      const kept = versions.filter(({ version }) => version >= historyFirst(first));
      expect(versionsOf(merged, blocks)).toEqual(kept);
      met.closed += merged.blocks.length;
      met.dropped += versions.length - kept.length;
      met.entered += merged.blocks.some((block) => block.first < first) ? 1 : 0;
    }
    for (const count of Object.values(met)) expect(count).toBeGreaterThan(0);
  });

  test('close a range when its last version comes, and not before', () => {
    const history: History = {
      versions: drawVersions(new SeededRandom(1), 1, 2 * HISTORY_VERSIONS + 1),
      firsts: Array.from({ length: 2 * HISTORY_VERSIONS + 1 }, () => 1),
    };
    const counts = [255, 256, 511, 512, 513].map((count) => {
      const { blocks, records } = entryOver(history, 0, count);
      return [blocks.length, records.length];
    });
    expect(counts).toEqual([
      [0, 255],
      [1, 0],
      [1, 255],
      [2, 0],
      [2, 1],
    ]);
    // From the second version on, the first range is not complete in this interval.
    const { blocks, records } = entryOver(history, 1, 512);
    expect([blocks.map(({ first }) => first), records.length]).toEqual([[257], 255]);
    const { entry, closed } = mergeRecords(
      PATH,
      [
        { key: KEY, entry: entryOver(history, 0, 1) },
        { key: KEY, entry: { first: 1, blocks, records } },
      ],
      EPOCH,
    );
    expect(closed.map(({ ref }) => ref.first)).toEqual([1]);
    expect(entry.blocks.map(({ first }) => first)).toEqual([1, 257]);
    expect(entry.records).toEqual([]);
  });

  test('of one version after a million have no more bytes than they need', () => {
    const [record] = drawVersions(new SeededRandom(2), 1_000_000, 1);
    if (record === undefined) throw new RangeError('no version');
    const { entry } = recordEntryOf(PATH, 1, [record], EPOCH);
    expect(entry).toEqual({ first: 1, blocks: [], records: [record] });
  });

  test('are refused where an interval does not follow, naming the newer table', () => {
    const versions = drawVersions(new SeededRandom(3), 1, 900);
    const over = (from: number, to: number, first = 1): RecordEntry => {
      return recordEntryOf(PATH, first, versions.slice(from - 1, to), EPOCH).entry;
    };
    const newer = tableKey('records', { epoch: EPOCH, hash: hashOf(10) });
    const pairs: [RecordEntry, RecordEntry][] = [
      [over(1, 10), over(12, 20)],
      [over(1, 10), over(10, 20)],
      [over(1, 256), over(258, 300)],
      [over(1, 512), over(512, 600)],
      [over(1, 10, 5), over(11, 20, 4)],
      // What was between fell away only where all before does.
      [over(1, 300, 1), over(302, 800, 300)],
      // All before does, but not the range that retention has entered.
      [over(1, 10), over(550, 800, 600)],
    ];
    for (const [before, entry] of pairs) {
      const sources = [
        { key: KEY, entry: before },
        { key: newer, entry },
      ];
      refusal(newer, () => mergeRecords(PATH, sources, EPOCH));
    }
    const sources = [
      { key: KEY, entry: over(1, 10) },
      { key: newer, entry: over(513, 800, 600) },
    ];
    expect(mergeRecords(PATH, sources, EPOCH).entry).toEqual(over(513, 800, 600));
    const later = over(11, 20).records.map((record) => {
      return 'seq' in record.at ? { ...record, at: { seq: 2 as never } } : record;
    });
    const backwards = [
      { key: KEY, entry: over(1, 10) },
      { key: newer, entry: { ...over(11, 20), records: later } },
    ];
    refusal(newer, () => mergeRecords(PATH, backwards, EPOCH));
  });

  test('keep blocks of schema 1, also one that its document ended in', () => {
    const old: RecordEntry = {
      first: 100,
      blocks: [
        { first: 100, hash: hashOf(1), epoch: 0 },
        { first: 257, hash: hashOf(2), epoch: 0 },
      ],
      records: [],
    };
    expect(jsonOf(old)).toContain(`"blocks":[[100,"${hashOf(1)}",0],[257,"${hashOf(2)}",0]]`);
    const versions = drawVersions(new SeededRandom(4), 301, 500);
    const next = recordEntryOf(PATH, 100, versions, EPOCH).entry;
    const { entry } = mergeRecords(
      PATH,
      [
        { key: KEY, entry: old },
        { key: KEY, entry: next },
      ],
      EPOCH,
    );
    expect(entry.blocks.map(({ first }) => first)).toEqual([100, 257, 513]);
    expect(entry.records.map(({ version }) => version)).toEqual(
      versions.map(({ version }) => version).filter((version) => version < 513 || version > 768),
    );
    const pruned = recordEntryOf(PATH, 257, versions, EPOCH).entry;
    const sources = [old, pruned].map((source) => ({ key: KEY, entry: source }));
    const after = mergeRecords(PATH, sources, EPOCH).entry;
    expect(after.blocks.map(({ first }) => first)).toEqual([257, 513]);
  });

  test('are not made of versions with a gap, or of none', () => {
    const versions = drawVersions(new SeededRandom(5), 1, 10);
    const gap = [...versions.slice(0, 3), ...versions.slice(4)];
    expect(() => recordEntryOf(PATH, 1, gap, EPOCH)).toThrow(InvariantError);
    expect(() => recordEntryOf(PATH, 1, [], EPOCH)).toThrow(InvariantError);
    expect(() => recordEntryOf(PATH, 11, versions, EPOCH)).toThrow(InvariantError);
    expect(() => recordEntryOf(PATH, 10, versions, EPOCH)).not.toThrow();
    expect(() => recordEntryOf(PATH, 257, versions, EPOCH)).toThrow(InvariantError);
  });
});

describe('a merge of record runs', () => {
  /** Some documents with histories, cut at the same places of the log into runs. */
  function drawRuns(seed: number): { runs: BuiltTable[][]; histories: Map<string, History> } {
    const random = new SeededRandom(seed);
    const histories = new Map<string, History>();
    for (let n = 0; n < 8; n++) {
      histories.set(`/doc-${n + 10}.md`, drawHistory(random, 1, 1 + random.integer(600)));
    }
    const runs = [0, 1, 2, 3].map((quarter) => {
      const tables: BuiltTable[] = [];
      const run = newRun(tables);
      for (const [path, { versions, firsts }] of histories) {
        const at = (part: number): number => Math.floor((versions.length * part) / 4);
        const made = versions.slice(at(quarter), at(quarter + 1));
        if (made.length === 0) continue;
        const first = firsts[at(quarter + 1) - 1] ?? 0;
        const { entry } = recordEntryOf(path, first, made, EPOCH);
        run.add(utf8(path), encodeRecordEntry(path, entry, EPOCH));
      }
      run.end();
      return tables;
    });
    return { runs, histories };
  }

  const SIZES = { ...SMALL_CUT, bytesMin: 20_000, bytesMax: 60_000 };

  function newRun(tables: BuiltTable[]): RunBuilder {
    return new RunBuilder('records', EPOCH, (builder) => tables.push(builder.finish()), SIZES);
  }

  function mergeRuns(runs: readonly (readonly BuiltTable[])[]): {
    tables: BuiltTable[];
    closed: EncodedHistory[];
  } {
    const tables: BuiltTable[] = [];
    const closed: EncodedHistory[] = [];
    const run = newRun(tables);
    const merge = new RunMerge(runs.map((list) => mergeTablesOf(list, 'records')));
    for (let step = merge.advance(); step !== 'done'; step = merge.advance()) {
      if (step === 'entry') {
        closed.push(...addMergedRecords(merge, run, EPOCH));
      } else {
        const table = runs[merge.run]?.[merge.object];
        if (table === undefined) throw new RangeError('no table');
        merge.open(cursorOf(table, 'records'));
      }
    }
    run.end();
    return { tables, closed };
  }

  test.each([1, 2, 3])('gives each document its versions, in any grouping, seed %i', (seed) => {
    const { runs, histories } = drawRuns(seed);
    const [a = [], b = [], c = [], d = []] = runs;
    const whole = mergeRuns(runs);
    const left = mergeRuns([mergeRuns([mergeRuns([a, b]).tables, c]).tables, d]);
    const right = mergeRuns([a, mergeRuns([b, mergeRuns([c, d]).tables]).tables]);
    expect(Buffer.compare(bytesOf(left.tables), bytesOf(whole.tables))).toBe(0);
    expect(Buffer.compare(bytesOf(right.tables), bytesOf(whole.tables))).toBe(0);
    expect(whole.tables.length).toBeGreaterThan(1);
    const found = new Map<string, RecordEntry>();
    for (const table of whole.tables) {
      const cursor = cursorOf(table, 'records');
      while (cursor.advance()) {
        found.set(
          text(cursor.path()),
          decodeRecordEntry(keyOfTable(table, 'records'), cursor.found()),
        );
      }
    }
    for (const [path, { versions, firsts }] of histories) {
      const expected = recordEntryOf(path, firsts.at(-1) ?? 0, versions, EPOCH).entry;
      expect(found.get(path)).toEqual(expected);
    }
    expect([...found.keys()]).toEqual([...histories.keys()]);
  });
});
