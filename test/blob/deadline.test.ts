// Goal: every call ends in bounded time, with an honest word about its outcome, and leaves nothing
// behind.
// Method: a bucket whose calls never answer, virtual time, and counts of sleepers and listeners.
import { expect, test } from 'vitest';
import type { BlobStore, Timing } from '../../blob/blob.ts';
import { withDeadline } from '../../blob/deadline.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { drain, ManualClock } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { type StallMode, withStalls } from '../support/stalling-bucket.ts';

const bytes = Buffer.from('bytes');

function setUp() {
  const timing = new ManualClock();
  const memory = createMemoryBucket({ timing });
  const stalling = withStalls(memory);
  return { timing, memory, stalling, store: withDeadline(stalling.store, { timing }) };
}

const CALLS: readonly [string, boolean, (store: BlobStore, o: object) => Promise<unknown>][] = [
  ['create', true, (store, o) => store.create('k', bytes, o)],
  ['replace', true, (store, o) => store.replace('k', '1', bytes, o)],
  ['delete', true, (store, o) => store.delete('k', o)],
  ['get', false, (store, o) => store.get('k', o)],
  ['head', false, (store, o) => store.head('k', o)],
  ['list', false, (store, o) => store.list({ prefix: 'k', limit: 1 }, o)],
];

test.each(CALLS)(
  '`%s()` ends at its deadline when the driver never answers',
  async (name, write, run) => {
    const { timing, stalling, store } = setUp();
    stalling.stall({ mode: 'never-answers', operation: name as 'get', times: 2 });
    const error = await timing.run(failureOf(run(store, { deadlineMs: 300 })));
    expect(error).toMatchObject({
      code: 'timeout',
      ambiguous: write,
      retryable: true,
      operation: name,
    });
    expect(timing.monotonic()).toBe(300);
    await timing.run(failureOf(run(store, {})));
    expect(timing.monotonic()).toBe(10_300);
    expect(timing.sleeping).toBe(0);
  },
);

test.each(CALLS)('`%s()` ends when its caller aborts', async (name, write, run) => {
  const { timing, stalling, store } = setUp();
  stalling.stall({ mode: 'never-answers', operation: name as 'get' });
  const caller = countedSignal();
  const running = failureOf(run(store, { signal: caller.signal }));
  await drain();
  const reason = new Error('user left');
  caller.abort(reason);
  expect(await running).toMatchObject({ code: 'aborted', ambiguous: write, cause: reason });
  expect([timing.sleeping, caller.listeners()]).toEqual([0, 0]);
});

test.each(CALLS)(
  '`%s()` with an aborted signal or no time left sends nothing',
  async (_, __, run) => {
    const { timing, stalling, store } = setUp();
    for (const operation of ['create', 'replace', 'delete', 'get', 'head', 'list'] as const) {
      stalling.stall({ mode: 'never-answers', operation });
    }
    const aborted = await failureOf(run(store, { signal: AbortSignal.abort() }));
    expect(aborted).toMatchObject({ code: 'aborted', ambiguous: false });
    const late = await failureOf(run(store, { deadlineMs: 0 }));
    expect(late).toMatchObject({ code: 'timeout', ambiguous: false });
    expect([stalling.held.length, timing.sleeping]).toEqual([0, 0]);
  },
);

test('the signal handed down aborts, and a late failure of the driver is dropped', async () => {
  const timing = new ManualClock();
  const seen: AbortSignal[] = [];
  const slow: BlobStore = {
    ...createMemoryBucket({ timing }),
    async get(_key, options) {
      if (options?.signal) seen.push(options.signal);
      await timing.sleep(5_000);
      throw new Error('the driver fails long after its caller has gone');
    },
  };
  const store = withDeadline(slow, { timing });
  const error = await timing.run(failureOf(store.get('k', { deadlineMs: 100 })));
  expect(error).toMatchObject({ code: 'timeout' });
  expect(seen.map((signal) => signal.aborted)).toEqual([true]);
  // An unhandled rejection here would fail the run.
  await timing.run();
});

test.each<[StallMode, boolean]>([
  ['stored-unanswered', true],
  ['never-answers', false],
])('an unanswered create (%s) is ambiguous whether it was stored or not', async (mode, stored) => {
  const { timing, stalling, memory, store } = setUp();
  stalling.stall({ mode });
  const error = await timing.run(failureOf(store.create('k', bytes)));
  expect(error).toMatchObject({ code: 'timeout', ambiguous: true });
  expect((await memory.head('k')).found).toBe(stored);
});

test('a clock that can only sleep bounds a call too, and is left no sleeper', async () => {
  const clock = new ManualClock();
  const timing: Timing = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (ms, options) => clock.sleep(ms, options),
  };
  const stalling = withStalls(createMemoryBucket({ timing }));
  const store = withDeadline(stalling.store, { timing });
  await store.create('k', bytes);
  expect(clock.sleeping).toBe(0);
  stalling.stall({ mode: 'never-answers', operation: 'get' });
  const error = await clock.run(failureOf(store.get('k', { deadlineMs: 300 })));
  expect(error).toMatchObject({ code: 'timeout' });
  expect([clock.monotonic(), clock.sleeping]).toEqual([300, 0]);
});

test('10,000 calls on one signal leave no listener and no timer', async () => {
  const { timing, store } = setUp();
  const caller = countedSignal();
  for (let i = 0; i < 10_000; i++) await store.head('k', { signal: caller.signal });
  expect([timing.sleeping, caller.listeners()]).toEqual([0, 0]);
  expect(caller.listenersMax()).toBe(1);
});
