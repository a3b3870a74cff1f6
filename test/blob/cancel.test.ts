// Goal: what cancels a request is heard by whoever listens, with or without a signal, and a signal
// is made only for who reads it.
// Method: options carried, copied and carried again; the constructor of signals counted.
import { afterEach, expect, test, vi } from 'vitest';
import type { CallOptions, GetOptions } from '../../blob/blob.ts';
import { abortOf, Cancel } from '../../blob/cancel.ts';
import { createCounter } from '../../blob/count.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { decorateBucket } from '../../blob/open.ts';
import { onAbort } from '../../blob/signal.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const REASON = new Error('enough');

afterEach(() => {
  vi.unstubAllGlobals();
});

function countControllers(): () => number {
  let made = 0;
  const Native = AbortController;
  vi.stubGlobal(
    'AbortController',
    class extends Native {
      constructor() {
        super();
        made++;
      }
    },
  );
  return () => made;
}

test('a call through all decorators makes no signal; a driver that reads it gets one', async () => {
  const timing = new ManualClock();
  const limit = createLimit(1);
  const memory = createMemoryBucket({ timing });
  const seen: unknown[] = [];
  const driver = {
    ...memory,
    get: (key: string, options?: GetOptions) => memory.get(key, options),
    create: (key: string, bytes: Uint8Array, options?: CallOptions) =>
      memory.create(key, bytes, options),
    head: (key: string, options?: CallOptions) => {
      seen.push(options?.signal, options?.signal);
      return memory.head(key, options);
    },
  };
  const bucket = decorateBucket(
    driver,
    { kind: 's3', model: false },
    {
      timing,
      chance: new SeededRandom(1),
      lanes: { commit: limit, read: limit, bulk: limit },
      observer: createCounter(),
    },
  );
  const { signal } = new AbortController();
  const made = countControllers();
  expect(await bucket.create('k', new Uint8Array(3), { signal })).toMatchObject({
    outcome: 'created',
  });
  expect(await bucket.get('k', { signal, range: [1, 3] })).toMatchObject({
    bytes: new Uint8Array(2),
  });
  expect(made()).toBe(0);
  await bucket.head('k', { signal });
  expect(made()).toBe(1);
  expect(seen[0]).toBeInstanceOf(AbortSignal);
  expect(seen[1]).toBe(seen[0]);
  expect(seen[0]).not.toBe(signal);
});

test('the signal of carried options aborts with its `Cancel`, whenever it is read', () => {
  const [early, late] = [new Cancel(), new Cancel()];
  const { signal } = early.carrierOf<CallOptions>({}, 5);
  const carrier = late.carrierOf<CallOptions>({}, 5);
  early.abort(REASON);
  early.abort(new Error('a second reason'));
  late.abort(REASON);
  expect([signal?.aborted, signal?.reason]).toEqual([true, REASON]);
  expect([carrier.signal?.aborted, carrier.signal?.reason]).toEqual([true, REASON]);
});

test('options carried anew keep all but the signal and the deadline, and make no signal', () => {
  const { signal } = new AbortController();
  const made = countControllers();
  const [outer, inner] = [new Cancel(), new Cancel()];
  const given: GetOptions = { signal, lane: 'bulk', range: [1, 2], deadlineMs: 9 };
  const carrier = inner.carrierOf(outer.carrierOf(given, 7), 5);
  expect(abortOf(carrier)).toBe(inner);
  expect(made()).toBe(0);
  expect(carrier).toMatchObject({ lane: 'bulk', range: [1, 2], deadlineMs: 5 });
  expect(carrier.signal).toBe(inner.signal);
  expect(abortOf(given)).toBe(signal);
});

test('a copy of carried options is ended by the signal that it was given', () => {
  const cancel = new Cancel();
  const carrier = cancel.carrierOf<CallOptions>({}, 5);
  const { signal } = new AbortController();
  expect(abortOf({ ...carrier })).toBe(cancel.signal);
  expect(abortOf({ ...carrier, signal })).toBe(signal);
  expect(abortOf({ ...carrier, signal: undefined })).toBeUndefined();
});

test('those who listen are told once, and not when they were taken away', () => {
  const cancel = new Cancel();
  const told: string[] = [];
  onAbort(cancel, () => {
    told.push('first');
    forgetSecond();
  });
  const forgetSecond = onAbort(cancel, () => told.push('second'));
  const forgetThird = onAbort(cancel, () => told.push('third'));
  onAbort(cancel, () => told.push('last'));
  forgetThird();
  cancel.abort(REASON);
  cancel.abort(REASON);
  expect(told).toEqual(['first', 'last']);
  onAbort(cancel, () => told.push('late'));
  expect(told.at(-1)).toBe('late');
});
