/** Bare creates: what the bucket itself does, which no store can exceed. */
import type { BlobStore } from '../../blob/index.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { DROPPED_SECONDS, type SpikeArguments } from '../arguments.ts';
import { openStack, ownPrefix, removeAll } from '../idle.ts';
import { arrive, loop, type Period } from '../load.ts';
import type { Machine } from '../machine.ts';
import { Samples } from '../measure.ts';
import type { Outcome } from '../outcome.ts';
import type { ReadBack } from '../read-back.ts';
import { TallyKeeper } from '../tally.ts';
import { Failures } from '../traffic.ts';
import { watch } from '../watch.ts';

/**
 * `--depth` creates at once, or arrivals at `--rate`, on names of their own, which are listed and
 * removed afterwards. A create that was acknowledged and is not listed is lost.
 */
export async function runCreates(machine: Machine, asked: SpikeArguments): Promise<Outcome> {
  const { clock } = machine;
  const keeper = new TallyKeeper();
  const creates = new Creates(machine, await openStack(machine, asked.opened, keeper));
  const { acknowledged, samples } = creates;
  const body = Buffer.alloc(asked.bodyBytes, 'x');
  try {
    keeper.start();
    const watching = {
      seconds: asked.seconds,
      droppedSeconds: asked.ramp ? 0 : DROPPED_SECONDS,
      told: () => `${acknowledged.length} creates`,
    };
    const watched = await watch(machine, watching, (period) => {
      const create = (dueMs: number): Promise<void> => creates.create(body, period, dueMs);
      if (asked.rate === null) return loop(clock, asked.depth, period, create);
      return arrive(clock, new SeededRandom(asked.seed), asked.rate, period, create);
    });
    const tally = keeper.stop();
    return {
      ...watched,
      ...{ tally, checkpoints: tally.checkpoints },
      ...(await listAndRemove(machine, asked, creates)),
      measured: 'creates',
      samples,
      acknowledged: acknowledged.length,
      errors: creates.failures.byCode,
      overload: null,
      stores: [],
      reads: null,
    };
  } finally {
    keeper.stop();
    await creates.bucket.close();
  }
}

/** Objects under one prefix of their own. */
class Creates {
  readonly bucket: BlobStore;
  readonly prefix: string;
  readonly samples: Samples = new Samples();
  readonly failures: Failures = new Failures();
  readonly acknowledged: string[] = [];
  readonly #machine: Machine;
  #next = 0;

  constructor(machine: Machine, bucket: BlobStore) {
    this.#machine = machine;
    this.bucket = bucket;
    this.prefix = ownPrefix(machine);
  }

  async create(body: Uint8Array, { measuredMs, endMs }: Period, dueMs: number): Promise<void> {
    const key = this.prefix + String(this.#next++).padStart(9, '0');
    try {
      await this.bucket.create(key, body, { lane: 'commit' });
      this.acknowledged.push(key);
      const nowMs = this.#machine.clock.monotonic();
      if (nowMs < measuredMs || nowMs >= endMs) return;
      this.samples.add(nowMs - measuredMs, nowMs - dueMs);
    } catch (error) {
      this.failures.note(error);
    }
  }
}

/** Also after an interruption: nothing else would remove them. */
async function listAndRemove(
  machine: Machine,
  { bare }: SpikeArguments,
  { prefix, acknowledged }: Creates,
): Promise<ReadBack> {
  machine.progress(`removing ${acknowledged.length} objects`);
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
    const lostAcknowledged = acknowledged.filter((key) => !listed.has(key)).length;
    return { lostAcknowledged, failure: null };
  } catch (failure) {
    return { lostAcknowledged: null, failure };
  } finally {
    await bucket.close();
  }
}
