/**
 * Goal: the load spike of the built program measures a location, writes what it was asked to write,
 * and says by its exit status what the figures are worth.
 * Method: `dist/` as it is packed, on directories: a saturated store of one second, a run that is
 * interrupted, a large world that is not so large, and arguments that say nothing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { type Ended, filesBelow, ROOT } from './program.ts';

const MAIN = join(ROOT, manifest.bin.bucketstore);
const base = await mkdtemp(join(tmpdir(), 'spike-'));

afterAll(() => rm(base, { recursive: true, force: true }));

interface Started {
  readonly ended: Promise<Ended>;
  readonly interrupt: () => void;
}

function spike(...args: readonly string[]): Started {
  const child = spawn(process.execPath, [MAIN, 'spike', ...args], {
    cwd: base,
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  child.stdin.end();
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = once(child, 'close').then(([exit]): Ended => ({ exit, out, err }));
  return { ended, interrupt: () => child.kill('SIGINT') };
}

test('a run prints its figures as JSON, and writes them as a page', async () => {
  const html = join(base, 'a.html');
  const location = `file:${join(base, 'world')}`;
  const flags = ['--json', '--html', html, '--seconds', '1', '--writers', '8'];
  const { exit, out, err } = await spike('saturation', location, ...flags).ended;
  expect({ exit, err }).toEqual({ exit: 0, err: '' });
  const report = JSON.parse(out);
  expect(report).toMatchObject({ scenario: 'saturation', model: null, seed: 1, errors: {} });
  expect(report).toMatchObject({ lost_acknowledged: 0, machine: { node: process.version } });
  expect(report.command).toBe(`bucketstore spike saturation ${location} --seconds 1 --writers 8`);
  expect(report.writes).toBeGreaterThan(0);
  expect(report.c_ms).toBeGreaterThan(0);
  expect(report.rss.at(-1)[1]).toBeGreaterThan(10_000_000);
  expect(await readFile(html, 'utf8')).toContain('<polyline');
});

test('Ctrl-C ends a run with what was measured until then, and leaves no process', async () => {
  const directory = join(base, 'interrupted');
  const { ended, interrupt } = spike('saturation', `file:${directory}`, '--writers', '8');
  // Under load: the log has begun.
  const log = join(directory, '_demarkus', 'v1', 'log');
  while ((await filesBelow(log).catch(() => [])).length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  interrupt();
  const { exit, out, err } = await ended;
  expect(exit).toBe(130);
  expect(out).toMatch(/^INTERRUPTED: the figures are of the \d/m);
  expect(err).toBe('bucketstore: interrupted [INTERRUPTED]\n');
});

test('a large world is seeded, opened by new stores, and changed', async () => {
  const location = `file:${join(base, 'large')}`;
  const html = join(base, 'compact.html');
  const reportOf = async (scenario: string, ...flags: readonly string[]) => {
    const { exit, out, err } = await spike(scenario, location, '--json', ...flags).ended;
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    return JSON.parse(out);
  };
  const none = await spike('coldstart', location).ended;
  expect(none).toMatchObject({ exit: 5, out: '', err: expect.stringContaining('spike seed') });
  const documents = 2_000;
  expect(await reportOf('seed', '--documents', String(documents))).toMatchObject({ documents });
  const again = await spike('seed', location).ended;
  expect(again).toMatchObject({ exit: 5, out: '', err: expect.stringContaining('empty location') });
  const cold = await reportOf('coldstart', '--runs', '2', '--behind', '4');
  expect(cold).toMatchObject({ documents, runs: 2 });
  // Columns, and what a store takes anyway; of so few documents the collector's noise is more.
  expect(cold.resident_bytes_per_document).toBeLessThan(20_000);
  const flags = ['--changes', '1500', '--rate', '0', '--html', html];
  const compact = await reportOf('compact', ...flags);
  expect(compact).toMatchObject({ documents, errors: {}, lost_acknowledged: 0, bases: 0 });
  expect(compact.checkpoints.length).toBeGreaterThan(0);
  expect(compact.event_loop_delay_p999_ms).toBeGreaterThan(0);
  expect(await readFile(html, 'utf8')).toContain('<polyline');
});

test('the gate says how late the event loop is, and has no time for a checkpoint', async () => {
  const flags = ['--json', '--seconds', '6', '--rate', '50'];
  const { exit, out, err } = await spike('gate', 'memory:', ...flags).ended;
  expect({ exit, err }).toEqual({ exit: 0, err: '' });
  const report = JSON.parse(out);
  expect(report).toMatchObject({ scenario: 'gate', errors: {}, lost_acknowledged: 0 });
  expect(report).toMatchObject({ checkpoints: 0, reads: { stale: 0 } });
  expect(report.event_loop_delay_p999_ms).toBeGreaterThan(0);
});

test('arguments that say nothing are status 2, and no figure', async () => {
  const { exit, out, err } = await spike('latency', 'memory:', '--stores', '2').ended;
  expect({ exit, out }).toEqual({ exit: 2, out: '' });
  expect(err).toBe('bucketstore: --stores says nothing about latency; only contention [USAGE]\n');
});
