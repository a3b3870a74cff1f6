// Goal: the latency model is the one that is documented, whatever the seed.
// Method: percentiles of many calls in virtual time; rates and per-name limits at their borders.
import { expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { NAMES_MAX, withLatencyModel } from '../../blob/model.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';

function setUp(seed = 5) {
  const timing = new ManualClock();
  const memory = createMemoryBucket({ timing });
  const chance = new SeededRandom(seed);
  return { timing, memory, store: withLatencyModel(memory, { timing, chance, model: 'gcs' }) };
}

async function took(timing: ManualClock, work: () => Promise<unknown>): Promise<number> {
  const startedMs = timing.monotonic();
  await timing.run(work());
  return timing.monotonic() - startedMs;
}

/** The value that `part` of the samples do not exceed. */
function percentile(samples: readonly number[], part: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN;
}

test.each([1, 2, 3])(
  'small creates take 40 ms at the median and 50 ms at the 99th (seed %i)',
  async (seed) => {
    const { timing, store } = setUp(seed);
    const samples: number[] = [];
    for (let i = 0; i < 3_000; i++) {
      samples.push(await took(timing, () => store.create(`k${i}`, new Uint8Array(1))));
    }
    expect(percentile(samples, 0.5)).toBeGreaterThan(39.5);
    expect(percentile(samples, 0.5)).toBeLessThan(40.5);
    expect(percentile(samples, 0.99)).toBeGreaterThan(49);
    expect(percentile(samples, 0.99)).toBeLessThan(51);
  },
);

test('bytes take a second for each 50 MB, both ways', async () => {
  const { timing, memory, store } = setUp();
  const large = new Uint8Array(5_000_000);
  const createMs = await took(timing, () => store.create('large', large));
  expect(createMs).toBeGreaterThan(100 + 30);
  expect(createMs).toBeLessThan(100 + 60);
  await memory.create('same', large);
  expect(await took(timing, () => store.get('same'))).toBe(120);
  expect(await took(timing, () => store.get('same', { range: [0, 500_000] }))).toBe(30);
});

test('head and delete take 12 ms, a list 25 ms, a get of nothing 20 ms', async () => {
  const { timing, store } = setUp();
  const calls: readonly [number, () => Promise<unknown>][] = [
    [12, () => store.head('k')],
    [12, () => store.delete('k')],
    [25, () => store.list({ prefix: '', limit: 9 })],
    [20, () => store.get('k')],
  ];
  for (const [ms, run] of calls) expect(await took(timing, run)).toBe(ms);
});

test.each([
  [500, 1.25],
  [1_000, 2],
  [2_000, 5],
])('at %i creates a second a create takes %d times its time', async (perSecond, times) => {
  const { timing, store } = setUp();
  const samples: number[] = [];
  const all: Promise<void>[] = [];
  for (let i = 0; i < perSecond * 2; i++) {
    const startedMs = timing.monotonic();
    const late = i >= perSecond;
    all.push(
      store.create(`k${i}`, new Uint8Array(1)).then(() => {
        if (late) samples.push(timing.monotonic() - startedMs);
      }),
    );
    await timing.advance(1_000 / perSecond);
  }
  await timing.run(Promise.all(all));
  // The window moves in steps of 100 ms, so it holds between 0.9 and 1.0 s of creates.
  expect(percentile(samples, 0.5)).toBeGreaterThan(40 * (1 + (times - 1) * 0.81) * 0.97);
  expect(percentile(samples, 0.5)).toBeLessThan(40 * times * 1.03);
});

test('the rate is forgotten after a second', async () => {
  const { timing, store } = setUp();
  const all = Array.from({ length: 3_000 }, (_, i) => store.create(`k${i}`, new Uint8Array(1)));
  await timing.run(Promise.all(all));
  await timing.advance(1_100);
  expect(await took(timing, () => store.create('later', new Uint8Array(1)))).toBeLessThan(65);
});

const MUTATIONS: readonly [string, (store: BlobStore) => Promise<unknown>][] = [
  ['create', (store) => store.create('k', new Uint8Array(1))],
  ['replace', (store) => store.replace('k', '1', new Uint8Array(1))],
  ['delete', (store) => store.delete('k')],
];
test.each(MUTATIONS)(
  'a second mutation of a name within a second is 429: `%s()`',
  async (_, run) => {
    const { timing, memory, store } = setUp();
    await timing.run(store.create('k', new Uint8Array(1)));
    const error = await timing.run(failureOf(run(store)));
    expect(error).toMatchObject({ code: 'throttled', ambiguous: true, retryable: true });
    expect((await memory.head('k')).found).toBe(true);
    // Another name, and the same a second later, are served.
    await timing.run(store.create('other', new Uint8Array(1)));
    await timing.advance(1_000);
    await timing.run(run(store));
  },
);

test('a refusal does not push the next admitted mutation back', async () => {
  const { timing, store } = setUp();
  await timing.run(store.create('k', new Uint8Array(1)));
  let refused = 0;
  while (timing.monotonic() < 1_000) {
    await timing.run(failureOf(store.delete('k')));
    refused++;
  }
  expect(refused).toBeGreaterThan(10);
  await timing.advance(60);
  await timing.run(store.delete('k'));
});

test('reads of a name are never throttled', async () => {
  const { timing, store } = setUp();
  await timing.run(store.create('k', new Uint8Array(1)));
  await timing.run(Promise.all(Array.from({ length: 100 }, () => store.get('k'))));
});

test('an abort is ambiguous only after the object has landed', async () => {
  const { timing, memory, store } = setUp();
  for (const [afterMs, stored] of [
    [5, false],
    [30, true],
  ] as const) {
    const key = `k${afterMs}`;
    const caller = new AbortController();
    const running = failureOf(store.create(key, new Uint8Array(1), { signal: caller.signal }));
    await timing.advance(afterMs);
    caller.abort();
    expect(await running).toMatchObject({ code: 'aborted', ambiguous: stored });
    expect((await memory.head(key)).found).toBe(stored);
  }
  expect(timing.sleeping).toBe(0);
});

test('no more than 16,384 names are remembered, the newest', async () => {
  const { timing, store } = setUp();
  const deletes = Array.from({ length: NAMES_MAX + 1 }, (_, i) => store.delete(`k${i}`));
  await timing.run(Promise.all(deletes));
  await timing.run(store.delete('k0'));
  const error = await timing.run(failureOf(store.delete(`k${NAMES_MAX}`)));
  expect(error).toMatchObject({ code: 'throttled' });
});
