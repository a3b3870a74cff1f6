/** Stores of one process on one location, and the writes of a load on them. */
import { openWorld, type World } from '../bucketstore/index.ts';
import { SeededRandom } from '../test/support/seeded-random.ts';
import type { SpikeArguments } from './arguments.ts';
import { arrive, loop, type Period } from './load.ts';
import type { Machine } from './machine.ts';
import { Samples } from './measure.ts';
import type { Outcome } from './outcome.ts';
import { Overload } from './overload.ts';
import { readBack } from './read-back.ts';
import { TallyKeeper } from './tally.ts';
import { Failures, Traffic } from './traffic.ts';
import { watch } from './watch.ts';

export interface Writing {
  readonly machine: Machine;
  readonly asked: SpikeArguments;
  readonly droppedSeconds: number;
}

/** Opens a store of the world at the location, and makes the world when there is none. */
export function openStore(
  machine: Machine,
  { opened, inlineBytes, batchMax, compact }: SpikeArguments,
  { observer }: Partial<Pick<TallyKeeper, 'observer'>> = {},
): Promise<World> {
  const { clock, random, signal } = machine;
  const settings = {
    compact,
    ...(inlineBytes === undefined ? {} : { inlineBytes }),
    ...(batchMax === undefined ? {} : { batchMax }),
  };
  const components = { clock, random, observer };
  return openWorld(opened, { create: true, settings, components, signal });
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

/** Writes so far, in words. */
export function toldWrites(traffics: readonly Traffic[]): string {
  const writes = traffics.reduce((sum, { acknowledged }) => sum + acknowledged.count, 0);
  return `${writes} writes`;
}

/** Stores that all write, from opening to reading back: `latency`, `saturation`, `contention`. */
export async function runWriters(writing: Writing): Promise<Outcome> {
  const { machine, asked, droppedSeconds } = writing;
  const keeper = new TallyKeeper();
  const failures = new Failures();
  const overload = new Overload(asked.deadlineMs);
  const root = new SeededRandom(asked.seed);
  const worlds: World[] = [];
  try {
    for (let i = 0; i < asked.stores; i++) worlds.push(await openStore(machine, asked, keeper));
    const { documents, bodyBytes, seconds } = asked;
    const traffics = worlds.map((world, index) => {
      const keys = root.derive(`keys ${index}`);
      const parts = { machine, world, keys, failures, overload, documents, bodyBytes };
      return new Traffic({ ...parts, loops: asked.rate === null });
    });
    keeper.start();
    const told = (): string => toldWrites(traffics);
    const watched = await watch(machine, { seconds, droppedSeconds, told }, (period) => {
      return Promise.all(
        traffics.map((traffic, index) => {
          return writeFor(writing, traffic, root.derive(`arrivals ${index}`), period);
        }),
      );
    });
    const tally = keeper.stop();
    await Promise.all(worlds.map((world) => world.close()));
    return {
      ...watched,
      ...(await readBack(machine, asked.bare, operationsOf(traffics))),
      measured: 'writes',
      samples: Samples.merge(traffics.map(({ samples }) => samples)),
      acknowledged: traffics.reduce((sum, { acknowledged }) => sum + acknowledged.count, 0),
      tally,
      checkpoints: tally.checkpoints,
      errors: failures.byCode,
      overload,
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

function* operationsOf(traffics: readonly Traffic[]): Iterable<string> {
  for (const { acknowledged } of traffics) yield* acknowledged;
}
