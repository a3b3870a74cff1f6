/**
 * Goal: the ground a simulation stands on does what it says: order of events, clocks that pauses
 * stop or do not, deliveries that wait or never come, and a fingerprint that tells runs apart.
 * Method: small scripts on a `Timeline`; true times of what happened are compared as lists.
 */
import { describe, expect, it } from 'vitest';
import { Coverage } from './coverage.ts';
import { EPOCH_MS, SimProcess } from './process.ts';
import { SimRandom } from './random.ts';
import { Timeline } from './time.ts';

function openProcess(wallOffsetMs = 0): {
  timeline: Timeline;
  coverage: Coverage;
  process: SimProcess;
} {
  const timeline = new Timeline();
  const coverage = new Coverage();
  const process = new SimProcess({ timeline, coverage, id: 'a', wallOffsetMs });
  return { timeline, coverage, process };
}

/** Sleeps so long and notes the true time of waking. */
function sleepers(timeline: Timeline, process: SimProcess, ...ms: number[]): number[] {
  const woken: number[] = [];
  for (const each of ms) {
    void process.clock.sleep(each).then(() => woken.push(timeline.now));
  }
  return woken;
}

describe('Timeline', () => {
  it('fires by time, then by insertion, and rounds up to whole ms', async () => {
    const timeline = new Timeline();
    const fired: string[] = [];
    const note = (name: string) => () => fired.push(`${name}@${timeline.now}`);
    const random = new SimRandom(1);
    timeline.at(7, note('c'));
    timeline.at(2.2, note('a'));
    timeline.after(3, note('b'));
    timeline.at(6.5, note('d'));
    const dues = Array.from({ length: 500 }, () => 10 + random.integer(100));
    const order: number[] = [];
    for (const due of dues) timeline.at(due, () => order.push(timeline.now));
    expect(await timeline.run(1_000)).toBe(true);
    expect(fired).toEqual(['a@3', 'b@3', 'c@7', 'd@7']);
    expect(order).toEqual(dues.sort((x, y) => x - y));
    expect(timeline.now).toBe(1_000);
  });

  it('runs the promise jobs of an instant before time goes on', async () => {
    const timeline = new Timeline();
    const seen: number[] = [];
    timeline.at(5, () => {
      void (async () => {
        for (let i = 0; i < 50; i++) await null;
        seen.push(timeline.now);
      })();
    });
    timeline.at(6, () => seen.push(timeline.now));
    await timeline.run(10);
    expect(seen).toEqual([5, 6]);
  });

  it('stops when a condition holds, when nothing is left, and at its limit', async () => {
    const timeline = new Timeline();
    let fired = 0;
    for (const at of [1, 2, 3]) timeline.at(at, () => (fired += 1));
    expect(await timeline.run(() => fired === 2)).toBe(true);
    expect(timeline.now).toBe(2);
    expect(await timeline.run(() => fired === 9, 2)).toBe(false);
    expect(fired).toBe(2);
    expect(await timeline.run(() => fired === 9)).toBe(false);
    expect(fired).toBe(3);
    expect(timeline.waiting).toBe(0);
  });

  it('never fires what was cancelled', async () => {
    const timeline = new Timeline();
    const fired: string[] = [];
    const event = timeline.at(1, () => fired.push('cancelled'));
    timeline.at(2, () => fired.push('kept'));
    timeline.cancel(event);
    timeline.cancel(event);
    expect(timeline.waiting).toBe(1);
    await timeline.run(5);
    expect(fired).toEqual(['kept']);
  });

  it('has a fingerprint of its lines, their order and their times, traced or not', async () => {
    const printOf = async (lines: readonly (readonly [number, string])[], keep = false) => {
      const timeline = new Timeline();
      const kept: string[] = [];
      if (keep) timeline.tracer = (line) => kept.push(line);
      for (const [at, line] of lines) timeline.at(at, () => timeline.trace(line));
      await timeline.run(100);
      if (keep) expect(kept).toEqual(lines.map(([at, line]) => `${at} ${line}`));
      expect(Number.isSafeInteger(timeline.fingerprint)).toBe(true);
      return timeline.fingerprint;
    };
    const print = await printOf([
      [1, 'x'],
      [2, 'y'],
    ]);
    const same = [
      [1, 'x'],
      [2, 'y'],
    ] as const;
    expect(await printOf(same, true)).toBe(print);
    const others = [
      [
        [1, 'y'],
        [2, 'x'],
      ],
      [
        [1, 'x'],
        [3, 'y'],
      ],
      [[1, 'x']],
      [],
    ] as const;
    for (const other of others) expect(await printOf(other)).not.toBe(print);
  });
});

describe('clocks of a SimProcess', () => {
  it('show a pause, hide it, or show it on the wall alone', async () => {
    const read = async (hidden: boolean | 'monotonic'): Promise<readonly number[]> => {
      const { timeline, process } = openProcess(500);
      await timeline.run(10);
      process.pause(100, hidden);
      await timeline.run(50);
      const within = [process.clock.now() - EPOCH_MS, process.clock.monotonic()];
      await timeline.run(200);
      return [...within, process.clock.now() - EPOCH_MS, process.clock.monotonic()];
    };
    expect(await read(false)).toEqual([550, 50, 700, 200]);
    expect(await read(true)).toEqual([510, 10, 600, 100]);
    expect(await read('monotonic')).toEqual([550, 10, 700, 100]);
  });

  it('jump on the wall alone, and no sleeper notices', async () => {
    const { timeline, process, coverage } = openProcess();
    const woken = sleepers(timeline, process, 20);
    process.jumpWall(-5_000);
    expect(process.clock.now()).toBe(EPOCH_MS - 5_000);
    await timeline.run(30);
    expect(woken).toEqual([20]);
    expect(process.clock.monotonic()).toBe(30);
    expect(coverage.get('clock jump')).toBe(1);
  });

  it('sleep by their own monotonic time: what a pause hides from them is slept again', async () => {
    const wokenAfter = async (hidden: boolean | 'monotonic'): Promise<readonly number[]> => {
      const { timeline, process } = openProcess();
      const woken = sleepers(timeline, process, 5, 50, 300);
      await timeline.run(10);
      process.pause(100, hidden);
      await timeline.run(1_000);
      return woken;
    };
    expect(await wokenAfter(false)).toEqual([5, 110, 300]);
    expect(await wokenAfter(true)).toEqual([5, 150, 400]);
    expect(await wokenAfter('monotonic')).toEqual([5, 150, 400]);
  });

  it('end a sleep by its signal and leave no event behind', async () => {
    const { timeline, process } = openProcess();
    const controller = new AbortController();
    const reason = new Error('enough');
    const slept = process.clock.sleep(1_000, { signal: controller.signal });
    expect(process.waits.get('sleep')).toBe(1);
    controller.abort(reason);
    await expect(slept).rejects.toBe(reason);
    expect(process.waits.size).toBe(0);
    expect(timeline.waiting).toBe(0);
    const late = process.clock.sleep(1, { signal: controller.signal });
    await expect(late).rejects.toBe(reason);
  });

  it('let time pass in every sleep', async () => {
    const { timeline, process } = openProcess();
    const woken = sleepers(timeline, process, 0, -3, Number.NaN);
    await timeline.run(5);
    expect(woken).toEqual([1, 1, 1]);
  });
});

describe('a SimProcess', () => {
  it('holds what is delivered in a pause and delivers it in order at the later end', async () => {
    const { timeline, process, coverage } = openProcess();
    const seen: string[] = [];
    const deliver = (name: string) => () =>
      process.deliver(() => seen.push(`${name}@${timeline.now}`));
    process.pause(100, false);
    timeline.at(10, deliver('b'));
    timeline.at(20, () => process.pause(200, true));
    timeline.at(30, deliver('a'));
    timeline.at(300, deliver('c'));
    await timeline.run(400);
    expect(seen).toEqual(['b@220', 'a@220', 'c@300']);
    expect(process.clock.monotonic()).toBe(200);
    expect([coverage.get('pause'), coverage.get('hidden pause')]).toEqual([1, 1]);
  });

  it('holds the rest when what is delivered first pauses it again', async () => {
    const { timeline, process } = openProcess();
    const seen: number[] = [];
    process.pause(10, false);
    process.deliver(() => process.pause(10, false));
    process.deliver(() => seen.push(timeline.now));
    await timeline.run(100);
    expect(seen).toEqual([20]);
  });

  it('is told nothing after a crash, which counts each kind of wait that it hit', async () => {
    const { timeline, process, coverage } = openProcess();
    const woken = sleepers(timeline, process, 10, 20, 20);
    process.enter('get slot answer', 'get slot');
    process.pause(12, false);
    process.deliver(() => woken.push(-1));
    await timeline.run(11);
    process.crash();
    process.crash();
    process.deliver(() => woken.push(-2));
    await timeline.run(100);
    expect(woken).toEqual([]);
    expect(coverage.entries()).toEqual([
      ['crash at get slot answer', 1],
      ['crash at sleep', 1],
      ['pause', 1],
    ]);
  });

  it('fires what is armed once, at either stage or at the one that was named', () => {
    const { process } = openProcess();
    const fired: string[] = [];
    process.when('create slot', () => fired.push('any'));
    process.when('create slot answer', () => fired.push('answer'));
    process.enter('get slot request', 'get slot');
    process.enter('create slot request', 'create slot');
    process.enter('create slot answer', 'create slot');
    process.enter('create slot answer', 'create slot');
    expect(fired).toEqual(['any', 'answer']);
    expect(process.waits.get('create slot answer')).toBe(2);
  });
});

describe('SimRandom', () => {
  it('replays a seed, and forks do not depend on what was drawn', () => {
    const draws = (random: SimRandom): number[] => Array.from({ length: 20 }, () => random.bits());
    const one = new SimRandom(42);
    const fork = draws(one.fork('a'));
    draws(one);
    expect(draws(one.fork('a'))).toEqual(fork);
    const streams = [
      draws(new SimRandom(42)),
      draws(new SimRandom(43)),
      fork,
      draws(one.fork('b')),
      draws(one.fork('a').fork('a')),
      draws(new SimRandom(43).fork('a')),
    ];
    expect(new Set(streams.flat()).size).toBe(streams.length * 20);
  });

  it('is even enough, and makes version 4 UUIDs', () => {
    const random = new SimRandom(7);
    const tenths = new Array<number>(10).fill(0);
    for (let i = 0; i < 20_000; i++) {
      const tenth = random.integer(10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(Math.abs(count - 2_000)).toBeLessThan(250);
    const uuids = Array.from({ length: 50 }, () => random.uuid());
    for (const uuid of uuids) {
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    expect(new Set(uuids).size).toBe(50);
  });
});

describe('Coverage', () => {
  it('adds up, merges, and prints by name', () => {
    const one = new Coverage();
    one.count('reset');
    one.count('409', 12);
    const two = new Coverage();
    two.count('reset', 2);
    one.merge(two);
    expect(one.get('reset')).toBe(3);
    expect(one.get('stall')).toBe(0);
    expect(one.table()).toBe('12  409\n 3  reset');
  });
});
