/**
 * Goal: a read never holds up a commit, nor another read longer than that one allows; what comes
 * late never rolls a replica back; callers share looks and loads, and no more than they may.
 * Method: single calls of the bucket are held on their way there or back; calls are counted.
 */
import { describe, expect, test } from 'vitest';
import type { Call } from '../../blob/decorate.ts';
import { openWorld, type World } from '../../bucketstore/index.ts';
import { CHECKPOINTS_PREFIX, MARKER_KEY } from '../../bucketstore/log/names.ts';
import { FENCE_MS } from '../../bucketstore/log/sighting.ts';
import { CheckpointShelf } from '../support/checkpoint-shelf.ts';
import { type GatedBucket, withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

const isSlot = ({ key }: Call): boolean => key.includes('/log/');
const isProbe = (call: Call): boolean => call.operation === 'head' && isSlot(call);
const isCreate = (call: Call): boolean => call.operation === 'create' && isSlot(call);
const put = (world: World, path: string, body = path) =>
  world.publish({ path, expected: 'any', body });
const textOf = ({ body }: { readonly body: Uint8Array }): string => Buffer.from(body).toString();

interface Scene {
  readonly bench: WorldBench;
  readonly gated: GatedBucket;
  /** The store whose calls are held. */
  readonly store: BenchStore;
  readonly peer: BenchStore;
}

/** Two stores that know one document, `/a.md` at version 1. */
async function scene(): Promise<Scene> {
  const bench = new WorldBench();
  const peer = await bench.store();
  await bench.run(put(peer.world, '/a.md', 'v1'));
  const gated = withGates(bench.bucket);
  const store = await bench.store({ bucket: gated.store });
  gated.calls.length = 0;
  return { bench, gated, store, peer };
}

const told = ({ gated }: Scene): readonly string[] => gated.calls.map(({ operation }) => operation);

describe('ReadFailsOnItsOwnDeadlineWhileAProbeStalls', () => {
  const reads: Readonly<Record<string, (world: World, options: object) => Promise<unknown>>> = {
    get: (world, options) => world.view().get('/a.md', options),
    versions: (world, options) => world.view().versions('/a.md', options),
    listEntries: (world, options) => world.view().listEntries('/', options),
    stat: (world, options) => world.stat(options),
    'the first entry': (world, options) => world.entries(2, options).next(),
  };

  test.each(Object.entries(reads))(
    'ReadFailsOnItsOwnDeadlineWhileAProbeStalls: %s, by time and by signal',
    async (_, read) => {
      const all = await scene();
      const { bench, gated, store } = all;
      await bench.clock.advance(1_001);
      const held = gated.hold('request', isProbe);
      const patient = store.world.stat();
      await drain();
      expect(held.waiting).toBe(1);
      const before = bench.clock.monotonic();
      const caller = countedSignal();
      const late = failureOf(read(store.world, { deadlineMs: 500 }));
      const left = failureOf(read(store.world, { signal: caller.signal }));
      await bench.clock.advance(400);
      const reason = new RangeError('left');
      caller.abort(reason);
      expect(await left).toBe(reason);
      expect(await bench.run(late)).toMatchObject({ code: 'UNAVAILABLE' });
      expect(bench.clock.monotonic() - before).toBe(500);
      await held.open();
      expect((await bench.run(patient)).sequence, 'the probe itself goes on').toBe(2);
      expect([caller.listeners(), bench.clock.sleeping]).toEqual([0, 0]);
    },
  );

  test('ReadFailsOnItsOwnDeadlineWhileAProbeStalls: the rest is for the body', async () => {
    const all = await scene();
    const { bench, gated, store } = all;
    const probes = gated.hold('request', isProbe);
    const bodies = gated.hold('request', ({ operation }) => operation === 'get');
    const before = bench.clock.monotonic();
    const late = failureOf(store.world.view().get('/a.md', { deadlineMs: 500 }));
    await bench.clock.advance(300);
    await probes.open();
    expect(bodies.waiting).toBe(1);
    expect(await bench.run(late)).toMatchObject({ code: 'UNAVAILABLE' });
    expect(bench.clock.monotonic() - before).toBe(500);
    await bodies.open();
  });
});

describe('LoserCreatesAgainWhileAProbeStalls', () => {
  test.each([1, 2])(
    'LoserCreatesAgainWhileAProbeStalls: %i slots behind, within 4 calls of each loss',
    async (behind) => {
      const all = await scene();
      const { bench, gated, store, peer } = all;
      for (let i = 0; i < behind; i++) await bench.run(put(peer.world, `/peer-${i}.md`));
      gated.hold('request', isProbe);
      const reading = store.world.stat();
      reading.catch(() => undefined);
      await drain();
      gated.calls.length = 0;
      const result = await bench.run(put(store.world, '/mine.md'));
      expect(result.sequence).toBe(3 + behind);
      let between = 0;
      const gaps: number[] = [];
      for (const call of gated.calls) {
        if (!isCreate(call)) between += 1;
        else gaps.push(between);
        if (isCreate(call)) between = 0;
      }
      expect(gaps.length).toBeGreaterThan(1);
      for (const calls of gaps) expect(calls).toBeLessThanOrEqual(4);
    },
  );
});

describe('RefreshesShareOneProbe', () => {
  test('RefreshesShareOneProbe: those who ask while one runs share the next', async () => {
    const all = await scene();
    const { bench, gated, store, peer } = all;
    const held = gated.hold('answer', isProbe);
    const first = store.world.stat();
    await drain();
    // Behind the first one's look, and before the others ask.
    await bench.run(put(peer.world, '/b.md'));
    const others = [store.world.stat(), store.world.stat(), store.world.view().get('/b.md')];
    await drain();
    expect(told(all), 'one look at a time').toEqual(['head']);
    await held.open();
    const [one, other] = await bench.run(Promise.all(others));
    expect((await first).sequence).toBeGreaterThanOrEqual(2);
    expect([one, other]).toMatchObject([{ sequence: 3 }, { sequence: 3 }]);
    expect(told(all).filter((operation) => operation === 'head')).toHaveLength(2);
  });

  test('RefreshesShareOneProbe: a missing name confirms as of the start of its look', async () => {
    const all = await scene();
    const { bench, gated, store, peer } = all;
    await bench.clock.advance(2_000);
    const held = gated.hold('answer', isProbe);
    const looking = store.world.stat();
    await bench.clock.advance(900);
    await bench.run(put(peer.world, '/b.md'));
    await held.open();
    await bench.run(looking);
    gated.calls.length = 0;
    // 900 ms old by its start, though its answer has just come.
    await bench.run(store.world.view().listEntries('/'));
    expect(told(all)).toEqual([]);
    await bench.clock.advance(101);
    const names = await bench.run(store.world.view().listEntries('/'));
    expect(names.map(({ name }) => name)).toEqual(['a.md', 'b.md']);
    expect(told(all)[0]).toBe('head');
  });
});

describe('StaleReloadOutlivesItsRequest', () => {
  test('StaleReloadOutlivesItsRequest: who asked first leaves, the other is served', async () => {
    const bench = new WorldBench();
    const shelf = new CheckpointShelf(bench);
    const peer = await bench.store({ checkpoints: shelf });
    await bench.run(put(peer.world, '/a.md', 'v1'));
    const gated = withGates(bench.bucket);
    const store = await bench.store({ bucket: gated.store, checkpoints: shelf });
    await bench.run(put(peer.world, '/a.md', 'v2'));
    const { sequence: at } = await shelf.checkpoint(peer);
    await shelf.collect(peer, at + 1);
    bench.clock.shiftMonotonic(FENCE_MS + 1);
    bench.clock.shiftWall(FENCE_MS + 1);
    const held = gated.hold('request', ({ operation, key }) => {
      return operation === 'get' && key === MARKER_KEY;
    });
    const caller = countedSignal();
    const first = failureOf(store.world.view().get('/a.md', { signal: caller.signal }));
    const second = store.world.view().get('/a.md');
    await drain();
    expect(held.waiting).toBe(1);
    const reason = new RangeError('left');
    caller.abort(reason);
    expect(await first).toBe(reason);
    await held.open();
    expect(textOf(await bench.run(second))).toBe('v2');
    expect(shelf.loads, 'one checkpoint was read, once').toHaveLength(1);
    expect([caller.listeners(), bench.clock.sleeping]).toEqual([0, 0]);
  });
});

describe('OlderAdoptionIsIgnored', () => {
  test('OlderAdoptionIsIgnored: a load behind the served state changes nothing', async () => {
    const all = await scene();
    const { bench, gated, store } = all;
    const { follower } = store.parts;
    const held = gated.hold('answer', ({ operation, key }) => {
      return operation === 'list' && key === CHECKPOINTS_PREFIX;
    });
    const loading = follower.reload();
    await drain();
    expect(held.waiting).toBe(1);
    // The look that the load rests on is behind what is committed now.
    const slots = gated.hold('answer', ({ operation, key }) => {
      return operation === 'get' && key.endsWith('3.slot');
    });
    await held.open();
    expect(slots.waiting).toBe(1);
    await bench.run(put(store.world, '/b.md'));
    const served = follower.snapshot;
    await slots.open();
    await bench.run(loading);
    expect(follower.snapshot).toBe(served);
    expect((await bench.run(store.world.stat())).sequence).toBe(3);
  });
});

describe('CommitConfirmsWhileAProbeStalls', () => {
  test('CommitConfirmsWhileAProbeStalls: a commit needs no look of a reader', async () => {
    const all = await scene();
    const { bench, gated, store } = all;
    const held = gated.hold('request', isProbe);
    const reading = store.world.stat();
    await drain();
    expect(held.waiting).toBe(1);
    const before = bench.clock.monotonic();
    for (const i of [1, 2, 3]) await bench.run(put(store.world, `/${i}.md`));
    expect(bench.clock.monotonic(), 'no time has passed').toBe(before);
    await held.open();
    // Its look asked for a name that this store has taken meanwhile.
    expect((await bench.run(reading)).sequence).toBe(5);
  });

  test('CommitConfirmsWhileAReloadReplays: nor a load that is under way', async () => {
    const all = await scene();
    const { bench, gated, store } = all;
    const held = gated.hold('request', (call) => call.operation === 'get');
    const loading = store.parts.follower.reload();
    await drain();
    expect(held.waiting).toBe(1);
    const before = bench.clock.monotonic();
    for (const i of [1, 2, 3]) await bench.run(put(store.world, `/${i}.md`));
    expect(bench.clock.monotonic(), 'no time has passed').toBe(before);
    expect(store.parts.follower.snapshot.tip.sequence).toBe(5);
    await held.open();
    await bench.run(loading);
    expect(store.parts.follower.snapshot.tip.sequence).toBe(5);
  });
});

describe('DelayedHeadReplaceAllowsChangedGenerationRead', () => {
  test('DelayedHeadReplaceAllowsChangedGenerationRead: seen before its answer', async () => {
    const all = await scene();
    const { bench, gated, store, peer } = all;
    const held = gated.hold('answer', isCreate);
    let answered = false;
    const writing = put(store.world, '/a.md', 'v2').then((result) => {
      answered = true;
      return result;
    });
    await drain();
    expect(held.waiting).toBe(1);
    for (const { world } of [peer, store]) {
      expect(textOf(await bench.run(world.view().get('/a.md')))).toBe('v2');
    }
    expect(answered).toBe(false);
    await held.open();
    expect((await bench.run(writing)).sequence).toBe(3);
  });
});

describe('DelayedHeadReplaceDoesNotOverwriteNewerSnapshot', () => {
  test('DelayedHeadReplaceDoesNotOverwriteNewerSnapshot: nothing is rolled back', async () => {
    const all = await scene();
    const { bench, gated, store, peer } = all;
    const held = gated.hold('answer', isCreate);
    const writing = put(store.world, '/a.md', 'v2');
    await drain();
    await bench.run(put(peer.world, '/a.md', 'v3'));
    await bench.run(put(peer.world, '/a.md', 'v4'));
    expect(textOf(await bench.run(store.world.view().get('/a.md')))).toBe('v4');
    const served = store.parts.follower.snapshot;
    await held.open();
    expect(await bench.run(writing)).toMatchObject({ sequence: 3, document: { version: 2 } });
    expect(store.parts.follower.snapshot).toBe(served);
    expect((await bench.run(put(store.world, '/a.md', 'v5'))).document.version).toBe(5);
  });
});

describe('ProductionWritePinsOldReadView', () => {
  test('ProductionWritePinsOldReadView: the old keeps v1, a fresh one reads v2', async () => {
    const all = await scene();
    const { bench, store } = all;
    const old = store.world.view();
    expect(textOf(await bench.run(old.get('/a.md')))).toBe('v1');
    await bench.run(put(store.world, '/a.md', 'v2'));
    expect(textOf(await bench.run(old.get('/a.md')))).toBe('v1');
    expect(textOf(await bench.run(store.world.view().get('/a.md')))).toBe('v2');
    expect(await bench.run(old.versions('/a.md'))).toHaveLength(1);
  });
});

describe('ClosedStaleReplicaStillReads', () => {
  test('ClosedStaleReplicaStillReads: on a bucket of the caller’s, and stale', async () => {
    const bench = new WorldBench();
    const shelf = new CheckpointShelf(bench);
    const peer = await bench.store({ checkpoints: shelf });
    await bench.run(put(peer.world, '/a.md', 'v1'));
    const store = await bench.store({ checkpoints: shelf });
    await bench.run(store.world.close());
    expect(textOf(await bench.run(store.world.view().get('/a.md')))).toBe('v1');
    await bench.run(put(peer.world, '/a.md', 'v2'));
    const { sequence: at } = await shelf.checkpoint(peer);
    await shelf.collect(peer, at + 1);
    bench.clock.shiftMonotonic(FENCE_MS + 1);
    bench.clock.shiftWall(FENCE_MS + 1);
    expect(textOf(await bench.run(store.world.view().get('/a.md')))).toBe('v2');
    expect(await failureOf(put(store.world, '/b.md'))).toMatchObject({ code: 'CLOSED' });
    expect(bench.clock.sleeping).toBe(0);
  });
});

test('a world that has let go of its bucket says so, not that its location is wrong', async () => {
  const bench = new WorldBench();
  const components = { clock: bench.clock, random: bench.random };
  const world = await bench.run(openWorld('memory:', { create: true, components }));
  await bench.run(put(world, '/a.md'));
  const view = world.view();
  await bench.run(view.isDir('/'));
  await bench.run(world.close());
  const reads = [view.get('/a.md'), world.view().listEntries('/'), world.stat()];
  for (const read of [...reads, world.entries(2).next(), put(world, '/b.md')]) {
    expect(await failureOf(read)).toMatchObject({ code: 'CLOSED' });
  }
});

describe('OpenReadsAnExistingHeadOnce', () => {
  test('OpenReadsAnExistingHeadOnce: opening costs one read of the marker', async () => {
    const all = await scene();
    const { bench } = all;
    const gated = withGates(bench.bucket);
    await bench.open({ bucket: gated.store });
    const markers = gated.calls.filter(({ key }) => key === MARKER_KEY);
    expect(markers.map(({ operation }) => operation)).toEqual(['get']);
  });
});
