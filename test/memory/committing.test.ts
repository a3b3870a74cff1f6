/**
 * Goal: what the committer keeps for requests has a bound, and is let go when they are answered,
 * however, also while the store is never idle (I17).
 * Method: each structure by itself and in a store whose calls are held; sizes are read, weak
 * references tell what is still held.
 */
import { describe, expect, test } from 'vitest';
import type { Call } from '../../blob/decorate.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { uuidOf } from '../../bucketstore/base/uuid.ts';
import { Ahead, type AheadParts } from '../../bucketstore/commit/ahead.ts';
import { Member } from '../../bucketstore/commit/member.ts';
import { parseMutation } from '../../bucketstore/commit/mutation.ts';
import { PendingBodies } from '../../bucketstore/commit/pending-bodies.ts';
import { PolicyGate } from '../../bucketstore/commit/policy-gate.ts';
import { Queue } from '../../bucketstore/commit/queue.ts';
import { Repeats } from '../../bucketstore/commit/repeats.ts';
import { Stager } from '../../bucketstore/commit/stager.ts';
import { Twins } from '../../bucketstore/commit/twins.ts';
import { Verdicts } from '../../bucketstore/commit/verdicts.ts';
import { withGates } from '../support/gated-bucket.ts';
import { isHeld } from '../support/held.ts';
import { drain, ManualClock } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';

const isSlotCreate = ({ operation, key }: Call): boolean =>
  operation === 'create' && key.includes('/log/');

function memberOf(clock: ManualClock, name: string, options: object = {}, body = name): Member {
  const request = { kind: 'publish', path: `/${name}.md`, expected: 'any', body } as const;
  return new Member([parseMutation(request, uuidOf(name))], clock, {
    deadlineMs: 1_000,
    ...options,
  });
}

/** Members that are answered in each of the ways there are, by `end`. */
function members(clock: ManualClock) {
  const caller = countedSignal();
  const options = { signal: caller.signal };
  const all = ['answered', 'failed', 'aborted', 'overdue'].map((name) =>
    memberOf(clock, name, name === 'aborted' ? options : {}),
  );
  const end = async (): Promise<void> => {
    const [answered, failed] = all;
    answered?.answer([]);
    failed?.fail(new RangeError('refused'));
    caller.abort();
    await clock.advance(1_000);
    expect(all.every(({ isAnswered }) => isAnswered)).toBe(true);
    expect([caller.listeners(), clock.sleeping]).toEqual([0, 0]);
  };
  return { all, end };
}

describe('verdicts', () => {
  const refused = { kind: 'refused', error: new RangeError('no'), inquiry: null } as const;

  test('are kept until their members are answered, however; one for each', async () => {
    const clock = new ManualClock();
    const { all, end } = members(clock);
    const verdicts = new Verdicts();
    for (let round = 0; round < 3; round++) for (const one of all) verdicts.keep(one, refused);
    expect(verdicts.size).toBe(all.length);
    await end();
    expect(verdicts.size).toBe(0);
    for (const one of all) verdicts.keep(one, refused);
    expect(verdicts.size, 'nothing is kept of who has been answered').toBe(0);
  });

  test('of an answered member are let go while the store is still busy', async () => {
    const bench = new WorldBench();
    const gated = withGates(bench.bucket);
    const settings = { batchMax: 1 };
    const world = await bench.open({ bucket: gated.store, settings });
    const peer = await bench.open();
    await bench.run(peer.publish({ path: '/peer.md', expected: 'any', body: 'x' }));
    let creates = 0;
    const held = gated.hold('request', (call) => isSlotCreate(call) && ++creates === 3);
    // In a function of its own, so that no frame of the test holds the condition.
    const begin = () => {
      const weight = { bytes: new Uint8Array(1000) };
      const precondition = (): void => {
        if (weight.bytes.length === 0) throw new RangeError('never');
      };
      const request = { path: '/first.md', expected: 'any', body: 'x', precondition } as const;
      return { first: world.publish(request), reference: new WeakRef(precondition) };
    };
    const { first, reference } = begin();
    const second = world.publish({ path: '/second.md', expected: 'any', body: 'x' });
    // Both lose the first name; the first has the second name, and the second waits for its own.
    await bench.run(first);
    // The peer has its turn first.
    await bench.clock.advance(1_500);
    expect(held.waiting).toBe(1);
    expect(await isHeld(reference)).toBe(false);
    await held.open();
    await bench.run(second);
  });
});

test('twins are let go when they are answered, and when their create is settled', async () => {
  const clock = new ManualClock();
  const { all, end } = members(clock);
  const twins = new Twins();
  const open = { ops: new Set(all.map(({ op }) => op)), after: sequence(1) };
  const other = memberOf(clock, 'other');
  for (const one of [...all, other]) twins.note(one, open);
  for (const one of all) twins.note(one, null);
  expect(twins.size).toBe(all.length);
  other.answer([]);
  await end();
  expect(twins.size).toBe(0);
  const again = memberOf(clock, 'answered');
  twins.note(again, open);
  twins.settle('lost');
  expect(twins.size).toBe(0);
  again.fail(new RangeError('refused'));
  expect(await failureOf(again.result), 'no longer *unknown*').toBeInstanceOf(RangeError);
});

describe('what is staged', () => {
  const bytes = Buffer.from('large');

  test('is remembered for as long as its member waits, however that ends', async () => {
    const clock = new ManualClock();
    const bucket = createMemoryBucket({ timing: clock });
    const stager = new Stager({ bucket, clock, random: new SeededRandom(1) });
    const { all, end } = members(clock);
    for (const one of all) {
      const staging = stager.start(one, 1, 'a'.repeat(64), bytes);
      expect(stager.start(one, 1, 'a'.repeat(64), bytes), 'begun once').toBe(staging);
      stager.start(one, 2, 'a'.repeat(64), bytes);
      await staging.settled;
    }
    expect(stager.size).toBe(all.length);
    await end();
    expect(stager.size).toBe(0);
  });

  test('ends with its member when the bucket does not answer, and leaves no sleeper', async () => {
    const clock = new ManualClock();
    const stalling = withStalls(createMemoryBucket({ timing: clock }));
    stalling.stall({ mode: 'lands-later', times: 1_000 });
    const bucket = stalling.store;
    const stager = new Stager({ bucket, clock, random: new SeededRandom(1) });
    const { all, end } = members(clock);
    const stagings = all.map((one, i) => stager.start(one, 1, `${i}`.repeat(64), bytes));
    await clock.advance(100);
    await end();
    await clock.run(Promise.all(stagings.map(({ settled }) => settled)));
    expect([stager.size, clock.sleeping]).toEqual([0, 0]);
    expect(stagings.map(({ isDone }) => isDone)).toEqual(all.map(() => false));
  });
});

test('pending bodies are let go with their last holder, and no sooner', async () => {
  const none = { read: async () => new Uint8Array(), readUnverified: async () => new Uint8Array() };
  const pending = new PendingBodies(none, () => failServed());
  for (let i = 0; i < 300; i++) pending.add(`hash ${i % 100}`, new Uint8Array(10));
  expect(pending.size).toBe(100);
  for (let i = 0; i < 200; i++) pending.drop(`hash ${i % 100}`);
  expect(pending.size).toBe(100);
  for (let i = 0; i < 100; i++) pending.drop(`hash ${i}`);
  pending.drop('of nobody');
  expect(pending.size).toBe(0);
});

test('repeats are let go when they are answered, and when they fail', async () => {
  const clock = new ManualClock();
  const { all, end } = members(clock);
  const settle: (() => void)[] = [];
  const repeats = new Repeats(async (_, { op }) => {
    await new Promise<void>((resolve) => settle.push(resolve));
    throw new RangeError(`${op} cannot be read`);
  });
  const place = { slot: sequence(2), sequence: sequence(2) };
  for (const one of all) repeats.answer(one, place);
  expect(repeats.size).toBe(all.length);
  await end();
  for (const go of settle) go();
  await repeats.done();
  await drain();
  expect(repeats.size).toBe(0);
});

test('the queue keeps no place, no operation and no mark of who has been answered', async () => {
  const clock = new ManualClock();
  const queue = new Queue({ members: 10, bytes: 100_000 });
  const { all, end } = members(clock);
  for (const one of all) queue.add(one);
  for (let next = queue.next(); next !== undefined; next = queue.next()) queue.take(next);
  expect([queue.size, queue.taken]).toEqual([all.length, all.length]);
  queue.rewind();
  expect([queue.taken, queue.next()]).toEqual([0, all[0]]);
  for (const one of all) queue.take(one);
  await end();
  expect([queue.size, queue.taken, queue.bytes, queue.next()]).toEqual([0, 0, 0, undefined]);
  for (const { op } of all) expect(queue.find(op)).toBeUndefined();
});

function failServed(): never {
  throw new Error('not asked for');
}

describe('what is built ahead', () => {
  const MEMBER_BYTES = 32 * 1024;

  async function ahead(): Promise<{ readonly clock: ManualClock; readonly made: Ahead }> {
    const bench = new WorldBench();
    const { parts } = await bench.store();
    const { bodies, operations, clock, random } = parts;
    const { bucket } = bench;
    const shared: AheadParts = {
      bodies,
      operations,
      policy: new PolicyGate(false),
      stager: new Stager({ bucket, clock, random }),
      settings: { inlineBytes: 0, quota: 1_000, requirePolicy: false },
      served: () => parts.follower.snapshot,
      now: () => clock.now(),
    };
    return { clock: bench.clock, made: new Ahead(shared, parts.follower.snapshot, new Verdicts()) };
  }

  test('is bounded by bytes as well as by members, one member over it', async () => {
    const { clock, made } = await ahead();
    const body = 'x'.repeat(MEMBER_BYTES);
    const isFull = (): boolean => made.isFull(512, 10 * MEMBER_BYTES);
    let count = 0;
    for (; !isFull(); count++) await made.add(memberOf(clock, `${count}`, {}, body));
    expect(count).toBe(10);
    expect(made.bytes).toBeGreaterThanOrEqual(10 * MEMBER_BYTES);
    expect(made.bytes).toBeLessThan(11 * MEMBER_BYTES);
    made.cut(count - 1);
    expect([made.built.length, isFull()]).toEqual([1, false]);
    expect(made.bytes).toBeLessThan(2 * MEMBER_BYTES);
    made.cut(1);
    expect([made.built.length, made.bytes]).toEqual([0, 0]);
  });

  test('small members are bounded by their number; refused ones take no bytes', async () => {
    const { clock, made } = await ahead();
    const absent = memberOf(clock, 'absent');
    await made.add(absent);
    const before = made.bytes;
    const request = { kind: 'publish', path: '/absent.md', expected: 'absent', body: 'x' } as const;
    const refused = new Member([parseMutation(request, uuidOf('twice'))], clock, {
      deadlineMs: 1_000,
    });
    await made.add(refused);
    expect([made.built.length, made.bytes]).toEqual([2, before]);
    expect([made.isFull(2), made.isFull(3)]).toEqual([true, false]);
  });
});
