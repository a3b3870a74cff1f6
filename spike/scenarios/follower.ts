/** A store that reads while another writes: how current it is, and what that costs. */
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { DROPPED_SECONDS, type SpikeArguments } from '../arguments.ts';
import { addedSums } from '../checkpoint-tally.ts';
import type { Machine } from '../machine.ts';
import type { Outcome } from '../outcome.ts';
import { Overload } from '../overload.ts';
import { readBack } from '../read-back.ts';
import { Readers } from '../readers.ts';
import { openStore, toldWrites, writeFor } from '../stores.ts';
import { TallyKeeper } from '../tally.ts';
import { Failures, Traffic } from '../traffic.ts';
import { watch } from '../watch.ts';

/**
 * One store writes at `--rate`, `--depth` readers of a second read what was written: `follower` for
 * a moment, `gate` for as long as checkpoints take to show.
 */
export async function runFollower(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  const { documents, bodyBytes, seconds } = asked;
  const writes = new TallyKeeper();
  const reads = new TallyKeeper();
  const failures = new Failures();
  const overload = new Overload(asked.deadlineMs);
  const root = new SeededRandom(asked.seed);
  await using writer = await openStore(machine, asked, writes);
  await using world = await openStore(machine, asked, reads);
  try {
    const traffic = new Traffic({
      ...{ machine, failures, overload, documents, bodyBytes, loops: false },
      ...{ world: writer, keys: root.derive('keys 0') },
    });
    const { acknowledged, samples, versions } = traffic;
    const readKeys = root.derive('reads');
    const readers = new Readers({ machine, world, keys: readKeys, failures, documents, versions });
    writes.start();
    reads.start();
    const arrivals = root.derive('arrivals 0');
    const told = (): string => `${toldWrites([traffic])}, ${readers.answered} reads`;
    const watching = { seconds, droppedSeconds: DROPPED_SECONDS, told };
    const watched = await watch(machine, watching, (period) => {
      const writing = writeFor({ machine, asked }, traffic, arrivals, period);
      return Promise.all([writing, readers.read(asked.depth, period)]);
    });
    const [tally, readTally] = [writes.stop(), reads.stop()];
    await Promise.all([writer.close(), world.close()]);
    const { answered, stale } = readers;
    return {
      ...watched,
      ...(await readBack(machine, asked.bare, acknowledged)),
      measured: 'writes',
      samples,
      acknowledged: acknowledged.count,
      tally,
      checkpoints: addedSums(tally.checkpoints, readTally.checkpoints),
      errors: failures.byCode,
      overload,
      stores: [{ store: writer.storeId, samples }],
      reads: { samples: readers.samples, answered, stale, tally: readTally },
    };
  } finally {
    writes.stop();
    reads.stop();
  }
}
