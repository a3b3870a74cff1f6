/**
 * Goal: what reading keeps has a bound, and is let go when the reads have ended, failed or left
 * (I17): states that views hold, looks and loads that are shared, slots of a replay, lanes,
 * directories.
 * Method: more than the bound is put in, on buckets that fail or hang, under virtual time; sizes
 * are read, weak references tell what is still held.
 */
import { describe, expect, test } from 'vitest';
import { Directories } from '../../blob/file-directories.ts';
import type { FileStat, FileSystem } from '../../blob/file-system.ts';
import { withLanes } from '../../blob/lanes.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { createLimit } from '../../bucketstore/base/limit.ts';
import type { View, World } from '../../bucketstore/index.ts';
import { RECENT_ENTRIES_MAX, RecentSlots } from '../../bucketstore/snapshot/recent-slots.ts';
import { SharedLook } from '../../bucketstore/snapshot/shared-look.ts';
import { withFaults } from '../support/faulty-bucket.ts';
import { withGates } from '../support/gated-bucket.ts';
import { isHeld } from '../support/held.ts';
import { drain, ManualClock } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { type BenchStore, WorldBench } from '../support/world-bench.ts';

const put = (world: World, path: string, body = path) =>
  world.publish({ path, expected: 'any', body });

describe('the state that a view holds', () => {
  /** In a function of its own, so that no frame of the test holds the state. */
  async function viewed(bench: WorldBench, { world, parts }: BenchStore) {
    const view = world.view();
    await bench.run(view.isDir('/'));
    return { view, reference: new WeakRef(parts.follower.snapshot) };
  }

  async function scene() {
    const bench = new WorldBench();
    const store = await bench.store({ settings: { deadlineMs: 5_000 } });
    await bench.run(put(store.world, '/a.md'));
    const { view, reference } = await viewed(bench, store);
    await bench.run(put(store.world, '/b.md'));
    return { bench, view, reference };
  }

  test('is held while it may be read: the method can fail', async () => {
    const { bench, view, reference } = await scene();
    expect(await isHeld(reference)).toBe(true);
    expect(await bench.run(view.listEntries('/'))).toHaveLength(1);
  });

  test.each<[string, (bench: WorldBench, view: View) => Promise<unknown>]>([
    ['it is closed', (_, view) => view.close()],
    [
      'it is found to have expired',
      async (bench, view) => {
        await bench.clock.advance(5_001);
        expect(await failureOf(view.isDir('/'))).toMatchObject({ code: 'VIEW_EXPIRED' });
      },
    ],
  ])('is let go when %s, though the view is kept', async (_, end) => {
    const { bench, view, reference } = await scene();
    await end(bench, view);
    expect(await isHeld(reference)).toBe(false);
    expect(view).toBeDefined();
  });

  test('is none of a choice that failed: the next read chooses anew', async () => {
    const bench = new WorldBench();
    await bench.open();
    const rule = { operation: 'head', fault: { kind: 'fail', code: 'forbidden' } } as const;
    const { store } = withFaults(bench.bucket, [rule], { timing: bench.clock });
    const world = await bench.open({ bucket: store });
    const view = world.view();
    expect(await failureOf(bench.run(view.isDir('/')))).toMatchObject({ code: 'LOCATION' });
    expect(await bench.run(view.isDir('/'))).toBe(true);
  });
});

describe('looks that are shared', () => {
  test('one runs and one waits, however many ask, fail and leave', async () => {
    let running = 0;
    let most = 0;
    let looks = 0;
    const ends: ((error?: Error) => void)[] = [];
    const shared = new SharedLook(async () => {
      looks += 1;
      most = Math.max(most, ++running);
      await new Promise<void>((resolve, reject) => {
        ends.push((error) => (error === undefined ? resolve() : reject(error)));
      }).finally(() => {
        running -= 1;
      });
    });
    for (let round = 0; round < 3; round++) {
      const asked = Array.from({ length: 1_000 }, () => shared.next());
      expect(new Set(asked).size, 'the one that runs, and the next').toBe(2);
      const told = Promise.allSettled(asked);
      ends.shift()?.(new RangeError('failed'));
      await drain();
      ends.shift()?.();
      const failed = (await told).filter(({ status }) => status === 'rejected');
      expect(failed).toHaveLength(1);
    }
    expect([running, most, looks, ends.length]).toEqual([0, 1, 6, 0]);
  });

  test('a load that failed is not shared any more', async () => {
    const bench = new WorldBench();
    const peer = await bench.open();
    await bench.run(put(peer, '/a.md'));
    const gated = withGates(bench.bucket);
    const rule = {
      operation: 'list',
      fault: { kind: 'fail', code: 'forbidden' },
      skip: 3,
    } as const;
    const { store: bucket } = withFaults(gated.store, [rule], { timing: bench.clock });
    const { parts } = await bench.store({ bucket });
    const { follower } = parts;
    const [one, other] = [follower.reload(), follower.reload()];
    expect(other).toBe(one);
    expect(await failureOf(bench.run(one))).toMatchObject({ code: 'LOCATION' });
    const again = follower.reload();
    expect(again).not.toBe(one);
    await bench.run(again);
    expect(bench.clock.sleeping).toBe(0);
  });
});

describe('the slots of a replay', () => {
  const slot = (entries: number, name: number) => ({
    name,
    slot: { entries: { length: entries } },
  });

  test('are held as far back as operations are found, and no farther', () => {
    const recent = new RecentSlots<ReturnType<typeof slot>>(1_000);
    let most = 0;
    for (let name = 0; name < 100_000; name++) {
      recent.add(slot(10, name));
      most = Math.max(most, recent.size);
    }
    expect(most).toBeLessThanOrEqual(2_048);
    const names = recent.take().map((one) => one.name);
    expect(names).toEqual(Array.from({ length: 100 }, (_, i) => 99_900 + i));
  });

  test.each([1, 256])('of %i entries each are enough in sum, in order', (entries) => {
    const recent = new RecentSlots<ReturnType<typeof slot>>(1_000);
    for (let name = 0; name < 5_000; name++) recent.add(slot(entries, name));
    const taken = recent.take();
    expect(taken.length * entries).toBeGreaterThanOrEqual(1_000);
    expect((taken.length - 1) * entries).toBeLessThan(1_000);
    expect(taken.at(-1)?.name).toBe(4_999);
    expect(recent.size).toBe(taken.length);
  });

  test('are all of a short one', () => {
    const recent = new RecentSlots<ReturnType<typeof slot>>();
    for (let name = 0; name < 20; name++) recent.add(slot(256, name));
    expect(recent.take()).toHaveLength(20);
    expect(RECENT_ENTRIES_MAX).toBeGreaterThan(65_536);
  });
});

test('lanes keep no place of a call that ended, failed, left or was late', async () => {
  const clock = new ManualClock();
  const gated = withGates(createMemoryBucket({ timing: clock }));
  const lane = createLimit(2);
  const bucket = withLanes(
    gated.store,
    { commit: lane, read: lane, bulk: lane },
    { timing: clock },
  );
  const held = gated.hold('request', () => true);
  const caller = countedSignal();
  const calls = Array.from({ length: 9 }, (_, i) => {
    const kinds = [{ signal: caller.signal }, { deadlineMs: 100 }, {}];
    return bucket.head(i % 2 === 0 ? 'a' : '', kinds[i % 3]);
  });
  const told = Promise.allSettled(calls);
  await drain();
  expect([lane.running, held.waiting]).toEqual([2, 2]);
  caller.abort(new RangeError('left'));
  await clock.advance(100);
  await held.open();
  await clock.run(told);
  await drain();
  expect([lane.running, lane.waiting, lane.hasRoom]).toEqual([0, 0, true]);
  expect([caller.listeners(), clock.sleeping]).toEqual([0, 0]);
});

describe('directories', () => {
  const stat: FileStat = {
    kind: 'directory',
    device: 1n,
    inode: 1n,
    size: 0,
    modifiedNs: 0n,
    changedNs: 0n,
  };
  /** A file system on which only directories are synced. */
  const fileSystem = (syncDirectory: FileSystem['syncDirectory']): FileSystem => {
    const refuse = async (): Promise<never> => {
      throw new Error('not asked for');
    };
    const rest = { openRead: refuse, openNew: refuse, link: refuse, unlink: refuse };
    const made = { mkdir: async () => undefined, rmdir: refuse, readdir: async () => [] };
    return { ...rest, ...made, stat: async () => stat, syncDirectory };
  };

  test('no more than 4,096 are remembered as synced', async () => {
    const directories = new Directories(
      fileSystem(async () => undefined),
      '/bucket',
    );
    let most = 0;
    for (let i = 0; i < 10_000; i++) {
      await directories.sync(`/bucket/${i}`);
      most = Math.max(most, directories.held.known);
    }
    expect(most).toBe(4_096);
    expect(directories.held.syncs).toBe(0);
  });

  test('syncs that run or wait are let go, also when they fail', async () => {
    let broken = false;
    const directories = new Directories(
      fileSystem(async () => {
        await drain();
        if (broken) throw new Error('no disk');
      }),
      '/bucket',
    );
    const sync = (i: number) => directories.sync(`/bucket/${i % 3}`);
    for (const state of [false, true, false]) {
      broken = state;
      const syncs = Promise.allSettled(Array.from({ length: 60 }, (_, i) => sync(i)));
      expect(directories.held.syncs).toBeLessThanOrEqual(8);
      const failed = (await syncs).filter(({ status }) => status === 'rejected');
      expect(failed).toHaveLength(state ? 60 : 0);
      await drain();
      expect(directories.held.syncs).toBe(0);
    }
  });
});
