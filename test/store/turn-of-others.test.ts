/**
 * Goal: a store that builds long batches gives way to others between its members, and nothing waits
 * for that turn in a circle.
 * Method: a clock whose `turn` takes an instant of virtual time; stores that take each other's
 * names while they build, so that a turn falls before the first member of a new try.
 */
import { expect, test } from 'vitest';
import type { Clock } from '../../bucketstore/base/clock.ts';
import { openStore } from '../../bucketstore/open.ts';
import { World } from '../../bucketstore/world.ts';
import { withFaults } from '../support/faulty-bucket.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { WorldBench } from '../support/world-bench.ts';

function withTurns(clock: ManualClock): { readonly clock: Clock; readonly turns: () => number } {
  let turns = 0;
  return {
    turns: () => turns,
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      sleep: (ms, options) => clock.sleep(ms, options),
      after: (ms, act) => clock.after(ms, act),
      turn: () => {
        turns += 1;
        return clock.sleep(0);
      },
    },
  };
}

test('stores that build long batches give way, and every write is committed', async () => {
  const bench = new WorldBench();
  await bench.open();
  const { clock, turns } = withTurns(bench.clock);
  const { random } = bench;
  const worlds: World[] = [];
  for (let i = 0; i < 3; i++) {
    const late = { fault: { kind: 'delay', beforeMs: 5 + i }, times: 1_000_000 } as const;
    const { store: bucket } = withFaults(bench.bucket, [late], { timing: clock });
    const components = { clock, random, bucket };
    const settings = { batchMax: 40 };
    worlds.push(new World(await bench.run(openStore('memory:bench', { components, settings }))));
  }
  const writes = worlds.flatMap((world, index) => {
    return Array.from({ length: 150 }, (_, n) => {
      return world.publish({ path: `/${index}/${n}.md`, expected: 'absent', body: 'text' });
    });
  });
  const results = await bench.run(Promise.all(writes));
  expect(results.filter(({ committed }) => committed)).toHaveLength(writes.length);
  expect(turns()).toBeGreaterThan(0);
});
