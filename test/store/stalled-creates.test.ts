/**
 * Goal: creates that stall, are refused or lose their answer hold no write longer than they must,
 * are never repeated with other bytes, and leave the tip where it was when they fail.
 * Method: the faults of a bucket, by kind of object, under virtual time; calls are counted.
 */
import { describe, expect, test } from 'vitest';
import { withHedge } from '../../blob/hedge.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { World } from '../../bucketstore/index.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import {
  type Fault,
  lostAnswer,
  throttled,
  unavailable,
  withFaults,
} from '../support/faulty-bucket.ts';
import { withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { type StallMode, withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';

const isSlot = (key: string): boolean => key.includes('/log/');
const isBlob = (key: string): boolean => key.includes('/blobs/');
const KINDS = [
  ['slot', isSlot],
  ['blob', isBlob],
] as const;

/** One write that needs a slot and a blob. */
const large = (world: World, options: object = {}, path = '/large.md') =>
  world.publish({ path, expected: 'absent', body: 'large '.repeat(5_000) }, options);

describe('StalledCreatesAreHedged', () => {
  const modes: readonly StallMode[] = ['never-answers', 'stored-unanswered'];
  test.each(KINDS.flatMap(([kind, key]) => modes.map((mode) => [kind, mode, key] as const)))(
    'StalledCreatesAreHedged: a %s whose create %s holds no write',
    async (_, mode, key) => {
      const bench = new WorldBench();
      const stalling = withStalls(bench.bucket);
      const bucket = withHedge(stalling.store, { timing: bench.clock });
      const world = await bench.open({ bucket });
      stalling.stall({ mode, key });
      const before = bench.clock.monotonic();
      expect((await bench.run(large(world))).document.version).toBe(1);
      // The hedge is due after 100 ms as long as nothing is known of the bucket.
      expect(bench.clock.monotonic() - before).toBe(100);
      await stalling.release();
      const cold = await bench.open();
      expect((await bench.run(cold.view().get('/large.md'))).body).toHaveLength(30_000);
      expect((await bench.slots()).map(({ entries }) => entries.length)).toEqual([1]);
      await bench.run(world.close());
      expect(bench.clock.sleeping).toBe(0);
    },
  );
});

describe('ContentCreatesSkipReadBackAndFreshen', () => {
  /** The calls that staging one version makes, on a bucket that holds its blob already or not. */
  async function staged(taken: boolean) {
    const made = new WorldBench();
    const first = await made.open();
    await made.run(large(first));
    const [key = ''] = await made.keys('_demarkus/v1/blobs/');
    const bench = new WorldBench();
    await bench.open();
    if (taken) await bench.put(key, await made.bytes(key));
    const before = taken ? await bench.bucket.head(key) : null;
    const gated = withGates(bench.bucket);
    const world = await bench.open({ bucket: gated.store });
    gated.calls.length = 0;
    await bench.run(large(world));
    const calls = gated.calls.filter((call) => call.key === key);
    return { told: calls.map(({ operation }) => operation), before, after: bench.bucket.head(key) };
  }

  test('ContentCreatesSkipReadBackAndFreshen: a free name costs one create', async () => {
    expect((await staged(false)).told).toEqual(['create']);
  });

  test('ContentCreatesSkipReadBackAndFreshen: a taken one a read, no rewrite', async () => {
    // A service may keep less than it was sent, so what has the name is read, once.
    const { told, before, after } = await staged(true);
    expect(told).toEqual(['create', 'get']);
    expect(await after).toEqual(before);
  });
});

describe('CreateContentReconcilesAmbiguity', () => {
  test.each([
    ['stored', true, ['create', 'get']],
    ['not stored', false, ['create', 'get', 'create']],
  ] as const)(
    'CreateContentReconcilesAmbiguity: %s, and reading the name decides',
    async (_, stored, calls) => {
      const bench = new WorldBench();
      const rule = { operation: 'create', key: isBlob, fault: { ...lostAnswer, stored } } as const;
      const faulty = withFaults(bench.bucket, [rule], { timing: bench.clock });
      const gated = withGates(faulty.store);
      const world = await bench.open({ bucket: gated.store });
      expect((await bench.run(large(world))).document.version).toBe(1);
      expect(faulty.hits()).toEqual([1]);
      const told = gated.calls.filter(({ key }) => isBlob(key));
      expect(told.map(({ operation }) => operation)).toEqual(calls);
      expect(await bench.keys('_demarkus/v1/blobs/')).toHaveLength(1);
      expect((await bench.slots())[0]?.entries).toMatchObject([{ at: { epoch: 1 } }]);
    },
  );
});

describe('HeadOutcomeReconciliation', () => {
  const faults: readonly [string, (stored: boolean) => Fault][] = [
    ['ambiguous', (stored) => ({ ...lostAnswer, stored })],
    ['throttled', throttled],
    ['unavailable', unavailable],
  ];
  const cases = faults.flatMap(([name, fault]) => {
    return [false, true].map(
      (stored) => [name, stored ? 'after' : 'before', fault(stored)] as const,
    );
  });

  test.each(cases)(
    'HeadOutcomeReconciliation: %s %s the commit is one commit',
    async (_, when, fault) => {
      const bench = new WorldBench();
      const rule = { operation: 'create', key: isSlot, fault } as const;
      const faulty = withFaults(bench.bucket, [rule], { timing: bench.clock });
      const gated = withGates(faulty.store);
      const world = await bench.open({ bucket: gated.store });
      const result = await bench.run(
        world.publish({ path: '/a.md', expected: 'absent', body: 'a' }),
      );
      expect(result).toMatchObject({ committed: true, sequence: 2, document: { version: 1 } });
      expect(faulty.hits()).toEqual([1]);
      const creates = gated.calls.filter(
        ({ operation, key }) => operation === 'create' && isSlot(key),
      );
      expect(creates).toHaveLength(when === 'after' ? 1 : 2);
      expect((await bench.slots()).map(({ first }) => first)).toEqual([2]);
    },
  );
});

describe('SlotCreateNeverRewrites', () => {
  test('SlotCreateNeverRewrites: the same create again changes nothing', async () => {
    const bench = new WorldBench();
    const stalling = withStalls(bench.bucket);
    const world = await bench.open({ bucket: stalling.store });
    stalling.stall({ mode: 'lands-later', key: isSlot });
    await bench.run(world.publish({ path: '/a.md', expected: 'absent', body: 'a' }));
    const key = slotKey(sequence(2));
    const before = await bench.bucket.head(key);
    await bench.clock.advance(7 * 86_400_000);
    // The first create reaches the bucket after all.
    const [late] = stalling.held;
    expect(await late?.land()).toMatchObject({ outcome: 'exists' });
    expect(await bench.bucket.head(key)).toMatchObject({ ...before, date: expect.anything() });
    expect(await bench.slots()).toHaveLength(1);
  });
});

describe('MutationFailureAndPacing', () => {
  const REFUSED: Fault = { kind: 'fail', code: 'forbidden' };

  test.each(KINDS)(
    'MutationFailureAndPacing: a %s that is refused leaves the tip where it was',
    async (_, key) => {
      const bench = new WorldBench();
      const rule = { operation: 'create', key, fault: REFUSED } as const;
      const faulty = withFaults(bench.bucket, [rule], { timing: bench.clock });
      const world = await bench.open({ bucket: faulty.store });
      const told = await failureOf(bench.run(large(world)));
      expect(told).toMatchObject({ code: 'LOCATION', outcome: 'not committed' });
      expect(faulty.hits()).toEqual([1]);
      expect(await bench.run(world.stat())).toMatchObject({ sequence: 1, documents: 0 });
      expect(await bench.slots()).toEqual([]);
      expect((await bench.run(large(world))).sequence, 'and the next write is as if').toBe(2);
    },
  );

  test('MutationFailureAndPacing: one that leaves leaves the tip', async () => {
    const bench = new WorldBench();
    const gated = withGates(bench.bucket);
    const world = await bench.open({ bucket: gated.store });
    const held = gated.hold(
      'request',
      ({ operation, key }) => operation === 'create' && isBlob(key),
    );
    const caller = countedSignal();
    const leaving = failureOf(large(world, { signal: caller.signal }));
    const other = world.publish({ path: '/other.md', expected: 'absent', body: 'x' });
    await drain();
    expect(held.waiting).toBe(1);
    const reason = new RangeError('left');
    caller.abort(reason);
    expect(await leaving).toBe(reason);
    expect((await bench.run(other)).sequence, 'the one behind it fails with none').toBe(2);
    await held.open();
    await bench.clock.advance(60_000);
    expect(await bench.run(world.stat())).toMatchObject({ sequence: 2, documents: 1 });
    expect(caller.listeners()).toBe(0);
  });
});
