// Goal: a hedge hides a slow request and never changes what an answer means.
// Method: first or second requests delayed, failed or stored by a faulty bucket in virtual time;
// requests counted below the hedge.
import { expect, test } from 'vitest';
import { createCounter } from '../../blob/count.ts';
import { withHedge } from '../../blob/hedge.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { withObserver } from '../../blob/observe.ts';
import { type Fault, lostAnswer, type Rule, withFaults } from '../support/faulty-bucket.ts';
import { drain, ManualClock } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const bytes = utf8('bytes');
const before = (ms: number): Fault => ({ kind: 'delay', beforeMs: ms });
const after = (ms: number): Fault => ({ kind: 'delay', afterMs: ms });
const fail = (ambiguous: boolean): Fault => ({ kind: 'fail', code: 'unavailable', ambiguous });
/** Rules for the second request only. */
const second = (fault: Fault): Rule => ({ fault, skip: 1 });

function setUp(rules: readonly Rule[]) {
  const timing = new ManualClock();
  const memory = createMemoryBucket({ timing });
  const faulty = withFaults(memory, rules, { timing });
  const counter = createCounter();
  const observed = withObserver(faulty.store, counter, { timing });
  return { timing, memory, faulty, counter, store: withHedge(observed, { timing }) };
}

test('a get slower than 100 ms is doubled, and the first answer wins', async () => {
  const { timing, memory, counter, store } = setUp([{ fault: before(2_000) }, second(after(7))]);
  await memory.create('k', bytes);
  const result = await timing.run(store.get('k'));
  expect(result).toMatchObject({ found: true, bytes });
  expect(timing.monotonic()).toBe(107);
  await timing.run();
  // The loser was aborted, not left to run.
  expect(timing.monotonic()).toBe(107);
  expect(counter.snapshot()).toMatchObject({ requests: { get: 2 }, abandoned: 1 });
});

test('a get that answers in time is not doubled', async () => {
  const { timing, counter, store } = setUp([{ fault: before(99) }]);
  await timing.run(store.get('k'));
  expect(counter.snapshot().requestsTotal).toBe(1);
  expect(timing.sleeping).toBe(0);
});

test('the second request has the range of the first', async () => {
  const { timing, memory, store } = setUp([{ fault: before(2_000) }]);
  await memory.create('k', Buffer.from('0123456789'));
  const result = await timing.run(store.get('k', { range: [2, 5] }));
  expect(result).toMatchObject({ found: true, bytes: utf8('234') });
});

test('*not found* from either request wins', async () => {
  const { timing, store } = setUp([{ fault: before(2_000) }]);
  expect(await timing.run(store.get('k'))).toMatchObject({ found: false });
  expect(timing.monotonic()).toBe(100);
});

test('a create whose first request is stalled is created by the second', async () => {
  const { timing, memory, store } = setUp([{ fault: before(2_000) }]);
  expect(await timing.run(store.create('k', bytes))).toMatchObject({ outcome: 'created' });
  expect(await memory.get('k')).toMatchObject({ found: true, bytes });
});

test('a create that meets its own twin is ambiguous, never a loss', async () => {
  // The first is stored at once and its answer is late, so the second says "exists".
  const { timing, store } = setUp([{ fault: after(2_000) }]);
  const error = await timing.run(failureOf(store.create('k', bytes)));
  expect(error).toMatchObject({
    name: 'BlobError',
    ambiguous: true,
    operation: 'create',
    key: 'k',
  });
  expect(timing.monotonic()).toBe(100);
});

test('a first request that says "exists" after its twin was created is ambiguous too', async () => {
  const { timing, store } = setUp([{ fault: before(150) }, second(after(2_000))]);
  const error = await timing.run(failureOf(store.create('k', bytes)));
  expect(error).toMatchObject({ ambiguous: true });
  expect(timing.monotonic()).toBe(150);
});

test('"exists" is a plain answer while no second request was sent', async () => {
  const { timing, memory, store } = setUp([{ fault: after(99) }]);
  await memory.create('k', Buffer.from('theirs'));
  expect(await timing.run(store.create('k', bytes))).toMatchObject({ outcome: 'exists' });
});

test('a create that lost its answer and meets its twin is ambiguous', async () => {
  const slowlyLost = [{ fault: before(120) }, { fault: lostAnswer }, second(before(60))];
  const { timing, counter, store } = setUp(slowlyLost);
  const error = await timing.run(failureOf(store.create('k', bytes)));
  expect(error).toMatchObject({ ambiguous: true });
  expect([timing.monotonic(), counter.snapshot().requests.create]).toEqual([160, 2]);
});

test('503 after the commit, then the twin’s "exists": ambiguous', async () => {
  const stored: Fault = { kind: 'fail', code: 'unavailable', stored: true };
  const { timing, memory, store } = setUp([
    { fault: before(120) },
    { fault: stored },
    second(before(60)),
  ]);
  expect(await timing.run(failureOf(store.create('k', bytes)))).toMatchObject({ ambiguous: true });
  expect(await memory.get('k')).toMatchObject({ found: true, bytes });
});

test('a failure before the hedge is due is the answer, and nothing is doubled', async () => {
  const { timing, counter, store } = setUp([{ fault: before(50) }, { fault: fail(false) }]);
  expect(await timing.run(failureOf(store.get('k')))).toMatchObject({ code: 'unavailable' });
  expect([timing.monotonic(), counter.snapshot().requestsTotal]).toEqual([50, 1]);
  await timing.run();
  expect(counter.snapshot().requestsTotal).toBe(1);
});

test('a failure of the first request waits for the second', async () => {
  const { timing, memory, store } = setUp([
    { fault: before(120) },
    { fault: fail(false) },
    second(before(400)),
  ]);
  await memory.create('k', bytes);
  expect(await timing.run(store.get('k'))).toMatchObject({ found: true });
  expect(timing.monotonic()).toBe(500);
});

test('a failure of the second request waits for the first', async () => {
  const { timing, store } = setUp([{ fault: before(300) }, second(fail(true))]);
  expect(await timing.run(store.create('k', bytes))).toMatchObject({ outcome: 'created' });
  expect(timing.monotonic()).toBe(300);
});

test.each([
  [true, false],
  [false, true],
])('when both fail the error is ambiguous if either is (%s, %s)', async (first, last) => {
  const rules = [
    { fault: before(120) },
    { fault: fail(first) },
    second(before(400)),
    { fault: fail(last) },
  ];
  const { timing, store } = setUp(rules);
  const error = await timing.run(failureOf(store.create('k', bytes)));
  expect(error).toMatchObject({ code: 'unavailable', ambiguous: true });
  expect(timing.monotonic()).toBe(500);
});

test('the second request has what is left of the deadline', async () => {
  const timing = new ManualClock();
  const given: (number | undefined)[] = [];
  const store = withHedge(
    {
      ...createMemoryBucket({ timing }),
      async get(_key, options) {
        given.push(options?.deadlineMs);
        await timing.sleep(500);
        return { found: false };
      },
    },
    { timing },
  );
  await timing.run(store.get('k', { deadlineMs: 700 }));
  expect(given).toEqual([700, 600]);
});

test('only get and create are doubled', async () => {
  const { timing, memory, counter, store } = setUp([{ fault: before(5_000), times: 99 }]);
  await memory.create('k', bytes);
  const calls = [
    store.head('k'),
    store.list({ prefix: '', limit: 1 }),
    store.replace('k', '1', bytes),
    store.delete('k'),
  ];
  await timing.run(Promise.all(calls));
  expect(counter.snapshot().requestsTotal).toBe(calls.length);
});

test('an abort ends both requests and leaves no timer and no listener', async () => {
  const { timing, counter, store } = setUp([{ fault: before(2_000), times: 2 }]);
  const caller = countedSignal();
  const running = failureOf(store.create('k', bytes, { signal: caller.signal }));
  await timing.advance(150);
  caller.abort('gone');
  expect(await running).toMatchObject({ code: 'aborted', ambiguous: true, cause: 'gone' });
  await drain();
  expect(counter.snapshot().abandoned).toBe(2);
  expect([timing.sleeping, caller.listeners()]).toEqual([0, 0]);
});

test('2,000 calls on one signal leave no timer and no listener', async () => {
  const { timing, store } = setUp([{ fault: before(150), times: 100 }]);
  const caller = countedSignal();
  for (let i = 0; i < 2_000; i++) {
    const call = store.get('k', { signal: caller.signal });
    await (timing.sleeping > 0 ? timing.run(call) : call);
  }
  expect([timing.sleeping, caller.listeners(), caller.listenersMax() <= 2]).toEqual([0, 0, true]);
});
