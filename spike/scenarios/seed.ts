/** A large world, made at once: what it takes, and how large it is. */
import { openWorld } from '../../bucketstore/index.ts';
import type { SpikeArguments } from '../arguments.ts';
import { openStack } from '../idle.ts';
import type { Machine } from '../machine.ts';
import { ratio } from '../numbers.ts';
import { SeedDocuments } from '../seed-documents.ts';
import { seedWorld } from '../seed-world.ts';
import { TallyKeeper } from '../tally.ts';
import type { SeedFigures } from '../world-report.ts';

/** Makes the world, and opens it once, which shows that it is one. */
export async function runSeed(machine: Machine, asked: SpikeArguments): Promise<SeedFigures> {
  const { clock, progress } = machine;
  const keeper = new TallyKeeper();
  const documents = new SeedDocuments(asked);
  const bucket = await openStack(machine, asked.opened, {
    observer: keeper.observer,
    hedge: false,
  });
  try {
    keeper.start();
    const cpuMicros = machine.cpuMicros();
    const beganMs = clock.monotonic();
    const seeded = await seedWorld(machine, bucket, documents);
    const seconds = (clock.monotonic() - beganMs) / 1000;
    const spentMicros = machine.cpuMicros() - cpuMicros;
    const { counts } = keeper.stop();
    progress('opening the world');
    const openMs = await openedMs(machine, asked);
    return {
      scenario: 'seed',
      world: seeded.worldId,
      documents: documents.count,
      seconds,
      documents_per_s: ratio(documents.count, seconds),
      cpu_us_per_document: ratio(spentMicros, documents.count),
      requests: counts.requests,
      bytes: counts.bytesOut,
      entry_bytes_per_document: ratio(seeded.entryBytes, documents.count),
      checkpoint_objects: seeded.objects,
      checkpoint_bytes: seeded.bytes,
      pack_bytes: seeded.packBytes,
      full_ms: openMs,
      lost_acknowledged: null,
    };
  } finally {
    keeper.stop();
    await bucket.close();
  }
}

/** How long a store takes that opens it, ms. */
async function openedMs(
  { clock, random, signal }: Machine,
  { opened, documents }: SpikeArguments,
): Promise<number> {
  const beganMs = clock.monotonic();
  const settings = { compact: false, readOnly: true };
  await using world = await openWorld(opened, { settings, components: { clock, random }, signal });
  const { documents: found } = await world.stat();
  if (found !== documents) throw new TypeError(`${found} documents of ${documents} are there`);
  return clock.monotonic() - beganMs;
}
