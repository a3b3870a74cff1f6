/** The face of the load spike: what is asked of it, a run, and the run in words and as a page. */
import { isWorldScenario, type SpikeArguments } from './arguments.ts';
import { htmlPage, worldPage } from './html.ts';
import { type Surroundings, thisMachine } from './machine.ts';
import type { Report } from './report.ts';
import { runScenario, runWorldScenario } from './run.ts';
import { rampLines, reportLines } from './text.ts';
import type { WorldReport } from './world-report.ts';
import { worldLines } from './world-text.ts';

export {
  readArguments,
  type SpikeArguments,
  type SpikeFlag,
  type SpikeSwitch,
} from './arguments.ts';

const BARS = 60;

/** What a run came to. */
export interface SpikeResult {
  /** Plain data: the JSON of the run. */
  readonly report: Report | WorldReport;
  readonly lines: readonly string[];
  /** One HTML document that needs nothing from elsewhere. */
  readonly page: string;
  /** Why the bucket was not read back to its end; null when it was. */
  readonly failure: unknown;
}

/**
 * Runs one scenario on this machine. Leaves the world at the location, and nothing else. When the
 * signal aborts under load, what was sent is waited for and the result is of what was measured.
 * Requests: 400 for c, those of the load, and a list and a get for each object to read back.
 * @throws BlobError or StoreError when the location cannot be used; the signal's reason when it
 *   aborts before anything was measured
 */
export async function runSpike(
  asked: SpikeArguments,
  surroundings: Surroundings,
): Promise<SpikeResult> {
  const machine = thisMachine(surroundings);
  const { scenario } = asked;
  if (isWorldScenario(scenario)) {
    const { report, failure } = await runWorldScenario(machine, asked, scenario);
    return { report, lines: worldLines(report), page: worldPage(report), failure };
  }
  const { report, outcome } = await runScenario(machine, asked);
  return {
    report,
    lines: [...reportLines(report), ...(asked.ramp ? ['', ...rampLines(report)] : [])],
    page: htmlPage(report, outcome.samples.bars(BARS)),
    failure: outcome.failure,
  };
}
