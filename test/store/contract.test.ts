/**
 * Goal: the store keeps its contract on a bucket in memory, alone and behind a service's latency,
 * and on a directory.
 * Method: the exported suite and the differential against the model, under virtual time. On the
 * directory time stands still but where a case moves it.
 */
import { afterAll, describe, test } from 'vitest';
import { createFileBucket } from '../../blob/file.ts';
import { withLatencyModel } from '../../blob/model.ts';
import { openWorld } from '../../bucketstore/index.ts';
import { type StoreFixture, storeContract, storeDifferential } from '../contract/index.ts';
import { temporaryDirectories } from '../support/file-buckets.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { WorldBench } from '../support/world-bench.ts';

const directories = await temporaryDirectories();
afterAll(directories.remove);

/** Runs each case while `clock` moves, so that what waits for time goes on. */
function suite(name: string, fixture: (bench: WorldBench) => StoreFixture): void {
  describe(name, () => {
    let bench = new WorldBench();
    const options = {
      test: (title: string, run: () => Promise<void>) =>
        test(title, () => {
          bench = new WorldBench();
          return bench.run(run());
        }),
      factory: () => fixture(bench),
    };
    storeContract(options);
    storeDifferential(options);
  });
}

suite('in memory', (bench) => fixtureOf(bench, bench.bucket));

suite('behind the latency of a service', (bench) => {
  const model = { timing: bench.clock, chance: bench.random, model: 'gcs' } as const;
  return fixtureOf(bench, withLatencyModel(bench.bucket, model));
});

describe('in a directory', () => {
  const options = {
    test,
    async factory(): Promise<StoreFixture> {
      const clock = new ManualClock();
      const random = new SeededRandom(1);
      const directory = await directories.fresh();
      const bucket = createFileBucket({ directory, timing: clock, chance: random });
      return {
        bucket,
        open: (settings) =>
          openWorld(`file:${directory}`, {
            create: true,
            settings,
            components: { clock, random, bucket },
          }),
        advance: (ms) => clock.advance(ms),
        cleanup: () => bucket.close(),
      };
    },
  };
  storeContract(options);
  storeDifferential(options);
});

function fixtureOf(
  { clock, random, bucket: raw }: WorldBench,
  bucket: WorldBench['bucket'],
): StoreFixture {
  return {
    bucket: raw,
    open: (settings) =>
      openWorld('memory:bench', { create: true, settings, components: { clock, random, bucket } }),
    advance: (ms) => clock.sleep(ms),
  };
}
