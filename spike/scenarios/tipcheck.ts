/** Exact reads of a world at rest: the price of knowing that nothing was written. */
import { createLimit } from '../../bucketstore/base/limit.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import type { SpikeArguments } from '../arguments.ts';
import { periodFrom } from '../load.ts';
import type { Machine } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { Overload } from '../overload.ts';
import { readBack } from '../read-back.ts';
import { Readers } from '../readers.ts';
import { openStore } from '../stores.ts';
import { TallyKeeper } from '../tally.ts';
import { documentPath, Failures, Traffic } from '../traffic.ts';
import { watch } from '../watch.ts';

const WRITES_AT_ONCE = 1_000;

/** Writes `--documents` documents, then `--depth` readers read them. */
export async function runTipcheck(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  const { documents, bodyBytes, seconds, deadlineMs } = asked;
  const keeper = new TallyKeeper();
  const failures = new Failures();
  const overload = new Overload(deadlineMs);
  const root = new SeededRandom(asked.seed);
  await using world = await openStore(machine, asked, keeper);
  try {
    const traffic = new Traffic({
      ...{ machine, world, failures, overload, documents, bodyBytes, loops: true },
      keys: root,
    });
    await writeAll(machine, traffic, documents);
    const { acknowledged, versions } = traffic;
    const keys = root.derive('reads');
    const readers = new Readers({ machine, world, keys, failures, documents, versions });
    keeper.start();
    const told = (): string => `${readers.answered} reads`;
    const watched = await watch(machine, { seconds, droppedSeconds: 0, told }, (period) => {
      return readers.read(asked.depth, period);
    });
    const tally = keeper.stop();
    await world.close();
    const { samples, answered, stale } = readers;
    return {
      ...watched,
      ...(await readBack(machine, asked.bare, acknowledged)),
      measured: 'reads',
      samples,
      acknowledged: 0,
      ...{ tally, checkpoints: tally.checkpoints },
      errors: failures.byCode,
      overload: null,
      stores: [],
      reads: { samples, answered, stale, tally },
    };
  } finally {
    keeper.stop();
  }
}

/** Each document once. */
async function writeAll(machine: Machine, traffic: Traffic, documents: number): Promise<void> {
  const before = periodFrom(machine, 0, 0);
  const limit = createLimit(WRITES_AT_ONCE);
  const write = (index: number): Promise<void> => {
    return limit.run(async () => {
      if (before.signal.aborted) return;
      await traffic.writeTo(documentPath(index), before, before.startMs);
    });
  };
  machine.progress(`writing ${documents} documents`);
  await Promise.all(Array.from({ length: documents }, (_, index) => write(index)));
}
