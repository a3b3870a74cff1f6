/**
 * Goal: the figures of a run are those of what happened: counts that add up, ratios to c, shares of
 * the stores, and the same numbers from the same seed.
 * Method: short runs of every scenario in virtual time behind the latency model, each on a location
 * of its own in memory.
 */
import { describe, expect, it } from 'vitest';
// The driver is loaded when it is opened, and virtual time waits for no file: so it is loaded now.
import '../../blob/memory.ts';
import { parseArguments } from '../../spike/arguments.ts';
import { htmlPage } from '../../spike/html.ts';
import type { Machine } from '../../spike/machine.ts';
import type { Report } from '../../spike/report.ts';
import { type Run, runScenario } from '../../spike/run.ts';
import { rampLines, reportLines } from '../../spike/text.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

/** Takes 7 µs whenever it is asked. */
function machine(clock: ManualClock): Machine {
  let cpu = 0;
  return {
    clock,
    random: new SeededRandom(11),
    cpuMicros: () => {
      cpu += 7;
      return cpu;
    },
    description: { cpu: 'virtual', cores: 1, node: 'v0' },
  };
}

function run(line: string): Promise<Run> {
  const clock = new ManualClock();
  const asked = parseArguments([...line.split(' '), '--model', 'gcs']);
  return clock.run(runScenario(machine(clock), asked, line));
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

describe('a run of latency', () => {
  const line = (name: string): string => {
    return `latency --location memory:${name} --rate 40 --seconds 7 --documents 20`;
  };

  it('measures 2 of 7 s, acknowledges every write and finds each in the bucket', async () => {
    const { report } = await run(line('latency-1'));
    expect(report).toMatchObject({ measured: 'writes', seconds: 2, lost_acknowledged: 0 });
    expect(report).toMatchObject({ errors: {}, valid: true, model: 'gcs', slots_lost: 0 });
    expect(report.c_ms).toBeGreaterThan(38);
    expect(report.c_ms).toBeLessThan(44);
    expect(report.writes).toBe(sum(report.per_second.map(({ count }) => count)));
    expect(report.writes_per_s).toBe(report.writes / 2);
    expect(report.writes_acknowledged).toBeGreaterThan(report.writes);
    expect(report.p50_c).toBeCloseTo((report.p50_ms ?? 0) / report.c_ms, 2);
    expect(report.p999_c).toBeGreaterThanOrEqual(report.p99_c ?? Number.NaN);
    expect(report.objects_per_write).toBeCloseTo(report.slots / report.writes_acknowledged, 3);
    expect(report.bytes_per_write).toBeGreaterThan(1_024);
    expect(report.stores).toMatchObject([{ writes: report.writes, share: 1 }]);
  });

  it('gives the same numbers from the same seed', async () => {
    const strip = ({ report }: Run): Partial<Report> => ({ ...report, location: '', command: '' });
    const first = strip(await run(line('latency-2')));
    expect(strip(await run(line('latency-3')))).toEqual(first);
    expect(strip(await run(`${line('latency-4')} --seed 2`))).not.toEqual(first);
  });
});

describe('a run of saturation', () => {
  it('shares CPU among all writes, and stages each body when nothing is inlined', async () => {
    const flags = '--writers 10 --seconds 1 --inline-bytes 0 --batch-max 4';
    const { report } = await run(`saturation --location memory:saturation ${flags}`);
    const { slots, writes_acknowledged: writes } = report;
    expect(report.lost_acknowledged).toBe(0);
    expect(writes / slots).toBeLessThanOrEqual(4);
    expect(report.objects_per_write).toBeCloseTo((slots + writes) / writes, 3);
    expect(report.cpu_us_per_write).toBeCloseTo(7 / writes, 3);
  });
});

describe('a run of contention', () => {
  it('counts lost slots, and shares that make one whole', async () => {
    const flags = '--stores 3 --writers 20 --seconds 3';
    const { report } = await run(`contention --location memory:contention ${flags}`);
    expect(report.lost_acknowledged).toBe(0);
    expect(report.stores).toHaveLength(3);
    expect(new Set(report.stores.map(({ store }) => store)).size).toBe(3);
    expect(sum(report.stores.map(({ writes }) => writes))).toBe(report.writes);
    expect(sum(report.stores.map(({ share }) => share ?? 0))).toBeCloseTo(1, 2);
    expect(report.slots_lost).toBeGreaterThan(0);
    expect(reportLines(report).filter((text) => text.startsWith('store '))).toHaveLength(3);
  });
});

describe('a run of creates', () => {
  it('shows every second from the first with --ramp, and leaves nothing', async () => {
    const ramp = 'creates --location memory:creates --ramp --seconds 3 --depth 4';
    const { report } = await run(ramp);
    expect(report).toMatchObject({ measured: 'creates', lost_acknowledged: 0, seconds: 3 });
    expect(report.per_second.map(({ second }) => second)).toEqual([0, 1, 2]);
    expect(rampLines(report)).toHaveLength(4);
    expect(report.objects_per_write).toBe(1);
    const again = await run(ramp);
    expect(again.report.request_errors).toEqual({});
  });
});

describe('a run with reads', () => {
  it('of a follower is never stale, and measures both', async () => {
    const flags = '--rate 20 --seconds 6 --documents 5 --depth 2';
    const { report } = await run(`follower --location memory:follower ${flags}`);
    expect(report).toMatchObject({ measured: 'writes', lost_acknowledged: 0, errors: {} });
    expect(report.reads?.stale).toBe(0);
    expect(report.reads?.count).toBeGreaterThan(0);
    expect(report.writes).toBeGreaterThan(0);
  });

  it('of the tip takes one head and no other request', async () => {
    const flags = '--documents 5 --seconds 2';
    const { report } = await run(`tipcheck --location memory:tipcheck ${flags}`);
    expect(report).toMatchObject({ measured: 'reads', writes: 0, p50_ms: 12 });
    const none = { create: 0, replace: 0, get: 0, list: 0, delete: 0 };
    expect(report.reads?.requests_per_read).toEqual({ ...none, head: 1 });
  });
});

describe('the page', () => {
  it('needs nothing from elsewhere, and spells what would be markup', async () => {
    const { report, outcome } = await run(
      'saturation --location memory:page --seconds 1 --writers 9',
    );
    const page = htmlPage({ ...report, command: '<b>&' }, outcome.samples.bars(10));
    expect(page).toContain('&lt;b&gt;&amp;');
    expect(page).not.toMatch(/<script|<link|src=|NaN|Infinity|undefined/);
    expect(page.match(/<rect /g)).toHaveLength(10);
    expect(page.match(/<polyline /g)).toHaveLength(3);
  });
});
