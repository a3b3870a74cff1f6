/**
 * Goal: a location opens as its driver with every decorator, each at its place.
 * Method: memory buckets in virtual time, and a driver that fails as the test says.
 */
import { expect, test } from 'vitest';
import { createCounter } from '../../blob/count.ts';
import { BlobError } from '../../blob/errors.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { decorateBucket, openBucket } from '../../blob/open.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

function parts(timing: ManualClock): Parameters<typeof openBucket>[1] {
  const lanes = { commit: createLimit(4), read: createLimit(4), bulk: createLimit(1) };
  return { timing, chance: new SeededRandom(1), lanes };
}

test('memory:NAME is one bucket of the process, memory: a fresh one each time', async () => {
  const options = parts(new ManualClock());
  const first = await openBucket('memory:shared', options);
  const second = await openBucket('memory:shared', options);
  const fresh = await openBucket('memory:', options);
  await first.create('k', Buffer.from('v'));
  expect((await second.head('k')).found).toBe(true);
  expect((await fresh.head('k')).found).toBe(false);
});

test('every attempt is counted, also those that a retry makes', async () => {
  const clock = new ManualClock();
  const counter = createCounter();
  let failures = 2;
  const memory = createMemoryBucket({ timing: clock });
  const failing = Object.assign(Object.create(memory), {
    get: () => {
      failures -= 1;
      if (failures < 0) return Promise.resolve({ found: false });
      const error = { code: 'unavailable', operation: 'get', key: 'k', message: 'down' } as const;
      return Promise.reject(new BlobError(error));
    },
  });
  const options = { ...parts(clock), observer: counter };
  const store = decorateBucket(failing, { kind: 'memory', model: false }, options);
  const reading = store.get('k');
  await clock.run();
  expect((await reading).found).toBe(false);
  expect(counter.snapshot().requests.get).toBe(3);
});

test('a call that never settles ends at its deadline', async () => {
  const clock = new ManualClock();
  const memory = createMemoryBucket({ timing: clock });
  const silent = Object.assign(Object.create(memory), {
    create: () => new Promise(() => undefined),
  });
  const store = decorateBucket(silent, { kind: 'memory', model: false }, parts(clock));
  const creating = expect(store.create('k', Buffer.from('v'))).rejects.toMatchObject({
    code: 'timeout',
    ambiguous: true,
  });
  await clock.run();
  await creating;
});
