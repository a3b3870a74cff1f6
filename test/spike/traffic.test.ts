/**
 * Goal: a store that cannot take what arrives says so at once, keeps its word to what it took, and
 * both are counted as what they are.
 * Method: arrivals above what one store takes, in virtual time behind the latency model; its queue
 * is short, so that it is full soon.
 */
import { expect, it } from 'vitest';
// The driver is loaded when it is opened, and virtual time waits for no file: so it is loaded now.
import '../../blob/memory.ts';
import { StoreError } from '../../bucketstore/base/errors.ts';
import { openWorld, type World } from '../../bucketstore/index.ts';
import { ChangedBytes } from '../../spike/changed-bytes.ts';
import { Changes } from '../../spike/changes.ts';
import { arrive, periodFrom } from '../../spike/load.ts';
import { Overload } from '../../spike/overload.ts';
import { SeedDocuments } from '../../spike/seed-documents.ts';
import { Failures, REFUSED_PAUSE_MS, Traffic } from '../../spike/traffic.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { machineOf } from './virtual-machine.ts';

const QUEUE_MEMBERS = 20;

async function overloaded(deadlineMs: number): Promise<{
  readonly traffic: Traffic;
  readonly overload: Overload;
  readonly errors: Readonly<Record<string, number>>;
}> {
  const clock = new ManualClock();
  const machine = machineOf(clock);
  const random = new SeededRandom(2);
  const settings = { queueMembers: QUEUE_MEMBERS, batchMax: 1 };
  const components = { clock, random };
  const options = { create: true, settings, components };
  const world = await clock.run(openWorld('model:memory:', options));
  const overload = new Overload(deadlineMs);
  const failures = new Failures();
  const parts = { machine, world, failures, overload, documents: 3, bodyBytes: 64, loops: false };
  const traffic = new Traffic({ ...parts, keys: random.derive('keys') });
  const period = periodFrom(machine, 4, 0);
  const write = (dueMs: number): Promise<void> => traffic.write(period, dueMs);
  await clock.run(arrive(clock, random.derive('arrivals'), 100, period, write));
  await clock.run(world.close());
  return { traffic, overload, errors: failures.byCode };
}

it('a write that finds the queue full is refused at once; what is taken is answered', async () => {
  const { traffic, overload, errors } = await overloaded(60_000);
  expect(errors).toEqual({ OVERLOADED: overload.refused.count });
  expect(overload.refused.count).toBeGreaterThan(100);
  expect(overload.refused.percentile(1)).toBeLessThan(1);
  expect(overload).toMatchObject({ overdue: 0, lateAcknowledged: 0 });
  expect(traffic.acknowledged.count).toBeGreaterThan(50);
  // So many slots of about 40 ms at most, and some more for the throttled name.
  expect(overload.longestMs).toBeGreaterThan((QUEUE_MEMBERS / 2) * 40);
  expect(overload.longestMs).toBeLessThan(QUEUE_MEMBERS * 100);
});

it('a write that is taken and waits too long is told at its deadline, and no refusal', async () => {
  const { overload, errors } = await overloaded(100);
  expect(overload.overdue).toBeGreaterThan(50);
  expect(overload).toMatchObject({ lateAcknowledged: 0, longestMs: 100 });
  const failed = Object.values(errors).reduce((a, b) => a + b, 0);
  expect(overload.overdue + overload.refused.count).toBe(failed);
});

it('a change that fails is waited behind by who loops, and by no arrival', async () => {
  const refuse = async (): Promise<never> => {
    throw new StoreError('OVERLOADED', 'the queue is full');
  };
  for (const loops of [true, false]) {
    const clock = new ManualClock();
    const failures = new Failures();
    const changes = new Changes({
      ...{ machine: machineOf(clock), failures, keys: new SeededRandom(2), deadlineMs: 1_000 },
      world: { publish: refuse } as unknown as World,
      documents: new SeedDocuments({ documents: 3, bodyBytes: 64, seed: 1 }),
      ...{ changed: new ChangedBytes(), loops },
    });
    const beganMs = clock.monotonic();
    await clock.run(changes.change(beganMs, beganMs));
    expect(failures.byCode).toEqual({ OVERLOADED: 1 });
    expect(clock.monotonic() - beganMs).toBe(loops ? REFUSED_PAUSE_MS : 0);
  }
});
