/**
 * Goal: the load spike as a process measures, writes what it was asked to write and says by its
 * exit status whether the figures can be believed.
 * Method: the program with a saturated store of one second on a directory, and with arguments that
 * say nothing.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../../spike/main.ts', import.meta.url));
const base = await mkdtemp(join(tmpdir(), 'spike-'));

afterAll(() => rm(base, { recursive: true, force: true }));

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function spike(...args: readonly string[]): Promise<Ended> {
  const argv = ['--import', 'tsx', MAIN, ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, argv, { timeout: 120_000 }, (error, out, err) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ status, out, err });
    });
  });
}

test('a run prints its figures and writes them as JSON and as a page', async () => {
  const [json, html] = [join(base, 'a.json'), join(base, 'a.html')];
  const where = ['--location', `file:${join(base, 'world')}`, '--json', json, '--html', html];
  const ended = await spike('saturation', ...where, '--seconds', '1', '--writers', '8');
  expect(ended).toMatchObject({ status: 0, err: '' });
  const report = JSON.parse(await readFile(json, 'utf8'));
  expect(report).toMatchObject({ scenario: 'saturation', model: null, seed: 1, errors: {} });
  expect(report).toMatchObject({ lost_acknowledged: 0, machine: { node: process.version } });
  expect(report.writes).toBeGreaterThan(0);
  expect(report.c_ms).toBeGreaterThan(0);
  expect(ended.out).toContain(`${report.p99_ms} ms = ${report.p99_c} c`);
  expect(await readFile(html, 'utf8')).toContain('<polyline');
});

test('arguments that say nothing are status 2, with the usage and no figure', async () => {
  const ended = await spike('latency', '--location', 'memory:', '--stores', '2');
  expect(ended).toMatchObject({ status: 2, out: '' });
  expect(ended.err).toMatch(/^spike: --stores says nothing about latency; only contention\nusage:/);
});
