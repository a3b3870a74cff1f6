/**
 * Goal: each fault does to the bucket, and tells its caller, exactly what it stands for; callers
 * that are paused, gone or tired of waiting leave their requests to themselves.
 * Method: single calls under a profile that knows one fault only; the counters and the stored
 * objects are compared with what the callers were told.
 */
import { describe, expect, it } from 'vitest';
import { BlobError } from '../../blob/errors.ts';
import { Bench, BODY, LOG, SLOT } from './bench.ts';
import type { FaultProfile } from './faults.ts';
import { EPOCH_MS } from './process.ts';

/** Creates under a profile; what was told of each, after everything has landed. */
async function createMany(
  profile: Partial<FaultProfile>,
  count = 40,
): Promise<{ readonly bench: Bench; readonly told: readonly unknown[]; readonly stored: number }> {
  const bench = new Bench(profile);
  const told: unknown[] = [];
  for (let i = 0; i < count; i++) {
    const controller = new AbortController();
    const { signal } = controller;
    const work = bench.store.create(`${LOG}${i}`, BODY, { signal });
    work.then(
      (value) => told.push(value),
      (error) => told.push(error),
    );
    bench.timeline.after(30_000, () => controller.abort(new Error('tired')));
  }
  await bench.timeline.run(() => false);
  expect(told.length).toBe(count);
  return { bench, told, stored: bench.bucket.keys(LOG).length };
}

describe('faults of a create', () => {
  it('a lost request stores nothing; all but a refused connection is ambiguous', async () => {
    const { bench, told, stored } = await createMany({ requestLost: 1 });
    expect(stored).toBe(0);
    const { refused = 0, ...others } = bench.counters();
    expect(refused).toBeGreaterThan(0);
    expect(told.filter((error) => error instanceof BlobError && !error.ambiguous).length).toBe(
      refused,
    );
    expect(others).toMatchObject({
      'lost request': 40,
      'ambiguous create: not stored': 40 - refused,
    });
    expect((others['reset'] ?? 0) + (others['503'] ?? 0) + (others['stall'] ?? 0)).toBe(
      40 - refused,
    );
  });

  it('a lost answer stores, and is ambiguous', async () => {
    const { bench, told, stored } = await createMany({ answerLost: 1 });
    expect(stored).toBe(40);
    for (const error of told) expect(error).toMatchObject({ ambiguous: true });
    expect(bench.counters()).toMatchObject({ 'lost answer': 40, 'ambiguous create: stored': 40 });
  });

  it('one that lands late is told first and stored later', async () => {
    const { bench, told } = await createMany({ landsLate: 1 });
    for (const error of told) expect(error).toMatchObject({ ambiguous: true });
    expect(bench.counters()).toMatchObject({
      'late landing': 40,
      'ambiguous create: lands late': 40,
    });
    expect(bench.effects.every(({ at }) => at > 100)).toBe(true);
    expect(bench.timeline.now).toBeGreaterThan(60_000);
  });

  it('a 409 is unavailable, ambiguous and dated, and stored or not', async () => {
    const { bench, told, stored } = await createMany({ conflict: 1 });
    for (const error of told) {
      expect(error).toMatchObject({ code: 'unavailable', ambiguous: true, retryable: true });
      expect((error as BlobError).date).toBeGreaterThan(EPOCH_MS);
    }
    expect(stored).toBeGreaterThan(8);
    expect(stored).toBeLessThan(32);
    expect(bench.counters()).toEqual({
      '409': 40,
      'ambiguous create: stored': stored,
      'ambiguous create: not stored': 40 - stored,
    });
  });

  it('a reset has no date, a 503 has one, a slow-down is throttled', async () => {
    const reset = await createMany({ reset: 1 });
    for (const error of reset.told) {
      expect(error).toMatchObject({ code: 'unavailable', ambiguous: true, date: undefined });
    }
    const { told } = await createMany({ unavailable: 1 });
    const codes = new Set(told.map((error) => (error instanceof BlobError ? error.code : '')));
    expect([...codes].sort()).toEqual(['throttled', 'unavailable']);
    for (const error of told) expect((error as BlobError).date).toBeGreaterThan(EPOCH_MS);
  });

  it('a stall is answered by nothing but the signal', async () => {
    const { bench, told, stored } = await createMany({ stall: 1 });
    for (const error of told) expect(error).toMatchObject({ code: 'aborted', ambiguous: true });
    expect(bench.counters()).toMatchObject({ stall: 40, 'ambiguous create: stored': stored });
    expect(stored).toBeGreaterThan(0);
  });

  it('a doubled one stores once, and may be told "exists" of its own object', async () => {
    const { bench, told, stored } = await createMany({ doubled: 1 });
    expect(stored).toBe(40);
    expect(bench.effects.length).toBe(80);
    const outcomes = told.map((result) => (result as { outcome: string }).outcome);
    expect(new Set(outcomes)).toEqual(new Set(['created', 'exists']));
    expect(bench.counters()).toEqual({ 'doubled create': 40 });
  });

  it('a second attempt on a name within a second is answered 429 and has no effect', async () => {
    const bench = new Bench({ nameThrottle: 1 });
    const { store, bucket } = bench;
    await bench.settle(store.create(SLOT, BODY));
    bucket.delete(SLOT, 'test');
    const soon = await bench.settle(store.create(SLOT, BODY));
    expect(soon).toMatchObject({ code: 'throttled', ambiguous: true, retryable: true });
    expect(bucket.peek(SLOT)).toBeNull();
    await bench.timeline.run(bench.timeline.now + 1_000);
    expect(await bench.settle(store.create(SLOT, BODY))).toMatchObject({ outcome: 'created' });
    expect(await bench.settle(store.create(SLOT, BODY))).toMatchObject({ code: 'throttled' });
    expect(bench.counters()).toEqual({
      '429': 2,
      'ambiguous create: name was taken': 1,
      'ambiguous create: not stored': 1,
    });
  });
});

describe('faults of reads', () => {
  it('a short read is an integrity error; "not found" and a head are never cut', async () => {
    const bench = new Bench({ shortRead: 1 });
    const { store } = bench;
    await bench.settle(store.create(SLOT, BODY));
    const cut = { code: 'integrity', ambiguous: false, retryable: true };
    expect(await bench.settle(store.get(SLOT))).toMatchObject(cut);
    expect(await bench.settle(store.list({ prefix: LOG, limit: 5 }))).toMatchObject(cut);
    expect(await bench.settle(store.get(`${LOG}none`))).toMatchObject({ found: false });
    expect(await bench.settle(store.head(SLOT))).toMatchObject({ found: true });
    expect(bench.counters()).toEqual({ 'short read': 2 });
  });

  it('are never ambiguous', async () => {
    for (const fault of ['requestLost', 'unavailable', 'reset'] as const) {
      const bench = new Bench({ [fault]: 1 }, 3);
      const failed = await bench.settle(bench.store.head(SLOT));
      expect(failed).toMatchObject({ ambiguous: false, retryable: true });
    }
  });
});

describe('a caller and its request', () => {
  it('an abort rejects at once; the effect still happens', async () => {
    const bench = new Bench();
    const controller = new AbortController();
    const reason = new Error('enough');
    const call = bench.store.create(SLOT, BODY, { signal: controller.signal });
    bench.timeline.at(2, () => controller.abort(reason));
    const failed = await bench.settle(call);
    expect(failed).toMatchObject({ code: 'aborted', ambiguous: true, cause: reason });
    expect(bench.timeline.now).toBe(2);
    expect(bench.bucket.peek(SLOT)).toBeNull();
    expect(bench.process.waits.size).toBe(0);
    await bench.timeline.run(() => false);
    expect(bench.bucket.peek(SLOT)?.bytes).toEqual(BODY);
  });

  it('a request in flight outlives a crash, and its answer reaches nobody', async () => {
    const bench = new Bench();
    let told = 0;
    bench.process.when('create slot request', () => bench.process.crash());
    const count = (): void => {
      told += 1;
    };
    bench.store.create(SLOT, BODY).then(count, count);
    bench.store.create(`${LOG}never`, BODY).then(count, count);
    await bench.timeline.run(() => false);
    expect(bench.bucket.keys('')).toEqual([SLOT]);
    expect(told).toBe(0);
    expect(bench.counters()).toEqual({ 'crash at create slot request': 1 });
  });

  it('a pause holds the answer, and what the process would send meanwhile', async () => {
    const bench = new Bench();
    const { timeline, process, store, bucket } = bench;
    process.when('get slot answer', () => process.pause(5_000, true));
    const first = store.get(SLOT);
    await timeline.run(() => process.paused);
    const pausedAt = timeline.now;
    const second = store.create(SLOT, BODY);
    await timeline.run(pausedAt + 4_999);
    expect(bucket.peek(SLOT)).toBeNull();
    expect(await bench.settle(first)).toMatchObject({ found: false });
    expect(timeline.now).toBe(pausedAt + 5_000);
    expect(await bench.settle(second)).toMatchObject({ outcome: 'created' });
    expect(process.waits.size).toBe(0);
  });

  it('counts its waits by kind and stage', async () => {
    const bench = new Bench();
    const { store, process, timeline } = bench;
    const seen: string[] = [];
    process.when('list log answer', () => seen.push([...process.waits.keys()].join(', ')));
    const calls = [
      store.list({ prefix: LOG, limit: 1 }),
      store.get('_demarkus/v1/head.json'),
      store.create('_demarkus/v1/blobs/00000001/x', BODY),
    ];
    expect([...process.waits]).toEqual([
      ['list log request', 1],
      ['get marker request', 1],
      ['create blob request', 1],
    ]);
    await bench.settle(Promise.all(calls));
    await timeline.run(() => false);
    expect(seen.length).toBe(1);
    expect(seen[0]).toContain('list log answer');
    expect(process.waits.size).toBe(0);
  });
});
