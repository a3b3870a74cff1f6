/**
 * Goal: the store keeps its contract where stores share nothing but the bucket.
 * Method: the exported suite and the differential with one process for each store, on a
 * directory, in real time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, test } from 'vitest';
import { createFileBucket } from '../../blob/file.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import { type StoreFixture, storeContract, storeDifferential } from '../contract/index.ts';
import { temporaryDirectories } from '../support/file-buckets.ts';
import { startStore } from './store-process.ts';

const directories = await temporaryDirectories();
afterAll(directories.remove);

describe('one process for each store, on a directory', () => {
  const options = {
    test,
    async factory(): Promise<StoreFixture> {
      const directory = await directories.fresh();
      const bucket = createFileBucket({ directory, timing: systemClock, chance: systemRandom });
      return {
        bucket,
        open: (settings) => startStore(`file:${directory}`, settings),
        advance: (ms) => sleep(ms),
        cleanup: () => bucket.close(),
      };
    },
  };
  storeContract(options);
  storeDifferential(options);
});
