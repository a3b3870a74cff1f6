/**
 * Goal: B15, a bucket that forgets conditions for a moment, so that a slot is written over, is
 * found out by who held the slot, and no checkpoint is built over the fork.
 * Method: a store that has taken sixteen writes; another that had not seen them creates the same
 * name while creates overwrite; then the first makes a checkpoint, and reads.
 */
import { describe, expect, test } from 'vitest';
import type { World } from '../../bucketstore/index.ts';
import { CHECKPOINTS_PREFIX } from '../../bucketstore/log/names.ts';
import { withLie } from '../support/lying-bucket.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

interface Forked {
  readonly bench: WorldBench;
  /** Holds a slot of 16. */
  readonly first: World;
  /** Has written over it. */
  readonly second: World;
}

const publish = (world: World, path: string): Promise<unknown> => {
  return world.publish({ path, expected: 'any', body: path });
};

async function forked(): Promise<Forked> {
  const bench = new WorldBench(15);
  const first = await bench.open();
  const lying = withLie(bench.bucket, 'create-overwrites');
  let lies = false;
  const second = await bench.open({
    bucket: {
      ...lying,
      create: (...call) => (lies ? lying : bench.bucket).create(...call),
    },
  });
  const paths = Array.from({ length: 16 }, (_, index) => `/first/${index}.md`);
  await bench.run(Promise.all(paths.map((path) => publish(first, path))));
  expect((await bench.slots()).map(({ last }) => last)).toEqual([17]);
  lies = true;
  await bench.run(publish(second, '/second.md'));
  lies = false;
  expect((await bench.slots()).map(({ last }) => last)).toEqual([2]);
  await bench.clock.advance(20_000);
  return { bench, first, second };
}

describe('B15: a slot of 16 acknowledged writes is written over', () => {
  test('its store makes no checkpoint over the fork, and names what is missing', async () => {
    const { bench, first } = await forked();
    const error = await failureOf(bench.run(first.compact()));
    expect(error).toMatchObject({ code: 'INTEGRITY' });
    expect(String(error)).toContain('log/0000000000000003.slot: missing');
    expect(String(error)).toContain('up to 17');
    expect(await bench.keys(CHECKPOINTS_PREFIX)).toEqual([]);
  });

  test('nor when the other has gone on as far', async () => {
    const { bench, first, second } = await forked();
    for (let index = 0; index < 15; index++) await bench.run(publish(second, `/more/${index}.md`));
    expect((await bench.slots()).at(-1)?.last).toBe(17);
    const error = await failureOf(bench.run(first.compact()));
    expect(String(error)).toContain('log/0000000000000011.slot: is not the slot that this store');
    expect(await bench.keys(CHECKPOINTS_PREFIX)).toEqual([]);
  });

  test('what was acknowledged and is gone is not served as something else', async () => {
    const { bench, first } = await forked();
    const error = await failureOf(bench.run(first.view().verifyChain('/first/3.md')));
    expect(error).toMatchObject({ code: 'INTEGRITY' });
  });
});
