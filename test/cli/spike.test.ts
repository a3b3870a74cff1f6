/**
 * Goal: the load spike follows the program: its location, its output, its statuses, its answer to
 * Ctrl-C. Method: command lines in this process, in virtual time, on named memory locations behind
 * the latency model.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
// Virtual time waits for no file: what a run loads is loaded now.
import { openDriver, parseLocation } from '../../blob/index.ts';
import '../../blob/memory.ts';
import '../../spike/index.ts';
import type { SleepOptions } from '../../bucketstore/base/clock.ts';
import { runProgram } from '../../bucketstore/cli/program.ts';
import { StoreError } from '../../bucketstore/index.ts';
import { SCENARIOS } from '../../spike/arguments.ts';
import type { Report } from '../../spike/report.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { commandRunner, type Run, type RunOptions } from './run-command.ts';

const { runCommand } = commandRunner();

const SHORT = ['--model', 'gcs', '--seconds', '1', '--writers', '3'];

interface Parts {
  readonly clock: ManualClock;
  readonly random: SeededRandom;
}

/** What a process has of its own: identities are never drawn twice. */
const systemParts = partsOfProcesses();

function partsOfProcesses(): () => Parts {
  let seed = 0;
  return () => ({ clock: new ManualClock(), random: new SeededRandom(++seed) });
}

function run(argv: readonly string[], options: RunOptions = {}): Promise<Run> {
  const components = systemParts();
  return components.clock.run(runCommand(['spike', ...argv], { ...options, components }));
}

/** On a terminal; `listen` hears whatever is told there. */
async function runTelling(
  argv: readonly string[],
  signal: AbortSignal,
  listen: (told: string) => void,
): Promise<Pick<Run, 'exit' | 'out' | 'err'>> {
  const components = systemParts();
  let [out, err] = ['', ''];
  const running = runProgram({
    argv: ['spike', ...argv],
    env: {},
    stdout: {
      write: (data) => {
        out += String(data);
      },
    },
    stderr: {
      isTTY: true,
      write: (data) => {
        err += String(data);
        listen(String(data));
      },
    },
    signal,
    readInput: async () => new Uint8Array(),
    components,
  });
  const exit = await components.clock.run(running);
  expect(components.clock.sleeping).toBe(0);
  return { exit, out, err };
}

describe('spike', () => {
  it.each<[string, readonly string[], Readonly<Record<string, string>>]>([
    ['behind the scenario', ['saturation', 'memory:spike-a'], {}],
    ['before it', ['memory:spike-a', 'saturation'], {}],
    ['by --location', ['saturation', '--location', 'memory:spike-a'], {}],
    ['in the environment', ['saturation'], { BUCKETSTORE_LOCATION: 'memory:spike-a' }],
  ])('takes its location %s', async (_, argv, env) => {
    const { exit, out, err } = await run([...argv, ...SHORT], { env });
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    expect(out).toMatch(/^saturation on memory:spike-a, model gcs, seed 1\n/);
    expect(out).toContain('bucketstore spike saturation memory:spike-a --model gcs --seconds 1');
    expect(out).toMatch(/^c +\d/m);
    expect(out).toContain('read back    0 acknowledged lost');
  });

  it('says with --json one line, which has every figure', async () => {
    const { out, err } = await run(['saturation', 'memory:spike-json', '--json', ...SHORT]);
    expect(err).toBe('');
    expect(out.split('\n')).toHaveLength(2);
    const report = JSON.parse(out) as Report;
    const figures = [
      'c_ms',
      'p50_c',
      'p90_c',
      'p99_c',
      'p999_c',
      'writes',
      'writes_per_s',
    ] as const;
    const sums = ['objects_per_write', 'bytes_per_write'] as const;
    for (const name of [...figures, ...sums]) expect(report[name], name).toBeGreaterThan(0);
    expect(report).toMatchObject({ lost_acknowledged: 0, errors: {}, interrupted: false });
    expect(report.stores).toMatchObject([{ writes: report.writes, share: 1 }]);
    expect(report.stores[0]?.p99_c).toBe(report.p99_c);
    expect(report.rss.length).toBeGreaterThan(1);
    expect(report.usd_per_million_writes?.gcs).toBeGreaterThan(0);
  });

  it('finds out before the load that it cannot write its page', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'spike-'));
    try {
      // A file is no sleep: the page is opened before virtual time begins.
      const components = systemParts();
      const html = join(directory, 'no', 'a.html');
      const argv = ['spike', 'saturation', 'memory:spike-html', '--html', html, ...SHORT];
      const refused = await runCommand(argv, { components });
      expect(refused).toMatchObject({ exit: 2, out: '' });
      expect(refused.err).toMatch(/--html .* cannot be written: ENOENT.*\[USAGE\]\n$/);
      expect(components.clock.monotonic()).toBe(0);
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('shows on a terminal how far it is, and elsewhere nothing', async () => {
    const argv = ['tipcheck', 'memory:spike-told', '--documents', '3', '--model', 'gcs'];
    const { out, err } = await run([...argv, '--seconds', '2'], { terminal: true });
    for (const text of ['measuring c: 7 of 200', 'writing 3 doc', '1 of 2 s, ', 'reading the b']) {
      expect(err).toContain(`tipcheck: ${text}`);
    }
    expect(err.endsWith('\r\u001b[K')).toBe(true);
    expect(out).not.toContain('measuring');
  });

  it('ends on Ctrl-C with what was measured until then, and 130', async () => {
    const stop = new AbortController();
    const argv = ['latency', 'memory:spike-stop', '--model', 'gcs', '--rate', '20'];
    const { exit, out, err } = await runTelling(argv, stop.signal, (told) => {
      if (told.includes('8 of 20 s')) stop.abort(new StoreError('INTERRUPTED', 'interrupted'));
    });
    expect(exit).toBe(130);
    expect(out).toMatch(/^writes .* c$/m);
    expect(out).toMatch(/^INTERRUPTED: the figures are of the 3\.\d+ s until then$/m);
    expect(out).toContain('it is not known what is lost');
    expect(err.endsWith('bucketstore: interrupted [INTERRUPTED]\n')).toBe(true);
  });

  it('ends with 6 when the bucket is not what it must be, after the figures', async () => {
    const location = 'memory:spike-damaged';
    const { clock: timing, random: chance } = systemParts();
    const bucket = await openDriver(parseLocation(location), { timing, chance });
    const stray = '_demarkus/v1/log/stray';
    const argv = ['saturation', location, ...SHORT];
    const { exit, out, err } = await runTelling(argv, new AbortController().signal, (told) => {
      if (told.includes('reading')) void bucket.create(stray, Buffer.from('x'));
    });
    expect(exit).toBe(6);
    expect(out).toMatch(/^writes .* c$/m);
    expect(err).toMatch(new RegExp(`bucketstore: ${stray}: .* \\[INTEGRITY\\]\n$`));
  });

  it('ends with 6 when an acknowledged write is gone, and says how many', async () => {
    const location = 'memory:spike-lost';
    const { clock: timing, random: chance } = systemParts();
    const bucket = await openDriver(parseLocation(location), { timing, chance });
    const removeNewest = async (): Promise<void> => {
      const { objects } = await bucket.list({ prefix: '_demarkus/v1/log/', limit: 1000 });
      await bucket.delete(objects.at(-1)?.key ?? '');
    };
    const argv = ['saturation', location, ...SHORT];
    const { exit, out } = await runTelling(argv, new AbortController().signal, (told) => {
      if (told.includes('reading')) void removeNewest();
    });
    expect(out).toMatch(/^read back {4}[1-3] acknowledged lost$/m);
    expect(exit).toBe(6);
  });

  it('ends with 7 when c is not that of the model', async () => {
    // On this machine everything takes twice as long.
    const { clock, random } = systemParts();
    const slow = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms: number, options?: SleepOptions) => clock.sleep(2 * ms, options),
    };
    const argv = ['spike', 'saturation', 'memory:spike-void', ...SHORT];
    const running = runCommand(argv, { components: { clock: slow, random } });
    const { exit, out } = await clock.run(running);
    expect(out).toContain('VOID: with the model c lies in 38 to 44 ms');
    expect(exit).toBe(7);
  });

  it.each([
    [[], /SCENARIO is missing; see bucketstore spike --help/],
    [['memory:spike-x'], /SCENARIO is missing/],
    [['latency'], /which location\?/],
    [['latency', 'nowhere'], /nowhere/],
    [['speed', 'memory:spike-x'], /the scenario is "speed", expected one of creates, latency/],
    [['latency', 'memory:spike-x', 'more'], /"more" is one argument too many/],
    [['latency', 'memory:spike-x', '--json', 'a.json'], /"a.json" is one argument too many/],
    [['latency', 'memory:spike-x', '--rate', 'fast'], /--rate is "fast", expected a whole number/],
    [['latency', 'memory:spike-x', '--speed', '9'], /--speed.*see bucketstore spike --help/],
  ])('of %j ends with 2 and says what is expected', async (argv, words) => {
    const { exit, out, err } = await run(argv);
    expect({ exit, out }).toEqual({ exit: 2, out: '' });
    expect(argv.includes('--json') ? JSON.parse(err).error.message : err).toMatch(words);
  });

  it('explains every scenario', async () => {
    const { out } = await run(['--help']);
    for (const [name, what] of Object.entries(SCENARIOS)) {
      expect(out).toMatch(new RegExp(`^  ${name} +${what}`, 'm'));
    }
  });
});
