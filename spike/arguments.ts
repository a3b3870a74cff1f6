/** The arguments of the load spike: text to numbers, with an error that says what was expected. */
import { parseArgs } from 'node:util';
import { formatLocation, parseLocation } from '../blob/index.ts';

/** What can be measured, and what it is for. */
export const SCENARIOS = {
  creates: 'bare creates on the bucket, without a store',
  latency: 'writes that arrive by chance at a mean rate, as users do',
  saturation: 'writers that each send the next write when the last is answered',
  contention: 'several stores on one location, at a rate each or saturated each',
  follower: 'a second store that reads while the first writes',
  tipcheck: 'exact reads of a world that nobody writes to',
} as const;

export type ScenarioName = keyof typeof SCENARIOS;

export interface SpikeArguments {
  readonly scenario: ScenarioName;
  /** As it was given. */
  readonly location: string;
  /** What the stores open: behind the model when one is asked for, in memory by a shared name. */
  readonly opened: string;
  /** The same objects without the model: for reading back. */
  readonly bare: string;
  readonly model: 'gcs' | null;
  /** Arrivals a second, for each store; null: saturation. */
  readonly rate: number | null;
  readonly seconds: number;
  readonly stores: number;
  /** Writers of each store, in saturation. */
  readonly writers: number;
  readonly bodyBytes: number;
  /** Settings of the stores; undefined: their defaults. */
  readonly inlineBytes: number | undefined;
  readonly batchMax: number | undefined;
  /** Bare creates, or readers, at once. */
  readonly depth: number;
  /** Documents that are written to, one drawn for each write. */
  readonly documents: number;
  readonly seed: number;
  /** Every second from the first, nothing dropped. */
  readonly ramp: boolean;
  readonly json: string | null;
  readonly html: string | null;
}

export const USAGE: string = [
  'usage: npm run spike -- SCENARIO --location L [flags]',
  ...Object.entries(SCENARIOS).map(([name, what]) => `  ${name.padEnd(11)} ${what}`),
  'flags:',
  '  --location L      gs://, s3://, file: or memory:',
  '  --model gcs       the latency model of a real bucket in front of it',
  '  --rate N          arrivals a second, for each store',
  '  --seconds N       how long, default 20; at a rate the first 5 are dropped',
  '  --stores N        stores in this process (contention), default 3',
  '  --writers N       writers of each store in saturation, default 2000',
  '  --body-bytes N    bytes of a body, default 1024',
  '  --inline-bytes N  what a store inlines at most; 0: nothing',
  '  --batch-max N     entries of a slot at most',
  '  --depth N         creates (default 32) or readers (default 1) at once',
  '  --documents N     documents that are written to or read, default 1000',
  '  --seed N          of keys and arrivals, default 1',
  '  --ramp            creates: from the first second, nothing dropped',
  '  --json FILE, --html FILE',
].join('\n');

const OPTIONS = {
  location: { type: 'string' },
  model: { type: 'string' },
  rate: { type: 'string' },
  seconds: { type: 'string' },
  stores: { type: 'string' },
  writers: { type: 'string' },
  'body-bytes': { type: 'string' },
  'inline-bytes': { type: 'string' },
  'batch-max': { type: 'string' },
  depth: { type: 'string' },
  documents: { type: 'string' },
  seed: { type: 'string' },
  ramp: { type: 'boolean' },
  json: { type: 'string' },
  html: { type: 'string' },
} as const;

type Flag = keyof typeof OPTIONS;

/** Flags that say something about one scenario, or a few, only. */
const ONLY: Partial<Record<Flag, readonly ScenarioName[]>> = {
  rate: ['creates', 'latency', 'contention', 'follower'],
  stores: ['contention'],
  writers: ['saturation', 'contention'],
  'inline-bytes': ['latency', 'saturation', 'contention', 'follower', 'tipcheck'],
  'batch-max': ['latency', 'saturation', 'contention', 'follower', 'tipcheck'],
  depth: ['creates', 'follower', 'tipcheck'],
  documents: ['latency', 'saturation', 'contention', 'follower', 'tipcheck'],
  ramp: ['creates'],
};

/** Seconds that are dropped at a rate, before percentiles are taken. */
export const DROPPED_SECONDS = 5;

const RATE_DEFAULT: Partial<Record<ScenarioName, number>> = { latency: 200, follower: 50 };

/** @throws RangeError or TypeError naming the argument, what was given and what is expected */
export function parseArguments(argv: readonly string[]): SpikeArguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: OPTIONS,
    allowPositionals: true,
  });
  const scenario = scenarioOf(positionals);
  for (const [flag, scenarios] of Object.entries(ONLY)) {
    if (values[flag as Flag] === undefined || scenarios.includes(scenario)) continue;
    throw new RangeError(`--${flag} says nothing about ${scenario}; only ${scenarios.join(', ')}`);
  }
  const number = (flag: Flag, fallback: number, least: number, most: number): number => {
    const text = values[flag];
    return typeof text === 'string' ? numberOf(flag, text, least, most) : fallback;
  };
  const maybe = (flag: Flag, least: number, most: number): number | undefined => {
    return values[flag] === undefined ? undefined : number(flag, 0, least, most);
  };
  const seed = number('seed', 1, 0, 2 ** 32 - 1);
  const rate = maybe('rate', 1, 100_000) ?? RATE_DEFAULT[scenario] ?? null;
  const seconds = number('seconds', 20, 1, 86_400);
  const drops = scenario !== 'tipcheck' && (rate !== null || scenario === 'creates');
  if (drops && values.ramp !== true && seconds <= DROPPED_SECONDS) {
    throw new RangeError(`--seconds is "${seconds}": more than the ${DROPPED_SECONDS} dropped`);
  }
  return {
    scenario,
    ...placesOf(values.location, values.model, seed),
    rate,
    seconds,
    stores: scenario === 'contention' ? number('stores', 3, 1, 64) : 1,
    writers: number('writers', 2_000, 1, 16_384),
    bodyBytes: number('body-bytes', 1_024, 64, 1_048_576),
    inlineBytes: maybe('inline-bytes', 0, 1_048_576),
    batchMax: maybe('batch-max', 1, 256),
    depth: number('depth', scenario === 'creates' ? 32 : 1, 1, 1_024),
    documents: number('documents', 1_000, 1, 1_000_000),
    seed,
    ramp: values.ramp ?? false,
    json: values.json ?? null,
    html: values.html ?? null,
  };
}

function scenarioOf(positionals: readonly string[]): ScenarioName {
  const names = Object.keys(SCENARIOS).join(', ');
  const [name = '', extra] = positionals;
  if (extra !== undefined) throw new RangeError(`one scenario at a time, got also "${extra}"`);
  if (isScenario(name)) return name;
  throw new RangeError(`the scenario is "${name}", expected one of ${names}`);
}

function isScenario(name: string): name is ScenarioName {
  return Object.hasOwn(SCENARIOS, name);
}

function placesOf(
  location: string | undefined,
  model: string | undefined,
  seed: number,
): Pick<SpikeArguments, 'location' | 'opened' | 'bare' | 'model'> {
  if (location === undefined) throw new RangeError('--location is missing: where to measure');
  if (model !== undefined && model !== 'gcs') {
    throw new RangeError(`--model is "${model}", expected gcs`);
  }
  const given = parseLocation(location);
  // Several stores, and what reads back, share a location of this process by its name.
  const named =
    given.kind === 'memory' && given.name === null ? { ...given, name: `spike-${seed}` } : given;
  const bare = formatLocation({ ...named, model: false });
  const modelled = given.model || model !== undefined;
  const opened = formatLocation({ ...named, model: modelled });
  return { location, opened, bare, model: modelled ? 'gcs' : null };
}

function numberOf(flag: Flag, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new RangeError(`--${flag} is "${text}", expected a whole number of ${least} to ${most}`);
}
