/**
 * Goal: the store keeps its contract over the clients of the services.
 * Method: the exported suite and the differential, over the GCS client on the emulator and over
 * the S3 client on the server that `BUCKETSTORE_TEST_S3` names, a client for each store. There,
 * what concerns several stores runs again with a process for each, opened by location.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import { openWorld } from '../../bucketstore/index.ts';
import { type StoreFixture, storeContract, storeDifferential } from '../contract/index.ts';
import { closeAll, emulate, openGcs } from '../support/gcs-emulator/open.ts';
import { makeBucket, openRgw, type RgwServer, rgwServer } from '../support/rgw.ts';
import { startStore } from './store-process.ts';

/** Stores that each have a client of their own. */
function fixtureOf(client: () => BlobStore): StoreFixture {
  const bucket = client();
  const clients = [bucket];
  return {
    bucket,
    open(settings) {
      const own = client();
      clients.push(own);
      return openWorld('memory:', { create: true, settings, components: { bucket: own } });
    },
    advance: (ms) => sleep(ms),
    async cleanup() {
      for (const one of clients) await one.close();
    },
  };
}

describe('over the GCS client, on the emulator', () => {
  afterEach(closeAll);
  const options = {
    test,
    async factory(): Promise<StoreFixture> {
      const emulator = await emulate();
      return fixtureOf(() => openGcs(emulator));
    },
  };
  storeContract(options);
  storeDifferential(options);
});

const server = rgwServer();

if (server !== undefined) onServer(server);
else test.skipIf(server === undefined)('needs a server (BUCKETSTORE_TEST_S3)', () => {});

function onServer(rgw: RgwServer): void {
  let bucket = '';
  beforeAll(async () => {
    bucket = await makeBucket(rgw);
  });

  describe('over the S3 client', () => {
    const options = {
      test,
      factory(): StoreFixture {
        const prefix = systemRandom.uuid();
        return fixtureOf(() => openRgw(rgw, { bucket, prefix }));
      },
    };
    storeContract(options);
    storeDifferential(options);
  });

  describe('over the S3 client, one process for each store, through both gateways', () => {
    const several = /Conflict|PathReads|CatalogReads|OneSnapshot|ConcurrentWriters|agree/;
    const options = {
      test: (name: string, run: () => Promise<void>) => {
        if (several.test(name)) test(name, run);
      },
      factory(): StoreFixture {
        const prefix = systemRandom.uuid();
        const store = openRgw(rgw, { bucket, prefix });
        const { accessKeyId, secretAccessKey } = rgw.credentials;
        const env = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
        const endpoints = [rgw.endpoint, rgw.endpointB ?? rgw.endpoint];
        let opened = 0;
        return {
          bucket: store,
          open(settings) {
            const endpoint = endpoints[opened++ % 2] ?? rgw.endpoint;
            const query = `endpoint=${encodeURIComponent(endpoint)}&region=us-east-1`;
            return startStore(`s3://${bucket}/${prefix}?${query}`, settings, env);
          },
          advance: (ms) => sleep(ms),
          cleanup: () => store.close(),
        };
      },
    };
    storeContract(options);
    storeDifferential(options);
  });
}
