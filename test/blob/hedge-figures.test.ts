// Goal: when hedges are sent, how many, and what they bring, as numbers.
// Method: the latency window alone; then thousands of calls on the latency model in virtual time,
// of which a seeded 2 % stall for 2 s on their way to the bucket.
import { expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createCounter } from '../../blob/count.ts';
import { withHedge } from '../../blob/hedge.ts';
import { LatencyWindow, WINDOW_SAMPLES, WINDOW_STEP } from '../../blob/latency-window.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { withLatencyModel } from '../../blob/model.ts';
import { withObserver } from '../../blob/observe.ts';
import { type Rule, withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

test('the window says 100 ms, then the 95th percentile, worked out every 32 successes', () => {
  const window = new LatencyWindow();
  for (let i = 1; i < WINDOW_STEP; i++) window.add(200 + i);
  expect(window.delayMs).toBe(100);
  window.add(200 + WINDOW_STEP);
  // The 31st of 32 in order: 0.95 × 32 rounded up.
  expect(window.delayMs).toBe(231);
  window.add(1_000);
  expect(window.delayMs).toBe(231);
});

test('the window forgets all but the last 256 successes and stays within 25 ms and 1 s', () => {
  const window = new LatencyWindow();
  const fill = (ms: number): void => {
    for (let i = 0; i < WINDOW_SAMPLES; i++) window.add(ms);
  };
  fill(400);
  expect(window.delayMs).toBe(400);
  fill(3);
  expect(window.delayMs).toBe(25);
  fill(60_000);
  expect(window.delayMs).toBe(1_000);
});

/** A store that answers after `stallMs` whenever told so, and one counter below the hedge. */
function setUp(rules: readonly Rule[]) {
  const timing = new ManualClock();
  const memory = createMemoryBucket({ timing });
  const faulty = withFaults(memory, rules, { timing });
  const counter = createCounter();
  const observed = withObserver(faulty.store, counter, { timing });
  return { timing, counter, store: withHedge(observed, { timing }) };
}

test('creates of different sizes have windows of their own', async () => {
  const rules: Rule[] = [
    { operation: 'create', fault: { kind: 'delay', beforeMs: 30 }, times: WINDOW_STEP },
    { operation: 'create', fault: { kind: 'delay', beforeMs: 80 }, skip: WINDOW_STEP, times: 99 },
  ];
  const { timing, counter, store } = setUp(rules);
  const small = Buffer.alloc(64 * 1024 - 1);
  const middle = Buffer.alloc(64 * 1024);
  const large = Buffer.alloc(1024 * 1024);
  for (let i = 0; i < WINDOW_STEP; i++) await timing.run(store.create(`s${i}`, small));
  expect(counter.snapshot().requests.create).toBe(WINDOW_STEP);
  // 80 ms is slow for a small one, whose window says 30 by now, and not for others, at 100.
  const requests = async (bytes: Uint8Array): Promise<number> => {
    counter.reset();
    await timing.run(store.create(`x${bytes.length}`, bytes));
    return counter.snapshot().requests.create;
  };
  expect([await requests(middle), await requests(large), await requests(small)]).toEqual([1, 1, 2]);
});

test('of n slow calls no more than n / 10 + 10 are doubled', async () => {
  // Slower and slower, so that the window never catches up.
  const { timing, counter, store } = setUp([
    { fault: { kind: 'delay', beforeMs: 5_000 }, times: Number.POSITIVE_INFINITY },
  ]);
  let doubled = 0;
  for (let n = 1; n <= 400; n++) {
    await timing.run(store.get('k'));
    doubled = counter.snapshot().requests.get - n;
    expect(doubled).toBeLessThanOrEqual(n / 10 + 10);
  }
  // And it is spent to the last tenth: the first call finds the bank full and earns nothing.
  expect(doubled).toBe(49);
});

interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly requests: number;
}

/** Latencies of sequential calls on the model, 2 % of the requests stalled for 2 s on their way. */
async function stalled(
  hedged: boolean,
  operation: 'get' | 'create',
  calls: number,
): Promise<Figures> {
  const timing = new ManualClock();
  const chance = new SeededRandom(11);
  const memory = createMemoryBucket({ timing });
  await memory.create('k', Buffer.alloc(1024));
  const model = withLatencyModel(memory, { timing, chance: chance.derive('model'), model: 'gcs' });
  const stalls = chance.derive('stalls');
  const faulty = withFaults(
    model,
    [
      {
        fault: { kind: 'delay', beforeMs: 2_000 },
        times: Number.POSITIVE_INFINITY,
        when: () => stalls.number() < 0.02,
      },
    ],
    { timing },
  );
  const counter = createCounter();
  const observed = withObserver(faulty.store, counter, { timing });
  const store: BlobStore = hedged ? withHedge(observed, { timing }) : observed;
  const latencies: number[] = [];
  const body = Buffer.alloc(1024);
  for (let i = 0; i < calls; i++) {
    const startedMs = timing.monotonic();
    const call = operation === 'get' ? store.get('k') : store.create(`n${i}`, body);
    await timing.run(call as Promise<unknown>);
    latencies.push(timing.monotonic() - startedMs);
  }
  latencies.sort((a, b) => a - b);
  const at = (part: number): number => latencies[Math.ceil(part * calls) - 1] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), requests: counter.snapshot().requestsTotal };
}

test.each(['get', 'create'] as const)(
  'two of 100 requests stalled 2 s: the 99th percentile of `%s()` falls at least 5 times',
  async (operation) => {
    const calls = 4_000;
    const plain = await stalled(false, operation, calls);
    const hedged = await stalled(true, operation, calls);
    expect(plain.p99).toBeGreaterThan(2_000);
    expect(hedged.p99).toBeLessThan(plain.p99 / 5);
    expect(hedged.p50).toBeLessThan(plain.p50 * 1.1);
    expect(plain.requests).toBe(calls);
    // Hedges were sent, and fewer than one in ten.
    expect(hedged.requests).toBeGreaterThan(calls * 1.01);
    expect(hedged.requests).toBeLessThan(calls * 1.1);
  },
);
