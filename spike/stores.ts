/** Stores of one process on one location, and the writes of a load on them. */
import { openWorld, type World } from '../bucketstore/index.ts';
import { SeededRandom } from '../test/support/seeded-random.ts';
import type { SpikeArguments } from './arguments.ts';
import { arrive, loop, type Period, periodFrom } from './load.ts';
import type { Machine } from './machine.ts';
import { Samples } from './measure.ts';
import type { Outcome } from './outcome.ts';
import { readBack } from './read-back.ts';
import { TallyKeeper } from './tally.ts';
import { Failures, Traffic } from './traffic.ts';

export interface Writing {
  readonly machine: Machine;
  readonly asked: SpikeArguments;
  readonly droppedSeconds: number;
}

/** Opens a store of the world at the location, and makes the world when there is none. */
export function openStore(
  machine: Machine,
  { opened, inlineBytes, batchMax }: SpikeArguments,
  { observer }: Partial<Pick<TallyKeeper, 'observer'>> = {},
): Promise<World> {
  const { clock, random } = machine;
  const settings = {
    ...(inlineBytes === undefined ? {} : { inlineBytes }),
    ...(batchMax === undefined ? {} : { batchMax }),
  };
  return openWorld(opened, { create: true, settings, components: { clock, random, observer } });
}

/** The writes of one store for a period: at its rate, or saturated. */
export function writeFor(
  { machine: { clock }, asked }: Pick<Writing, 'machine' | 'asked'>,
  traffic: Traffic,
  arrivals: SeededRandom,
  period: Period,
): Promise<void> {
  const write = (dueMs: number): Promise<void> => traffic.write(period, dueMs);
  if (asked.rate !== null) return arrive(clock, arrivals, asked.rate, period, write);
  return loop(clock, asked.writers, period, write);
}

/** Stores that all write, from opening to reading back: `latency`, `saturation`, `contention`. */
export async function runWriters(writing: Writing): Promise<Outcome> {
  const { machine, asked, droppedSeconds } = writing;
  const { clock } = machine;
  const keeper = new TallyKeeper();
  const failures = new Failures();
  const root = new SeededRandom(asked.seed);
  const worlds: World[] = [];
  try {
    for (let i = 0; i < asked.stores; i++) worlds.push(await openStore(machine, asked, keeper));
    const { documents, bodyBytes } = asked;
    const traffics = worlds.map((world, index) => {
      const keys = root.derive(`keys ${index}`);
      return new Traffic({ machine, world, keys, failures, documents, bodyBytes });
    });
    keeper.start();
    const cpuMicros = machine.cpuMicros();
    const period = periodFrom(clock, asked.seconds, droppedSeconds);
    await Promise.all(
      traffics.map((traffic, index) => {
        return writeFor(writing, traffic, root.derive(`arrivals ${index}`), period);
      }),
    );
    const spentMicros = machine.cpuMicros() - cpuMicros;
    const tally = keeper.stop();
    await Promise.all(worlds.map((world) => world.close()));
    const acknowledged = traffics.flatMap((traffic) => traffic.acknowledged);
    const { lostAcknowledged } = await readBack(machine, asked.bare, acknowledged);
    return {
      measured: 'writes',
      samples: Samples.merge(traffics.map(({ samples }) => samples)),
      seconds: asked.seconds - droppedSeconds,
      acknowledged: acknowledged.length,
      lostAcknowledged,
      cpuMicros: spentMicros,
      tally,
      errors: failures.byCode,
      stores: traffics.map(({ samples }, index) => {
        return { store: worlds[index]?.storeId ?? '', samples };
      }),
      reads: null,
    };
  } finally {
    keeper.stop();
    await Promise.all(worlds.map((world) => world.close()));
  }
}
