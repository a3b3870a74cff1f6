/** Bare creates: what the bucket itself does, which no store can exceed. */
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { DROPPED_SECONDS, type SpikeArguments } from '../arguments.ts';
import { openStack, ownPrefix, removeAll } from '../idle.ts';
import { arrive, loop, periodFrom } from '../load.ts';
import type { Machine } from '../machine.ts';
import { Samples } from '../measure.ts';
import type { Outcome } from '../outcome.ts';
import { TallyKeeper } from '../tally.ts';
import { Failures } from '../traffic.ts';

/**
 * `--depth` creates at once, or arrivals at `--rate`, on names of their own, which are listed and
 * removed afterwards. A create that was acknowledged and is not listed is lost.
 */
export async function runCreates(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  const { clock } = machine;
  const droppedSeconds = asked.ramp ? 0 : DROPPED_SECONDS;
  const keeper = new TallyKeeper();
  const failures = new Failures();
  const samples = new Samples();
  const bucket = await openStack(machine, asked.opened, keeper.observer);
  const prefix = ownPrefix(machine);
  const acknowledged: string[] = [];
  const body = Buffer.alloc(asked.bodyBytes, 'x');
  keeper.start();
  const cpuMicros = machine.cpuMicros();
  const period = periodFrom(clock, asked.seconds, droppedSeconds);
  let next = 0;
  const create = async (dueMs: number): Promise<void> => {
    const key = prefix + String(next++).padStart(9, '0');
    try {
      await bucket.create(key, body, { lane: 'commit' });
      acknowledged.push(key);
      const nowMs = clock.monotonic();
      if (nowMs < period.measuredMs || nowMs >= period.endMs) return;
      samples.add(nowMs - period.measuredMs, nowMs - dueMs);
    } catch (error) {
      failures.note(error);
    }
  };
  try {
    if (asked.rate === null) await loop(clock, asked.depth, period, create);
    else await arrive(clock, new SeededRandom(asked.seed), asked.rate, period, create);
    const spentMicros = machine.cpuMicros() - cpuMicros;
    const tally = keeper.stop();
    const lostAcknowledged = await countLost(machine, asked, prefix, acknowledged);
    return {
      measured: 'creates',
      samples,
      seconds: asked.seconds - droppedSeconds,
      acknowledged: acknowledged.length,
      lostAcknowledged,
      cpuMicros: spentMicros,
      tally,
      errors: failures.byCode,
      stores: [],
      reads: null,
    };
  } finally {
    keeper.stop();
    await bucket.close();
  }
}

async function countLost(
  machine: Machine,
  { bare }: SpikeArguments,
  prefix: string,
  acknowledged: readonly string[],
): Promise<number> {
  const bucket = await openStack(machine, bare);
  try {
    const listed = new Set<string>();
    for (let after: string | undefined; ; ) {
      const page = await bucket.list({ prefix, after, limit: 1000 });
      for (const { key } of page.objects) listed.add(key);
      after = page.objects.at(-1)?.key;
      if (!page.more || after === undefined) break;
    }
    await removeAll(machine, bucket, [...listed]);
    return acknowledged.filter((key) => !listed.has(key)).length;
  } finally {
    await bucket.close();
  }
}
