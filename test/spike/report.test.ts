/**
 * Goal: every figure of the report is the one that its name says, and what cannot be divided is
 * null.
 * Method: a run made up by hand, whose figures can be worked out on paper.
 */
import { describe, expect, it } from 'vitest';
import { createCounter } from '../../blob/index.ts';
import { Samples } from '../../spike/measure.ts';
import type { Outcome } from '../../spike/outcome.ts';
import { Overload } from '../../spike/overload.ts';
import { makeReport, type RunFacts } from '../../spike/report.ts';
import { reportLines } from '../../spike/text.ts';
import { parseLine } from './parse-line.ts';

const FACTS: RunFacts = {
  asked: parseLine('contention memory: --stores 2 --seed 9'),
  machine: { cpu: 'none', cores: 2, node: 'v1' },
  date: '2026-01-01T00:00:00.000Z',
  cMs: 40,
  interrupted: false,
};

const CHECKPOINTS = { checkpoints: 3, objects: 30, bytes: 4_000, packBytes: 1_000 };
const COUNTS = createCounter().snapshot();

/** 1 to `count` times `stepMs`. */
function samplesOf(count: number, stepMs: number): Samples {
  const samples = new Samples();
  for (let i = 1; i <= count; i++) samples.add(i, i * stepMs);
  return samples;
}

function outcomeOf(changes: Partial<Outcome> = {}): Outcome {
  const stores = [
    { store: 'a', samples: samplesOf(100, 1) },
    { store: 'b', samples: samplesOf(300, 2) },
  ];
  const requests = { create: 500, replace: 0, get: 1_000, head: 0, list: 250, delete: 7 };
  const errors = { throttled: 3, timeout: 1 };
  return {
    ...{ measured: 'writes', seconds: 8, cpuMicros: 50_000, acknowledged: 500 },
    samples: Samples.merge(stores.map(({ samples }) => samples)),
    ...{ rss: [[0, 10]], loopDelayP999Ms: 1.5 },
    ...{ lostAcknowledged: 0, failure: null },
    tally: {
      counts: { ...COUNTS, requests, errors, bytesIn: 1_500, bytesOut: 600_000 },
      ...{ objects: 125, slots: 100, lost: 40, checkpoints: CHECKPOINTS },
    },
    checkpoints: CHECKPOINTS,
    errors: { OVERLOADED: 2 },
    overload: new Overload(60_000),
    stores,
    reads: null,
    ...changes,
  };
}

describe('makeReport()', () => {
  it('has percentiles in ms and in c, and what each store had of the writes', () => {
    const report = makeReport(FACTS, outcomeOf());
    expect(report).toMatchObject({ c_ms: 40, valid: true, seed: 9, writes: 400 });
    expect(report).toMatchObject({ p50_ms: 200, p50_c: 5, max_ms: 600, writes_per_s: 50 });
    expect(report.stores).toEqual([
      { store: 'a', writes: 100, share: 0.25, p50_c: 1.25, p99_c: 2.475, p99_ms: 99 },
      { store: 'b', writes: 300, share: 0.75, p50_c: 7.5, p99_c: 14.85, p99_ms: 594 },
    ]);
  });

  it('shares requests, bytes, cost and CPU among all that was acknowledged', () => {
    const report = makeReport(FACTS, outcomeOf());
    expect(report).toMatchObject({ writes_acknowledged: 500, objects_per_write: 0.25 });
    expect(report).toMatchObject({ bytes_per_write: 1_200, bytes_read_per_write: 3 });
    expect(report).toMatchObject({ cpu_us_per_write: 100, slots: 100, slots_lost: 40 });
    expect(report).toMatchObject({ checkpoints: 3, checkpoint_objects: 30 });
    expect(report).toMatchObject({ checkpoint_bytes: 4_000, event_loop_delay_p999_ms: 1.5 });
    expect(report.requests_per_write).toMatchObject({ create: 1, get: 2, list: 0.5 });
    // For each write 1.5 of the dear kind and 2 of the cheap one.
    const usd = (1.5 * 0.005 + 2 * 0.0004) * 1_000;
    expect(report.usd_per_million_writes?.gcs).toBeCloseTo(usd, 6);
    expect(report).toMatchObject({ throttled: 3, request_errors: { throttled: 3, timeout: 1 } });
    expect(reportLines(report)).toContain(
      'errors       OVERLOADED 2; requests: throttled 3, timeout 1; 429: 3',
    );
  });

  it('divides nothing by nothing', () => {
    const none = { samples: new Samples(), acknowledged: 0, seconds: 0, stores: [] };
    const report = makeReport(FACTS, outcomeOf(none));
    expect(report).toMatchObject({ p50_ms: null, p999_c: null, writes: 0, writes_per_s: 0 });
    expect(report).toMatchObject({ objects_per_write: null, usd_per_million_writes: null });
    expect(reportLines(report).join('\n')).not.toMatch(/NaN|null|undefined/);
  });

  it('tells of refusals, of what was late, and of what is lost', () => {
    const overload = new Overload(1_000);
    const times = (tookMs: number) => ({ dueMs: 0, calledMs: 0, answeredMs: tookMs });
    overload.acknowledged(times(1_250));
    const report = makeReport(FACTS, outcomeOf({ overload, lostAcknowledged: 4 }));
    expect(report).toMatchObject({ lost_acknowledged: 4, overload: { late_acknowledged: 1 } });
    const lines = reportLines(report);
    expect(lines).toContain('read back    4 acknowledged lost');
    expect(lines).toContain(
      'deadline     1000 ms: 0 without an answer by then, 1 acknowledged later; ' +
        'longest answer 1250.0 ms',
    );
  });

  it('is void with the model when c is not the model’s, and only then', () => {
    for (const [model, cMs, valid] of [
      [' --model gcs', 37.9, false],
      [' --model gcs', 44.1, false],
      [' --model gcs', 38, true],
      ['', 3, true],
    ] as const) {
      const asked = parseLine(`saturation memory:${model}`);
      expect(makeReport({ ...FACTS, asked, cMs }, outcomeOf()).valid).toBe(valid);
    }
  });
});
