// Goal: every request on the wire is told once, with what it cost; counts are the basis of cost
// figures.
// Method: events collected over a faulty bucket in virtual time; retries and hedges laid above.
import { expect, test } from 'vitest';
import { createCounter } from '../../blob/count.ts';
import { withDeadline } from '../../blob/deadline.ts';
import { withHedge } from '../../blob/hedge.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { type Observer, type RequestEvent, withObserver } from '../../blob/observe.ts';
import { withRetry } from '../../blob/retry.ts';
import { lostAnswer, type Rule, throttled, withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { withStalls } from '../support/stalling-bucket.ts';

const body = new Uint8Array(10);

function setUp(rules: readonly Rule[] = []) {
  const timing = new ManualClock();
  const faulty = withFaults(createMemoryBucket({ timing }), rules, { timing });
  const events: RequestEvent[] = [];
  const observer: Observer = { observe: (event) => events.push(event) };
  return { timing, events, store: withObserver(faulty.store, observer, { timing }) };
}

test('each operation is one event with its outcome and its bytes', async () => {
  const { events, store } = setUp();
  await store.get('k');
  await store.create('k', body);
  await store.create('k', body);
  const head = await store.head('k');
  await store.get('k', { range: [2, 6] });
  const generation = head.found ? head.attributes.generation : '';
  await store.replace('k', generation, body);
  await store.replace('k', generation, body);
  await store.list({ prefix: '', limit: 5 });
  await store.delete('k');
  const told = events.map((e) => [e.operation, e.key, e.outcome, e.bytesIn, e.bytesOut]);
  expect(told).toEqual([
    ['get', 'k', 'absent', 0, 0],
    ['create', 'k', 'created', 0, 10],
    ['create', 'k', 'exists', 0, 10],
    ['head', 'k', 'found', 0, 0],
    ['get', 'k', 'found', 4, 0],
    ['replace', 'k', 'replaced', 0, 10],
    ['replace', 'k', 'changed', 0, 10],
    ['list', '', 'listed', 0, 0],
    ['delete', 'k', 'deleted', 0, 0],
  ]);
});

test('a failure is told with its code, its ambiguity and its duration', async () => {
  const { timing, events, store } = setUp([
    { fault: { kind: 'delay', beforeMs: 30 } },
    { fault: lostAnswer },
  ]);
  await timing.run(failureOf(store.create('k', body)));
  const failed = { outcome: 'failed', code: 'timeout', ambiguous: true, durationMs: 30 };
  expect(events).toMatchObject([failed]);
});

test('a request that the driver never answers is told once, when its caller gives up', async () => {
  const timing = new ManualClock();
  const stalling = withStalls(createMemoryBucket({ timing }));
  const counter = createCounter();
  const observed = withObserver(stalling.store, counter, { timing });
  const store = withDeadline(observed, { timing });
  stalling.stall({ mode: 'never-answers' });
  await timing.run(failureOf(store.create('k', body, { deadlineMs: 100 })));
  await stalling.release();
  const { requests, abandoned, bytesOut, errors } = counter.snapshot();
  expect([requests.create, abandoned, bytesOut, errors]).toEqual([1, 1, 10, {}]);
});

test('a call that sends nothing is no event', async () => {
  const { events, store } = setUp();
  await failureOf(store.get('k', { signal: AbortSignal.abort() }));
  await failureOf(store.get(''));
  expect(events).toEqual([]);
});

test('what an observer throws changes no answer', async () => {
  const timing = new ManualClock();
  const observer: Observer = {
    observe() {
      throw new Error('metrics are down');
    },
  };
  const store = withObserver(createMemoryBucket({ timing }), observer, { timing });
  expect(await store.create('k', body)).toMatchObject({ outcome: 'created' });
});

test('calls on one signal leave no listener', async () => {
  const { store } = setUp();
  const caller = countedSignal();
  for (let i = 0; i < 1_000; i++) await store.head('k', { signal: caller.signal });
  expect([caller.listeners(), caller.listenersMax()]).toEqual([0, 1]);
});

test('the counter counts repeated attempts and hedges, which the service bills', async () => {
  const timing = new ManualClock();
  const rules: Rule[] = [
    { operation: 'head', fault: throttled(), times: 2 },
    { operation: 'get', fault: { kind: 'delay', beforeMs: 5_000 } },
  ];
  const faulty = withFaults(createMemoryBucket({ timing }), rules, { timing });
  const counter = createCounter();
  const observed = withObserver(faulty.store, counter, { timing });
  const chance = new SeededRandom(1);
  const store = withRetry(withHedge(observed, { timing }), { timing, chance });
  await timing.run(store.head('k'));
  await timing.run(store.get('k'));
  const counts = counter.snapshot();
  expect(counts.requests).toMatchObject({ head: 3, get: 2, create: 0 });
  expect(counts).toMatchObject({ requestsTotal: 5, errors: { throttled: 2 }, abandoned: 1 });
});

test('a snapshot is a copy, and `reset()` begins again at zero', async () => {
  const timing = new ManualClock();
  const counter = createCounter();
  const store = withObserver(createMemoryBucket({ timing }), counter, { timing });
  await store.create('k', body);
  const first = counter.snapshot();
  await store.get('k');
  expect(first).toMatchObject({ requestsTotal: 1, bytesOut: 10, bytesIn: 0 });
  expect(counter.snapshot()).toMatchObject({ requestsTotal: 2, bytesOut: 10, bytesIn: 10 });
  counter.reset();
  const zero = { requestsTotal: 0, bytesIn: 0, bytesOut: 0, errors: {}, abandoned: 0 };
  expect(counter.snapshot()).toMatchObject(zero);
});
