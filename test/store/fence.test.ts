/**
 * Goal: a store that slept takes no answer about a name for more than it is worth: it is told
 * *unknown* only when a create crossed the fence in flight and names may have been freed, never for
 * having been idle; nothing that a stray took is ever served.
 * Method: clocks that jump while one store sleeps or has a call on its way, another that commits,
 * checkpoints and collects meanwhile; the objects of checkpoints are held by the test.
 */
import { describe, expect, test } from 'vitest';
import { decorate } from '../../blob/decorate.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { World } from '../../bucketstore/index.ts';
import { CHECKPOINTS_PREFIX, slotKey } from '../../bucketstore/log/names.ts';
import { FENCE_MS, GRACE_MS } from '../../bucketstore/log/sighting.ts';
import { CheckpointShelf } from '../support/checkpoint-shelf.ts';
import { type GatedBucket, withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

const MINUTE_MS = 60_000;
const OP = '11111111-1111-4111-8111-111111111111';

interface Pair {
  readonly bench: WorldBench;
  readonly shelf: CheckpointShelf;
  readonly gated: GatedBucket;
  readonly sleeper: BenchStore;
  readonly busy: BenchStore;
}

/** Two stores of one world; its log ends at 4 and both know it. */
async function pair(): Promise<Pair> {
  const bench = new WorldBench();
  const shelf = new CheckpointShelf(bench);
  const gated = withGates(bench.bucket);
  const busy = await bench.store({ checkpoints: shelf });
  await writes(bench, busy.world, 3);
  const sleeper = await bench.store({ bucket: gated.store, checkpoints: shelf });
  gated.calls.length = 0;
  return { bench, shelf, gated, sleeper, busy };
}

/** Slots of one entry each. */
async function writes(bench: WorldBench, world: World, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await bench.run(world.publish({ path: `/busy-${i}.md`, expected: 'any', body: `${i} ${i}` }));
    await bench.run(world.publish({ path: `/busy-${i}.md`, expected: 'any', body: `${i}` }));
  }
}

/** The machine pauses: no timer fires. */
function pause({ bench }: Pair, ms: number): void {
  bench.clock.shiftMonotonic(ms);
  bench.clock.shiftWall(ms);
}

/** The other store checkpoints its tip, raises the floor there, and frees all names below. */
async function collect({ shelf, busy }: Pair): Promise<number> {
  const { sequence: at } = await shelf.checkpoint(busy);
  await shelf.collect(busy, at + 1);
  return at;
}

const isCreate = ({ operation, key }: { operation: string; key: string }): boolean =>
  operation === 'create' && key.includes('/log/');
const mine = (world: World, op?: string) =>
  world.publish(
    { path: '/mine.md', expected: 'any', body: 'mine' },
    { deadlineMs: 60_000, ...(op === undefined ? {} : { op }) },
  );
const tipOf = ({ parts }: BenchStore): number => parts.follower.snapshot.tip.sequence;
const told = ({ calls }: GatedBucket): readonly string[] => calls.map(({ operation }) => operation);
const listsOf = ({ calls }: GatedBucket): number =>
  calls.filter(({ operation, key }) => operation === 'list' && key === CHECKPOINTS_PREFIX).length;

describe('an idle store in a busy world', () => {
  type Meanwhile = (pair: Pair) => Promise<unknown>;
  const nothing: Meanwhile = async () => undefined;
  const busyWorld: Meanwhile = ({ bench, busy }) => writes(bench, busy.world, 20);
  const checkpointed: Meanwhile = async (both) => {
    await busyWorld(both);
    await both.shelf.checkpoint(both.busy);
  };
  const collected: Meanwhile = async (both) => {
    await busyWorld(both);
    await collect(both);
    await writes(both.bench, both.busy.world, 2);
  };
  const passes: readonly [string, (pair: Pair, ms: number) => Promise<unknown>][] = [
    ['its clocks run on', ({ bench }, ms) => bench.clock.advance(ms)],
    ['its machine is paused', async (both, ms) => pause(both, ms)],
  ];
  const worlds: readonly [string, Meanwhile][] = [
    ['nothing happened', nothing],
    ['the log went on', busyWorld],
    ['a checkpoint went beyond its tip', checkpointed],
    ['the slots behind its tip were removed', collected],
  ];
  const cases = passes.flatMap(([how, pass]) =>
    worlds.flatMap(([what, meanwhile]) =>
      [10, 120].map((minutes) => [minutes, how, what, pass, meanwhile] as const),
    ),
  );

  test.each(cases)('%i min while %s and %s: no *unknown*', async (minutes, _, __, pass, what) => {
    const both = await pair();
    let unknown = 0;
    for (let round = 0; round < 3; round++) {
      await what(both);
      await pass(both, minutes * MINUTE_MS);
      const { bench, sleeper, busy } = both;
      const requests = [mine(sleeper.world), mine(sleeper.world), mine(busy.world)];
      for (const outcome of await bench.run(Promise.allSettled(requests))) {
        if (outcome.status === 'rejected') unknown++;
      }
      expect(tipOf(sleeper)).toBeGreaterThanOrEqual(tipOf(busy));
    }
    expect(unknown).toBe(0);
  });

  test('it looks first: no create begins before a probe, nor before the list', async () => {
    const both = await pair();
    const { bench, gated, sleeper } = both;
    pause(both, FENCE_MS + 1);
    await bench.run(mine(sleeper.world));
    expect(told(gated)).toEqual(['head', 'list', 'create']);
    gated.calls.length = 0;
    pause(both, FENCE_MS - 1);
    await bench.run(sleeper.world.publish({ path: '/b.md', expected: 'any', body: 'b' }));
    expect(told(gated), 'an own create is a sighting').toEqual(['head', 'create']);
  });

  test('so does one that knows no slot of its tip, since it began at a checkpoint', async () => {
    const both = await pair();
    const { bench, shelf, busy } = both;
    await shelf.checkpoint(busy);
    for (const goesOn of [false, true]) {
      const gated = withGates(bench.bucket);
      const { world } = await bench.store({ bucket: gated.store, checkpoints: shelf });
      if (goesOn) {
        await writes(bench, busy.world, 4);
        await collect(both);
      }
      pause(both, FENCE_MS + 1);
      gated.calls.length = 0;
      const body = `goes on: ${goesOn}`;
      const writing = world.publish({ path: '/mine.md', expected: 'any', body });
      const { sequence: at } = await bench.run(writing);
      expect(told(gated).slice(0, 2)).toEqual(['get', 'list']);
      await bench.run(busy.world.stat());
      expect(tipOf(busy)).toBe(at);
      await shelf.checkpoint(busy);
    }
  });
});

describe('a create that crosses the fence in flight', () => {
  /** The sleeper's create is out for the name 8; the pause comes before it arrives. */
  async function crossing(collects: boolean, where: 'request' | 'answer' = 'request') {
    const both = await pair();
    const { bench, gated, sleeper, busy } = both;
    const held = gated.hold(where, isCreate);
    const writing = mine(sleeper.world, OP);
    writing.catch(() => undefined);
    await drain();
    expect(held.waiting).toBe(1);
    const after = tipOf(sleeper);
    if (collects) {
      await writes(bench, busy.world, 4);
      await collect(both);
    }
    pause(both, FENCE_MS + 1);
    return { ...both, held, writing, after };
  }

  test('with no checkpoint beyond is acknowledged, after one list', async () => {
    const { bench, gated, held, writing, after } = await crossing(false);
    await held.open();
    const result = await bench.run(writing);
    expect(result).toMatchObject({ committed: true, sequence: after + 1 });
    expect(listsOf(gated)).toBe(1);
  });

  test('with one is told *unknown*, and not advised to send it again', async () => {
    const { bench, held, writing, after, sleeper, busy } = await crossing(true);
    await held.open();
    const error = await failureOf(bench.run(writing));
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME', details: { op: OP, after } });
    expect(String(error)).toMatch(/slept/);
    expect(String(error)).not.toMatch(/again/);
    await drain();
    expect(tipOf(sleeper), 'the state was loaded anew').toBe(tipOf(busy));
  });

  test('nothing of it is carried to another name, and the next write works', async () => {
    const { bench, held, writing, sleeper, busy } = await crossing(true);
    const { publish } = sleeper.world;
    const later = publish.call(sleeper.world, { path: '/later.md', expected: 'any', body: 'x' });
    await held.open();
    await failureOf(bench.run(writing));
    expect((await bench.run(later)).committed).toBe(true);
    expect((await bench.run(mine(sleeper.world))).document.version).toBe(1);
    await bench.run(busy.world.stat());
    expect(tipOf(busy)).toBe(tipOf(sleeper));
    const own = (await bench.slots()).flatMap(({ first, entries }) =>
      entries.flatMap((entry) => ('path' in entry && entry.op === OP ? [first] : [])),
    );
    expect(own, 'the stray, which nobody reads').toEqual([8]);
  });

  test('the same operation sent again meanwhile is told *unknown* too', async () => {
    const { bench, held, writing, sleeper, after } = await crossing(true);
    const joined = mine(sleeper.world, OP);
    joined.catch(() => undefined);
    await held.open();
    for (const told of await bench.run(Promise.allSettled([writing, joined]))) {
      expect(told).toMatchObject({ reason: { code: 'UNKNOWN_OUTCOME', details: { after } } });
    }
  });

  test('also when the first of the two has left', async () => {
    const both = await pair();
    const { bench, gated, sleeper, busy } = both;
    const held = gated.hold('request', isCreate);
    const gone = new AbortController();
    const options = { op: OP, signal: gone.signal, deadlineMs: 60_000 };
    const first = sleeper.world.publish(
      { path: '/mine.md', expected: 'any', body: 'mine' },
      options,
    );
    first.catch(() => undefined);
    await drain();
    gone.abort(new RangeError('left'));
    expect(await failureOf(first)).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    const twin = mine(sleeper.world, OP);
    twin.catch(() => undefined);
    await writes(bench, busy.world, 4);
    await collect(both);
    pause(both, FENCE_MS + 1);
    await held.open();
    const error = await failureOf(bench.run(twin));
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    expect(String(error)).not.toMatch(/again/);
  });

  test('"exists" and the winner’s bytes are not believed either', async () => {
    const { bench, held, writing } = await crossing(true);
    // Another sleeper's stray has the name.
    await bench.put(slotKey(sequence(8)), 'a stray');
    await held.open();
    expect(await failureOf(bench.run(writing))).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
  });
});

describe('reads after a sleep', () => {
  test('load the state anew when a checkpoint is beyond their tip', async () => {
    const both = await pair();
    const { bench, shelf, sleeper, busy } = both;
    await writes(bench, busy.world, 4);
    await collect(both);
    pause(both, FENCE_MS + 1);
    const loads = shelf.loads.length;
    const [{ body }, stat] = await bench.run(
      Promise.all([sleeper.world.view().get('/busy-3.md'), sleeper.world.stat()]),
    );
    expect(Buffer.from(body).toString()).toBe('3');
    expect(stat.sequence).toBe(tipOf(busy));
    expect(shelf.loads.length - loads, 'one load is shared').toBe(1);
  });

  test('a stray at the next name is never believed', async () => {
    const both = await pair();
    const { bench, sleeper, busy } = both;
    const stray = await forge(both);
    await writes(bench, busy.world, 4);
    await collect(both);
    await bench.put(stray.key, stray.bytes);
    pause(both, FENCE_MS + 1);
    expect((await bench.run(sleeper.world.stat())).sequence).toBe(tipOf(busy));
    const read = bench.run(sleeper.world.view().get('/stray.md'));
    expect(await failureOf(read)).toMatchObject({ code: 'NOT_FOUND' });
  });

  test('callers at the same time share one load', async () => {
    const { shelf, bench, busy, sleeper } = await pair();
    await shelf.checkpoint(busy);
    const { follower } = sleeper.parts;
    await bench.run(Promise.all([follower.reload(), follower.reload()]));
    expect(shelf.loads).toHaveLength(1);
    await bench.run(follower.reload());
    expect(shelf.loads).toHaveLength(2);
  });

  test.each(['free', 'a stray’s'])(
    'a sleep that only the service’s date shows is one; next name: %s',
    async (next) => {
      const both = await pair();
      const { bench, shelf } = both;
      let aheadMs = 0;
      const dated = decorate(bench.bucket, async (_, send) => {
        return { ...(await send()), date: bench.clock.now() + aheadMs };
      });
      const sleeper = await bench.store({ bucket: dated, checkpoints: shelf });
      const stray = await forge(both);
      await writes(bench, both.busy.world, 4);
      await collect(both);
      if (next !== 'free') await bench.put(stray.key, stray.bytes);
      aheadMs = FENCE_MS + 60_000;
      expect((await bench.run(sleeper.world.stat())).sequence).toBe(tipOf(both.busy));
    },
  );

  test('lists confirmed within a second serve what they have, and then look', async () => {
    const both = await pair();
    const { bench, gated, sleeper, busy } = both;
    await bench.run(sleeper.world.stat());
    gated.calls.length = 0;
    await bench.clock.advance(900);
    const listed = await bench.run(sleeper.world.view().listEntries('/'));
    expect([listed.length, gated.calls.length]).toEqual([3, 0]);
    await writes(bench, busy.world, 4);
    await collect(both);
    pause(both, FENCE_MS + 1);
    expect(await bench.run(sleeper.world.view().listEntries('/'))).toHaveLength(4);
  });

  /** What a third sleeper would create behind this tip, should its create arrive one day. */
  async function forge({ bench, shelf }: Pair): Promise<{ key: string; bytes: Uint8Array }> {
    const gated = withGates(bench.bucket);
    const { world } = await bench.store({ bucket: gated.store, checkpoints: shelf });
    await bench.run(world.publish({ path: '/stray.md', expected: 'any', body: 'stray' }));
    const key = (await bench.keys('_demarkus/v1/log/')).at(-1) ?? '';
    const bytes = await bench.bytes(key);
    await bench.bucket.delete(key);
    return { key, bytes };
  }
});

describe('below the floor', () => {
  test('operation() is TOO_OLD and entries() RESYNC, whatever has the name', async () => {
    const both = await pair();
    const { bench, busy, sleeper } = both;
    const committed = await bench.run(mine(sleeper.world, OP));
    const slot = await bench.bytes(slotKey(sequence(8)));
    await writes(bench, busy.world, 4);
    const at = await collect(both);
    // Names are freed after the grace, which no awake store misses.
    pause(both, GRACE_MS);
    // One that knows nothing of the operation.
    const { world } = await bench.store({ checkpoints: both.shelf });
    for (const name of ['free', 'taken by a stray']) {
      if (name !== 'free') await bench.put(slotKey(sequence(8)), slot);
      const asked = failureOf(bench.run(world.operation(OP, 7)));
      expect(await asked, name).toMatchObject({ code: 'TOO_OLD' });
      // And one that does.
      await bench.run(sleeper.world.stat());
      const known = failureOf(bench.run(sleeper.world.operation(OP, 7)));
      expect(await known, name).toMatchObject({ code: 'TOO_OLD' });
      const log = failureOf(bench.run(world.entries(8).next()));
      const details = { oldest: at + 1, newest: tipOf(busy) };
      expect(await log, name).toMatchObject({ code: 'RESYNC', details });
    }
    expect(committed.sequence).toBe(8);
    const read = await bench.run(world.entries(at + 1).next());
    expect(read.value).toMatchObject({ sequence: at + 1, entry: { kind: 'floor' } });
  });

  test('a slot read after a sleep is not believed when the floor has passed it', async () => {
    const both = await pair();
    const { bench, busy, sleeper } = both;
    await bench.run(mine(sleeper.world, OP));
    await bench.run(sleeper.world.stat());
    const log = sleeper.world.entries(8);
    const reading = both.gated.hold('answer', ({ operation, key }) => {
      return operation === 'get' && key === slotKey(sequence(8));
    });
    const first = log.next();
    first.catch(() => undefined);
    await drain();
    expect(reading.waiting).toBe(1);
    await bench.run(busy.world.stat());
    await writes(bench, busy.world, 4);
    await collect(both);
    pause(both, FENCE_MS + 1);
    await reading.open();
    expect(await failureOf(bench.run(first))).toMatchObject({ code: 'RESYNC' });
  });
});
