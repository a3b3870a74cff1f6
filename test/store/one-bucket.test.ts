/**
 * Goal: a store opens its location's bucket once, whether it makes a world there or finds one, and
 * the probe of a new world is not hedged.
 * Method: the driver of `s3://` is a bucket in memory that counts how often it is made, closed and
 * asked, at two speeds.
 */
import { expect, test, vi } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { type Call, type CallResult, decorate, type Send } from '../../blob/decorate.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import type { S3BucketOptions } from '../../blob/s3.ts';
import { openWorld, type World } from '../../bucketstore/index.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const made = vi.hoisted(() => ({ driver: (_: S3BucketOptions): unknown => undefined }));
vi.mock('../../blob/s3.ts', () => ({
  createS3Bucket: (options: S3BucketOptions) => made.driver(options),
}));

/** What the drivers made in one test have in common. */
class Service {
  readonly clock: ManualClock = new ManualClock();
  readonly opened: string[] = [];
  closed = 0;
  /** Creates by the first part of the key below `_demarkus/v1/`. */
  readonly creates: Map<string, number> = new Map();
  readonly #random = new SeededRandom(1);
  readonly #objects: BlobStore;
  readonly #answerMs: number;

  constructor(answerMs: number) {
    this.#answerMs = answerMs;
    this.#objects = createMemoryBucket({ timing: this.clock });
  }

  driver({ bucket }: S3BucketOptions): BlobStore {
    this.opened.push(bucket);
    const around = async <T extends CallResult>(call: Call, send: Send<T>): Promise<T> => {
      const part = call.key.split('/')[2] ?? '';
      if (call.operation === 'create') this.creates.set(part, (this.creates.get(part) ?? 0) + 1);
      await this.clock.sleep(this.#answerMs);
      return send();
    };
    return {
      ...decorate(this.#objects, around),
      close: async () => {
        this.closed++;
      },
    };
  }

  open(create: boolean): Promise<World> {
    const components = { clock: this.clock, random: this.#random };
    return this.clock.run(openWorld('s3://a-bucket/worlds', { create, components }));
  }
}

function start(answerMs: number): Service {
  const service = new Service(answerMs);
  made.driver = (options) => service.driver(options);
  return service;
}

test('a world that is there is opened over one bucket, which its close closes', async () => {
  const service = start(1);
  await service.open(true);
  const probed = service.creates.get('probe');
  expect(probed).toBeGreaterThan(0);
  service.opened.length = 0;
  const world = await service.open(false);
  expect(service.opened).toEqual(['a-bucket']);
  expect(service.closed).toBe(0);
  await service.clock.run(world.close());
  expect(service.closed).toBe(1);
  const again = await service.open(true);
  expect(again.worldId).toBe(world.worldId);
  expect(service.opened).toEqual(['a-bucket', 'a-bucket']);
  expect(service.creates.get('probe')).toBe(probed);
});

test('a new world is probed over the bucket that it is opened on', async () => {
  const service = start(1);
  await service.open(true);
  expect(service.opened).toEqual(['a-bucket']);
});

test('a location without a world closes the bucket that found none', async () => {
  const service = start(1);
  await expect(service.open(false)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect([service.opened.length, service.closed]).toEqual([1, 1]);
});

test('the probe sends nothing twice, however slow the service is', async () => {
  const fast = start(1);
  await fast.open(true);
  const slow = start(900);
  await slow.open(true);
  expect(slow.creates.get('probe')).toBe(fast.creates.get('probe'));
  // The marker's own create is hedged: this is a service at which hedges are sent.
  expect([fast.creates.get('head.json'), slow.creates.get('head.json')]).toEqual([1, 2]);
});
