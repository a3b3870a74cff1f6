/** A store that reads while another writes: how current it is, and what that costs. */
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { DROPPED_SECONDS, type SpikeArguments } from '../arguments.ts';
import { periodFrom } from '../load.ts';
import type { Machine } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { readBack } from '../read-back.ts';
import { Readers } from '../readers.ts';
import { openStore, writeFor } from '../stores.ts';
import { TallyKeeper } from '../tally.ts';
import { Failures, Traffic } from '../traffic.ts';

/** One store writes at `--rate`, `--depth` readers of a second read what was written. */
export async function runFollower(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  const { documents, bodyBytes, seconds } = asked;
  const writes = new TallyKeeper();
  const reads = new TallyKeeper();
  const failures = new Failures();
  const root = new SeededRandom(asked.seed);
  const writer = await openStore(machine, asked, writes);
  const world = await openStore(machine, asked, reads);
  try {
    const keys = root.derive('keys 0');
    const traffic = new Traffic({
      ...{ machine, failures, documents, bodyBytes },
      ...{ world: writer, keys },
    });
    const { versions } = traffic;
    const readKeys = root.derive('reads');
    const readers = new Readers({ machine, world, keys: readKeys, failures, documents, versions });
    writes.start();
    reads.start();
    const cpuMicros = machine.cpuMicros();
    const period = periodFrom(machine.clock, seconds, DROPPED_SECONDS);
    const arrivals = root.derive('arrivals 0');
    await Promise.all([
      writeFor({ machine, asked }, traffic, arrivals, period),
      readers.read(asked.depth, period),
    ]);
    const spentMicros = machine.cpuMicros() - cpuMicros;
    const [tally, readTally] = [writes.stop(), reads.stop()];
    await Promise.all([writer.close(), world.close()]);
    const { acknowledged } = traffic;
    const { answered, stale } = readers;
    const { lostAcknowledged } = await readBack(machine, asked.bare, acknowledged);
    return {
      measured: 'writes',
      samples: traffic.samples,
      seconds: seconds - DROPPED_SECONDS,
      acknowledged: acknowledged.length,
      lostAcknowledged,
      cpuMicros: spentMicros,
      tally,
      errors: failures.byCode,
      stores: [{ store: writer.storeId, samples: traffic.samples }],
      reads: { samples: readers.samples, answered, stale, tally: readTally },
    };
  } finally {
    writes.stop();
    reads.stop();
    await Promise.all([writer.close(), world.close()]);
  }
}
