// Goal: commit traffic never queues behind bulk reads, and a call that waits for room was never
// sent.
// Method: lanes of the project's own limit over a bucket whose reads take a second, in virtual
// time.
import { expect, test } from 'vitest';
import type { Lane } from '../../blob/blob.ts';
import { createCounter } from '../../blob/count.ts';
import { type Lanes, withLanes } from '../../blob/lanes.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { withObserver } from '../../blob/observe.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';

const body = new Uint8Array(10);

function setUp(room: number) {
  const timing = new ManualClock();
  const slow = {
    fault: { kind: 'delay', beforeMs: 1_000 },
    times: Number.POSITIVE_INFINITY,
  } as const;
  const faulty = withFaults(createMemoryBucket({ timing }), [slow], { timing });
  const counter = createCounter();
  const observed = withObserver(faulty.store, counter, { timing });
  const lanes: Lanes = {
    commit: createLimit(room),
    read: createLimit(room),
    bulk: createLimit(room),
  };
  return { timing, counter, store: withLanes(observed, lanes, { timing }) };
}

test('a create in the commit lane does not wait behind 4,096 bulk reads', async () => {
  const { timing, store } = setUp(4);
  let read = 0;
  const bulk = Array.from({ length: 4_096 }, async (_, i) => {
    await store.get(`k${i}`, { lane: 'bulk', deadlineMs: 10_000_000 });
    read++;
  });
  await timing.run(store.create('slot', body, { lane: 'commit' }));
  expect(timing.monotonic()).toBe(1_000);
  expect(read).toBeLessThanOrEqual(4);
  await timing.run(store.head('slot'));
  expect(timing.monotonic()).toBe(2_000);
  await timing.run(Promise.all(bulk));
  expect(timing.monotonic()).toBe(1_024_000);
});

test.each<Lane>(['commit', 'read', 'bulk'])(
  'lane %s runs as many calls as it has room',
  async (lane) => {
    const { timing, store } = setUp(3);
    await timing.run(Promise.all(Array.from({ length: 9 }, () => store.head('k', { lane }))));
    expect(timing.monotonic()).toBe(3_000);
  },
);

test('no call overtakes those that wait, also while room changes hands', async () => {
  const { timing, store } = setUp(2);
  const ended: number[] = [];
  const call = async (i: number): Promise<void> => {
    await store.head(`k${i}`);
    ended.push(i);
    // Asks anew in the very moment in which its room is free.
    if (i < 4) calls.push(call(i + 10));
  };
  const calls: Promise<void>[] = [0, 1, 2, 3].map(call);
  await timing.run();
  await Promise.all(calls);
  expect(ended).toEqual([0, 1, 2, 3, 10, 11, 12, 13]);
  expect(timing.monotonic()).toBe(4_000);
});

test('a call whose signal aborts in the turn before it begins is never sent', async () => {
  const { timing, counter, store } = setUp(1);
  const caller = countedSignal();
  const call = failureOf(store.create('a', body, { signal: caller.signal }));
  caller.abort('gone');
  expect(await call).toMatchObject({ code: 'aborted', ambiguous: false, cause: 'gone' });
  expect([counter.snapshot().requests.create, timing.sleeping]).toEqual([0, 0]);
});

test('a call without a lane waits with the reads', async () => {
  const { timing, store } = setUp(1);
  await timing.run(Promise.all([store.head('k'), store.head('k', { lane: 'read' })]));
  expect(timing.monotonic()).toBe(2_000);
});

test('a create without room by its deadline was never sent: not ambiguous', async () => {
  const { timing, counter, store } = setUp(1);
  const first = store.create('a', body, { lane: 'commit' });
  const second = failureOf(store.create('b', body, { lane: 'commit', deadlineMs: 500 }));
  expect(await timing.run(second)).toMatchObject({ code: 'timeout', ambiguous: false });
  expect(timing.monotonic()).toBe(500);
  await timing.run(first);
  await timing.run();
  expect([counter.snapshot().requests.create, timing.sleeping]).toEqual([1, 0]);
});

test('a call that is aborted while it waits is never sent and leaves nothing', async () => {
  const { timing, counter, store } = setUp(1);
  const caller = countedSignal();
  const first = store.create('a', body);
  const second = failureOf(store.create('b', body, { signal: caller.signal }));
  await timing.advance(10);
  caller.abort('gone');
  expect(await second).toMatchObject({ code: 'aborted', ambiguous: false, cause: 'gone' });
  await timing.run(first);
  await timing.run();
  expect([counter.snapshot().requests.create, timing.sleeping]).toEqual([1, 0]);
});

test('the time spent waiting counts against the deadline', async () => {
  const timing = new ManualClock();
  const given: (number | undefined)[] = [];
  const memory = createMemoryBucket({ timing });
  const lane = createLimit(1);
  const store = withLanes(
    {
      ...memory,
      async head(_key, options) {
        given.push(options?.deadlineMs);
        await timing.sleep(300);
        return { found: false };
      },
    },
    { commit: lane, read: lane, bulk: lane },
    { timing },
  );
  const both = [store.head('k', { deadlineMs: 1_000 }), store.head('k', { deadlineMs: 1_000 })];
  await timing.run(Promise.all(both));
  expect(given).toEqual([1_000, 700]);
});

test('2,000 calls on one signal leave no listener and no timer', async () => {
  const timing = new ManualClock();
  const lane = createLimit(1);
  const lanes = { commit: lane, read: lane, bulk: lane };
  const store = withLanes(createMemoryBucket({ timing }), lanes, { timing });
  const caller = countedSignal();
  for (let i = 0; i < 2_000; i++) await store.head('k', { signal: caller.signal });
  expect([caller.listeners(), timing.sleeping]).toEqual([0, 0]);
});
