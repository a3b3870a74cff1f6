// Goal: the memory bucket keeps the bucket contract, and handles of one name share one bucket.
// Method: the contract suite, then what only this driver has, on a clock that stands still.
import { describe, expect, test } from 'vitest';
import type { Timing } from '../../blob/blob.ts';
import { createMemoryBucket, sharedMemoryBucket } from '../../blob/memory.ts';
import { blobContract } from '../contract/blob.ts';
import { bytesOf, listKeys, sortKeys } from '../contract/blob-case.ts';

const timing: Timing = { now: () => 1234, monotonic: () => 0, sleep: async () => {} };

describe('memory bucket', () => {
  blobContract({ test, factory: () => ({ store: createMemoryBucket({ timing }) }) });

  test('every answer and object carries the time of the clock it was given', async () => {
    const store = createMemoryBucket({ timing, name: 'memory:dated' });
    expect(store.name).toBe('memory:dated');
    const created = await store.create('a', bytesOf('x'));
    expect(created).toEqual({
      outcome: 'created',
      attributes: { key: 'a', generation: '1', size: 1, modifiedMs: 1234 },
      date: 1234,
    });
    expect((await store.delete('a')).date).toBe(1234);
    expect((await store.get('a')).date).toBe(1234);
  });

  test('`sharedMemoryBucket()` gives one bucket, which closing a handle leaves alone', async () => {
    const first = sharedMemoryBucket('shared', { timing });
    const second = sharedMemoryBucket('shared', { timing });
    const other = sharedMemoryBucket('other', { timing });
    await first.create('a', bytesOf('x'));
    await first.close();
    expect((await second.create('a', bytesOf('y'))).outcome).toBe('exists');
    expect((await other.head('a')).found).toBe(false);
    expect(second.name).toBe('memory:shared');
  });

  test('`close()` can be repeated, and calls after it reject with code `invalid`', async () => {
    const store = createMemoryBucket({ timing });
    await store.close();
    await store.close();
    await expect(store.head('a')).rejects.toMatchObject({ code: 'invalid', operation: 'head' });
    await expect(store.create('a', bytesOf('x'))).rejects.toMatchObject({ code: 'invalid' });
  });

  test('lists stay exact while keys come and go in any order', async () => {
    const store = createMemoryBucket({ timing });
    const model = new Set<string>();
    let state = 1;
    for (let step = 0; step < 20_000; step++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      const key = `k/${(state >>> 8) % 3000}`;
      if (model.has(key)) {
        model.delete(key);
        await store.delete(key);
      } else {
        model.add(key);
        await store.create(key, bytesOf(key));
      }
      if (step % 1777 === 0) {
        const keys = await listKeys(store, { prefix: 'k/', limit: 500 });
        expect(keys).toEqual(sortKeys([...model]));
      }
    }
    for (const key of model) await store.delete(key);
    expect(await listKeys(store, { prefix: '', limit: 1000 })).toEqual([]);
  });
});
