// Goal: the whole stack never turns our own success into a plain "exists", never hangs, leaves
// nothing.
// Method: the decorators as they are laid in use, over a bucket that loses, stalls and refuses by a
// seed; the caller does what the log does, and what it concludes is compared with the bucket.
import { expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createCounter } from '../../blob/count.ts';
import { withDeadline } from '../../blob/deadline.ts';
import { isBlobError } from '../../blob/errors.ts';
import { withHedge } from '../../blob/hedge.ts';
import { withLanes } from '../../blob/lanes.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { withObserver } from '../../blob/observe.ts';
import { withRetry } from '../../blob/retry.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { type Fault, type Rule, withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { withStalls } from '../support/stalling-bucket.ts';

function stack(driver: BlobStore, timing: ManualClock, chance: SeededRandom) {
  const counter = createCounter();
  const observed = withObserver(driver, counter, { timing });
  const bounded = withDeadline(withHedge(observed, { timing }), { timing });
  const lanes = { commit: createLimit(4), read: createLimit(4), bulk: createLimit(4) };
  const store = withRetry(withLanes(bounded, lanes, { timing }), { timing, chance });
  return { counter, store };
}

const FAULTS: Readonly<Record<string, Fault>> = {
  lost: { kind: 'fail', code: 'timeout', stored: true },
  'unavailable after': { kind: 'fail', code: 'unavailable', stored: true },
  'unavailable before': { kind: 'fail', code: 'unavailable' },
  'refused connection': { kind: 'fail', code: 'unavailable', ambiguous: false },
  throttled: { kind: 'fail', code: 'throttled' },
  'late request': { kind: 'delay', beforeMs: 400 },
  'late answer': { kind: 'delay', afterMs: 400 },
};

function rules(chance: SeededRandom, part: number): readonly Rule[] {
  return Object.values(FAULTS).map((fault) => ({
    fault,
    operation: 'create',
    times: Number.POSITIVE_INFINITY,
    when: () => chance.number() < part,
  }));
}

test.each([1, 2, 3, 4, 5, 6])(
  'no create of ours is ever reported as a plain "exists" (seed %i)',
  async (seed) => {
    const timing = new ManualClock();
    const chance = new SeededRandom(seed);
    const memory = createMemoryBucket({ timing });
    const faulty = withFaults(memory, rules(chance.derive('faults'), 0.08), { timing });
    const { store } = stack(faulty.store, timing, chance.derive('retry'));
    const told = { created: 0, exists: 0, ambiguous: 0, failed: 0 };
    const attempt = async (i: number): Promise<void> => {
      const key = `k${i}`;
      const ours = Buffer.from(`ours ${i}`);
      const isTaken = i % 5 === 0;
      if (isTaken) await memory.create(key, Buffer.from('theirs'));
      try {
        const { outcome } = await store.create(key, ours, { lane: 'commit' });
        told[outcome]++;
        // Nobody else wrote the name, so "exists" could only be our own object.
        expect(outcome).toBe(isTaken ? 'exists' : 'created');
      } catch (error) {
        if (!isBlobError(error)) throw error;
        told[error.ambiguous ? 'ambiguous' : 'failed']++;
        if (!error.ambiguous) {
          const found = await memory.get(key);
          expect(found.found && Buffer.compare(found.bytes, ours) === 0).toBe(false);
        }
      }
    };
    for (let i = 0; i < 400; i++) await timing.run(attempt(i));
    await timing.run();
    expect(timing.sleeping).toBe(0);
    expect(faulty.hits().every((hits) => hits > 0)).toBe(true);
    expect(told.created).toBeGreaterThan(150);
    expect(told.exists).toBeGreaterThan(30);
    expect(told.ambiguous).toBeGreaterThan(30);
  },
);

test('reads, lists and deletes get through a service that fails one in five', async () => {
  const timing = new ManualClock();
  const chance = new SeededRandom(9);
  const memory = createMemoryBucket({ timing });
  const flaky: Rule = {
    fault: { kind: 'fail', code: 'unavailable' },
    times: Number.POSITIVE_INFINITY,
    when: () => chance.number() < 0.2,
  };
  const { counter, store } = stack(withFaults(memory, [flaky], { timing }).store, timing, chance);
  for (let i = 0; i < 100; i++) {
    await memory.create(`k${i}`, Buffer.from([i]));
    expect(await timing.run(store.get(`k${i}`))).toMatchObject({ found: true });
    expect(await timing.run(store.head(`k${i}`))).toMatchObject({ found: true });
    await timing.run(store.list({ prefix: '', limit: 10 }));
    await timing.run(store.delete(`k${i}`));
    expect((await memory.head(`k${i}`)).found).toBe(false);
  }
  expect(counter.snapshot().requestsTotal).toBeGreaterThan(450);
  expect(timing.sleeping).toBe(0);
});

test.each(['never-answers', 'stored-unanswered'] as const)(
  'a create that is never answered (%s) ends at its deadline; its room is free again',
  async (mode) => {
    const timing = new ManualClock();
    const stalling = withStalls(createMemoryBucket({ timing }));
    const { store } = stack(stalling.store, timing, new SeededRandom(1));
    // Both of each: the request and its hedge.
    stalling.stall({ mode, times: 8 });
    const stuck = Array.from({ length: 4 }, (_, i) =>
      store.create(`s${i}`, Buffer.from('s'), { lane: 'commit', deadlineMs: 3_000 }).then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    const queued = store.create('q', Buffer.from('q'), { lane: 'commit' });
    const errors = await timing.run(Promise.all(stuck));
    for (const error of errors) expect(error).toMatchObject({ code: 'timeout', ambiguous: true });
    expect(timing.monotonic()).toBe(3_000);
    expect(await timing.run(queued)).toMatchObject({ outcome: 'created' });
    expect([timing.monotonic(), timing.sleeping]).toEqual([3_000, 0]);
  },
);

test('an idle stack costs nothing: a call that succeeds is one request', async () => {
  const timing = new ManualClock();
  const memory = createMemoryBucket({ timing });
  const { counter, store } = stack(memory, timing, new SeededRandom(1));
  await store.create('k', Buffer.from('k'));
  await store.get('k');
  await store.head('k');
  await store.list({ prefix: '', limit: 1 });
  await store.delete('k');
  await timing.run();
  const requests = { create: 1, get: 1, head: 1, list: 1, delete: 1, replace: 0 };
  expect(counter.snapshot().requests).toEqual(requests);
});
