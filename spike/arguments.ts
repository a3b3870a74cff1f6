/** What a run is asked for: text to numbers, with an error that says what was expected. */
import { formatLocation, parseLocation } from '../blob/index.ts';

/** What can be measured, and what it is for. */
export const SCENARIOS = {
  creates: 'bare creates on the bucket, without a store',
  latency: 'writes that arrive by chance at a mean rate, as users do',
  saturation: 'writers that each send the next write when the last is answered',
  contention: 'several stores on one location, at a rate each or saturated each',
  follower: 'a second store that reads while the first writes',
  tipcheck: 'exact reads of a world that nobody writes to',
  gate: 'what checkpoints in the background do to writes and reads',
  seed: 'a large world, made at once',
  coldstart: 'how soon a new store answers, and what it holds in memory',
  compact: 'what checkpoints cost while a large world changes',
} as const;

export type ScenarioName = keyof typeof SCENARIOS;

/** Scenarios of a large world, not of a load: `world-report.ts` has what they come to. */
export type WorldScenario = 'seed' | 'coldstart' | 'compact';

/** Flags with a value; `ramp` and `no-compact` have none. */
export type SpikeFlag =
  | 'model'
  | 'rate'
  | 'seconds'
  | 'stores'
  | 'writers'
  | 'body-bytes'
  | 'inline-bytes'
  | 'batch-max'
  | 'deadline-ms'
  | 'depth'
  | 'documents'
  | 'changes'
  | 'behind'
  | 'runs'
  | 'seed';

/** Flags without a value. */
export type SpikeSwitch = 'ramp' | 'no-compact';

export interface SpikeRequest {
  readonly scenario: string;
  readonly location: string;
  readonly flags: Readonly<Partial<Record<SpikeFlag, string>>>;
  /** Those that were given. */
  readonly switches: readonly SpikeSwitch[];
}

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
  /** How long a write may take. */
  readonly deadlineMs: number;
  /** Bare creates, or readers, at once. */
  readonly depth: number;
  /** Documents that are seeded, or written to, one drawn for each write. */
  readonly documents: number;
  /** Changes of a seeded world; null: half as many as it has documents, and as a base wants. */
  readonly changes: number | null;
  /** Slots behind the checkpoint that a new store begins with. */
  readonly behind: number;
  /** New stores, one after another. */
  readonly runs: number;
  /** Whether stores make checkpoints in the background, as they do by default. */
  readonly compact: boolean;
  readonly seed: number;
  /** Every second from the first, nothing dropped. */
  readonly ramp: boolean;
  /** The command line that asks for the same again. */
  readonly command: string;
}

const STORES: readonly ScenarioName[] = [
  ...(['latency', 'saturation', 'contention', 'follower', 'tipcheck', 'gate'] as const),
];
const LOADS: readonly ScenarioName[] = ['creates', ...STORES];

/** Flags that say something about one scenario, or a few, only. */
const ONLY: Partial<Record<SpikeFlag | SpikeSwitch, readonly ScenarioName[]>> = {
  rate: ['creates', 'latency', 'saturation', 'contention', 'follower', 'gate', 'compact'],
  seconds: LOADS,
  stores: ['contention'],
  writers: ['saturation', 'contention', 'compact'],
  'inline-bytes': STORES,
  'batch-max': [...STORES, 'compact'],
  'deadline-ms': ['latency', 'saturation', 'contention', 'follower', 'gate', 'compact'],
  depth: ['creates', 'follower', 'tipcheck', 'gate'],
  documents: [...STORES, 'seed'],
  changes: ['compact'],
  behind: ['coldstart'],
  runs: ['coldstart'],
  ramp: ['creates'],
  'no-compact': STORES,
};

/** Loads that have to warm up at a rate. */
const DROPPING: readonly ScenarioName[] = LOADS.filter((scenario) => scenario !== 'tipcheck');

/** Seconds that are dropped at a rate, before percentiles are taken. */
export const DROPPED_SECONDS = 5;

/** A write is waited for longer than a store would by default: a long answer is a figure too. */
const DEADLINE_MS = 60_000;

const RATE_DEFAULT: Partial<Record<ScenarioName, number>> = {
  latency: 200,
  follower: 50,
  gate: 250,
  compact: 250,
};

/** So that a stored version is one that a slot inlines. */
const SEED_BODY_BYTES_MAX = 14_336;

/** @throws RangeError naming the argument, what was given and what is expected */
export function readArguments(request: SpikeRequest): SpikeArguments {
  const { flags, switches } = request;
  const scenario = scenarioOf(request.scenario);
  checkFlags(scenario, request);
  const number = (flag: SpikeFlag, fallback: number, least: number, most: number): number => {
    const text = flags[flag];
    return text === undefined ? fallback : numberOf(flag, text, least, most);
  };
  const maybe = (flag: SpikeFlag, least: number, most: number): number | undefined => {
    return flags[flag] === undefined ? undefined : number(flag, 0, least, most);
  };
  const seed = number('seed', 1, 0, 2 ** 32 - 1);
  // At no rate a large world is changed as fast as it can be.
  const asked = maybe('rate', scenario === 'compact' ? 0 : 1, 100_000) ?? RATE_DEFAULT[scenario];
  const rate = asked === undefined || asked === 0 ? null : asked;
  const ramp = switches.includes('ramp');
  if (rate !== null && flags.writers !== undefined) {
    throw new RangeError('--writers says nothing at a --rate: arrivals wait for nobody');
  }
  const seconds = number('seconds', scenario === 'gate' ? 600 : 20, 1, 86_400);
  const drops = DROPPING.includes(scenario) && (rate !== null || scenario === 'creates');
  if (drops && !ramp && seconds <= DROPPED_SECONDS) {
    throw new RangeError(`--seconds is "${seconds}": more than the ${DROPPED_SECONDS} dropped`);
  }
  return {
    scenario,
    ...placesOf(request.location, flags.model, seed),
    rate,
    seconds,
    stores: scenario === 'contention' ? number('stores', 3, 1, 64) : 1,
    writers: number('writers', 2_000, 1, 16_384),
    bodyBytes: number(
      'body-bytes',
      1_024,
      64,
      isWorldScenario(scenario) ? SEED_BODY_BYTES_MAX : 1_048_576,
    ),
    inlineBytes: maybe('inline-bytes', 0, 1_048_576),
    batchMax: maybe('batch-max', 1, 256),
    deadlineMs: number('deadline-ms', DEADLINE_MS, 1, 600_000),
    depth: number('depth', scenario === 'creates' ? 32 : 1, 1, 1_024),
    documents: number('documents', scenario === 'seed' ? 100_000 : 1_000, 1, 10_000_000),
    changes: maybe('changes', 1, 100_000_000) ?? null,
    behind: number('behind', 64, 0, 100_000),
    runs: number('runs', 5, 1, 1_000),
    compact: !switches.includes('no-compact'),
    seed,
    ramp,
    command: commandOf(request),
  };
}

function scenarioOf(name: string): ScenarioName {
  if (isScenario(name)) return name;
  const names = Object.keys(SCENARIOS).join(', ');
  throw new RangeError(`the scenario is "${name}", expected one of ${names}`);
}

function isScenario(name: string): name is ScenarioName {
  return Object.hasOwn(SCENARIOS, name);
}

/** Whether it is of a large world: its report is another one. */
export function isWorldScenario(scenario: ScenarioName): scenario is WorldScenario {
  return scenario === 'seed' || scenario === 'coldstart' || scenario === 'compact';
}

function checkFlags(scenario: ScenarioName, { flags, switches }: SpikeRequest): void {
  const given = new Set<string>([...Object.keys(flags), ...switches]);
  for (const [flag, scenarios] of Object.entries(ONLY)) {
    if (!given.has(flag) || scenarios.includes(scenario)) continue;
    throw new RangeError(`--${flag} says nothing about ${scenario}; only ${scenarios.join(', ')}`);
  }
}

function placesOf(
  location: string,
  model: string | undefined,
  seed: number,
): Pick<SpikeArguments, 'location' | 'opened' | 'bare' | 'model'> {
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

function numberOf(flag: SpikeFlag, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new RangeError(`--${flag} is "${text}", expected a whole number of ${least} to ${most}`);
}

function commandOf({ scenario, location, flags, switches }: SpikeRequest): string {
  const words = Object.entries(flags).flatMap(([flag, text]) => [`--${flag}`, text]);
  const last = switches.map((name) => `--${name}`);
  return ['bucketstore', 'spike', scenario, location, ...words, ...last].map(quoted).join(' ');
}

function quoted(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
