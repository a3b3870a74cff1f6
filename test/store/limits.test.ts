/**
 * Goal: every write that is not committed says so, at a bounded time: read-only stores, full
 * queues, deadlines, aborts and closing.
 * Method: slot creates that hang under virtual time; what was refused must never appear later.
 */
import { describe, expect, test } from 'vitest';
import type { World } from '../../bucketstore/index.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { type StallingBucket, withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';

const isSlot = (key: string): boolean => key.includes('/log/');

interface Stalled {
  readonly bench: WorldBench;
  readonly stalling: StallingBucket;
  readonly world: World;
}

/** A store whose slot creates and slot reads are never answered. */
async function stalled(settings: object = {}, times = 1000): Promise<Stalled> {
  const bench = new WorldBench();
  const stalling = withStalls(bench.bucket);
  const world = await bench.open({ bucket: stalling.store, settings });
  stalling.stall({ mode: 'never-answers', key: isSlot, times });
  stalling.stall({ mode: 'never-answers', key: isSlot, operation: 'get', times });
  return { bench, stalling, world };
}

const create = (world: World, path: string, options: object = {}) =>
  world.publish({ path, expected: 'absent', body: path }, options);

test('a store for reading only refuses every write, and reads', async () => {
  const bench = new WorldBench();
  const writer = await bench.open();
  await bench.run(create(writer, '/a.md'));
  const reader = await bench.open({ create: false, settings: { readOnly: true } });
  const writes = [
    create(reader, '/b.md'),
    reader.append({ path: '/a.md', expected: 1, content: 'x' }),
    reader.setArchived({ path: '/a.md', archived: true }),
    reader.commit([{ kind: 'publish', path: '/b.md', expected: 'any', body: 'x' }]),
  ];
  for (const write of writes) {
    expect(await failureOf(write)).toMatchObject({ code: 'READ_ONLY', outcome: 'not committed' });
  }
  expect((await bench.run(reader.view().get('/a.md'))).version).toBe(1);
  expect((await bench.run(writer.stat())).sequence).toBe(2);
});

describe('a full queue', () => {
  test('of members answers OVERLOADED at once, and takes more when there is room', async () => {
    const { bench, world } = await stalled({ queueMembers: 3 }, 1);
    const taken = ['/1.md', '/2.md', '/3.md'].map((path) => create(world, path));
    const error = await failureOf(create(world, '/4.md'));
    expect(error).toMatchObject({ code: 'OVERLOADED', outcome: 'not committed' });
    expect(error).toHaveProperty('details.retryAfterMs');
    await bench.run(Promise.all(taken));
    await bench.run(create(world, '/5.md'));
    expect((await bench.run(world.stat())).documents).toBe(4);
  });

  test('of bytes too', async () => {
    const { bench, world } = await stalled({ queueBytes: 1024 * 1024 }, 1);
    const body = 'x'.repeat(600 * 1024);
    const taken = world.publish({ path: '/a.md', expected: 'absent', body });
    const more = world.publish({ path: '/b.md', expected: 'absent', body });
    expect(await failureOf(more)).toMatchObject({ code: 'OVERLOADED' });
    await bench.run(taken);
    await bench.run(world.publish({ path: '/b.md', expected: 'absent', body }));
  });
});

describe('a deadline', () => {
  test('QueuedWriteExpires: in the queue it is OVERLOADED, and never commits', async () => {
    const { bench, stalling, world } = await stalled({ batchMax: 1 });
    const sent = create(world, '/sent.md', { deadlineMs: 60_000 });
    const queued = failureOf(create(world, '/queued.md', { deadlineMs: 700 }));
    await bench.clock.advance(699);
    let answered = false;
    queued.then(
      () => (answered = true),
      () => undefined,
    );
    await bench.clock.advance(0);
    expect(answered).toBe(false);
    await bench.clock.advance(1);
    expect(await queued).toMatchObject({ code: 'OVERLOADED', outcome: 'not committed' });
    // The whole bucket comes back.
    const other = await bench.open();
    await stalling.release();
    await bench.clock.advance(30_000);
    expect(await failureOf(bench.run(other.view().get('/queued.md')))).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect((await bench.run(other.view().get('/sent.md'))).version).toBe(1);
    sent.catch(() => undefined);
  });

  test('of a create that was sent is *unknown*, with op and after', async () => {
    const { bench, stalling, world } = await stalled();
    const op = bench.random.uuid();
    const error = await failureOf(bench.run(create(world, '/a.md', { deadlineMs: 700, op })));
    expect(error).toMatchObject({
      code: 'UNKNOWN_OUTCOME',
      outcome: 'unknown',
      details: { op, after: 1 },
    });
    await stalling.held[0]?.land();
    const other = await bench.open();
    expect(await bench.run(other.operation(op, 1))).toMatchObject([{ op, sequence: 2 }]);
  });
});

describe('an abort', () => {
  test('of a queued write answers its reason, and the write never commits', async () => {
    const { bench, stalling, world } = await stalled({ batchMax: 1 });
    create(world, '/sent.md').catch(() => undefined);
    const caller = countedSignal();
    const queued = failureOf(create(world, '/queued.md', { signal: caller.signal }));
    await bench.clock.advance(10);
    const reason = new RangeError('the caller left');
    caller.abort(reason);
    expect(await queued).toBe(reason);
    await stalling.release();
    const other = await bench.open();
    await bench.clock.advance(30_000);
    expect(await bench.run(other.stat())).toMatchObject({ documents: 1 });
  });

  test('of a write that was sent is *unknown*, caused by the reason', async () => {
    const { bench, world } = await stalled();
    const caller = countedSignal();
    const sent = failureOf(create(world, '/a.md', { signal: caller.signal }));
    await bench.clock.advance(10);
    const reason = new RangeError('the caller left');
    caller.abort(reason);
    expect(await sent).toMatchObject({ code: 'UNKNOWN_OUTCOME', cause: reason });
    expect(caller.listeners()).toBe(0);
  });
});

describe('close()', () => {
  test('commits what waits, then refuses writes; reads go on', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    const writes = Array.from({ length: 40 }, (_, i) => create(world, `/${i}.md`));
    const closing = world.close();
    const late = failureOf(create(world, '/late.md'));
    await bench.run(Promise.all([...writes, closing, world.close()]));
    expect(await late).toMatchObject({ code: 'CLOSED', outcome: 'not committed' });
    const names = await bench.run(world.view().listEntries('/'));
    expect(names).toHaveLength(40);
    expect(bench.clock.sleeping).toBe(0);
  });

  test('B07 does not wait for a dead promise, and answers what it could not commit', async () => {
    const { bench, world } = await stalled({ batchMax: 1 });
    const options = { deadlineMs: 600_000 };
    const sent = failureOf(create(world, '/sent.md', options));
    const queued = failureOf(create(world, '/queued.md', options));
    await bench.clock.advance(10);
    const before = bench.clock.monotonic();
    await bench.run(world.close({ drainMs: 2_000 }));
    expect(bench.clock.monotonic() - before).toBe(2_000);
    expect(await sent).toMatchObject({ code: 'UNKNOWN_OUTCOME', details: { after: 1 } });
    expect(await queued).toMatchObject({ code: 'CLOSED', outcome: 'not committed' });
    expect(bench.clock.sleeping).toBe(0);
  });
});

test('a view reads for its life and not longer', async () => {
  const bench = new WorldBench();
  const world = await bench.open({ settings: { deadlineMs: 5_000 } });
  await bench.run(create(world, '/a.md'));
  const view = world.view();
  await bench.run(view.get('/a.md'));
  await bench.clock.advance(5_000);
  await bench.run(view.get('/a.md'));
  await bench.clock.advance(1);
  expect(await failureOf(view.get('/a.md'))).toMatchObject({ code: 'VIEW_EXPIRED' });
});

test('reads of one view that choose together do not share a fate', async () => {
  const { bench, stalling, world } = await stalled();
  stalling.stall({ mode: 'never-answers', key: isSlot, operation: 'head', times: 1 });
  const view = world.view();
  const caller = countedSignal();
  const first = failureOf(view.isDir('/', { signal: caller.signal }));
  const second = view.isDir('/');
  await bench.clock.advance(10);
  const reason = new RangeError('the caller left');
  caller.abort(reason);
  expect(await first).toBe(reason);
  await stalling.held.find(({ call }) => call.operation === 'head')?.land();
  await expect(bench.run(second)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await bench.run(view.isDir('/'))).toBe(true);
});
