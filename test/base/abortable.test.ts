/**
 * Goal: any number of waits may share one abort signal: each hears it, Node warns of nothing, and
 * no listener stays. Method: waits on one signal, its listeners and the process's warnings counted.
 */
import { getEventListeners } from 'node:events';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { abortable, onAbort } from '../../bucketstore/base/abortable.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { drain } from '../support/manual-clock.ts';

const CALLS = 50;
const REASON = new Error('enough');

const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
afterEach(() => {
  expect(warned.mock.calls).toEqual([]);
});
afterAll(() => warned.mockRestore());

test('what these tests forbid is told: Node warns of the eleventh listener', () => {
  const { signal } = new AbortController();
  for (let i = 0; i <= 10; i++) signal.addEventListener('abort', () => undefined);
  expect(String(warned.mock.calls)).toContain('MaxListenersExceededWarning');
  warned.mockClear();
});

const never = (): Promise<never> => new Promise(() => undefined);
const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const all = <T>(make: (index: number) => Promise<T>): Promise<T>[] => {
  return Array.from({ length: CALLS }, (_, index) => make(index));
};

test('`abortable()`: many waits have one listener together, and none when they end', async () => {
  const { signal } = new AbortController();
  let end = (_: number): void => undefined;
  const work = new Promise<number>((resolve) => {
    end = resolve;
  });
  const waits = all(() => abortable(work, signal));
  expect(listenersOf(signal)).toBe(1);
  end(7);
  expect(await Promise.all(waits)).toEqual(Array(CALLS).fill(7));
  expect(listenersOf(signal)).toBe(0);
});

test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
  ['`abortable()`', (signal) => abortable(never(), signal)],
  ['`Clock.sleep()`', (signal) => systemClock.sleep(1e9, { signal })],
])('%s: each of many waits is told the reason, and nothing is left', async (_, wait) => {
  const controller = new AbortController();
  const waits = all(() => wait(controller.signal));
  expect(listenersOf(controller.signal)).toBe(1);
  controller.abort(REASON);
  const settled = await Promise.allSettled(waits);
  expect(settled).toEqual(Array(CALLS).fill({ status: 'rejected', reason: REASON }));
  expect(listenersOf(controller.signal)).toBe(0);
  await expect(wait(controller.signal)).rejects.toBe(REASON);
  expect(listenersOf(controller.signal)).toBe(0);
});

test('`Limit.run()`: waiting tasks share a listener, and those that began have none', async () => {
  const controller = new AbortController();
  const limit = createLimit(1);
  let end = (): void => undefined;
  const first = limit.run(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  const waits = all(() => limit.run(async () => 'ran', { signal: controller.signal }));
  expect(listenersOf(controller.signal)).toBe(1);
  controller.abort(REASON);
  const settled = await Promise.allSettled(waits);
  expect(settled).toEqual(Array(CALLS).fill({ status: 'rejected', reason: REASON }));
  end();
  await first;
  expect(listenersOf(controller.signal)).toBe(0);
});

test('`onAbort()`: one that goes while others are told is not told any more', () => {
  const controller = new AbortController();
  const told: string[] = [];
  const forgetFirst = onAbort(controller.signal, () => {
    told.push('first');
    forgetSecond();
  });
  const forgetSecond = onAbort(controller.signal, () => told.push('second'));
  onAbort(controller.signal, () => told.push('third'));
  controller.abort(REASON);
  expect(told).toEqual(['first', 'third']);
  forgetFirst();
  expect(listenersOf(controller.signal)).toBe(0);
});

test('`onAbort()`: taking one away twice leaves the others', () => {
  const controller = new AbortController();
  const told: string[] = [];
  const forget = onAbort(controller.signal, () => told.push('one'));
  onAbort(controller.signal, () => told.push('two'));
  forget();
  forget();
  expect(listenersOf(controller.signal)).toBe(1);
  controller.abort(REASON);
  expect(told).toEqual(['two']);
});

test('`abortable()`: work that fails for nobody is no unhandled failure', async () => {
  // One that were would fail this run.
  const failing = Promise.reject(new Error('of nobody'));
  await expect(abortable(failing, AbortSignal.abort(REASON))).rejects.toBe(REASON);
  await drain();
});
