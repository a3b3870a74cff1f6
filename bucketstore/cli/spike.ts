/** `bucketstore spike`: a measured load on a location. The load itself is in `spike/`. */
import { open, writeFile } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { SpikeFlag, SpikeResult, SpikeSwitch } from '../../spike/index.ts';
import { ERROR_CODES, StoreError } from '../base/errors.ts';
import { systemRandom } from '../base/random.ts';
import {
  type Command,
  type CommandContext,
  clockOf,
  type Flag,
  isSet,
  textFlag,
} from './command.ts';
import { isLocation, locationArguments, readLocation } from './location.ts';

const number = (help: string): Flag => ({ type: 'string', value: 'N', help });

const SPIKE_FLAGS: Readonly<Record<SpikeFlag, Flag>> = {
  model: {
    type: 'string',
    value: 'gcs',
    help: 'The latency model of a real bucket in front of it.',
  },
  rate: number(
    'Arrivals a second, for each store. Default: latency 200, follower 50, gate, compact 250.',
  ),
  seconds: number('How long. Default: 20, gate 600; at a rate the first 5 are dropped.'),
  stores: number('Stores in this process, in contention. Default: 3.'),
  writers: number('Writers of each store where there is no rate. Default: 2000.'),
  'body-bytes': number('Bytes of a body. Default: 1024.'),
  'inline-bytes': number('What a store inlines at most; 0: nothing.'),
  'batch-max': number('Entries of a slot at most.'),
  'deadline-ms': number('How long a write may take. Default: 60000.'),
  depth: number('Creates (default 32) or readers (default 1) at once.'),
  documents: number('Documents that are written to or read. Default: 1000; seed 100000.'),
  changes: number('Changes of a seeded world. Default: half its documents, and a unit.'),
  behind: number('Slots behind the checkpoint, in coldstart. Default: 64.'),
  runs: number('New stores, in coldstart. Default: 5.'),
  seed: number('Of keys and arrivals. Default: 1.'),
};

const SPIKE_SWITCHES: Readonly<Record<SpikeSwitch, Flag>> = {
  ramp: { type: 'boolean', help: 'Of creates: every second from the first, nothing dropped.' },
  'no-compact': { type: 'boolean', help: 'No checkpoints in the background: for comparison.' },
};

export const spike: Command = {
  name: 'spike',
  summary: 'Put a measured load on a location: how long, how many, what it costs, what is lost.',
  usage: 'SCENARIO LOCATION',
  flags: {
    ...SPIKE_FLAGS,
    ...SPIKE_SWITCHES,
    html: { type: 'string', value: 'FILE', help: 'The report as a page that needs no network.' },
  },
  notes: [
    'Scenarios:',
    '  creates     bare creates on the bucket, without a store; removed afterwards',
    '  latency     writes that arrive by chance at a mean rate, as users do',
    '  saturation  writers that each send the next write when the last is answered; with --rate',
    '              arrivals that wait for nobody, which overload a store that cannot take them',
    '  contention  several stores on one location, at a rate each or saturated each',
    '  follower    a second store that reads while the first writes',
    '  tipcheck    exact reads of a world that nobody writes to',
    '  gate        what checkpoints in the background do to writes and reads',
    '  seed        a large world, made at once at an empty location, for the next two',
    '  coldstart   how soon a new store answers, and what it holds in memory',
    '  compact     what checkpoints cost while a large world changes',
    'First c is measured, the median of 200 small creates on the idle location; latencies are told',
    'as multiples of it too. At the end the bucket is read back by a reader of its own. The world',
    'stays at the location: take a prefix that is empty. Every request is billed by the service.',
    'Ctrl-C ends the load, waits for what was sent and tells what was measured until then.',
    'Exit status 6 when an acknowledged write is lost or not shown by a read; 7 when c is not that',
    'of the model, since something else held the machine: the figures are void.',
  ],
  examples: [
    'bucketstore spike latency gs://my-bucket/spike-1 --rate 200 --seconds 60 --html latency.html',
    'bucketstore spike contention memory: --model gcs --stores 3 --rate 60 --json',
    'bucketstore spike creates --location s3://my-bucket/spike-2 --ramp',
  ],
  run: runSpikeCommand,
};

async function runSpikeCommand(context: CommandContext): Promise<number> {
  const { signal, output, components } = context;
  const { scenario, location } = spikeArguments(context);
  // Loaded by this command alone: no other needs it.
  const { readArguments, runSpike } = await import('../../spike/index.ts');
  const flags = Object.fromEntries(
    Object.keys(SPIKE_FLAGS).flatMap((flag) => {
      const text = textFlag(context, flag);
      return text === undefined ? [] : [[flag, text]];
    }),
  );
  const given = Object.keys(SPIKE_SWITCHES).filter((name) => isSet(context, name));
  const switches = given as SpikeSwitch[];
  const asked = readArguments({ scenario, location, flags, switches });
  const html = textFlag(context, 'html');
  if (html !== undefined) await checkWritable(html);
  const result = await runSpike(asked, {
    clock: clockOf(context),
    random: components.random ?? systemRandom,
    signal,
    watchLoop,
    progress: (text) => output.progress(`${scenario}: ${text}`),
  });
  output.result(result.report, result.lines);
  if (html !== undefined) await writeFile(html, result.page);
  signal.throwIfAborted();
  return statusOf(result);
}

/** The scenario, and the location by any of the ways in which a location is named. */
function spikeArguments(context: CommandContext): {
  readonly scenario: string;
  readonly location: string;
} {
  const { positionals } = context;
  const at = positionals.findIndex((text) => !isLocation(text));
  const scenario = positionals[at];
  if (scenario === undefined) {
    throw new StoreError('USAGE', 'SCENARIO is missing; see bucketstore spike --help');
  }
  const others = positionals.filter((_, index) => index !== at);
  const { location, rest } = locationArguments({ ...context, positionals: others });
  const [extra] = rest;
  if (extra !== undefined) throw new StoreError('USAGE', `"${extra}" is one argument too many`);
  readLocation(location);
  return { scenario, location };
}

/** A page that cannot be written is better told of before the load than after it. */
async function checkWritable(file: string): Promise<void> {
  try {
    await (await open(file, 'a')).close();
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new StoreError('USAGE', `--html ${file} cannot be written: ${problem}`);
  }
}

/** Sampled each ms: what is later than that is told. */
function watchLoop(): { stop(): number | null } {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  return {
    stop: () => {
      delays.disable();
      return delays.count === 0 ? null : delays.percentile(99.9) / 1e6;
    },
  };
}

function statusOf({ report, failure }: SpikeResult): number {
  if (failure !== null) throw failure;
  const { lost_acknowledged: lost, valid } = report;
  const stale = 'reads' in report ? (report.reads?.stale ?? 0) : 0;
  if ((lost ?? 0) + stale > 0) return ERROR_CODES.INTEGRITY.exit;
  return valid ? 0 : ERROR_CODES.UNAVAILABLE.exit;
}
