/** One run: c on the idle location, the scenario, and what both came to. */
import { assertNever } from '../bucketstore/base/assert.ts';
import {
  isWorldScenario,
  type ScenarioName,
  type SpikeArguments,
  type WorldScenario,
} from './arguments.ts';
import { measureIdle } from './idle.ts';
import type { Machine } from './machine.ts';
import type { Outcome } from './outcome.ts';
import { makeReport, type Report, type RunFacts } from './report.ts';
import { runColdstart } from './scenarios/coldstart.ts';
import { runCompact } from './scenarios/compact.ts';
import { runContention } from './scenarios/contention.ts';
import { runCreates } from './scenarios/creates.ts';
import { runFollower } from './scenarios/follower.ts';
import { runLatency } from './scenarios/latency.ts';
import { runSaturation } from './scenarios/saturation.ts';
import { runSeed } from './scenarios/seed.ts';
import { runTipcheck } from './scenarios/tipcheck.ts';
import { makeWorldReport, type WorldFigures, type WorldReport } from './world-report.ts';

type LoadScenario = Exclude<ScenarioName, WorldScenario>;

const RUNS: Readonly<
  Record<LoadScenario, (machine: Machine, asked: SpikeArguments) => Promise<Outcome>>
> = {
  creates: runCreates,
  latency: runLatency,
  saturation: runSaturation,
  contention: runContention,
  follower: runFollower,
  tipcheck: runTipcheck,
  // The same for longer.
  gate: runFollower,
};

export interface Run {
  readonly report: Report;
  readonly outcome: Outcome;
}

/** A run of a large world. */
export interface WorldRun {
  readonly report: WorldReport;
  /** Why the bucket was not read back to its end; null when it was, or nothing had to be. */
  readonly failure: unknown;
}

/**
 * Measures; leaves the world at the location, and nothing else. When the machine's signal aborts
 * under load, the load ends, what was sent is waited for, and the report is of what was measured.
 * @throws BlobError or StoreError when the location cannot be used; the signal's reason when it
 *   aborts before anything was measured
 */
export async function runScenario(machine: Machine, asked: SpikeArguments): Promise<Run> {
  const { scenario } = asked;
  if (isWorldScenario(scenario)) throw new TypeError(`${scenario} is no load`);
  const cMs = await measureIdle(machine, asked.opened);
  const date = dateOf(machine);
  const outcome = await RUNS[scenario](machine, asked);
  return { report: makeReport(factsOf(machine, asked, cMs, date), outcome), outcome };
}

/** The same for a large world. Of runs that are interrupted only `compact` has figures. */
export async function runWorldScenario(
  machine: Machine,
  asked: SpikeArguments,
  scenario: WorldScenario,
): Promise<WorldRun> {
  const cMs = await measureIdle(machine, asked.opened);
  const date = dateOf(machine);
  const { figures, failure } = await figuresOf(machine, asked, scenario, cMs);
  return { report: makeWorldReport(factsOf(machine, asked, cMs, date), figures), failure };
}

async function figuresOf(
  machine: Machine,
  asked: SpikeArguments,
  scenario: WorldScenario,
  cMs: number,
): Promise<{ readonly figures: WorldFigures; readonly failure: unknown }> {
  switch (scenario) {
    case 'seed':
      return { figures: await runSeed(machine, asked), failure: null };
    case 'coldstart':
      return { figures: await runColdstart(machine, asked, cMs), failure: null };
    case 'compact':
      return runCompact(machine, asked, cMs);
    default:
      return assertNever(scenario);
  }
}

function dateOf({ clock }: Machine): string {
  return new Date(clock.now()).toISOString();
}

function factsOf(
  { description, signal }: Machine,
  asked: SpikeArguments,
  cMs: number,
  date: string,
): RunFacts {
  return { asked, machine: description, date, cMs, interrupted: signal.aborted };
}
