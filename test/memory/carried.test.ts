/**
 * Goal: verdicts that are carried over, repeats that are read back, and states that are loaded keep
 * nothing once they have served (I17).
 * Method: garbage is collected on demand, and weak references tell what is still held; sleepers,
 * listeners and places in the queue are counted under virtual time.
 */
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../bucketstore/base/diagnostics.ts';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import type { World } from '../../bucketstore/index.ts';
import type { Log } from '../../bucketstore/log/log.ts';
import { Follower } from '../../bucketstore/snapshot/follower.ts';
import type { Loaded } from '../../bucketstore/snapshot/load.ts';
import { readRetained } from '../../bucketstore/snapshot/retained.ts';
import { CheckpointShelf } from '../support/checkpoint-shelf.ts';
import { withGates } from '../support/gated-bucket.ts';
import { isHeld } from '../support/held.ts';
import { drain } from '../support/manual-clock.ts';
import { countedSignal, failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

const put = (world: World, path: string) => world.publish({ path, expected: 'any', body: path });

/** A request whose condition is told apart by what it closes over. */
function weighted(world: World, path: string, refuses: boolean) {
  const weight = { bytes: new Uint8Array(1000) };
  const precondition = (): void => {
    if (refuses || weight.bytes.length === 0) throw new RangeError('refused');
  };
  const writing = world.publish({ path, expected: 'any', body: path, precondition });
  writing.catch(() => undefined);
  return { writing, reference: new WeakRef(precondition) };
}

describe('verdicts that are carried over', () => {
  /** Made in a function of its own, so that no frame of the test holds them. */
  async function requests(peerFirst: boolean, refuses: boolean) {
    const bench = new WorldBench();
    const [world, peer] = [await bench.open(), await bench.open()];
    if (peerFirst) await bench.run(put(peer, '/taken.md'));
    const { writing, reference } = weighted(world, '/a.md', refuses);
    await bench.run(Promise.allSettled([writing]));
    return { world, reference };
  }

  test.each([
    ['committed at once', false, false],
    ['carried over and committed', true, false],
    ['refused', false, true],
    ['refused on a tip that had moved', true, true],
  ])('of a request that was %s are let go', async (_, peerFirst, refuses) => {
    const { world, reference } = await requests(peerFirst, refuses);
    expect(await isHeld(reference)).toBe(false);
    // The store is what could have held it.
    expect(world.storeId).toHaveLength(36);
  });

  test('a request that is held is seen to be: the method can fail', async () => {
    const held = { bytes: 1 };
    expect(await isHeld(new WeakRef(held))).toBe(true);
    expect(held.bytes).toBe(1);
  });
});

describe('repeats', () => {
  const OP = '11111111-1111-4111-8111-111111111111';

  test('whose first answer never comes leave at their deadline, and nothing stays', async () => {
    const bench = new WorldBench();
    const first = await bench.open();
    const request = { path: '/a.md', expected: 'any', body: 'a' } as const;
    await bench.run(first.publish(request, { op: OP }));
    const gated = withGates(bench.bucket);
    const { world, parts } = await bench.store({ bucket: gated.store });
    const held = gated.hold('request', ({ operation }) => operation === 'get');
    const caller = countedSignal();
    const options = { op: OP, signal: caller.signal, deadlineMs: 2_000 };
    const repeats = Array.from({ length: 5 }, () => failureOf(world.publish(request, options)));
    await drain();
    expect([held.waiting, parts.committer.waiting]).toEqual([1, 1]);
    for (const told of await bench.run(Promise.all(repeats))) {
      expect(told).toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    }
    expect([parts.committer.waiting, caller.listeners()]).toEqual([0, 0]);
    await held.open();
    await bench.clock.advance(30_000);
    expect(bench.clock.sleeping).toBe(0);
    await bench.run(world.close());
    expect(bench.clock.sleeping).toBe(0);
  });

  test('close waits for those that are being answered', async () => {
    const bench = new WorldBench();
    const first = await bench.open();
    const request = { path: '/a.md', expected: 'any', body: 'a' } as const;
    await bench.run(first.publish(request, { op: OP }));
    const gated = withGates(bench.bucket);
    const world = await bench.open({ bucket: gated.store });
    const held = gated.hold('request', ({ operation }) => operation === 'get');
    const repeat = world.publish(request, { op: OP });
    await drain();
    let closed = false;
    const closing = world.close().then(() => {
      closed = true;
    });
    await drain();
    expect(closed).toBe(false);
    await held.open();
    expect((await bench.run(repeat)).sequence).toBe(2);
    await bench.run(closing);
    expect(bench.clock.sleeping).toBe(0);
  });
});

describe('loading', () => {
  test('the slots that were read are not kept by what follows from them', async () => {
    const bench = new WorldBench();
    const { world, parts } = await bench.store();
    await bench.run(put(world, '/a.md'));
    const make = (): { follower: Follower; references: readonly WeakRef<object>[] } => {
      const { snapshot } = parts.follower;
      const began = parts.sightings.moment();
      const slots = [{ slot: { first: sequence(2) }, hash: '' }] as unknown as Loaded['slots'];
      const loaded: Loaded = {
        snapshot,
        base: { snapshot, place: null },
        missing: { tip: snapshot.tip.sequence, began, date: 1 },
        slots,
      };
      const { sightings } = parts;
      const log = {} as Log;
      const follower = new Follower(
        { log, sightings, load: async () => failLoad(), onSlot: () => undefined },
        loaded,
      );
      return { follower, references: [new WeakRef(loaded), new WeakRef(slots)] };
    };
    const { follower, references } = make();
    for (const reference of references) expect(await isHeld(reference)).toBe(false);
    expect(follower.snapshot.tip.sequence).toBe(2);
  });

  function failLoad(): never {
    throw new Error('not asked for');
  }

  test('reads back no more entries before a checkpoint than operations are kept of', async () => {
    const from: Sequence[] = [];
    const log = {
      names: async function* (first: Sequence) {
        from.push(first);
        yield [];
      },
    } as unknown as Log;
    const parts = { log, logger: silentLogger };
    const tip = { sequence: sequence(100_000), hash: 'tip', time: 1 };
    const range = { known: 0, floor: 2 };
    expect(await readRetained(parts, tip, range, {})).toEqual([]);
    expect(await readRetained(parts, tip, { known: sequence(99_000), floor: 2 }, {})).toEqual([]);
    expect(await readRetained(parts, tip, { known: sequence(100_000), floor: 2 }, {})).toEqual([]);
    expect(from).toEqual([100_000 - 65_536 + 1, 99_001]);
  });

  test('that is given up leaves no sleeper and no listener', async () => {
    const bench = new WorldBench();
    const shelf = new CheckpointShelf(bench);
    const writer = await bench.store({ checkpoints: shelf });
    await bench.run(put(writer.world, '/a.md'));
    const named = await shelf.checkpoint(writer);
    await bench.run(put(writer.world, '/b.md'));
    // Dead: loading starts again after a while.
    await shelf.checkpoint(writer);
    await shelf.sweep(writer, [named]);
    const caller = countedSignal();
    const opening = bench.opening({ checkpoints: shelf, signal: caller.signal });
    await drain();
    expect(bench.clock.sleeping).toBe(1);
    caller.abort(new RangeError('left'));
    expect(await failureOf(opening)).toMatchObject({ message: 'left' });
    expect([bench.clock.sleeping, caller.listeners()]).toEqual([0, 0]);
  });
});
