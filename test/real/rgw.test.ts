/**
 * Goal: the S3 driver keeps the bucket contract on a real S3 server, through one gateway and
 * through two.
 * Method: the exported suite, races that are larger than the suite's, and what goes wrong with a
 * location, on the server that `BUCKETSTORE_TEST_S3` names. Registers nothing but a note when it is
 * not set.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type BlobStore, KEY_BYTES_MAX } from '../../blob/blob.ts';
import { isBlobError } from '../../blob/errors.ts';
import { systemRandom } from '../../bucketstore/base/random.ts';
import { blobContract } from '../contract/index.ts';
import { failureOf } from '../support/outcome.ts';
import { makeBucket, openRgw, type RgwServer, rgwServer } from '../support/rgw.ts';

const server = rgwServer();

const CREATORS = 50;
const NAMES = 200;
/** Names raced for at once: the creators of each all start together. */
const NAMES_AT_ONCE = 4;
/** A random prefix, with its slash. */
const PREFIX_BYTES = 37;

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

if (server !== undefined) suite(server);
// A file without a test would fail.
else test.skipIf(server === undefined)('needs a server (BUCKETSTORE_TEST_S3)', () => {});

function suite(rgw: RgwServer): void {
  let bucket = '';
  const fresh = (endpoint = rgw.endpoint): BlobStore =>
    openRgw(rgw, { bucket, endpoint, prefix: systemRandom.uuid() });

  beforeAll(async () => {
    bucket = await makeBucket(rgw);
  });

  describe('the bucket contract on one gateway', () => {
    blobContract({
      test,
      factory: () => ({ store: fresh() }),
      supports: { uniqueGenerations: false, keyBytes: KEY_BYTES_MAX - PREFIX_BYTES },
    });
  });

  describe('races', () => {
    test('of 50 creators of each of 200 names one wins, and its bytes are stored', async () => {
      const store = fresh();
      const creators = Array.from({ length: CREATORS }, () => store);
      await raceForAll(creators);
      await store.close();
    });

    test.runIf(rgw.endpointB !== undefined)('the same through two gateways', async () => {
      const prefix = systemRandom.uuid();
      const endpoints = [rgw.endpoint, rgw.endpointB ?? rgw.endpoint];
      const stores = endpoints.map((endpoint) => openRgw(rgw, { bucket, prefix, endpoint }));
      const creators = Array.from({ length: CREATORS / 2 }, () => stores).flat();
      await raceForAll(creators);
      const [a, b] = stores;
      const query = { prefix: 'race/', limit: 1000 };
      const listed = await a?.list(query);
      expect(listed?.objects).toHaveLength(NAMES);
      expect(await b?.list(query)).toMatchObject({ objects: listed?.objects });
      for (const store of stores) await store.close();
    });
  });

  describe('what is wrong with a location', () => {
    const calls = (store: BlobStore): readonly (() => Promise<unknown>)[] => [
      () => store.create('a', utf8('x')),
      () => store.replace('a', 'etag@1', utf8('x')),
      () => store.get('a'),
      () => store.list({ prefix: '', limit: 1 }),
      () => store.delete('a'),
      () => store.head('a'),
    ];
    const expectAll = async (store: BlobStore, expected: object, advice: RegExp): Promise<void> => {
      for (const call of calls(store)) {
        const error = await failureOf(call());
        expect(error).toMatchObject({ name: 'BlobError', ambiguous: false, ...expected });
        expect(String(error)).toMatch(advice);
      }
      await store.close();
    };

    test('a missing bucket is `no-bucket` for every call, never not found', async () => {
      const store = openRgw(rgw, { bucket: `absent-${systemRandom.uuid()}` });
      await expectAll(store, { code: 'no-bucket', retryable: false }, /create it or correct/);
    });

    test('a refused connection is `unavailable` and not ambiguous', async () => {
      const store = openRgw(rgw, { bucket, endpoint: 'http://127.0.0.1:1' });
      const expected = { code: 'unavailable', retryable: true };
      await expectAll(store, expected, /check the endpoint .* nothing was sent/);
    });

    test('wrong keys are `unauthenticated` where the service says why', async () => {
      const { accessKeyId } = rgw.credentials;
      for (const credentials of [
        { accessKeyId: 'nobody', secretAccessKey: 'nothing' },
        { accessKeyId, secretAccessKey: 'wrong' },
      ]) {
        const store = openRgw(rgw, { bucket, credentials });
        for (const call of calls(store).slice(0, -1)) {
          const error = await failureOf(call());
          const expected = { code: 'unauthenticated', retryable: false, ambiguous: false };
          expect(error).toMatchObject(expected);
          expect(String(error)).toMatch(/check key, secret and region/);
          expect(String(error)).not.toContain(credentials.secretAccessKey);
        }
        // A head has no body that could say why.
        expect(await failureOf(store.head('a'))).toMatchObject({ code: 'forbidden' });
        await store.close();
      }
    });
  });

  test('a replace takes the ETag in the form that this server knows', async () => {
    const store = fresh();
    await store.create('head.json', utf8('one'));
    const head = await store.head('head.json');
    if (!head.found) throw new Error('not found');
    const { generation } = head.attributes;
    expect(await store.replace('head.json', generation, utf8('two'))).toMatchObject({
      outcome: 'replaced',
    });
    expect(await store.replace('head.json', generation, utf8('three'))).toMatchObject({
      outcome: 'changed',
    });
    await store.close();
  });
}

async function raceForAll(creators: readonly BlobStore[]): Promise<void> {
  const names = Array.from({ length: NAMES }, (_, i) => `race/${String(i).padStart(3, '0')}`);
  const queue = names.values();
  const worker = async (): Promise<void> => {
    for (const name of queue) await raceFor(name, creators);
  };
  await Promise.all(Array.from({ length: NAMES_AT_ONCE }, worker));
}

/**
 * An ambiguous answer names no winner: then the stored bytes do, and they must be that creator's.
 */
async function raceFor(key: string, creators: readonly BlobStore[]): Promise<void> {
  const offers = creators.map((_, i) => `${key} by creator ${i}`);
  const answers = await Promise.all(
    creators.map(async (store, i) => {
      try {
        return (await store.create(key, utf8(offers[i] ?? ''), { deadlineMs: 60_000 })).outcome;
      } catch (error) {
        if (isBlobError(error) && error.ambiguous) return 'ambiguous';
        throw error;
      }
    }),
  );
  const stored = await creators[0]?.get(key);
  const text = stored?.found ? Buffer.from(stored.bytes).toString() : 'nothing';
  const winner = offers.indexOf(text);
  expect(winner, `${key} holds "${text}"`).toBeGreaterThanOrEqual(0);
  const told = answers.flatMap((answer, i) => (answer === 'created' ? [i] : []));
  expect(told, key).toEqual(answers[winner] === 'ambiguous' ? [] : [winner]);
}
