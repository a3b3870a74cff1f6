/**
 * Goal: an answer that comes late tells nothing of a state that has gone on meanwhile: no healthy
 * store is closed by it, no create rests on what it has disproved, and an exact read stays exact.
 * Method: one store with a call on its way, whose state another call of its own moves on, while a
 * second store commits, checkpoints and collects; each call is held and let go by the test.
 */
import { describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { type Call, decorate } from '../../blob/decorate.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { World } from '../../bucketstore/index.ts';
import { MARKER_KEY, slotKey } from '../../bucketstore/log/names.ts';
import { FENCE_MS, GRACE_MS } from '../../bucketstore/log/sighting.ts';
import { CheckpointShelf } from '../support/checkpoint-shelf.ts';
import { type GatedBucket, type Held, withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

interface Pair {
  readonly bench: WorldBench;
  readonly shelf: CheckpointShelf;
  readonly gated: GatedBucket;
  readonly sleeper: BenchStore;
  readonly busy: BenchStore;
}

/** The tip that both know at first. */
const TIP = sequence(7);

async function pair(wrap = (bucket: BlobStore, _: WorldBench): BlobStore => bucket): Promise<Pair> {
  const bench = new WorldBench();
  const shelf = new CheckpointShelf(bench);
  const gated = withGates(bench.bucket);
  const busy = await bench.store({ checkpoints: shelf });
  await writes(bench, busy, TIP - 1);
  const bucket = wrap(gated.store, bench);
  const sleeper = await bench.store({ bucket, checkpoints: shelf });
  expect(tipOf(sleeper)).toBe(TIP);
  return { bench, shelf, gated, sleeper, busy };
}

/** Slots of one entry each. */
async function writes(bench: WorldBench, { world }: BenchStore, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await bench.run(put(world, `/busy-${i}.md`, bench.random.uuid()));
  }
}

const put = (world: World, path: string, body: string) =>
  world.publish({ path, expected: 'any', body }, { deadlineMs: 60_000 });
const tipOf = ({ parts }: BenchStore): number => parts.follower.snapshot.tip.sequence;

function pause({ bench }: Pair, ms: number): void {
  bench.clock.shiftMonotonic(ms);
  bench.clock.shiftWall(ms);
}

/** The busy store checkpoints its tip, raises the floor there, and frees all names below. */
async function collect({ shelf, busy }: Pair): Promise<void> {
  const { sequence: at } = await shelf.checkpoint(busy);
  await shelf.collect(busy, at + 1);
}

/** Holds the first call that matches, on its way there or back. */
function holdFirst(gated: GatedBucket, where: 'request' | 'answer', like: Partial<Call>): Held {
  let met = 0;
  return gated.hold(where, ({ operation, key }) => {
    return operation === like.operation && key === like.key && ++met === 1;
  });
}

/** Begins work that a held call keeps from ending. */
async function begin<T>(work: Promise<T>, held: Held): Promise<Promise<T>[]> {
  work.catch(() => undefined);
  await drain();
  expect(held.waiting).toBe(1);
  return [work];
}

/** The sleeper's other work brings it to the tip of now while the call is still held. */
async function passBy(both: Pair): Promise<void> {
  const { bench, sleeper, busy } = both;
  await writes(bench, busy, 4);
  await collect(both);
  pause(both, FENCE_MS + 1);
  await bench.run(put(sleeper.world, '/mine.md', 'mine'));
  expect(tipOf(sleeper)).toBeGreaterThan(tipOf(busy));
}

async function expectHealthy({ bench, sleeper, busy }: Pair): Promise<void> {
  expect(sleeper.parts.follower.broken).toBeNull();
  await bench.run(put(sleeper.world, '/more.md', 'more'));
  await bench.run(busy.world.stat());
  expect(tipOf(busy)).toBe(tipOf(sleeper));
}

describe('an answer that comes when the state has gone on', () => {
  test('that the newest slot of then is missing says nothing: it was collected', async () => {
    const both = await pair();
    const { bench, gated, sleeper } = both;
    await bench.clock.advance(11_000);
    const head = holdFirst(gated, 'request', { operation: 'head', key: slotKey(TIP) });
    const [reading] = await begin(sleeper.world.stat(), head);
    await passBy(both);
    await head.open();
    expect((await bench.run(reading ?? failed())).sequence).toBe(tipOf(sleeper));
    await expectHealthy(both);
  });

  test('that a listed slot is missing is no hole: it was collected', async () => {
    const both = await pair();
    const { bench, gated, sleeper, busy } = both;
    await writes(bench, busy, 8);
    const name = sequence(TIP + 5);
    const get = holdFirst(gated, 'request', { operation: 'get', key: slotKey(name) });
    const [reading] = await begin(sleeper.world.stat(), get);
    expect(tipOf(sleeper)).toBe(name - 1);
    await passBy(both);
    await get.open();
    expect((await bench.run(reading ?? failed())).sequence).toBe(tipOf(sleeper));
    await expectHealthy(both);
  });

  test('nor is one whose name a list lacked, when the store goes on beyond it', async () => {
    let hides = true;
    const both = await pair((below) =>
      decorate(below, async (call, send) => {
        const answer = await send();
        if (!hides || !('objects' in answer) || !call.key.includes('/log/')) return answer;
        const objects = answer.objects.filter(({ key }) => key !== slotKey(sequence(TIP + 5)));
        return { ...answer, objects };
      }),
    );
    const { bench, gated, sleeper, busy } = both;
    await writes(bench, busy, 8);
    const key = slotKey(sequence(TIP + 5));
    const get = holdFirst(gated, 'request', { operation: 'get', key });
    const [reading] = await begin(sleeper.world.stat(), get);
    hides = false;
    await passBy(both);
    await get.open();
    expect((await bench.run(reading ?? failed())).sequence).toBe(tipOf(sleeper));
    await expectHealthy(both);
  });

  test('a slot that is missing without a reason is told all the same', async () => {
    const both = await pair();
    const { bench, gated, sleeper, busy } = both;
    await writes(bench, busy, 8);
    const key = slotKey(sequence(TIP + 5));
    const get = holdFirst(gated, 'request', { operation: 'get', key });
    const [reading] = await begin(sleeper.world.stat(), get);
    await bench.bucket.delete(key);
    await get.open();
    const error = await failureOf(bench.run(reading ?? failed()));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: key } });
  });
});

describe('a newest slot that is gone', () => {
  test('because a checkpoint stands on it and the floor is behind it harms nothing', async () => {
    const both = await pair();
    const { bench, sleeper } = both;
    await collect(both);
    expect(await bench.keys(slotKey(TIP))).toEqual([]);
    pause(both, GRACE_MS);
    expect((await bench.run(sleeper.world.stat())).sequence).toBe(TIP + 1);
    await expectHealthy(both);
  });

  test('for no reason is told, also when a checkpoint stands on it', async () => {
    const both = await pair();
    const { bench, shelf, sleeper, busy } = both;
    await shelf.checkpoint(busy);
    await bench.bucket.delete(slotKey(TIP));
    pause(both, GRACE_MS);
    const error = await failureOf(bench.run(sleeper.world.stat()));
    expect(error).toMatchObject({ code: 'INTEGRITY', details: { object: slotKey(TIP) } });
  });
});

test('an exact read that joins a reload sees what was acknowledged before it', async () => {
  const both = await pair();
  const { bench, shelf, gated, sleeper, busy } = both;
  await writes(bench, busy, 4);
  await shelf.checkpoint(busy);
  pause(both, FENCE_MS + 1);
  const key = slotKey(sequence(tipOf(busy) + 1));
  // The reload has found the end of the log, and does not know it yet.
  const end = holdFirst(gated, 'answer', { operation: 'get', key });
  const [writing] = await begin(put(sleeper.world, '/mine.md', 'mine'), end);
  const { sequence: acknowledged } = await bench.run(put(busy.world, '/new.md', 'new'));
  const reading = sleeper.world.view().get('/new.md');
  reading.catch(() => undefined);
  await drain();
  await end.open();
  expect(Buffer.from((await bench.run(reading)).body).toString()).toBe('new');
  expect((await bench.run(writing ?? failed())).sequence).toBe((acknowledged ?? 0) + 1);
});

test('no create begins on a tip that a read has met a checkpoint beyond', async () => {
  let aheadMs = 0;
  const both = await pair((below, { clock }) =>
    decorate(below, async (_, send) => ({ ...(await send()), date: clock.now() + aheadMs })),
  );
  const { bench, gated, sleeper, busy } = both;
  await writes(bench, busy, 4);
  await collect(both);
  // A sleep that only the service's date shows: the local clocks would let a create begin.
  aheadMs = FENCE_MS + 1;
  const marker = holdFirst(gated, 'request', { operation: 'get', key: MARKER_KEY });
  const [reading] = await begin(sleeper.world.stat(), marker);
  gated.calls.length = 0;
  const writing = put(sleeper.world, '/mine.md', 'mine');
  writing.catch(() => undefined);
  await drain();
  expect(gated.calls.map(({ operation }) => operation)).not.toContain('create');
  await marker.open();
  expect((await bench.run(writing)).sequence).toBe(tipOf(busy) + 1);
  await bench.run(reading ?? failed());
});

function failed(): never {
  throw new Error('it was begun');
}
