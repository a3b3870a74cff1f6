/**
 * Goal: what a store keeps in memory has a bound, and what it gives back is given back (I17).
 * Method: more than the bound is put in under virtual time; then sizes, listeners and sleepers are
 * counted.
 */
import { describe, expect, test, vi } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { uuidOf } from '../../bucketstore/base/uuid.ts';
import { Member } from '../../bucketstore/commit/member.ts';
import { parseMutation } from '../../bucketstore/commit/mutation.ts';
import { OPERATIONS_MAX, OPERATIONS_MIN, Operations } from '../../bucketstore/commit/operations.ts';
import { Queue } from '../../bucketstore/commit/queue.ts';
import type { World } from '../../bucketstore/index.ts';
import type { Slot } from '../../bucketstore/log/records.ts';
import { BodyReader } from '../../bucketstore/snapshot/body-reader.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';

const MINUTE_MS = 60_000;

/** A slot of `count` archives; only its operations matter. */
function slotOf(first: number, count: number): Slot {
  const entries = Array.from({ length: count }, (_, i) => {
    return { kind: 'archive' as const, op: uuidOf(`op ${first + i}`), path: '/a.md' };
  });
  const last = sequence(first + count - 1);
  return { first: sequence(first), last, entries } as unknown as Slot;
}

describe('operations', () => {
  const noteMany = (operations: Operations, from: number, count: number): void => {
    for (let first = from; first < from + count; first += 256) operations.note(slotOf(first, 256));
  };

  test('keep those of 15 minutes, and never more than their bytes allow', () => {
    const operations = new Operations(new ManualClock());
    noteMany(operations, 2, OPERATIONS_MAX + 10_000);
    expect(operations.size).toBe(OPERATIONS_MAX);
    expect(operations.find(uuidOf('op 2'))).toBeUndefined();
    expect(OPERATIONS_MAX).toBeGreaterThan(OPERATIONS_MIN);
  });

  test('keep the last 65,536 whatever their age, and drop older ones beyond them', async () => {
    const clock = new ManualClock();
    const operations = new Operations(clock);
    noteMany(operations, 2, OPERATIONS_MIN + 1024);
    expect(operations.size).toBe(OPERATIONS_MIN + 1024);
    await clock.advance(16 * MINUTE_MS);
    operations.note(slotOf(100_000, 1));
    expect(operations.size).toBe(OPERATIONS_MIN);
    expect(operations.find(uuidOf('op 2'))).toBeUndefined();
    expect(operations.find(uuidOf('op 100000'))).toMatchObject({
      slot: 100_000,
      sequence: 100_000,
    });
    await clock.advance(60 * MINUTE_MS);
    operations.note(slotOf(100_001, 1));
    expect(operations.size).toBe(OPERATIONS_MIN);
  });
});

describe('the queue', () => {
  const mutation = (body: string) =>
    parseMutation({ kind: 'publish', path: '/a.md', expected: 'any', body }, uuidOf(body));

  test('gives room back for every answer, however it came', async () => {
    const clock = new ManualClock();
    const queue = new Queue({ members: 4, bytes: 10_000 });
    const caller = countedSignal();
    const options = { signal: caller.signal, deadlineMs: 1_000 };
    const members = ['answered', 'failed', 'overdue', 'aborted'].map(
      (body) =>
        new Member([mutation(body)], clock, body === 'aborted' ? options : { deadlineMs: 1_000 }),
    );
    for (const member of members) queue.add(member);
    expect(queue.size).toBe(4);
    expect(queue.bytes).toBeGreaterThan(4 * 512);
    const [answered, failed] = members;
    answered?.answer([]);
    failed?.fail(new RangeError('no'));
    expect(queue.size).toBe(2);
    caller.abort();
    expect(queue.size).toBe(1);
    await clock.advance(1_000);
    expect(queue.size).toBe(0);
    expect(queue.bytes).toBe(0);
    expect(clock.sleeping).toBe(0);
    expect(caller.listeners()).toBe(0);
  });

  test('a request makes no abort signal before one is asked for', async () => {
    const Native = AbortController;
    let made = 0;
    const { signal } = new AbortController();
    class Counted extends Native {
      constructor() {
        super();
        made++;
      }
    }
    vi.stubGlobal('AbortController', Counted);
    try {
      const clock = new ManualClock();
      const queue = new Queue({ members: 4, bytes: 10_000 });
      const make = (body: string) =>
        new Member([mutation(body)], clock, { signal, deadlineMs: 1_000 });
      const [answered, overdue] = [make('answered'), make('overdue')];
      queue.add(answered);
      queue.add(overdue);
      answered.answer([]);
      await clock.advance(1_000);
      expect([answered.isAnswered, overdue.isAnswered, queue.size]).toEqual([true, true, 0]);
      expect(made).toBe(0);
      const early = make('early');
      expect([early.answered.aborted, answered.answered.aborted]).toEqual([false, true]);
      early.answer([]);
      expect([early.answered.aborted, made]).toEqual([true, 2]);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('refuses what would pass either bound, and keeps nothing of it', () => {
    const clock = new ManualClock();
    const queue = new Queue({ members: 2, bytes: 3_000 });
    const member = (body: string) => new Member([mutation(body)], clock, { deadlineMs: 1_000 });
    queue.add(member('a'));
    expect(() => queue.add(member('x'.repeat(4_000)))).toThrow(/not committed/);
    queue.add(member('b'));
    expect(() => queue.add(member('c'))).toThrow(/not committed/);
    expect(queue.size).toBe(2);
    queue.failAll(new RangeError('closed'));
    expect([queue.size, queue.bytes]).toEqual([0, 0]);
  });
});

test('the body cache holds no more bytes than it may', () => {
  const bucket = createMemoryBucket({ timing: new ManualClock() });
  const bodies = new BodyReader(bucket, 10_000);
  for (let i = 0; i < 100; i++) bodies.remember(`hash ${i}`, new Uint8Array(900));
  expect(bodies.cachedBytes).toBe(9_900);
  bodies.remember('larger than all', new Uint8Array(10_001));
  expect(bodies.cachedBytes).toBe(9_900);
  const none = new BodyReader(bucket, 0);
  none.remember('hash', new Uint8Array(1));
  expect(none.cachedBytes).toBe(0);
});

describe('a store under load', () => {
  const write = (world: World, i: number, options: object = {}) =>
    world.publish({ path: `/${i % 50}.md`, expected: 'any', body: `body ${i}` }, options);

  test('leaves no sleeper and no listener behind its answers', async () => {
    const bench = new WorldBench();
    const [a, b] = [await bench.open(), await bench.open()];
    const caller = countedSignal();
    const { signal } = caller;
    for (let round = 0; round < 20; round++) {
      // Few share the signal: more than ten listeners at once would be a warning of Node's own.
      const writes = Array.from({ length: 20 }, (_, i) =>
        write(i % 2 ? a : b, round * 20 + i, i < 2 ? { signal } : {}),
      );
      const view = b.view();
      const reads = [
        view.isDir('/', { signal }),
        b.stat({ signal }),
        view.listEntries('/', { signal }),
        view.verifyChain('/1.md', { signal }).catch(() => undefined),
      ];
      await bench.run(Promise.all([...writes, ...reads]));
      await bench.run(b.view().get('/0.md', { signal }));
      await view.close();
    }
    expect(bench.clock.sleeping).toBe(0);
    expect(caller.listeners()).toBe(0);
    expect(caller.listenersMax()).toBeLessThanOrEqual(10);
    await bench.run(Promise.all([a.close(), b.close()]));
    expect(bench.clock.sleeping).toBe(0);
  });

  test('readers that leave a look that hangs leave nothing behind', async () => {
    const bench = new WorldBench();
    const stalling = withStalls(bench.bucket);
    const world = await bench.open({ bucket: stalling.store });
    stalling.stall({ mode: 'never-answers', operation: 'head', times: 2 });
    const caller = countedSignal();
    const others = Array.from({ length: 20 }, countedSignal);
    const reads = Array.from({ length: 100 }, () =>
      failureOf(world.stat({ signal: caller.signal })),
    );
    await bench.clock.advance(1);
    const held = stalling.held.length;
    expect(held, '100 readers share one look').toBe(1);
    for (const one of [caller, ...others]) one.abort(new RangeError('all left'));
    await Promise.all(reads);
    expect(caller.listeners()).toBe(0);
    await bench.clock.advance(30_000);
    expect(bench.clock.sleeping).toBe(0);
    const { sequence: tip } = await bench.run(world.stat());
    expect(tip).toBe(sequence(1) satisfies Sequence);
  });
});
