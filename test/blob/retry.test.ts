// Goal: what may be repeated is repeated, within its deadline; an ambiguous write never is.
// Method: a faulty bucket over memory, virtual time, scripted chance; requests counted below the
// retries.
import { expect, test } from 'vitest';
import type { BlobStore, Chance } from '../../blob/blob.ts';
import { createCounter } from '../../blob/count.ts';
import { withDeadline } from '../../blob/deadline.ts';
import { BlobError, type BlobErrorCode } from '../../blob/errors.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { withObserver } from '../../blob/observe.ts';
import { withRetry } from '../../blob/retry.ts';
import {
  conflict,
  lostAnswer,
  type Rule,
  throttled,
  withFaults,
} from '../support/faulty-bucket.ts';
import { drain, ManualClock } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { withStalls } from '../support/stalling-bucket.ts';

const bytes = Buffer.from('bytes');

function setUp(rules: readonly Rule[], jitter = 0.5) {
  const timing = new ManualClock();
  const memory = createMemoryBucket({ timing });
  const faulty = withFaults(memory, rules, { timing });
  const counter = createCounter();
  const observed = withObserver(faulty.store, counter, { timing });
  const chance: Chance = { number: () => jitter, uuid: () => '' };
  const store = withRetry(withDeadline(observed, { timing }), { timing, chance });
  return { timing, memory, faulty, counter, store };
}

const READS: readonly [string, (store: BlobStore) => Promise<unknown>][] = [
  ['get', (store) => store.get('k')],
  ['head', (store) => store.head('k')],
  ['list', (store) => store.list({ prefix: '', limit: 1 })],
  ['delete', (store) => store.delete('k')],
];

test.each(READS)('`%s()` is repeated while its failures are retryable', async (_, run) => {
  const { timing, counter, store } = setUp([{ fault: throttled(), times: 4 }]);
  await timing.run(run(store));
  expect(counter.snapshot().requestsTotal).toBe(5);
  // Half of 50, 100, 200 and 400 ms.
  expect(timing.monotonic()).toBe(375);
});

test.each(READS)('`%s()` gives up after five attempts with the last error', async (_, run) => {
  const { timing, counter, store } = setUp([{ fault: throttled(), times: 99 }]);
  expect(await timing.run(failureOf(run(store)))).toMatchObject({ code: 'throttled' });
  expect(counter.snapshot().requestsTotal).toBe(5);
});

test('a damaged answer is no integrity error when there is no time for another', async () => {
  const call = { operation: 'get', key: 'k' } as const;
  const damaged = new BlobError({ ...call, code: 'integrity', message: 'cut short' });
  const failing = (): BlobStore => ({
    ...createMemoryBucket({ timing: new ManualClock() }),
    get: () => Promise.reject(damaged),
  });
  const timing = new ManualClock();
  const chance: Chance = { number: () => 0.5, uuid: () => '' };
  const store = withRetry(failing(), { timing, chance });
  const short = await timing.run(failureOf(store.get('k', { deadlineMs: 20 })));
  expect(short).toMatchObject({ code: 'unavailable', cause: damaged });
  // Five times in a row it is the object.
  const long = await timing.run(failureOf(store.get('k')));
  expect(long).toMatchObject({ code: 'integrity' });
});

test.each([
  { damaged: [5], code: 'unavailable' },
  { damaged: [1, 5], code: 'integrity' },
])(
  'with damaged answers $damaged of five, the rest failed, a get is $code',
  async ({ damaged, code }) => {
    const call = { operation: 'get', key: 'k' } as const;
    let attempt = 0;
    const failing: BlobStore = {
      ...createMemoryBucket({ timing: new ManualClock() }),
      get: () => {
        attempt += 1;
        const how = damaged.includes(attempt) ? 'integrity' : 'unavailable';
        return Promise.reject(new BlobError({ ...call, code: how, message: `attempt ${attempt}` }));
      },
    };
    const timing = new ManualClock();
    const store = withRetry(failing, { timing, chance: { number: () => 0.5, uuid: () => '' } });
    expect(await timing.run(failureOf(store.get('k')))).toMatchObject({ code });
    expect(attempt).toBe(5);
  },
);

const FINAL: readonly BlobErrorCode[] = [
  'forbidden',
  'unauthenticated',
  'no-bucket',
  'unsupported',
];
test.each(FINAL)('%s is not repeated', async (code) => {
  const { counter, store } = setUp([{ fault: { kind: 'fail', code } }]);
  expect(await failureOf(store.get('k'))).toMatchObject({ code });
  expect(counter.snapshot().requestsTotal).toBe(1);
});

test('a create is repeated when nothing can have been stored', async () => {
  const fault = { kind: 'fail', code: 'unavailable', ambiguous: false } as const;
  const { timing, counter, store } = setUp([{ fault, times: 2 }]);
  expect(await timing.run(store.create('k', bytes))).toMatchObject({ outcome: 'created' });
  expect(counter.snapshot().requests.create).toBe(3);
});

const OPEN = [
  ['the answer is lost', lostAnswer],
  ['503 after the commit', { kind: 'fail', code: 'unavailable', stored: true }],
  ['503 before the commit', { kind: 'fail', code: 'unavailable' }],
  ['429', throttled()],
  ['409, stored', conflict(true)],
  ['409, not stored', conflict(false)],
] as const;
test.each(OPEN)('an ambiguous create is thrown on as it is: %s', async (_, fault) => {
  const { counter, store } = setUp([{ fault }]);
  expect(await failureOf(store.create('k', bytes))).toMatchObject({ ambiguous: true });
  expect(counter.snapshot().requests.create).toBe(1);
});

test('an ambiguous replace is thrown on as it is', async () => {
  const { counter, store } = setUp([{ operation: 'replace', fault: lostAnswer }]);
  await store.create('k', bytes);
  expect(await failureOf(store.replace('k', '1', bytes))).toMatchObject({ ambiguous: true });
  expect(counter.snapshot().requests.replace).toBe(1);
});

test('a create that fails ambiguously on its second attempt ends there', async () => {
  const clean = { kind: 'fail', code: 'unavailable', ambiguous: false } as const;
  const { timing, counter, store } = setUp([{ fault: clean }, { fault: lostAnswer }]);
  const error = await timing.run(failureOf(store.create('k', bytes)));
  expect(error).toMatchObject({ code: 'timeout', ambiguous: true });
  expect(counter.snapshot().requests.create).toBe(2);
});

test('a delete stays ambiguous when a later attempt is refused', async () => {
  const { timing, store } = setUp([
    { fault: lostAnswer },
    { fault: { kind: 'fail', code: 'forbidden' } },
  ]);
  const error = await timing.run(failureOf(store.delete('k')));
  expect(error).toMatchObject({ code: 'forbidden', ambiguous: true, retryable: false });
});

test('the service’s Retry-After is waited for, and jitter added', async () => {
  const { timing, store } = setUp([
    { fault: { ...throttled(), retryAfterMs: 3_000 } as Rule['fault'] },
  ]);
  await timing.run(store.get('k'));
  expect(timing.monotonic()).toBe(3_025);
});

test('a wait that would pass the deadline is not begun', async () => {
  const { timing, counter, store } = setUp([
    { fault: { ...throttled(), retryAfterMs: 3_000 } as Rule['fault'] },
  ]);
  const error = await timing.run(failureOf(store.get('k', { deadlineMs: 3_000 })));
  expect(error).toMatchObject({ code: 'throttled' });
  expect([timing.monotonic(), counter.snapshot().requestsTotal]).toEqual([0, 1]);
});

test('all attempts together end at the deadline of the call', async () => {
  const timing = new ManualClock();
  const stalling = withStalls(createMemoryBucket({ timing }));
  const faulty = withFaults(stalling.store, [{ fault: throttled(), times: 2 }], { timing });
  const chance: Chance = { number: () => 1, uuid: () => '' };
  const store = withRetry(withDeadline(faulty.store, { timing }), { timing, chance });
  stalling.stall({ mode: 'never-answers', operation: 'get' });
  const error = await timing.run(failureOf(store.get('k', { deadlineMs: 1_000 })));
  expect(error).toMatchObject({ code: 'timeout' });
  expect(faulty.hits()).toEqual([2]);
  expect([timing.monotonic(), timing.sleeping]).toEqual([1_000, 0]);
});

test('an abort while waiting for the next attempt is `aborted` and leaves nothing', async () => {
  const { timing, counter, store } = setUp([{ fault: throttled(), times: 9 }]);
  const caller = countedSignal();
  const running = failureOf(store.get('k', { signal: caller.signal }));
  await drain();
  caller.abort('gone');
  expect(await running).toMatchObject({ code: 'aborted', cause: 'gone', ambiguous: false });
  expect(counter.snapshot().requestsTotal).toBe(1);
  expect([timing.sleeping, caller.listeners()]).toEqual([0, 0]);
});

test('jitter is full: waits spread from nothing to the limit', async () => {
  const waits: number[] = [];
  for (const jitter of [0, 0.25, 0.999]) {
    const { timing, store } = setUp([{ fault: throttled() }], jitter);
    await timing.run(store.get('k'));
    waits.push(timing.monotonic());
  }
  expect(waits).toEqual([0, 12.5, 49.95]);
});
