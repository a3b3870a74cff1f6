// Goal: the buckets that tests rest on do what they say, or the tests above them prove nothing.
// Method: each double over memory, its effect on the bucket and on its caller looked at separately.
import { expect, test } from 'vitest';
import { createMemoryBucket } from '../../blob/memory.ts';
import {
  conflict,
  lostAnswer,
  type Rule,
  unavailable,
  withFaults,
} from '../support/faulty-bucket.ts';
import { drain, ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { Schedule, withSchedule } from '../support/scheduled-bucket.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { type StallMode, withStalls } from '../support/stalling-bucket.ts';

const ours = new Uint8Array([1]);
const theirs = new Uint8Array([2]);

function setUp(rules: readonly Rule[] = []) {
  const timing = new ManualClock();
  const memory = createMemoryBucket({ timing });
  return { timing, memory, faulty: withFaults(memory, rules, { timing }) };
}

test.each([
  ['lost answer', lostAnswer, true],
  ['503 after', unavailable(true), true],
  ['503 before', unavailable(), false],
  ['409, stored', conflict(true), true],
  ['409, not stored', conflict(false), false],
] as const)('`withFaults()` tells one thing and does another: %s', async (_, fault, stored) => {
  const { memory, faulty } = setUp([{ fault }]);
  expect(await failureOf(faulty.store.create('k', ours))).toMatchObject({ ambiguous: true });
  expect((await memory.head('k')).found).toBe(stored);
});

test.each([true, false])(
  'a 412 whose create was stored (%s) is a plain "exists"',
  async (stored) => {
    const { memory, faulty } = setUp([{ operation: 'create', fault: { kind: 'exists', stored } }]);
    expect(await faulty.store.create('k', ours)).toEqual({ outcome: 'exists' });
    expect((await memory.head('k')).found).toBe(stored);
  },
);

test('rules apply by operation, key, count and condition, and count their hits', async () => {
  const fail = { kind: 'fail', code: 'unavailable' } as const;
  const { faulty } = setUp([
    { operation: 'head', key: (key) => key === 'b', fault: fail, skip: 1, times: 2 },
  ]);
  const told: string[] = [];
  for (const key of ['a', 'b', 'b', 'a', 'b', 'b']) {
    told.push(
      await faulty.store.head(key).then(
        () => 'ok',
        () => 'failed',
      ),
    );
  }
  await faulty.store.get('b');
  expect(told).toEqual(['ok', 'ok', 'failed', 'ok', 'failed', 'ok']);
  expect(faulty.hits()).toEqual([2]);
});

test('a short read keeps its attributes and loses its end', async () => {
  const { memory, faulty } = setUp([{ operation: 'get', fault: { kind: 'short', missing: 2 } }]);
  await memory.create('k', new Uint8Array([1, 2, 3]));
  const result = await faulty.store.get('k');
  expect(result).toMatchObject({ bytes: new Uint8Array([1]), attributes: { size: 3 } });
});

test('a delay moves the effect, or only the answer', async () => {
  const { timing, memory, faulty } = setUp([
    { key: (key) => key === 'late', fault: { kind: 'delay', beforeMs: 100 } },
    { key: (key) => key === 'slow', fault: { kind: 'delay', afterMs: 100 } },
  ]);
  const calls = ['late', 'slow'].map((key) => faulty.store.create(key, ours));
  await drain();
  const found = await Promise.all(['late', 'slow'].map((key) => memory.head(key)));
  expect(found.map((head) => head.found)).toEqual([false, true]);
  await timing.run(Promise.all(calls));
  expect((await memory.head('late')).found).toBe(true);
});

test('a write that lands later fails now and lands when released', async () => {
  const { memory } = setUp();
  const stalling = withStalls(memory);
  stalling.stall({ mode: 'lands-later', times: 2 });
  const error = await failureOf(stalling.store.create('a', ours));
  expect(error).toMatchObject({ code: 'timeout', ambiguous: true });
  await failureOf(stalling.store.create('b', ours));
  expect(stalling.held.map(({ call }) => call.key)).toEqual(['a', 'b']);
  await stalling.store.create('a', theirs);
  expect(await stalling.held[0]?.land()).toMatchObject({ outcome: 'exists' });
  await stalling.release();
  expect(await memory.get('a')).toMatchObject({ bytes: theirs });
  expect(await memory.get('b')).toMatchObject({ bytes: ours });
  expect(stalling.held).toEqual([]);
});

test.each<[StallMode, boolean]>([
  ['never-answers', false],
  ['stored-unanswered', true],
])('`%s` never settles, also when its signal aborts', async (mode, stored) => {
  const { memory } = setUp();
  const stalling = withStalls(memory);
  stalling.stall({ mode });
  const caller = new AbortController();
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  stalling.store.create('k', ours, { signal: caller.signal }).then(settle, settle);
  await drain();
  caller.abort();
  await drain();
  expect([settled, (await memory.head('k')).found]).toEqual([false, stored]);
  await stalling.release();
  expect([settled, (await memory.head('k')).found]).toEqual([false, true]);
});

/** Who wins a race of two creators, and in which order their answers come, for one schedule. */
async function race(source: Uint8Array | SeededRandom): Promise<string> {
  const { memory } = setUp();
  const schedule = new Schedule({ source });
  const answers: string[] = [];
  const create = async (name: string, bytes: Uint8Array): Promise<void> => {
    const { outcome } = await withSchedule(memory, schedule).create('k', bytes);
    answers.push(`${name} ${outcome}`);
  };
  await schedule.run(Promise.all([create('a', ours), create('b', theirs)]));
  expect(schedule.waiting).toEqual([]);
  return answers.join(', ');
}

test('bytes choose the interleaving: every order of effects and answers can be had', async () => {
  const found = new Set<string>();
  for (let bits = 0; bits < 8; bits++) {
    const source = new Uint8Array([bits & 1, (bits >> 1) & 1, (bits >> 2) & 1]);
    const told = await race(source);
    expect(await race(source)).toBe(told);
    found.add(told);
  }
  const orders = [
    'a created, b exists',
    'b exists, a created',
    'b created, a exists',
    'a exists, b created',
  ];
  expect([...found].toSorted()).toEqual(orders.toSorted());
});

test('a seed chooses the interleaving too, and time passes only when no call waits', async () => {
  expect(await race(new SeededRandom(2))).toBe(await race(new SeededRandom(2)));
  const timing = new ManualClock();
  const schedule = new Schedule({ source: new Uint8Array(), clock: timing });
  const store = withSchedule(createMemoryBucket({ timing }), schedule);
  const work = async (): Promise<number> => {
    await store.create('k', ours);
    await timing.sleep(50);
    await store.get('k');
    return timing.monotonic();
  };
  expect(await schedule.run(work())).toBe(50);
  await expect(schedule.run(new Promise(() => {}))).rejects.toThrow('neither');
});
