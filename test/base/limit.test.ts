/**
 * Goal: never more tasks at once than allowed, in order, and nothing of an aborted one is left.
 * Method: tasks that end when the test says so.
 */
import { expect, test } from 'vitest';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { Lru } from '../../bucketstore/base/lru.ts';

interface Held {
  readonly task: () => Promise<number>;
  readonly end: (value: number) => void;
  readonly started: () => boolean;
}

function held(): Held {
  let end: (value: number) => void = () => undefined;
  let started = false;
  const done = new Promise<number>((resolve) => {
    end = resolve;
  });
  const task = (): Promise<number> => {
    started = true;
    return done;
  };
  return { task, end, started: () => started };
}

/** Lets every promise that can settle do so. */
const turn = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

test('tasks beyond the limit wait, and start in order', async () => {
  const limit = createLimit(2);
  const tasks = [held(), held(), held()];
  const results = tasks.map(({ task }) => limit.run(task));
  expect(limit.hasRoom, 'taken at once, not when it begins').toBe(false);
  await turn();
  expect(tasks.map(({ started }) => started())).toEqual([true, true, false]);
  expect([limit.running, limit.waiting, limit.hasRoom]).toEqual([2, 1, false]);
  tasks[1]?.end(1);
  await turn();
  expect(tasks[2]?.started()).toBe(true);
  tasks[0]?.end(0);
  tasks[2]?.end(2);
  expect(await Promise.all(results)).toEqual([0, 1, 2]);
  await turn();
  expect(limit.hasRoom).toBe(true);
});

test('a waiting task that is aborted answers at once and never runs', async () => {
  const limit = createLimit(1);
  const first = held();
  const second = held();
  const abort = new AbortController();
  const running = limit.run(first.task, { signal: new AbortController().signal });
  const waiting = limit.run(second.task, { signal: abort.signal });
  const reason = new Error('enough');
  abort.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  first.end(7);
  expect(await running).toBe(7);
  await turn();
  expect(second.started()).toBe(false);
  expect([limit.running, limit.waiting]).toEqual([0, 0]);
});

test('`Lru` drops the least recently used, and takes nothing heavier than itself', () => {
  const lru = new Lru<string, string>(6, (value) => value.length);
  lru.set('a', 'aa');
  lru.set('b', 'bb');
  lru.set('c', 'cc');
  expect(lru.get('a')).toBe('aa');
  lru.set('d', 'dd');
  expect([lru.get('b'), lru.get('a'), lru.weight]).toEqual([undefined, 'aa', 6]);
  lru.set('e', 'eeeeeee');
  expect([lru.get('e'), lru.size]).toEqual([undefined, 3]);
  lru.set('a', 'a');
  expect(lru.weight).toBe(5);
  lru.clear();
  expect([lru.size, lru.weight]).toEqual([0, 0]);
});
