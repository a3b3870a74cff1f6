/**
 * The load spike as a program: `npm run spike -- SCENARIO --location L`. Exit status 1 when an
 * acknowledged write was lost, a read was stale or the run is void, 2 for wrong arguments.
 */
import { writeFileSync } from 'node:fs';
import { parseArguments, type SpikeArguments, USAGE } from './arguments.ts';
import { htmlPage } from './html.ts';
import { thisMachine } from './machine.ts';
import { runScenario } from './run.ts';
import { rampLines, reportLines } from './text.ts';

const BARS = 60;

function argumentsOf(argv: readonly string[]): SpikeArguments | null {
  try {
    return parseArguments(argv);
  } catch (error) {
    process.stderr.write(`spike: ${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    return null;
  }
}

async function main(argv: readonly string[]): Promise<number> {
  const asked = argumentsOf(argv);
  if (asked === null) return 2;
  const command = `npm run spike -- ${argv.join(' ')}`;
  const { report, outcome } = await runScenario(thisMachine(), asked, command);
  const lines = [...reportLines(report), ...(asked.ramp ? ['', ...rampLines(report)] : [])];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (asked.json !== null) writeFileSync(asked.json, `${JSON.stringify(report, null, 2)}\n`);
  if (asked.html !== null) {
    writeFileSync(asked.html, htmlPage(report, outcome.samples.bars(BARS)));
  }
  const sound = report.lost_acknowledged === 0 && (report.reads?.stale ?? 0) === 0;
  return sound && report.valid ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`spike: ${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
}
