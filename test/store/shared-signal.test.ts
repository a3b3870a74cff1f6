/**
 * Goal: a server may hand one abort signal to any number of calls (its own shutdown, say): Node
 * warns of no leak, there is none, and each call hears the signal. Method: many calls at once on
 * one signal, on a world and on a bucket with every decorator.
 */
import { getEventListeners } from 'node:events';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { decorateBucket } from '../../blob/index.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { openWorld } from '../../bucketstore/index.ts';
import { withFaults } from '../support/faulty-bucket.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const CALLS = 60;
/** One of the bucket's own, one of the store's. */
const LISTENERS_MAX = 2;

const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
afterEach(() => {
  expect(warned.mock.calls).toEqual([]);
});
afterAll(() => warned.mockRestore());

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const all = <T>(make: (index: number) => Promise<T>): Promise<T>[] => {
  return Array.from({ length: CALLS }, (_, index) => make(index));
};

describe('one signal for many calls', () => {
  it('of a world leaves nothing behind', async () => {
    const clock = new ManualClock();
    const components = {
      clock,
      random: new SeededRandom(1),
      bucket: createMemoryBucket({ timing: clock }),
    };
    await using world = await openWorld('memory:', { create: true, components });
    const { signal } = new AbortController();
    const publish = (index: number): ReturnType<typeof world.publish> => {
      const request = {
        path: `/${index}.md`,
        expected: 'absent',
        body: 'x'.repeat(20_000),
      } as const;
      return world.publish(request, { signal });
    };
    const writes = all(publish);
    expect(listenersOf(signal)).toBeGreaterThan(0);
    expect(listenersOf(signal)).toBeLessThanOrEqual(LISTENERS_MAX);
    await Promise.all(writes);
    expect(listenersOf(signal)).toBe(0);
    await using view = world.view();
    const reads = all((index) => view.get(`/${index}.md`, { signal }));
    expect(listenersOf(signal)).toBeLessThanOrEqual(LISTENERS_MAX);
    await Promise.all(reads);
    await Promise.all(all(() => world.stat({ signal })));
    expect(listenersOf(signal)).toBe(0);
  });

  it('of a world ends each of them with its reason', async () => {
    const clock = new ManualClock();
    const faulty = withFaults(createMemoryBucket({ timing: clock }), [], { timing: clock });
    const components = { clock, random: new SeededRandom(1), bucket: faulty.store };
    const world = await openWorld('memory:', { create: true, components });
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const waits = all((index) => {
      const request = { path: `/${index}.md`, expected: 'absent', body: 'x' } as const;
      return world.publish(request, { signal: controller.signal });
    });
    // Before a create is sent.
    controller.abort(reason);
    const settled = await Promise.allSettled(waits);
    expect(settled).toEqual(Array(CALLS).fill({ status: 'rejected', reason }));
    expect(listenersOf(controller.signal)).toBe(0);
    await world.close();
  });

  it('of a bucket leaves nothing behind, however they end', async () => {
    const clock = new ManualClock();
    const lanes = { commit: createLimit(4), read: createLimit(4), bulk: createLimit(4) };
    const bucket = decorateBucket(
      createMemoryBucket({ timing: clock }),
      { kind: 's3', model: false },
      {
        timing: clock,
        chance: new SeededRandom(1),
        lanes,
        observer: { observe: () => undefined },
      },
    );
    const controller = new AbortController();
    const { signal } = controller;
    const gets = all((index) => bucket.get(`k${index}`, { signal }));
    expect(listenersOf(signal)).toBe(1);
    await Promise.all(gets);
    expect(listenersOf(signal)).toBe(0);
    const aborted = all((index) => bucket.get(`k${index}`, { signal }));
    controller.abort(new Error('enough'));
    const settled = await Promise.allSettled(aborted);
    for (const one of settled) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'aborted' } });
    }
    expect(listenersOf(signal)).toBe(0);
    await bucket.close();
  });
});
