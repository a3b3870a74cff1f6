/** One run: c on the idle location, the scenario, and what both came to. */
import type { ScenarioName, SpikeArguments } from './arguments.ts';
import { measureIdle } from './idle.ts';
import type { Machine } from './machine.ts';
import type { Outcome } from './outcome.ts';
import { makeReport, type Report } from './report.ts';
import { runContention } from './scenarios/contention.ts';
import { runCreates } from './scenarios/creates.ts';
import { runFollower } from './scenarios/follower.ts';
import { runLatency } from './scenarios/latency.ts';
import { runSaturation } from './scenarios/saturation.ts';
import { runTipcheck } from './scenarios/tipcheck.ts';

const RUNS: Readonly<
  Record<ScenarioName, (machine: Machine, asked: SpikeArguments) => Promise<Outcome>>
> = {
  creates: runCreates,
  latency: runLatency,
  saturation: runSaturation,
  contention: runContention,
  follower: runFollower,
  tipcheck: runTipcheck,
};

export interface Run {
  readonly report: Report;
  readonly outcome: Outcome;
}

/**
 * Measures; leaves the world at the location, and nothing else. When the machine's signal aborts
 * under load, the load ends, what was sent is waited for, and the report is of what was measured.
 * @throws BlobError or StoreError when the location cannot be used; the signal's reason when it
 *   aborts before anything was measured
 */
export async function runScenario(machine: Machine, asked: SpikeArguments): Promise<Run> {
  const cMs = await measureIdle(machine, asked.opened);
  const date = new Date(machine.clock.now()).toISOString();
  const outcome = await RUNS[asked.scenario](machine, asked);
  const { description, signal } = machine;
  const facts = { asked, machine: description, date, cMs, interrupted: signal.aborted };
  return { report: makeReport(facts, outcome), outcome };
}
