/** How soon a new store answers, and what it holds in memory once all of its world is there. */
import { createCounter, type Observer, type RequestEvent } from '../../blob/index.ts';
import { openWorld, type World } from '../../bucketstore/index.ts';
import { parseSlotKey } from '../../bucketstore/log/names.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import type { SpikeArguments } from '../arguments.ts';
import type { Machine } from '../machine.ts';
import { median, ratio, rounded } from '../numbers.ts';
import { RequestChain } from '../request-chain.ts';
import type { SeedDocuments } from '../seed-documents.ts';
import { openSeeded, seededDocuments } from '../seeded.ts';
import type { ColdstartFigures } from '../world-report.ts';

const LISTED = 1_000;

/** What is asked of a new store. */
interface Asked {
  readonly path: string;
  /** Of the document at that path. */
  readonly bodyHash: string;
  readonly directory: string;
  /** The sequence of the checkpoint that the store begins with. */
  readonly checkpoint: number;
}

interface Cold {
  readonly firstGetMs: number;
  readonly requestsInSequence: number;
  readonly fullMs: number;
  readonly lsMs: number;
  readonly lookupMs: number;
  readonly replayMs: number;
  readonly heldBytes: number;
}

/**
 * Leaves `--behind` slots behind a checkpoint, then opens `--runs` stores one after another, which
 * share nothing but the bucket and this process.
 */
export async function runColdstart(
  machine: Machine,
  asked: SpikeArguments,
  cMs: number,
): Promise<ColdstartFigures> {
  const { clock, signal, progress } = machine;
  const beganMs = clock.monotonic();
  const random = new SeededRandom(asked.seed).derive('coldstart');
  const { documents, questions } = await prepare(machine, asked, random);
  const counter = createCounter();
  const runs: Cold[] = [];
  for (const question of questions) {
    signal.throwIfAborted();
    progress(`store ${runs.length + 1} of ${questions.length}`);
    runs.push(await cold(machine, asked, question, counter));
  }
  const { requests, bytesIn } = counter.snapshot();
  const middle = (of: (run: Cold) => number): number => rounded(median(runs.map(of)));
  const most = (of: (run: Cold) => number): number => rounded(Math.max(...runs.map(of)));
  const firstGetMs = middle((run) => run.firstGetMs);
  const held = middle((run) => run.heldBytes);
  return {
    ...{ scenario: 'coldstart', documents, runs: runs.length, behind: asked.behind },
    seconds: (clock.monotonic() - beganMs) / 1000,
    first_get_ms: firstGetMs,
    first_get_max_ms: most((run) => run.firstGetMs),
    first_get_c: ratio(firstGetMs, cMs),
    requests_in_sequence: most((run) => run.requestsInSequence),
    full_ms: middle((run) => run.fullMs),
    ls_ms: middle((run) => run.lsMs),
    lookup_ms: middle((run) => run.lookupMs),
    replay_ms: middle((run) => run.replayMs),
    ...{ requests, bytes_read: bytesIn, resident_bytes: held },
    resident_bytes_per_document: rounded(held / documents),
    lost_acknowledged: null,
  };
}

/** Makes a checkpoint of what is there, and writes the slots behind it. */
async function prepare(
  machine: Machine,
  asked: SpikeArguments,
  random: SeededRandom,
): Promise<{ readonly documents: number; readonly questions: readonly Asked[] }> {
  const { signal, progress, clock } = machine;
  await using world = await openSeeded(machine, asked, { compact: false });
  const documents = await seededDocuments(world, asked);
  const revision = Math.floor(clock.now() % 2 ** 31);
  const write = async (written: number): Promise<void> => {
    const index = random.integer(documents.count);
    const { path, body, metadata } = documents.document(index, revision + written);
    await world.publish({ path, expected: 'any', body, metadata }, { signal });
  };
  // A world that was just seeded has no checkpoint but its start.
  await write(0);
  progress('making a checkpoint');
  const { newest } = await world.compact({ signal });
  const checkpoint = newest?.sequence ?? 0;
  for (let slot = 1; slot <= asked.behind; slot++) {
    await write(slot);
    progress(`${slot} of ${asked.behind} slots behind it`);
  }
  const questions: Asked[] = [];
  while (questions.length < asked.runs) {
    questions.push({ ...(await question(world, documents, random)), checkpoint });
  }
  return { documents: documents.count, questions };
}

async function question(
  world: World,
  documents: SeedDocuments,
  random: SeededRandom,
): Promise<Omit<Asked, 'checkpoint'>> {
  await using view = world.view();
  const path = documents.path(random.integer(documents.count));
  const { bodyHash } = await view.stat(path);
  return { path, bodyHash, directory: path.slice(0, path.lastIndexOf('/')) };
}

/** One new store: a get, everything in memory, a list and a hash look-up. */
async function cold(
  machine: Machine,
  { opened }: SpikeArguments,
  { path, bodyHash, directory, checkpoint }: Asked,
  counter: Observer,
): Promise<Cold> {
  const { clock, random, signal } = machine;
  const chain = new RequestChain(clock);
  const replay = new Span(clock);
  const observer: Observer = {
    observe: (event) => {
      counter.observe(event);
      chain.observe(event);
      // Those before it are read too, for the operations that they tell of.
      const behind = event.operation === 'get' && (parseSlotKey(event.key) ?? 0) > checkpoint;
      if (behind) replay.observe(event);
    },
  };
  const heldBefore = machine.heldBytes();
  const beganMs = clock.monotonic();
  const settings = { compact: false, readOnly: true };
  const components = { clock, random, observer };
  await using world = await openWorld(opened, { early: true, settings, components, signal });
  await using first = world.view();
  await first.get(path, { signal });
  const firstGetMs = clock.monotonic() - beganMs;
  const requestsInSequence = chain.length;
  await world.loaded({ signal });
  const replayMs = replay.ms;
  await using view = world.view();
  const listMs = clock.monotonic();
  await view.listEntries(directory, { limit: LISTED, signal });
  const lookupMs = clock.monotonic();
  await view.lookupHash(bodyHash, { signal });
  const fullMs = clock.monotonic();
  return {
    ...{ firstGetMs, requestsInSequence, fullMs: fullMs - beganMs },
    ...{ lsMs: lookupMs - listMs, lookupMs: fullMs - lookupMs, replayMs },
    heldBytes: machine.heldBytes() - heldBefore,
  };
}

/** From the first to the last of some requests. */
class Span implements Observer {
  readonly #clock: Pick<Machine['clock'], 'monotonic'>;
  #beganMs = Number.POSITIVE_INFINITY;
  #endedMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Machine['clock'], 'monotonic'>) {
    this.#clock = clock;
  }

  /** 0 when there was none. */
  get ms(): number {
    return Math.max(this.#endedMs - this.#beganMs, 0);
  }

  observe({ durationMs }: RequestEvent): void {
    const nowMs = this.#clock.monotonic();
    this.#beganMs = Math.min(this.#beganMs, nowMs - durationMs);
    this.#endedMs = nowMs;
  }
}
