/**
 * Goal: the figures of a large world are what their names say: chains of requests, what belongs to
 * which checkpoint, what of the index has changed, and shares of all that.
 * Method: requests and checkpoints made up by hand, whose figures can be worked out on paper.
 */
import { describe, expect, it } from 'vitest';
import type { RequestEvent } from '../../blob/index.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { checkpointKey, keyOf, MARKER_KEY } from '../../bucketstore/log/names.ts';
import { builtBases, newestBase } from '../../spike/bases.ts';
import { ChangedBytes } from '../../spike/changed-bytes.ts';
import { addedSums, type CheckpointCost, CheckpointTally } from '../../spike/checkpoint-tally.ts';
import { worldPage } from '../../spike/html.ts';
import { median } from '../../spike/numbers.ts';
import { RequestChain } from '../../spike/request-chain.ts';
import {
  type CheckpointReport,
  compactSums,
  makeWorldReport,
  type WorldFigures,
} from '../../spike/world-report.ts';
import { worldLines } from '../../spike/world-text.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { parseLine } from './parse-line.ts';

const HASH = 'ab'.repeat(32);

function event(changes: Partial<RequestEvent>): RequestEvent {
  return {
    ...{ operation: 'get', key: 'k', outcome: 'found', bytesIn: 0, bytesOut: 0, durationMs: 1 },
    ...changes,
  };
}

describe('a chain of requests', () => {
  /** @param spans when each request began and ended */
  function chainOf(spans: readonly (readonly [began: number, ended: number])[]): number {
    let now = 0;
    const chain = new RequestChain({ monotonic: () => now });
    for (const [began, ended] of [...spans].sort((a, b) => a[1] - b[1])) {
      now = ended;
      chain.observe(event({ durationMs: ended - began }));
    }
    return chain.length;
  }

  it.each<[string, Parameters<typeof chainOf>[0], number]>([
    ['nothing', [], 0],
    ['one', [[0, 5]], 1],
    [
      'some beside each other',
      [
        [0, 5],
        [1, 6],
        [4, 9],
      ],
      1,
    ],
    [
      'one after another',
      [
        [0, 5],
        [5, 6],
        [7, 9],
      ],
      3,
    ],
    [
      'a slow one beside a chain',
      [
        [0, 5],
        [0, 50],
        [5, 9],
        [9, 12],
      ],
      3,
    ],
    [
      'what waits for the slower of two',
      [
        [0, 5],
        [0, 8],
        [8, 9],
      ],
      2,
    ],
    [
      'a longer chain that ends later',
      [
        [0, 2],
        [2, 4],
        [4, 9],
        [0, 5],
        [5, 8],
        [9, 10],
      ],
      4,
    ],
  ])('of %s', (_, spans, length) => {
    expect(chainOf(spans)).toBe(length);
  });
});

describe('CheckpointTally', () => {
  const record = checkpointKey(sequence(2_000), 3);
  const run = keyOf({ kind: 'index', type: 'run', epoch: 3, hash: HASH });
  const pack = keyOf({ kind: 'pack', epoch: 3, hash: HASH });
  const made = (key: string, bytesOut: number, outcome: RequestEvent['outcome'] = 'created') => {
    return event({ operation: 'create', key, outcome, bytesOut });
  };

  it('gives each checkpoint what was made since the one before, and the log nothing', () => {
    const costs: CheckpointCost[] = [];
    const tally = new CheckpointTally((cost) => costs.push(cost));
    tally.observe(made('_demarkus/v1/log/0000000000000002.slot', 99));
    tally.observe(made(run, 10));
    tally.observe(made(pack, 20));
    tally.observe(made(pack, 20, 'exists'));
    tally.observe(event({ key: run }));
    tally.observe(made(record, 1));
    tally.observe(made(run, 5));
    const expected = { objects: 3, bytes: 31, packBytes: 20 };
    expect(costs).toEqual([{ sequence: 2_000, epoch: 3, ...expected }]);
    const sums = { checkpoints: 1, objects: 4, bytes: 36, packBytes: 20 };
    expect(tally.sums).toEqual(sums);
    expect(addedSums(tally.sums, sums)).toEqual({
      ...{ checkpoints: 2, objects: 8, bytes: 72, packBytes: 40 },
    });
    tally.reset();
    expect(tally.sums.objects).toBe(0);
  });
});

describe('ChangedBytes', () => {
  it('counts the last entry of each document once, and keeps what is not covered', () => {
    const changed = new ChangedBytes();
    changed.add(12, 7, 110);
    changed.add(10, 7, 100);
    changed.add(11, 8, 50);
    changed.add(13, 7, 120);
    expect(changed.through(12)).toBe(160);
    expect(changed.through(12)).toBe(0);
    expect(changed.through(20)).toBe(120);
  });
});

describe('builtBases()', () => {
  it('tells the checkpoints whose base is another than the one before', async () => {
    const bucket = createMemoryBucket({ timing: new ManualClock() });
    const put = (key: string, value: unknown) =>
      bucket.create(key, Buffer.from(JSON.stringify(value)));
    await put(MARKER_KEY, { start: { sequence: 101 } });
    expect(await newestBase(bucket)).toBe(101);
    const places = [200, 300, 400].map((at) => ({ sequence: at, epoch: 1 }));
    for (const [index, position] of [101, 250, 250].entries()) {
      const root = { epoch: 1, hash: `${index}`.repeat(64) };
      await put(keyOf({ kind: 'root', ...root }), { base: { position } });
      await put(checkpointKey(sequence(places[index]?.sequence ?? 0), 1), { root });
    }
    expect(await builtBases(bucket, 101, places)).toEqual([false, true, false]);
    expect(await newestBase(bucket)).toBe(250);
  });
});

const CHECKPOINTS: readonly CheckpointReport[] = [
  { had_base: false, objects: 10, bytes: 1_000, pack_bytes: 400, changed_entry_bytes: 100 },
  { had_base: true, objects: 50, bytes: 9_000, pack_bytes: 100, changed_entry_bytes: 500 },
  { had_base: false, objects: 30, bytes: 2_000, pack_bytes: 0, changed_entry_bytes: 400 },
].map((one, index) => ({ at_s: index, sequence: index + 2, ...one }));

describe('compactSums()', () => {
  it('has shares of all checkpoints, and the largest of each kind', () => {
    expect(compactSums(CHECKPOINTS)).toEqual({
      ...{ bases: 1, changed_entry_bytes: 1_000, checkpoint_bytes: 12_000, pack_bytes: 500 },
      ...{ checkpoint_objects: 90, objects_per_checkpoint: 30 },
      ...{ bytes_ratio: 12, bytes_ratio_without_packs: 11.5, bytes_ratio_max_without_base: 10 },
      ...{ objects_max_with_base: 50, objects_max_without_base: 30 },
    });
  });

  it('divides nothing by nothing', () => {
    expect(compactSums([])).toMatchObject({ bytes_ratio: null, objects_per_checkpoint: null });
    expect(compactSums([])).toMatchObject({ objects_max_with_base: null, bases: 0 });
  });
});

describe('median()', () => {
  it('is one that occurred', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1])).toBe(1);
    expect(median([])).toBeNaN();
  });
});

describe('a report of a large world', () => {
  const requests = { create: 9, replace: 0, get: 0, head: 0, list: 1, delete: 0 };
  const figures: readonly WorldFigures[] = [
    {
      ...{ scenario: 'seed', world: 'w', documents: 1_000, seconds: 2, documents_per_s: 500 },
      ...{ cpu_us_per_document: 90, requests, bytes: 2_000_000, entry_bytes_per_document: 850 },
      ...{ checkpoint_objects: 9, checkpoint_bytes: 2_000_000, pack_bytes: 1_000_000 },
      ...{ full_ms: 12, lost_acknowledged: null },
    },
    {
      ...{ scenario: 'coldstart', documents: 1_000, runs: 5, behind: 64, seconds: 3 },
      ...{ first_get_ms: 200, first_get_max_ms: 300, first_get_c: 5, requests_in_sequence: 6 },
      ...{ full_ms: 500, ls_ms: 1, lookup_ms: 2, replay_ms: 30, requests, bytes_read: 7 },
      ...{ resident_bytes: 200_000, resident_bytes_per_document: 200, lost_acknowledged: null },
    },
    {
      ...{ scenario: 'compact', documents: 1_000, changes: 40, seconds: 10, changes_per_s: 4 },
      ...{ p50_ms: 40, p99_ms: 80, p50_c: 1, p99_c: 2, errors: {}, slots: 40 },
      ...{ checkpoints: CHECKPOINTS, ...compactSums(CHECKPOINTS) },
      ...{ event_loop_delay_p999_ms: 3, rss: [[0, 1_000_000]], lost_acknowledged: 2 },
    },
  ];

  it.each(figures)('of $scenario has lines and a page without a hole', (one) => {
    const asked = parseLine(`${one.scenario} memory: --model gcs`);
    const machine = { cpu: 'none', cores: 2, node: 'v1' };
    const date = '2026-01-01T00:00:00.000Z';
    const facts = { asked, machine, date, cMs: 50, interrupted: false };
    const report = makeWorldReport(facts, one);
    expect(report).toMatchObject({ ...one, c_ms: 50, valid: false, model: 'gcs', seed: 1 });
    const lines = worldLines(report);
    expect(lines[0]).toBe(`${one.scenario} on memory:, model gcs, seed 1`);
    expect(lines.at(-1)).toMatch(/^VOID/);
    expect(lines.join('\n')).not.toMatch(/NaN|undefined|null/);
    const page = worldPage(report);
    expect(page).not.toMatch(/<script|<link|src=|url\(|NaN|Infinity|undefined/);
    // Written and changed, and the memory.
    expect(page.match(/<polyline /g)?.length ?? 0).toBe(one.scenario === 'compact' ? 3 : 0);
    expect(page.includes('2 acknowledged writes are lost')).toBe(one.scenario === 'compact');
  });
});
