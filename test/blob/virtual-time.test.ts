// Goal: the clock and the chance that all other tests rest on are deterministic and leave nothing
// behind.
// Method: sleepers noted in the order in which they wake; known statistics of the generator.
import { expect, test } from 'vitest';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

test('`advance()` wakes sleepers in order of their due time, then of going to sleep', async () => {
  const clock = new ManualClock();
  const woken: string[] = [];
  const sleeper = async (name: string, ms: number): Promise<void> => {
    await clock.sleep(ms);
    woken.push(`${name}@${clock.monotonic()}`);
  };
  const all = [sleeper('c', 30), sleeper('a', 10), sleeper('b', 10), sleeper('late', 31)];
  await clock.advance(30);
  expect(woken).toEqual(['a@10', 'b@10', 'c@30']);
  expect(clock.sleeping).toBe(1);
  await clock.run();
  await Promise.all(all);
  expect(woken.at(-1)).toBe('late@31');
});

test('`advance()` wakes a sleeper that goes to sleep on the way', async () => {
  const clock = new ManualClock();
  const ticks: number[] = [];
  const ticker = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) {
      await clock.sleep(10);
      ticks.push(clock.monotonic());
    }
  };
  const done = ticker();
  await clock.advance(35);
  expect(ticks).toEqual([10, 20, 30]);
  expect(clock.monotonic()).toBe(35);
  await clock.run(done);
});

test('`advance()` drains chains of promises between two sleepers, however long', async () => {
  const clock = new ManualClock();
  let at = -1;
  const work = async (): Promise<void> => {
    await clock.sleep(1);
    for (let i = 0; i < 10_000; i++) await Promise.resolve();
    at = clock.monotonic();
  };
  const done = Promise.all([work(), clock.sleep(2)]);
  await clock.run(done);
  expect(at).toBe(1);
});

test('`sleep()` rejects with the reason of its signal and leaves no sleeper', async () => {
  const clock = new ManualClock();
  const controller = new AbortController();
  const reason = new Error('enough');
  const slept = clock.sleep(1_000, { signal: controller.signal });
  controller.abort(reason);
  await expect(slept).rejects.toBe(reason);
  await expect(clock.sleep(1, { signal: controller.signal })).rejects.toBe(reason);
  expect(clock.sleeping).toBe(0);
});

test('`after()` acts among the sleepers in order, and once stopped it leaves none', async () => {
  const clock = new ManualClock();
  const acts: string[] = [];
  const act = (name: string) => (): void => {
    acts.push(`${name}@${clock.monotonic()}`);
  };
  void clock.sleep(10).then(act('sleeper'));
  const stopActed = clock.after(10, act('after'));
  const stop = clock.after(5, act('stopped'));
  stop();
  stop();
  expect(clock.sleeping).toBe(2);
  await clock.run();
  stopActed();
  expect(acts).toEqual(['sleeper@10', 'after@10']);
  expect(clock.sleeping).toBe(0);
});

test('wall and monotonic clock move apart, and only time that passes wakes sleepers', async () => {
  const clock = new ManualClock({ wallMs: 1_000 });
  const slept = clock.sleep(10);
  clock.shiftWall(-500);
  clock.shiftMonotonic(70);
  expect([clock.now(), clock.monotonic(), clock.sleeping]).toEqual([500, 70, 1]);
  expect(() => clock.shiftMonotonic(-1)).toThrow(RangeError);
  await clock.advance(10);
  await slept;
  expect([clock.now(), clock.monotonic(), clock.sleeping]).toEqual([510, 80, 0]);
});

test('`run()` refuses to wait for what no sleep will end', async () => {
  const clock = new ManualClock();
  await expect(clock.run(new Promise(() => {}))).rejects.toThrow('no sleep');
  await expect(clock.run(clock.sleep(100), 99)).rejects.toThrow('99 ms');
});

test('one seed gives one sequence, another seed and a derived one give others', () => {
  const draw = (random: SeededRandom): string => `${random.uuid()} ${random.number()}`;
  expect(draw(new SeededRandom(7))).toBe(draw(new SeededRandom(7)));
  const others = [
    new SeededRandom(8),
    new SeededRandom(7).derive('a'),
    new SeededRandom(7).derive('b'),
  ];
  expect(new Set([new SeededRandom(7), ...others].map(draw)).size).toBe(4);
});

test('numbers are uniform and UUIDs are version 4', () => {
  const random = new SeededRandom(1);
  const tenths = new Array<number>(10).fill(0);
  for (let i = 0; i < 100_000; i++) {
    const tenth = Math.floor(random.number() * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  // 10,000 each with a standard deviation of 95: five of them.
  for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(475);
  expect(random.uuid()).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});

test('sleepers that go and come in any order still wake by due time', async () => {
  const clock = new ManualClock();
  const random = new SeededRandom(4);
  const woken: number[] = [];
  let expected = 0;
  for (let i = 0; i < 500; i++) {
    const controller = new AbortController();
    const wake = (): void => {
      woken.push(clock.monotonic());
    };
    clock.sleep(random.integer(200), controller).then(wake, () => {});
    if (random.number() < 0.5) controller.abort();
    else expected++;
  }
  await clock.run();
  expect(woken).toEqual(woken.toSorted((a, b) => a - b));
  expect([woken.length, clock.sleeping]).toEqual([expected, 0]);
});
