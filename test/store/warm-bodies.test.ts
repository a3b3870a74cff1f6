/**
 * Goal: what the appends in the queue will ask for is read once and ahead, in the way of no slot,
 * and for nobody who has left.
 * Method: a store that has no body in memory, on a bucket whose reads of bodies are held; requests
 * to the bucket are counted.
 */
import { describe, expect, test } from 'vitest';
import type { Settings, World } from '../../bucketstore/index.ts';
import { type GatedBucket, type Held, withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

interface Scene {
  readonly bench: WorldBench;
  readonly store: BenchStore;
  readonly gated: GatedBucket;
  /** How many reads of bodies have been sent. */
  reads(): number;
}

const pathOf = (i: number): string => `/doc-${i}.md`;

/** A store that knows `count` documents and holds the body of none. */
async function scene(count: number, settings: Partial<Settings> = {}): Promise<Scene> {
  const bench = new WorldBench();
  const writer = await bench.open();
  const paths = Array.from({ length: count }, (_, i) => pathOf(i));
  const request = (path: string) => ({ path, expected: 'absent', body: path }) as const;
  await bench.run(Promise.all(paths.map((path) => writer.publish(request(path)))));
  const gated = withGates(bench.bucket);
  const store = await bench.store({ bucket: gated.store, settings });
  gated.calls.length = 0;
  const reads = (): number => gated.calls.filter(({ operation }) => operation === 'get').length;
  return { bench, store, gated, reads };
}

const holdReads = ({ gated }: Scene): Held => {
  return gated.hold('request', ({ operation }) => operation === 'get');
};
const append = (world: World, i: number, content: string, options: object = {}) =>
  world.append({ path: pathOf(i), expected: 1, content }, options);
const blind = async (world: World, path: string) =>
  world.publish({ path, expected: 'any', body: path });

describe('QueuedWritesWarmTheirDocument', () => {
  test('QueuedWritesWarmTheirDocument: four queued appends read its tip once', async () => {
    const all = await scene(1);
    const { bench, store, reads } = all;
    const held = holdReads(all);
    const appends = [1, 2, 3, 4].map((version) =>
      store.world.append({ path: pathOf(0), expected: version, content: `${version}` }),
    );
    await drain();
    expect([reads(), held.waiting, store.parts.committer.warming]).toEqual([1, 1, 1]);
    await held.open();
    const results = await bench.run(Promise.all(appends));
    expect(results.map(({ document }) => document.version)).toEqual([2, 3, 4, 5]);
    expect([reads(), store.parts.committer.warming]).toEqual([1, 0]);
  });

  test('QueuedWritesWarmTheirDocument: documents are read beside each other', async () => {
    const all = await scene(8);
    const held = holdReads(all);
    const appends = Array.from({ length: 8 }, (_, i) => append(all.store.world, i, 'more'));
    await drain();
    expect([all.reads(), held.waiting]).toEqual([8, 8]);
    await held.open();
    await all.bench.run(Promise.all(appends));
    expect(all.reads()).toBe(8);
  });

  test('a read that failed is made again when the request is judged', async () => {
    const all = await scene(1);
    const { bench, gated, store } = all;
    const held = gated.hold('answer', ({ operation }) => operation === 'get');
    const appending = append(store.world, 0, 'more', { deadlineMs: 60_000 });
    await drain();
    expect(held.waiting).toBe(1);
    // The read ahead ends at its own deadline, long before the request’s.
    await bench.clock.advance(10_000);
    await held.open();
    expect((await bench.run(appending)).document.version).toBe(2);
  });
});

describe('documents that lie in a checkpoint', () => {
  /** So large that few entries fill a part of a table that is read at once. */
  const metadata = { note: 'n'.repeat(900) };
  const COUNT = 240;

  async function checkpointed(): Promise<Scene> {
    const bench = new WorldBench();
    const writer = await bench.open();
    const writes = Array.from({ length: COUNT }, (_, i) => {
      return writer.publish({ path: pathOf(i), expected: 'absent', body: `${i}`, metadata });
    });
    await bench.run(Promise.all(writes));
    expect((await bench.run(writer.compact())).written).toBe(1);
    await bench.run(writer.close());
    const gated = withGates(bench.bucket);
    const store = await bench.store({ bucket: gated.store });
    gated.calls.length = 0;
    const reads = (): number => gated.calls.filter(({ operation }) => operation === 'get').length;
    return { bench, store, gated, reads };
  }

  test('are read beside each other before an append or an archive', async () => {
    const { bench, store, gated } = await checkpointed();
    // The first read is of the directory, which all wait for.
    let reads = 0;
    const held = gated.hold('request', ({ operation, key }) => {
      return operation === 'get' && key.endsWith('.seg') && reads++ > 0;
    });
    // By path: far apart, whatever their numbers.
    const paths = Array.from({ length: COUNT }, (_, i) => pathOf(i)).sort();
    const some = paths.filter((_, at) => at % 60 === 0);
    const changes = some.map((path, i) => {
      return i % 2 === 0
        ? store.world.append({ path, expected: 1, content: 'more' })
        : store.world.setArchived({ path, archived: true });
    });
    await drain();
    expect(held.waiting).toBe(some.length);
    await held.open();
    for (const { committed } of await bench.run(Promise.all(changes))) expect(committed).toBe(true);
    expect(store.parts.committer.warming).toBe(0);
  });

  test('are published anew without a read', async () => {
    const { bench, store, reads } = await checkpointed();
    const published = store.world.publish({ path: pathOf(7), expected: 1, body: 'other' });
    expect((await bench.run(published)).document.version).toBe(2);
    expect(reads()).toBe(0);
    // What may be the same must be compared whole.
    const same = store.world.publish({ path: pathOf(8), expected: 1, body: '8', metadata });
    expect((await bench.run(same)).committed).toBe(false);
    expect(reads()).toBeGreaterThan(0);
    await bench.run(store.world.view().verifyChain(pathOf(7)));
  });
});

describe('WarmupsNeedAFreeSlot', () => {
  test('WarmupsNeedAFreeSlot: half of the lane is left to slots', async () => {
    const all = await scene(10, { commitLane: 4 });
    const { bench, store, reads } = all;
    const held = holdReads(all);
    const first = blind(store.world, '/first.md');
    const appends = Array.from({ length: 10 }, (_, i) => append(store.world, i, 'more'));
    expect((await bench.run(first)).committed, 'though all reads hang').toBe(true);
    expect([reads(), store.parts.committer.warming]).toEqual([2, 10]);
    await held.open();
    await bench.run(Promise.all(appends));
    expect([reads(), store.parts.committer.warming]).toEqual([10, 0]);
  });

  test('WarmupsNeedAFreeSlot: a lane of one has none to spare', async () => {
    const all = await scene(3, { commitLane: 1 });
    const held = holdReads(all);
    const appends = [0, 1, 2].map((i) => append(all.store.world, i, 'more'));
    await drain();
    expect([all.reads(), all.store.parts.committer.warming]).toEqual([1, 0]);
    await held.open();
    await all.bench.run(Promise.all(appends));
  });
});

describe('WarmupsEndWithTheStore', () => {
  test('WarmupsEndWithTheStore: closing ends them, and leaves no sleeper', async () => {
    const all = await scene(40, { commitLane: 8 });
    const { bench, store } = all;
    holdReads(all);
    const appends = Array.from({ length: 40 }, (_, i) => failureOf(append(store.world, i, 'x')));
    await drain();
    expect(store.parts.committer.warming).toBe(40);
    await bench.run(store.world.close({ drainMs: 100 }));
    for (const told of await Promise.all(appends)) expect(told).toMatchObject({ code: 'CLOSED' });
    await drain();
    expect([store.parts.committer.warming, bench.clock.sleeping]).toEqual([0, 0]);
  });

  test('WarmupsEndWithTheStore: each ends when the last who waited for it has left', async () => {
    const all = await scene(2);
    const { bench, store } = all;
    holdReads(all);
    const [one, other] = [countedSignal(), countedSignal()];
    const told = [
      failureOf(append(store.world, 0, 'a', { signal: one.signal })),
      failureOf(append(store.world, 0, 'b', { signal: other.signal })),
    ];
    await drain();
    one.abort(new RangeError('left'));
    await drain();
    expect(store.parts.committer.warming).toBe(1);
    other.abort(new RangeError('left too'));
    await drain();
    expect(store.parts.committer.warming).toBe(0);
    expect(await Promise.all(told)).toMatchObject([{ message: 'left' }, { message: 'left too' }]);
    expect([one.listeners(), other.listeners(), bench.clock.sleeping]).toEqual([0, 0, 0]);
  });

  test('one whose request found no place in the queue is never sent', async () => {
    const all = await scene(2, { queueMembers: 1 });
    const { store, reads } = all;
    holdReads(all);
    const waiting = append(store.world, 0, 'x');
    waiting.catch(() => undefined);
    expect(await failureOf(append(store.world, 1, 'x'))).toMatchObject({ code: 'OVERLOADED' });
    await drain();
    expect([reads(), store.parts.committer.warming]).toEqual([1, 1]);
    await all.bench.run(store.world.close({ drainMs: 1 }));
  });
});
