/**
 * Goal: an operation that is sent again gets its first answer, and one whose answer was *unknown*
 * can be asked for.
 * Method: stores on one bucket under virtual time; creates that are lost, stalled or land late.
 */
import { describe, expect, test } from 'vitest';
import type { MutationResult, World } from '../../bucketstore/index.ts';
import { failureOf } from '../support/outcome.ts';
import { withStalls } from '../support/stalling-bucket.ts';
import { WorldBench } from '../support/world-bench.ts';
import { forgeSlot } from './damage-world.ts';

const OP = '11111111-2222-4333-8444-555555555555';
const isSlot = (key: string): boolean => key.includes('/log/');

/** Results as they compare: bodies as text. */
function shown(results: readonly MutationResult[] | null) {
  return results?.map(({ document, ...rest }) => {
    const body = 'body' in document ? Buffer.from(document.body).toString() : null;
    return { ...rest, document: { ...document, body } };
  });
}

describe('a repeat with the same op', () => {
  const requests: Readonly<Record<string, (world: World) => Promise<readonly MutationResult[]>>> = {
    publish: async (world) => [
      await world.publish({ path: '/a.md', expected: 1, body: 'a two' }, { op: OP }),
    ],
    append: async (world) => [
      await world.append({ path: '/a.md', expected: 1, content: 'more' }, { op: OP }),
    ],
    archive: async (world) => [
      await world.setArchived({ path: '/a.md', archived: true }, { op: OP }),
    ],
    group: (world) =>
      world.commit(
        [
          { kind: 'publish', path: '/b.md', expected: 'absent', body: 'b one' },
          { kind: 'archive', path: '/a.md', archived: true },
        ],
        { op: OP },
      ),
    'of a caller and its key': async (world) => [
      await world.publish(
        { path: '/a.md', expected: 1, body: 'a two' },
        { op: { principal: 'ann', key: 'k1' } },
      ),
    ],
  };

  test.each(Object.entries(requests))('%s gets the first answer', async (_, request) => {
    const bench = new WorldBench();
    const [one, two] = [await bench.open(), await bench.open()];
    await bench.run(one.publish({ path: '/a.md', expected: 'absent', body: 'a one' }));
    const first = await bench.run(request(one));
    const { sequence } = await bench.run(one.stat());
    // Something else follows, so that the request would now be refused.
    await bench.run(one.publish({ path: '/c.md', expected: 'any', body: 'c' }));
    expect(shown(await bench.run(request(one))), 'the same store').toEqual(shown(first));
    expect(shown(await bench.run(request(two))), 'another store').toEqual(shown(first));
    const reopened = await bench.open();
    expect(shown(await bench.run(request(reopened))), 'after a cold start').toEqual(shown(first));
    expect((await bench.run(one.stat())).sequence).toBe(sequence + 1);
  });

  test('of an archive gets the version that was archived, and none once it is gone', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    const write = (body: string, metadata: Readonly<Record<string, string>>) =>
      bench.run(world.publish({ path: '/a.md', expected: 'any', body, metadata }));
    await write('a one', { title: 'One' });
    const archive = () => world.setArchived({ path: '/a.md', archived: true }, { op: OP });
    const first = await bench.run(archive());
    await bench.run(world.setArchived({ path: '/a.md', archived: false }));
    await write('a two', { title: 'Two' });
    expect(shown([await bench.run(archive())])).toEqual(shown([first]));
    await write('a three', { retention: '1' });
    const error = await failureOf(bench.run(archive()));
    expect(error).toMatchObject({ code: 'TOO_OLD', message: /committed at 3/ });
  });

  test('is one mutation also when both wait in one batch', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    const write = () => world.publish({ path: '/a.md', expected: 'absent', body: 'a' }, { op: OP });
    const [a, b] = await bench.run(Promise.all([write(), write()]));
    expect(shown([a])).toEqual(shown([b]));
    expect((await bench.run(world.stat())).sequence).toBe(2);
  });

  test('of a group whose first mutation changes nothing is known all the same', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    await bench.run(world.publish({ path: '/a.md', expected: 'absent', body: 'a' }));
    const group = () =>
      world.commit(
        [
          { kind: 'publish', path: '/a.md', expected: 'any', body: 'a' },
          { kind: 'publish', path: '/b.md', expected: 'absent', body: 'b' },
        ],
        { op: OP },
      );
    const first = await bench.run(group());
    expect(first.map(({ committed }) => committed)).toEqual([false, true]);
    expect(first.map(({ op }) => op)).toEqual([OP, OP]);
    const again = await bench.run(group());
    expect(again.filter(({ committed }) => committed).map(({ sequence }) => sequence)).toEqual([3]);
    expect(await bench.run(world.operation(OP, 2))).toHaveLength(1);
    expect((await bench.run(world.stat())).sequence).toBe(3);
  });

  test('keys of different callers, and different keys, are different operations', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    const ops = new Set<string>();
    for (const op of [
      { principal: 'ann', key: 'k' },
      { principal: 'bob', key: 'k' },
      { principal: 'ann', key: 'l' },
      { principal: 'a', key: 'nnk' },
    ]) {
      const body = JSON.stringify(op);
      ops.add(
        (await bench.run(world.publish({ path: '/a.md', expected: 'any', body }, { op }))).op,
      );
    }
    expect(ops.size).toBe(4);
    expect((await bench.run(world.view().get('/a.md'))).version).toBe(4);
    const wrong = world.publish({ path: '/a.md', expected: 'any', body: 'x' }, { op: 'no-uuid' });
    await expect(wrong).rejects.toThrow(TypeError);
  });
});

describe('operation()', () => {
  /** A store whose next slot create stalls, with a write that has been told *unknown*. */
  async function unknown() {
    const bench = new WorldBench();
    const stalling = withStalls(bench.bucket);
    const world = await bench.open({ bucket: stalling.store });
    await bench.run(world.publish({ path: '/a.md', expected: 'absent', body: 'a' }));
    stalling.stall({ mode: 'never-answers', key: isSlot, times: 1 });
    stalling.stall({ mode: 'never-answers', key: isSlot, operation: 'get', times: 1000 });
    const write = world.publish(
      { path: '/a.md', expected: 1, body: 'a two' },
      { deadlineMs: 500, op: OP },
    );
    const error = await failureOf(bench.run(write));
    return { bench, stalling, world, error };
  }

  test('of an open create is *unknown* until it has landed, then committed', async () => {
    const { bench, stalling, error } = await unknown();
    expect(error).toMatchObject({ code: 'UNKNOWN_OUTCOME', details: { op: OP, after: 2 } });
    const other = await bench.open();
    const open = await failureOf(bench.run(other.operation(OP, 2)));
    expect(open).toMatchObject({ code: 'UNKNOWN_OUTCOME', details: { op: OP, after: 2 } });
    const [held] = stalling.held;
    await held?.land();
    const found = await bench.run(other.operation(OP, 2));
    expect(shown(found)).toMatchObject([
      { committed: true, op: OP, sequence: 3, document: { version: 2, body: 'a two' } },
    ]);
  });

  test('whose name another took is *not committed*, for good', async () => {
    const { bench } = await unknown();
    const other = await bench.open();
    await bench.run(other.publish({ path: '/b.md', expected: 'absent', body: 'b' }));
    expect(await bench.run(other.operation(OP, 2))).toBeNull();
    expect(await bench.run((await bench.open()).operation(OP, 2))).toBeNull();
  });

  test('below the floor is TOO_OLD, above it is not', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    for (const body of ['1', '2', '3', '4']) {
      await bench.run(world.publish({ path: '/a.md', expected: 'any', body }));
    }
    const op = bench.random.uuid();
    await forgeSlot(bench, world, { kind: 'floor', op, at: 4 as never, mutation: 3 as never });
    for (const store of [world, await bench.open()]) {
      expect(await failureOf(bench.run(store.operation(OP, 1)))).toMatchObject({ code: 'TOO_OLD' });
      expect(await bench.run(store.operation(OP, 3))).toBeNull();
      expect((await bench.run(store.stat())).floor).toBe(4);
    }
  });

  test('with an `after` that no answer has named is a mistake of the caller', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    const body = (n: number) =>
      ({ kind: 'publish', path: `/${n}.md`, expected: 'any', body: 'x' }) as const;
    await bench.run(world.commit([body(1), body(2), body(3)]));
    await bench.run(world.publish({ path: '/z.md', expected: 'any', body: 'z' }));
    await expect(bench.run(world.operation(OP, 2))).rejects.toThrow(RangeError);
  });
});
