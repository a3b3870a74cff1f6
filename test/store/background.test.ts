/**
 * Goal: stores have checkpoints made by themselves: one of them makes each, the others rest on it;
 * a backlog of any length is worked off; a store that ends leaves nothing running; and what fails
 * is met by no caller.
 * Method: real stores on one bucket in memory under virtual time; every call of a store is noted,
 * and single ones are held.
 */
import { describe, expect, test } from 'vitest';
import { type Call, decorate } from '../../blob/decorate.ts';
import { BlobError } from '../../blob/errors.ts';
import { type Logger, silentLogger } from '../../bucketstore/base/diagnostics.ts';
import type { World } from '../../bucketstore/index.ts';
import { CHECKPOINTS_PREFIX, LOG_PREFIX, parseKey } from '../../bucketstore/log/names.ts';
import type { ControlEntry } from '../../bucketstore/log/records.ts';
import { type GatedBucket, withGates } from '../support/gated-bucket.ts';
import { isHeld } from '../support/held.ts';
import { drain } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { until } from '../support/until.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Documents, all at once; with `batchMax` 1 a slot for each. */
async function put(bench: WorldBench, world: World, count: number): Promise<void> {
  const publish = (n: number) => {
    return world.publish({ path: `/${n}.md`, expected: 'any', body: `${bench.random.uuid()}` });
  };
  await bench.run(Promise.all(Array.from({ length: count }, (_, n) => publish(n))));
}

/** Sequences of the checkpoints that are there, oldest first. */
async function checkpoints(bench: WorldBench): Promise<readonly number[]> {
  const keys = await bench.keys(CHECKPOINTS_PREFIX);
  const names = keys.map(parseKey).flatMap((name) => (name?.kind === 'checkpoint' ? [name] : []));
  return names.map((name) => name.sequence as number).toReversed();
}

const restsOn = ({ parts }: BenchStore): number => parts.follower.snapshot.base.sequence;
const tipOf = ({ parts }: BenchStore): number => parts.follower.snapshot.tip.sequence;

/** Lets time pass until something holds, and no call that is held then comes to its deadline. */
async function passUntil(bench: WorldBench, holds: () => boolean): Promise<number> {
  let passed = 0;
  for (; !holds(); passed += 500) {
    if (passed > HOUR) throw new Error('it does not come to hold');
    await advance(bench, 500);
  }
  return passed;
}

async function advance(bench: WorldBench, ms: number): Promise<void> {
  await bench.clock.advance(ms);
  for (let i = 0; i < 20; i++) await drain();
}

const COMPACTS = { compact: true };

describe('a store', () => {
  test('makes a checkpoint a minute after the first of 512 writes, and rests on it', async () => {
    const bench = new WorldBench();
    const store = await bench.store({ settings: COMPACTS });
    await put(bench, store.world, 512);
    await advance(bench, MINUTE - 1);
    expect(await checkpoints(bench)).toEqual([]);
    await advance(bench, 15_001);
    expect(await checkpoints(bench)).toEqual([tipOf(store)]);
    expect(restsOn(store)).toBe(tipOf(store));
    expect([...store.parts.follower.snapshot.changed()]).toEqual([]);
    await advance(bench, 100 * HOUR);
    expect(await checkpoints(bench)).toHaveLength(1);
    await bench.run(store.world.close());
    expect(bench.clock.sleeping).toBe(0);
  });

  test('makes one an hour after the first of fewer', async () => {
    const bench = new WorldBench();
    const store = await bench.store({ settings: COMPACTS });
    await put(bench, store.world, 511);
    await advance(bench, HOUR - 1);
    expect(await checkpoints(bench)).toEqual([]);
    await advance(bench, 5 * MINUTE + 1);
    expect(await checkpoints(bench)).toEqual([tipOf(store)]);
  });

  test('makes one at 1024 slots, within 5 s', async () => {
    const bench = new WorldBench();
    const store = await bench.store({ settings: { ...COMPACTS, batchMax: 1 } });
    await put(bench, store.world, 1023);
    await advance(bench, 10_000);
    expect(await checkpoints(bench)).toEqual([]);
    await put(bench, store.world, 1);
    await advance(bench, 5_000);
    expect(await checkpoints(bench)).toEqual([tipOf(store)]);
  });

  test('makes none of control entries', async () => {
    const bench = new WorldBench();
    const store = await bench.store({ settings: COMPACTS });
    const { committer } = store.parts;
    for (let i = 0; i < 600; i++) {
      const [op, id] = [bench.random.uuid(), bench.random.uuid()];
      const pin: ControlEntry = { kind: 'pin', op, id, owner: 'a backup', expires: 1_800_000_000 };
      const judge = () => pin;
      await bench.run(committer.control(op, judge, { deadlineMs: 10_000 }));
    }
    expect(tipOf(store)).toBe(601);
    await advance(bench, 10 * HOUR);
    expect(await checkpoints(bench)).toEqual([]);
  });

  test('works a long backlog off, step by step, each of at most 1024 slots', async () => {
    const bench = new WorldBench();
    const writer = await bench.store({ settings: { batchMax: 1 } });
    await put(bench, writer.world, 2_100);
    const store = await bench.store({ settings: COMPACTS });
    await advance(bench, 5_000);
    expect(await checkpoints(bench)).toEqual([1 + 1024, 1 + 2048, 1 + 2100]);
    expect(restsOn(store)).toBe(2101);
    // And who opens now reads no more than its end.
    const gated = withGates(bench.bucket);
    const other = await bench.store({ bucket: gated.store });
    expect(restsOn(other)).toBe(2101);
    expect(other.parts.follower.snapshot.list('/')).toEqual(
      store.parts.follower.snapshot.list('/'),
    );
  });

  test('does none of it without the setting', async () => {
    const bench = new WorldBench();
    const store = await bench.store({ settings: { compact: false } });
    await put(bench, store.world, 600);
    await advance(bench, 10 * HOUR);
    expect(await checkpoints(bench)).toEqual([]);
    expect(bench.clock.sleeping).toBe(0);
  });
});

interface Watched extends BenchStore {
  readonly gated: GatedBucket;
}

async function watchedStore(bench: WorldBench, settings = {}): Promise<Watched> {
  const gated = withGates(bench.bucket);
  const store = await bench.store({ bucket: gated.store, settings: { ...COMPACTS, ...settings } });
  return { ...store, gated };
}

function creates({ gated }: Watched): number {
  const isDerived = (key: string): boolean => !key.startsWith(LOG_PREFIX);
  return gated.calls.filter(({ operation, key }) => operation === 'create' && isDerived(key))
    .length;
}

describe('two stores', () => {
  test.each([1, 2, 3])('one makes each checkpoint, the other rests on it (%i)', async (seed) => {
    const bench = new WorldBench(seed);
    const stores = [await watchedStore(bench), await watchedStore(bench)];
    const [one, other] = stores as [Watched, Watched];
    for (let round = 1; round <= 3; round++) {
      for (const { gated } of stores) gated.calls.length = 0;
      await put(bench, one.world, 600);
      await bench.run(other.world.stat());
      await advance(bench, 2 * MINUTE);
      expect(await checkpoints(bench)).toHaveLength(round);
      expect(restsOn(one)).toBe(tipOf(one));
      expect(restsOn(other)).toBe(tipOf(one));
      const made = stores.map(creates);
      expect(made.filter((count) => count > 0)).toHaveLength(1);
    }
  });

  test('one that only reads writes nothing, and rests on what the other made', async () => {
    const bench = new WorldBench();
    const writer = await watchedStore(bench);
    const reader = await watchedStore(bench, { readOnly: true });
    await put(bench, writer.world, 600);
    await bench.run(reader.world.stat());
    await advance(bench, 10 * MINUTE);
    expect(await checkpoints(bench)).toEqual([tipOf(writer)]);
    expect(restsOn(reader)).toBe(tipOf(writer));
    expect(reader.gated.calls.filter(({ operation }) => operation === 'create')).toEqual([]);
    expect(await failureOf(reader.world.compact())).toMatchObject({ code: 'READ_ONLY' });
  });
});

const isRecord = ({ operation, key }: Call): boolean => {
  return operation === 'create' && key.startsWith(CHECKPOINTS_PREFIX);
};

describe('one compaction at a time', () => {
  test('`compact()` waits for the one in the background, and finds nothing to do', async () => {
    const bench = new WorldBench();
    const store = await watchedStore(bench);
    await put(bench, store.world, 600);
    const held = store.gated.hold('request', isRecord);
    await passUntil(bench, () => held.waiting === 1);
    const before = store.gated.calls.length;
    let answer: unknown = null;
    const asked = store.world.compact().then((compacted) => {
      answer = compacted;
    });
    const left = new AbortController();
    const leaving = failureOf(store.world.compact({ signal: left.signal }));
    for (let i = 0; i < 50; i++) await drain();
    expect(store.gated.calls).toHaveLength(before);
    left.abort(new Error('left'));
    expect(await leaving).toMatchObject({ message: 'left' });
    await held.open();
    await bench.run(asked);
    expect(answer).toMatchObject({ written: 0, newest: { sequence: tipOf(store) } });
    expect(await checkpoints(bench)).toHaveLength(1);
  });

  test('the background waits for `compact()`, and then has nothing to do', async () => {
    // When it begins is a matter of chance, and that of the seed.
    const twin = new WorldBench();
    const alike = await watchedStore(twin);
    await put(twin, alike.world, 600);
    const begins = await passUntil(twin, () => alike.gated.calls.some(isRecord));
    const bench = new WorldBench();
    const store = await watchedStore(bench);
    await put(bench, store.world, 600);
    await advance(bench, begins - 1_000);
    const held = store.gated.hold('request', isRecord);
    const asked = store.world.compact();
    await until(() => held.waiting === 1);
    const before = store.gated.calls.length;
    await advance(bench, 1_500);
    expect(store.gated.calls).toHaveLength(before);
    await held.open();
    expect(await bench.run(asked)).toMatchObject({ written: 1 });
    await advance(bench, 10 * MINUTE);
    expect(store.gated.calls.filter(isRecord)).toHaveLength(1);
    expect(store.gated.calls.length).toBeGreaterThan(before);
  });
});

describe('`close()`', () => {
  const moments: readonly (readonly [string, (call: Call) => boolean])[] = [
    ['lists records', ({ operation, key }) => operation === 'list' && key === CHECKPOINTS_PREFIX],
    ['reads slots', ({ operation, key }) => operation === 'get' && key.startsWith(LOG_PREFIX)],
    ['writes an object', ({ operation, key }) => operation === 'create' && key.includes('/index/')],
    ['writes a record', isRecord],
  ];

  test.each(moments)('ends a compaction that %s, and nothing goes on', async (_, matches) => {
    const bench = new WorldBench();
    const store = await watchedStore(bench);
    await put(bench, store.world, 600);
    const held = store.gated.hold('request', matches);
    await passUntil(bench, () => held.waiting > 0);
    await store.world.close();
    const { length } = store.gated.calls;
    expect(bench.clock.sleeping).toBe(0);
    await held.open();
    await advance(bench, 10 * HOUR);
    expect(store.gated.calls).toHaveLength(length);
    expect(await failureOf(store.world.compact())).toMatchObject({ code: 'CLOSED' });
  });

  test('ends one that was asked for: its caller is told so', async () => {
    const bench = new WorldBench();
    const store = await watchedStore(bench);
    await put(bench, store.world, 10);
    const held = store.gated.hold('request', isRecord);
    const asked = failureOf(store.world.compact());
    await until(() => held.waiting === 1);
    await store.world.close();
    expect(await asked).toMatchObject({ code: 'CLOSED' });
    expect(bench.clock.sleeping).toBe(0);
  });
});

describe('a bucket that takes no objects', () => {
  test('costs warnings, and a checkpoint is made when it takes them again', async () => {
    const bench = new WorldBench();
    let refuses = true;
    const bucket = decorate(bench.bucket, async ({ operation, key }, send) => {
      const isDerived = /\/(index|roots|packs|checkpoints)\//.test(key);
      if (!refuses || operation !== 'create' || !isDerived) return send();
      throw new BlobError({ code: 'forbidden', operation, key, message: 'no room' });
    });
    const warnings: unknown[] = [];
    const warn: Logger['warn'] = ({ err }) => void warnings.push(err);
    const logger = { ...silentLogger, warn };
    const store = await bench.store({ settings: COMPACTS, bucket, logger });
    await put(bench, store.world, 600);
    await advance(bench, 30 * MINUTE);
    expect(warnings.length).toBeGreaterThan(5);
    expect(warnings.length).toBeLessThan(20);
    expect(warnings[0]).toMatchObject({ code: 'LOCATION' });
    await put(bench, store.world, 5);
    refuses = false;
    await advance(bench, 10 * MINUTE);
    expect(await checkpoints(bench)).toEqual([tipOf(store)]);
  });
});

describe('what is held (I17)', () => {
  test('by a compactor are the slots of one step', async () => {
    const bench = new WorldBench();
    const writer = await bench.store({ settings: { batchMax: 1 } });
    await put(bench, writer.world, 2_100);
    await bench.run(writer.world.close());
    const read: WeakRef<object>[] = [];
    let opened = false;
    const noting = decorate(bench.bucket, async (call, send) => {
      const answer = await send();
      if (opened && call.operation === 'get' && call.key.startsWith(LOG_PREFIX)) {
        if ('bytes' in answer) read.push(new WeakRef(answer.bytes));
      }
      return answer;
    });
    const gated = withGates(noting);
    const store = await bench.store({ bucket: gated.store });
    opened = true;
    let records = 0;
    const held = gated.hold('request', (call) => isRecord(call) && ++records === 2);
    const compacting = store.world.compact();
    await until(() => held.waiting === 1);
    const [first, second] = [read.slice(0, 1024), read.slice(1024, 2048)];
    expect(second).toHaveLength(1024);
    expect(await isHeld(second[500] as WeakRef<object>)).toBe(true);
    const alive = first.filter((one) => one.deref() !== undefined);
    // At most what one look had read ahead.
    expect(alive.length).toBeLessThanOrEqual(16);
    await held.open();
    await bench.run(compacting);
    expect(await isHeld(read.at(-60) as WeakRef<object>)).toBe(false);
  });

  test('by the background are marks, which a checkpoint takes away', async () => {
    const bench = new WorldBench();
    const store = await bench.store({ settings: { ...COMPACTS, batchMax: 1 } });
    await put(bench, store.world, 1_030);
    expect(store.parts.background?.marks).toBe(1_030);
    await advance(bench, 5_000);
    expect(store.parts.background?.marks).toBe(0);
    await put(bench, store.world, 7);
    expect(store.parts.background?.marks).toBe(7);
  });
});
