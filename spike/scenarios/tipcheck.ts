/** Exact reads of a world at rest: the price of knowing that nothing was written. */
import { createLimit } from '../../bucketstore/base/limit.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import type { SpikeArguments } from '../arguments.ts';
import { periodFrom } from '../load.ts';
import type { Machine } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { readBack } from '../read-back.ts';
import { Readers } from '../readers.ts';
import { openStore } from '../stores.ts';
import { TallyKeeper } from '../tally.ts';
import { documentPath, Failures, Traffic } from '../traffic.ts';

const WRITES_AT_ONCE = 1_000;

/** Writes `--documents` documents, then `--depth` readers read them. */
export async function runTipcheck(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  const { documents, bodyBytes, seconds } = asked;
  const keeper = new TallyKeeper();
  const failures = new Failures();
  const root = new SeededRandom(asked.seed);
  const world = await openStore(machine, asked, keeper);
  try {
    const traffic = new Traffic({
      ...{ machine, world, failures, documents, bodyBytes },
      keys: root,
    });
    const before = periodFrom(machine.clock, 0, 0);
    const limit = createLimit(WRITES_AT_ONCE);
    const write = (index: number): Promise<void> => {
      return limit.run(() => traffic.writeTo(documentPath(index), before, before.startMs));
    };
    await Promise.all(Array.from({ length: documents }, (_, index) => write(index)));
    const { acknowledged, versions } = traffic;
    const keys = root.derive('reads');
    const readers = new Readers({ machine, world, keys, failures, documents, versions });
    keeper.start();
    const cpuMicros = machine.cpuMicros();
    await readers.read(asked.depth, periodFrom(machine.clock, seconds, 0));
    const spentMicros = machine.cpuMicros() - cpuMicros;
    const tally = keeper.stop();
    await world.close();
    const { lostAcknowledged } = await readBack(machine, asked.bare, acknowledged);
    const { samples, answered, stale } = readers;
    return {
      measured: 'reads',
      samples,
      seconds,
      acknowledged: 0,
      lostAcknowledged,
      cpuMicros: spentMicros,
      tally,
      errors: failures.byCode,
      stores: [],
      reads: { samples, answered, stale, tally },
    };
  } finally {
    keeper.stop();
    await world.close();
  }
}
