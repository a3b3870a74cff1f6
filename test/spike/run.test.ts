/**
 * Goal: the figures of a run are those of what happened: counts that add up, ratios to c, shares of
 * the stores, and the same numbers from the same seed.
 * Method: short runs of every scenario in virtual time behind the latency model, each on a location
 * of its own in memory.
 */
import { describe, expect, it } from 'vitest';
import { type BlobStore, openDriver, parseLocation } from '../../blob/index.ts';
// The driver is loaded when it is opened, and virtual time waits for no file: so it is loaded now.
import '../../blob/memory.ts';
import { htmlPage } from '../../spike/html.ts';
import type { Report } from '../../spike/report.ts';
import { type Run, runScenario } from '../../spike/run.ts';
import { rampLines, reportLines } from '../../spike/text.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { parseLine } from './parse-line.ts';
import { type Around, machineOf } from './virtual-machine.ts';

function run(line: string, around: Around = {}, clock = new ManualClock()): Promise<Run> {
  const asked = parseLine(`${line} --model gcs`);
  return clock.run(runScenario(machineOf(clock, around), asked));
}

function bucketAt(location: string, clock: ManualClock): Promise<BlobStore> {
  const chance = new SeededRandom(1);
  return openDriver(parseLocation(location), { timing: clock, chance });
}

async function keysOf(location: string, clock: ManualClock): Promise<readonly string[]> {
  const bucket = await bucketAt(location, clock);
  const { objects } = await clock.run(bucket.list({ prefix: '', limit: 1000 }));
  return objects.map(({ key }) => key);
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

describe('a run of latency', () => {
  const line = (name: string): string => {
    return `latency memory:${name} --rate 40 --seconds 7 --documents 20`;
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
    const { report } = await run(`saturation memory:saturation ${flags}`);
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
    const { report } = await run(`contention memory:contention ${flags}`);
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
    const ramp = 'creates memory:creates --ramp --seconds 3 --depth 4';
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
    const { report } = await run(`follower memory:follower ${flags}`);
    expect(report).toMatchObject({ measured: 'writes', lost_acknowledged: 0, errors: {} });
    expect(report.reads?.stale).toBe(0);
    expect(report.reads?.count).toBeGreaterThan(0);
    expect(report.writes).toBeGreaterThan(0);
  });

  it('of the tip takes one head and no other request', async () => {
    const flags = '--documents 5 --seconds 2';
    const { report } = await run(`tipcheck memory:tipcheck ${flags}`);
    expect(report).toMatchObject({ measured: 'reads', writes: 0, p50_ms: 12 });
    const none = { create: 0, replace: 0, get: 0, list: 0, delete: 0 };
    expect(report.reads?.requests_per_read).toEqual({ ...none, head: 1 });
  });
});

describe('a run of saturation at a rate', () => {
  it('acknowledges nothing after the deadline', async () => {
    const flags = '--rate 60 --seconds 6 --batch-max 1 --deadline-ms 500';
    const { report } = await run(`saturation memory:overdue ${flags}`);
    const { overload } = report;
    expect(report.lost_acknowledged).toBe(0);
    expect(overload).toMatchObject({ deadline_ms: 500, refused: 0, refused_max_ms: null });
    expect(overload).toMatchObject({ late_acknowledged: 0, answer_max_ms: 500 });
    expect(overload?.overdue).toBeGreaterThan(50);
    expect(overload?.overdue).toBe(sum(Object.values(report.errors)));
    const lines = reportLines(report).join('\n');
    expect(lines).toContain(`500 ms: ${overload?.overdue} without an answer by then, 0 ack`);
    expect(lines).not.toContain('refused');
  });
});

describe('memory and progress', () => {
  it('are told every minute and every second, and the memory at the end', async () => {
    const told: string[] = [];
    const line = 'latency memory:memory --rate 2 --seconds 121 --documents 3';
    const { report } = await run(line, { progress: (text) => told.push(text) });
    const at = report.rss.map(([seconds]) => Math.floor(seconds));
    expect(at.slice(0, -1)).toEqual([0, 60, 120]);
    expect(at.at(-1)).toBeGreaterThanOrEqual(120);
    expect(report.rss.map(([, bytes]) => bytes / 1e6)).toEqual([1, 2, 3, 4]);
    const seconds = told.flatMap((text) => /^(\d+) of 121 s, \d+ writes$/.exec(text)?.[1] ?? []);
    expect(seconds.slice(0, 120)).toEqual(Array.from({ length: 120 }, (_, i) => String(i + 1)));
    expect(told.at(-1)).toBe('reading the bucket back');
    expect(reportLines(report)).toContainEqual(
      expect.stringMatching(/^memory {7}RSS 3\.0 MB at 120 s, 4\.0 MB at .* s: 1\.333 of it$/),
    );
  });
});

describe('a run that is interrupted', () => {
  it('tells what was measured until then, and reads nothing back', async () => {
    const stop = new AbortController();
    const told: string[] = [];
    const progress = (text: string): void => {
      told.push(text);
      if (text.startsWith('9 of 20 s')) stop.abort(new Error('enough'));
    };
    const line = 'contention memory:interrupted --rate 20 --stores 2';
    const { report, outcome } = await run(line, { signal: stop.signal, progress });
    expect(report).toMatchObject({ interrupted: true, lost_acknowledged: null });
    expect(report.seconds).toBeGreaterThanOrEqual(4);
    expect(report.seconds).toBeLessThan(5);
    expect(report.writes).toBeGreaterThan(100);
    expect(outcome.failure).toBe(stop.signal.reason);
    expect(told.filter((text) => text.startsWith('10 of') || text.startsWith('read'))).toEqual([]);
    expect(reportLines(report).at(-1)).toContain(`INTERRUPTED: the figures are of the`);
  });

  it('before the load has no report, and leaves nothing', async () => {
    const stop = new AbortController();
    const progress = (text: string): void => {
      if (text.startsWith('measuring c: 9')) stop.abort(new Error('enough'));
    };
    const clock = new ManualClock();
    const running = run('latency memory:early', { signal: stop.signal, progress }, clock);
    await expect(running).rejects.toThrow('enough');
    expect(clock.sleeping).toBe(0);
    expect(await keysOf('memory:early', clock)).toEqual([]);
  });

  it('removes its bare creates all the same', async () => {
    const stop = new AbortController();
    const progress = (text: string): void => {
      if (text.startsWith('2 of 20 s')) stop.abort(new Error('enough'));
    };
    const clock = new ManualClock();
    const { report } = await run(
      'creates memory:removed --depth 4',
      { signal: stop.signal, progress },
      clock,
    );
    expect(report).toMatchObject({ interrupted: true, seconds: 0, writes: 0, writes_per_s: 0 });
    expect(report).toMatchObject({ p50_ms: null, lost_acknowledged: 0 });
    expect(report.writes_acknowledged).toBeGreaterThan(100);
    expect(await keysOf('memory:removed', clock)).toEqual([]);
  });
});

describe('a bucket that is not what it must be at the end', () => {
  it('is told of with the object, and the figures with it', async () => {
    const clock = new ManualClock();
    const bucket = await bucketAt('memory:damaged', clock);
    const key = '_demarkus/v1/log/stray';
    const progress = (text: string): void => {
      if (text.startsWith('reading')) void bucket.create(key, Buffer.from('x'));
    };
    const line = 'saturation memory:damaged --writers 3 --seconds 1';
    const { report, outcome } = await run(line, { progress }, clock);
    expect(report.lost_acknowledged).toBeNull();
    expect(report.writes).toBeGreaterThan(0);
    expect(outcome.failure).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
  });
});

describe('the page', () => {
  it('needs nothing from elsewhere, and spells what would be markup', async () => {
    const { report, outcome } = await run('saturation memory:page --seconds 2 --writers 9');
    const page = htmlPage({ ...report, command: '<b>&' }, outcome.samples.bars(10));
    expect(page).toContain('&lt;b&gt;&amp;');
    expect(page).not.toMatch(/<script|<link|src=|url\(|NaN|Infinity|undefined/);
    expect(page.match(/<rect /g)).toHaveLength(10);
    // p50, p99 and c; the rate; the memory.
    expect(page.match(/<polyline /g)).toHaveLength(5);
    expect(page).not.toContain('class="bad"');
  });

  it('of a run without a sample has axes all the same, and says what is wrong', async () => {
    const { report } = await run('saturation memory:page-2 --seconds 1 --writers 1');
    const rss = [[0, 1]] as const;
    const none = { p50_ms: null, p50_c: null, writes: 0, seconds: 0, per_second: [], rss };
    const page = htmlPage(
      { ...report, ...none, interrupted: true, valid: false, lost_acknowledged: 2 },
      [],
    );
    expect(page).not.toMatch(/NaN|Infinity|undefined|null/);
    expect(page.match(/class="bad"/g)).toHaveLength(3);
  });
});
