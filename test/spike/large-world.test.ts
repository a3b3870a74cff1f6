/**
 * Goal: what is measured of a large world is what happened: new stores that answer, checkpoints
 * with what they cost, changes that are all in the log.
 * Method: small worlds in memory, in virtual time behind the latency model, where all of it can be
 * counted.
 */
import { describe, expect, it } from 'vitest';
// The driver is loaded when it is opened, and virtual time waits for no file: so it is loaded now.
import '../../blob/memory.ts';
import { isWorldScenario } from '../../spike/arguments.ts';
import { runWorldScenario, type WorldRun } from '../../spike/run.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { parseLine } from './parse-line.ts';
import { type Around, machineOf } from './virtual-machine.ts';

const DOCUMENTS = 100;

/** One scenario after another. */
class Bench {
  readonly #clock = new ManualClock();
  /** One for all scenarios: none may use the identities of another. */
  readonly #random = new SeededRandom(3);
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  run(scenario: string, flags = '', around: Around = {}): Promise<WorldRun> {
    const line = `${scenario} memory:${this.#name} --body-bytes 200 --model gcs ${flags}`;
    const asked = parseLine(line.trim());
    if (!isWorldScenario(asked.scenario)) throw new TypeError(`${scenario} is another kind`);
    const machine = machineOf(this.#clock, { random: this.#random, ...around });
    return this.#clock.run(runWorldScenario(machine, asked, asked.scenario));
  }
}

async function seeded(name: string): Promise<Bench> {
  const bench = new Bench(name);
  await bench.run('seed', `--documents ${DOCUMENTS}`);
  return bench;
}

describe('a run of coldstart', () => {
  it('tells when a new store has answered, and by how many requests in sequence', async () => {
    const bench = await seeded('coldstart-1');
    const { report } = await bench.run('coldstart', '--runs 2 --behind 4');
    if (report.scenario !== 'coldstart') throw new TypeError('another scenario');
    expect(report).toMatchObject({ documents: DOCUMENTS, runs: 2, behind: 4, valid: true });
    expect(report.requests_in_sequence).toBeGreaterThan(3);
    expect(report.requests_in_sequence).toBeLessThan(20);
    // No request of the model takes less than 12 ms.
    expect(report.first_get_ms).toBeGreaterThan(report.requests_in_sequence * 12);
    expect(report.first_get_max_ms).toBeGreaterThanOrEqual(report.first_get_ms);
    expect(report.first_get_c).toBeCloseTo(report.first_get_ms / report.c_ms, 2);
    expect(report.full_ms).toBeGreaterThan(report.first_get_ms);
    expect(report.replay_ms).toBeGreaterThan(0);
    expect(report).toMatchObject({ resident_bytes: 3_000, resident_bytes_per_document: 30 });
    expect(report.requests).toMatchObject({ create: 0, replace: 0, delete: 0 });
  });

  it('replays what lies behind the checkpoint', async () => {
    const bench = await seeded('coldstart-2');
    const gets = async (behind: number): Promise<number> => {
      const { report } = await bench.run('coldstart', `--runs 1 --behind ${behind}`);
      return report.scenario === 'coldstart' ? report.requests.get : Number.NaN;
    };
    const without = await gets(0);
    const more = (await gets(20)) - without;
    // One or two for each slot: for the first answer, and with everything else.
    expect(more).toBeGreaterThanOrEqual(20);
    expect(more).toBeLessThan(45);
  });

  it('says what to do where no seeded world is', async () => {
    for (const scenario of ['coldstart', 'compact']) {
      await expect(new Bench(`none-${scenario}`).run(scenario)).rejects.toMatchObject({
        code: 'LOCATION',
        message: expect.stringContaining('make one first: bucketstore spike seed'),
      });
    }
  });
});

describe('a run of compact', () => {
  it('counts what each checkpoint took, and finds every change in the log', async () => {
    const bench = await seeded('compact-1');
    const { report, failure } = await bench.run('compact', '--changes 300 --rate 0 --writers 50');
    if (report.scenario !== 'compact') throw new TypeError('another scenario');
    expect(failure).toBeNull();
    expect(report).toMatchObject({ documents: DOCUMENTS, lost_acknowledged: 0, errors: {} });
    expect(report.changes).toBeGreaterThanOrEqual(300);
    expect(report.changes).toBeLessThan(350);
    expect(report.checkpoints).toHaveLength(1);
    const [only] = report.checkpoints;
    expect(only).toMatchObject({ sequence: DOCUMENTS + 1 + report.changes, had_base: false });
    expect(only?.objects).toBe(report.checkpoint_objects);
    // Nearly every document has changed, and each counts once.
    expect(report.changed_entry_bytes).toBeGreaterThan(DOCUMENTS * 0.8 * 850);
    expect(report.changed_entry_bytes).toBeLessThan(DOCUMENTS * 950);
    expect(report.checkpoint_bytes).toBeGreaterThan(report.changed_entry_bytes);
    expect(report.bytes_ratio_max_without_base).toBe(report.bytes_ratio);
  });

  it('that is interrupted has the figures until then', async () => {
    const bench = await seeded('compact-3');
    const stop = new AbortController();
    const progress = (text: string): void => {
      if (text.startsWith('3 of')) stop.abort(new Error('enough'));
    };
    const { report, failure } = await bench.run('compact', '--rate 40', {
      signal: stop.signal,
      progress,
    });
    expect(report).toMatchObject({ interrupted: true, lost_acknowledged: null });
    expect(failure).toBe(stop.signal.reason);
    if (report.scenario === 'compact') expect(report.changes).toBeGreaterThan(60);
  });
});
