/** What checkpoints cost while a large world changes: bytes and objects for what has changed. */
import type { World } from '../../bucketstore/index.ts';
import { BASE_UNITS_MIN, UNIT } from '../../checkpoint/constants.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import type { SpikeArguments } from '../arguments.ts';
import { builtBases, newestBase } from '../bases.ts';
import { ChangedBytes } from '../changed-bytes.ts';
import { Changes } from '../changes.ts';
import type { CheckpointCost } from '../checkpoint-tally.ts';
import { openStack } from '../idle.ts';
import { arrive, loop, type Period } from '../load.ts';
import type { Machine } from '../machine.ts';
import { ratio } from '../numbers.ts';
import { readBackSince } from '../read-back.ts';
import { percentilesOf } from '../report.ts';
import type { SeedDocuments } from '../seed-documents.ts';
import { openSeeded, seededDocuments } from '../seeded.ts';
import { TallyKeeper } from '../tally.ts';
import { Failures } from '../traffic.ts';
import { watch } from '../watch.ts';
import { type CompactFigures, compactSums } from '../world-report.ts';

/** The longest that changes may take, s: they end when they are made. */
const SECONDS_MAX = 86_400;

type Made = CheckpointCost & { readonly at_s: number; readonly changed_entry_bytes: number };

/**
 * Changes documents drawn at random, at `--rate` or as fast as it goes, until a base has been
 * passed; the store makes checkpoints in the background meanwhile, and one more at the end.
 */
export async function runCompact(
  machine: Machine,
  asked: SpikeArguments,
  cMs: number,
): Promise<{ readonly figures: CompactFigures; readonly failure: unknown }> {
  const changed = new ChangedBytes();
  const made: Made[] = [];
  const beganMs = machine.clock.monotonic();
  const keeper = new TallyKeeper((cost) => {
    const at_s = Math.round(machine.clock.monotonic() - beganMs) / 1000;
    made.push({ ...cost, at_s, changed_entry_bytes: changed.through(cost.sequence) });
  });
  const { batchMax } = asked;
  const settings = { compact: true, ...(batchMax === undefined ? {} : { batchMax }) };
  await using world = await openSeeded(machine, asked, settings, keeper);
  await using bare = closing(await openStack(machine, asked.bare));
  const documents = await seededDocuments(world, asked);
  const { sequence: since } = await world.stat();
  const before = await newestBase(bare.bucket);
  const failures = new Failures();
  const changes = new Changes({
    ...{ machine, world, documents, failures, changed, deadlineMs: asked.deadlineMs },
    loops: asked.rate === null,
    keys: new SeededRandom(asked.seed).derive('changes'),
  });
  try {
    keeper.start();
    const watched = await changeAll(machine, asked, world, documents, changes);
    const seconds = (machine.clock.monotonic() - beganMs) / 1000;
    const { slots } = keeper.stop();
    await world.close();
    const built = await builtBases(bare.bucket, before, made);
    const checkpoints = made.map(({ packBytes, epoch: _, ...one }, index) => {
      return { ...one, pack_bytes: packBytes, had_base: built[index] ?? false };
    });
    const read = await readBackSince(machine, asked.bare, since, changes.acknowledged);
    const { p50_ms, p99_ms, p50_c, p99_c } = percentilesOf(changes.samples, cMs);
    const { count } = changes.acknowledged;
    const figures: CompactFigures = {
      ...{ scenario: 'compact', documents: documents.count, changes: count, seconds },
      changes_per_s: ratio(count, seconds),
      ...{ p50_ms, p99_ms, p50_c, p99_c },
      errors: failures.byCode,
      ...{ slots, checkpoints },
      ...compactSums(checkpoints),
      event_loop_delay_p999_ms: watched.loopDelayP999Ms,
      rss: watched.rss,
      lost_acknowledged: read.lostAcknowledged,
    };
    return { figures, failure: read.failure };
  } finally {
    keeper.stop();
  }
}

/** Changes, and then the checkpoint that covers the last of them. */
function changeAll(
  machine: Machine,
  asked: SpikeArguments,
  world: World,
  { count }: SeedDocuments,
  changes: Changes,
): ReturnType<typeof watch> {
  const { clock, signal, progress } = machine;
  // Enough for the next base, and the unit that it ends in.
  const wanted = asked.changes ?? Math.max(BASE_UNITS_MIN * UNIT, Math.ceil(count / 2)) + UNIT;
  const enough = new AbortController();
  const told = (): string => `${changes.acknowledged.count} of ${wanted} changes`;
  const watching = { seconds: SECONDS_MAX, droppedSeconds: 0, told };
  return watch(machine, watching, async (whole) => {
    const period: Period = { ...whole, signal: AbortSignal.any([signal, enough.signal]) };
    let begun = 0;
    const change = async (dueMs: number): Promise<void> => {
      // So many begin; one that fails is made up for by another.
      if (begun >= wanted) return void enough.abort('enough');
      begun++;
      const before = changes.acknowledged.count;
      await changes.change(whole.startMs, dueMs);
      if (changes.acknowledged.count === before) begun--;
    };
    const arrivals = new SeededRandom(asked.seed).derive('arrivals');
    if (asked.rate === null) await loop(clock, asked.writers, period, change);
    else await arrive(clock, arrivals, asked.rate, period, change);
    if (signal.aborted) return;
    progress('making the last checkpoint');
    await world.compact({ signal });
  });
}

/** A bucket that is closed with its scope. */
function closing(bucket: Awaited<ReturnType<typeof openStack>>): AsyncDisposable & {
  readonly bucket: typeof bucket;
} {
  return { bucket, [Symbol.asyncDispose]: () => bucket.close() };
}
