/**
 * Goal: no request is told something untrue, or held up, because of another's bad luck.
 * Method: stores in virtual time on buckets that stall, drivers that throw what is no bucket error,
 * conditions that never end, and requests that are sent again.
 */
import { expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { type Call, type CallResult, decorate, type Send } from '../../blob/decorate.ts';
import { uuidOf } from '../../bucketstore/base/uuid.ts';
import type { WriteResult } from '../../bucketstore/index.ts';
import { withGates } from '../support/gated-bucket.ts';
import { drain } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';

const OP = '00000000-0000-4000-8000-000000000001';
const isSlot = (key: string): boolean => key.includes('/log/');

/** A store whose driver is a function around each call. */
function around(
  bucket: BlobStore,
  act: <T extends CallResult>(call: Call, send: Send<T>) => Promise<T>,
): BlobStore {
  return decorate(bucket, act);
}

test('a committed write is answered while the answer of a repeat is still being read', async () => {
  const bench = new WorldBench();
  const first = await bench.open();
  await bench.run(first.publish({ path: '/a.md', expected: 'absent', body: 'a' }, { op: OP }));
  const stalling = withStalls(bench.bucket);
  const world = await bench.open({ bucket: stalling.store });
  stalling.stall({ mode: 'never-answers', key: isSlot, operation: 'get', times: 1000 });
  const repeat = failureOf(
    world.publish({ path: '/a.md', expected: 'absent', body: 'a' }, { op: OP, deadlineMs: 900 }),
  );
  const write = world.publish({ path: '/b.md', expected: 'absent', body: 'b' });
  expect((await bench.run(write)).committed).toBe(true);
  // It is in the log, so it must never be told otherwise.
  expect(await bench.run(repeat)).toMatchObject({ code: 'UNKNOWN_OUTCOME', details: { op: OP } });
});

test('a create whose driver throws something else is settled by reading', async () => {
  const bench = new WorldBench();
  let broken = 1;
  const bucket = around(bench.bucket, async (call, send) => {
    const result = await send();
    if (call.operation === 'create' && isSlot(call.key) && broken-- > 0) {
      throw new Error('socket hang up');
    }
    return result;
  });
  const world = await bench.open({ bucket });
  const write = await bench.run(world.publish({ path: '/a.md', expected: 'absent', body: 'a' }));
  expect(write).toMatchObject({ committed: true, sequence: 2 });
  expect(await bench.slots()).toHaveLength(1);
});

test('a request sent again while its first create is out is *unknown* too', async () => {
  const bench = new WorldBench();
  const stalling = withStalls(bench.bucket);
  const world = await bench.open({ bucket: stalling.store });
  stalling.stall({ mode: 'never-answers', key: isSlot, times: 1000 });
  stalling.stall({ mode: 'never-answers', key: isSlot, operation: 'get', times: 1000 });
  const publish = (): Promise<WriteResult> => {
    const request = { path: '/a.md', expected: 'absent', body: 'a' } as const;
    return world.publish(request, { op: OP, deadlineMs: 500 });
  };
  const first = await bench.run(failureOf(publish()));
  const second = await bench.run(failureOf(publish()));
  for (const error of [first, second]) {
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME', details: { op: OP, after: 1 } });
  }
});

test('requests with one operation that wait together get one answer', async () => {
  const bench = new WorldBench();
  const world = await bench.open();
  const publish = (): Promise<WriteResult> => {
    return world.publish({ path: '/a.md', expected: 'absent', body: 'a' }, { op: OP });
  };
  const [first, second] = await bench.run(Promise.all([publish(), publish()]));
  expect(second).toEqual(first);
  expect(await bench.slots()).toHaveLength(1);
});

test('an operation made from a group’s own does not stop the store', async () => {
  const bench = new WorldBench();
  const world = await bench.open();
  const body = 'x';
  const single = world.publish(
    { path: '/c.md', expected: 'absent', body },
    { op: uuidOf(`${OP} 1`) },
  );
  const group = failureOf(
    world.commit(
      ['/a.md', '/b.md'].map((path) => ({ kind: 'publish', path, expected: 'absent', body })),
      { op: OP },
    ),
  );
  await bench.run(single);
  expect(await bench.run(group)).toMatchObject({ code: 'REJECTED' });
  await bench.run(world.publish({ path: '/d.md', expected: 'absent', body }));
  expect((await bench.run(world.stat())).documents).toBe(2);
});

test('a condition that never ends holds up nobody, and not the end of the store', async () => {
  const bench = new WorldBench();
  const world = await bench.open();
  const precondition = (): Promise<void> => new Promise(() => undefined);
  const stuck = failureOf(
    world.publish({ path: '/a.md', expected: 'any', body: 'a', precondition }, { deadlineMs: 200 }),
  );
  const write = world.publish({ path: '/b.md', expected: 'absent', body: 'b' });
  expect(await bench.run(stuck)).toMatchObject({ code: 'OVERLOADED', outcome: 'not committed' });
  expect((await bench.run(write)).committed).toBe(true);
  const last = failureOf(
    world.publish({ path: '/c.md', expected: 'any', body: 'c', precondition }),
  );
  await bench.run(world.close({ drainMs: 100 }));
  expect(await last).toMatchObject({ code: 'CLOSED' });
});

test('a store that is far behind reads on, and does not lose name after name', async () => {
  const bench = new WorldBench();
  let creates = 0;
  const bucket = around(bench.bucket, (call, send) => {
    if (call.operation === 'create' && isSlot(call.key)) creates += 1;
    return send();
  });
  const behind = await bench.open({ bucket });
  const ahead = await bench.open();
  const slots = 40;
  for (let index = 0; index < slots; index++) {
    await bench.run(ahead.publish({ path: `/${index}.md`, expected: 'absent', body: 'x' }));
  }
  await bench.run(behind.publish({ path: '/late.md', expected: 'absent', body: 'x' }));
  // After a loss everything behind it is read before the next name is tried.
  expect(creates).toBe(2);
});

test('what a condition or a caller is shown cannot be changed', async () => {
  const bench = new WorldBench();
  const world = await bench.open();
  const metadata = { title: 'one' };
  const write = world.publish({
    path: '/a.md',
    expected: 'absent',
    body: 'a',
    metadata,
    precondition: (_, prepared) => {
      expect(() => Object.assign(prepared.metadata ?? {}, { title: 'two' })).toThrow(TypeError);
      prepared.body.fill(0);
    },
  });
  metadata.title = 'three';
  await bench.run(write);
  const document = await bench.run(world.view().get('/a.md'));
  expect([document.metadata?.['title'], Buffer.from(document.body).toString()]).toEqual([
    'one',
    'a',
  ]);
});

test('a time to wait that no timer can keep is refused', async () => {
  const bench = new WorldBench();
  const world = await bench.open();
  for (const deadlineMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    const write = world.publish({ path: '/a.md', expected: 'any', body: 'a' }, { deadlineMs });
    expect(await failureOf(write), String(deadlineMs)).toBeInstanceOf(RangeError);
  }
});

test('an operation that was another request’s is refused', async () => {
  const bench = new WorldBench();
  const world = await bench.open();
  const request = { path: '/a.md', expected: 'any', body: 'a' } as const;
  await bench.run(world.publish(request, { op: OP }));
  const others = [
    () => world.publish({ ...request, path: '/b.md' }, { op: OP }),
    () => world.publish({ ...request, body: 'other' }, { op: OP }),
    () => world.setArchived({ path: '/a.md', archived: true }, { op: OP }),
  ];
  for (const other of others) {
    const error = await bench.run(failureOf(other()));
    expect(error).toMatchObject({ code: 'REJECTED', outcome: 'not committed' });
  }
  const op = uuidOf('another');
  const first = world.publish({ ...request, path: '/c.md' }, { op });
  const second = failureOf(world.publish({ ...request, path: '/c.md', body: 'other' }, { op }));
  await bench.run(first);
  expect(await second).toMatchObject({ code: 'REJECTED' });
  expect((await bench.run(world.publish(request, { op: OP }))).sequence).toBe(2);
  expect(await bench.slots()).toHaveLength(2);
});

test.each(['condition', 'read'] as const)(
  'what is built does not wait for the %s of a request behind it',
  async (what) => {
    const bench = new WorldBench();
    const writer = await bench.open();
    await bench.run(writer.publish({ path: '/old.md', expected: 'absent', body: 'old' }));
    const gated = withGates(bench.bucket);
    const world = await bench.open({ bucket: gated.store });
    const held = gated.hold('request', ({ operation }) => operation === 'get');
    const blind = (path: string, precondition?: () => Promise<void>) =>
      world.publish({ path, expected: 'any', body: path, precondition });
    const before = Array.from({ length: 5 }, (_, i) => blind(`/before-${i}.md`));
    const stuck =
      what === 'read'
        ? world.append({ path: '/old.md', expected: 1, content: 'more' })
        : blind('/stuck.md', () => new Promise(() => undefined));
    const answered: string[] = [];
    const note = (result: WriteResult): unknown => answered.push(result.document.path);
    for (const one of before) one.then(note, () => undefined);
    const told = what === 'read' ? stuck : failureOf(stuck);
    await drain();
    expect(answered, 'no time has passed').toHaveLength(5);
    expect((await bench.slots()).map(({ entries }) => entries.length)).toEqual([1, 5]);
    const behind = world.publish(
      { path: '/behind.md', expected: 'any', body: 'x' },
      { deadlineMs: 60_000 },
    );
    await held.open();
    const last = await bench.run(told);
    expect(last).toMatchObject(what === 'read' ? { committed: true } : { code: 'OVERLOADED' });
    expect((await bench.run(behind)).committed).toBe(true);
  },
);
