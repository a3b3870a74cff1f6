/**
 * Goal: the GCS driver keeps the bucket contract over sockets, sends what it says it sends, and
 * names what is wrong with a location. Method: the driver with the real `Storage` on the strict
 * emulator of `test/support/gcs-emulator`, whose own rules are proved in `gcs-emulator.test.ts`.
 * Faults are in `gcs-faults.test.ts`.
 */
import { Storage } from '@google-cloud/storage';
import { afterEach, describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { bytesOf } from '../contract/blob-case.ts';
import { blobContract } from '../contract/index.ts';
import type { Emulator } from '../support/gcs-emulator/emulator.ts';
import {
  BUCKET,
  clientWithToken,
  closeAll,
  emulate,
  openGcs,
} from '../support/gcs-emulator/open.ts';
import { errorOf } from '../support/outcome.ts';

afterEach(closeAll);

async function pair(): Promise<{ readonly emulator: Emulator; readonly store: BlobStore }> {
  const emulator = await emulate();
  return { emulator, store: openGcs(emulator, { idleBodyMs: 150 }) };
}

describe('the bucket contract, on a custom endpoint without credentials', () => {
  blobContract({
    test,
    factory: async () => ({ store: openGcs(await emulate()), cleanup: closeAll }),
  });
});

describe('the bucket contract, for a client with credentials', () => {
  blobContract({
    test,
    scale: 0.2,
    factory: async () => {
      const emulator = await emulate({ token: 'secret' });
      const client = clientWithToken(emulator.endpoint, 'secret');
      return { store: openGcs(emulator, { client }), cleanup: closeAll };
    },
  });
});

describe('the bucket contract, below a prefix', () => {
  blobContract({
    test,
    scale: 0.2,
    supports: { keyBytes: 1024 - 'team/a/'.length },
    factory: async () => ({
      store: openGcs(await emulate(), { prefix: 'team/a' }),
      cleanup: closeAll,
    }),
  });
});

describe('requests', () => {
  test('a call is one request, not found included once anything has succeeded', async () => {
    const { emulator, store } = await pair();
    expect((await store.get('log/1')).found).toBe(false);
    expect(emulator.seen).toHaveLength(2);
    const cost = async (call: Promise<unknown>): Promise<number> => {
      const before = emulator.seen.length;
      await call;
      return emulator.seen.length - before;
    };
    expect(await cost(store.get('log/1'))).toBe(1);
    expect(await cost(store.head('log/1'))).toBe(1);
    expect(await cost(store.delete('log/1'))).toBe(1);
    expect(await cost(store.create('log/1', bytesOf('x')))).toBe(1);
    expect(await cost(store.create('log/1', bytesOf('x')))).toBe(1);
    expect(await cost(store.get('log/1'))).toBe(1);
    expect(await cost(store.list({ prefix: '', limit: 1000 }))).toBe(1);
    expect(await cost(store.list({ prefix: '', after: 'log/1', limit: 1 }))).toBe(1);
    expect(await cost(store.get('log/1', { range: [1, 2] }))).toBe(2);
  });

  test('every upload is of the multipart form with its precondition and checksum', async () => {
    const { emulator, store } = await pair();
    const created = await store.create('a', bytesOf('1'));
    const generation = 'attributes' in created ? (created.attributes?.generation ?? '') : '';
    await store.replace('a', generation, bytesOf('2'));
    const uploads = emulator.seen.map(({ method, query }) => [
      method,
      query.get('uploadType'),
      query.get('ifGenerationMatch'),
    ]);
    expect(uploads).toEqual([
      ['POST', 'multipart', '0'],
      ['POST', 'multipart', generation],
    ]);
  });

  test('a store with a prefix sees and changes nothing outside it', async () => {
    const emulator = await emulate();
    const whole = openGcs(emulator);
    const inner = openGcs(emulator, { prefix: 'team/a' });
    await whole.create('team/aa', bytesOf('outside'));
    await whole.create('team/b', bytesOf('outside'));
    await inner.create('b', bytesOf('inside'));
    await inner.create('c', bytesOf('inside'));
    expect(inner.name).toBe(`gs://${BUCKET}/team/a`);
    expect(emulator.stored('team/a/b')).toEqual(Buffer.from('inside'));
    const all = await inner.list({ prefix: '', limit: 10 });
    expect(all.objects.map(({ key }) => key)).toEqual(['b', 'c']);
    const rest = await inner.list({ prefix: '', after: 'b', limit: 10 });
    expect(rest.objects.map(({ key }) => key)).toEqual(['c']);
    expect((await inner.get('a')).found).toBe(false);
    const long = await errorOf(inner.create('k'.repeat(1020), bytesOf('x')));
    expect(long.code).toBe('invalid');
  });
});

describe('what is wrong with the location', () => {
  test('a refused connection is `unavailable`, and not ambiguous', async () => {
    const emulator = await emulate();
    const { endpoint } = emulator;
    await emulator.close();
    const store = openGcs({ endpoint });
    const expected = { code: 'unavailable', ambiguous: false, retryable: true };
    expect(await errorOf(store.create('a', bytesOf('x')))).toMatchObject(expected);
    expect(await errorOf(store.get('a'))).toMatchObject(expected);
  });

  test('an unknown host is `unavailable`, and not ambiguous', async () => {
    const store = openGcs({ endpoint: 'http://nowhere.invalid' });
    const error = await errorOf(store.create('a', bytesOf('x')));
    expect(error).toMatchObject({ code: 'unavailable', ambiguous: false });
  });

  test('a missing bucket is `no-bucket` for every call, never not found', async () => {
    const emulator = await emulate();
    const store = openGcs(emulator, { bucket: 'absent' });
    const calls = [
      () => store.create('a', bytesOf('x')),
      () => store.replace('a', '1', bytesOf('x')),
      () => store.get('a'),
      () => store.get('a', { range: [0, 0] }),
      () => store.head('a'),
      () => store.list({ prefix: '', limit: 1 }),
      () => store.delete('a'),
    ];
    for (const call of calls) {
      const error = await errorOf(call());
      expect(error).toMatchObject({ code: 'no-bucket', ambiguous: false, retryable: false });
    }
  });

  test('wrong credentials are `unauthenticated`', async () => {
    const emulator = await emulate({ token: 'right' });
    const client = clientWithToken(emulator.endpoint, 'wrong');
    for (const store of [openGcs(emulator), openGcs(emulator, { client })]) {
      for (const call of [() => store.get('a'), () => store.create('a', bytesOf('x'))]) {
        const error = await errorOf(call());
        expect(error).toMatchObject({ code: 'unauthenticated', ambiguous: false });
      }
    }
  });

  test('a key that signs nothing is `unauthenticated` before anything is sent', async () => {
    const emulator = await emulate();
    const client = new Storage({
      apiEndpoint: emulator.endpoint,
      useAuthWithCustomEndpoint: true,
      credentials: { client_email: 'a@b.c', private_key: 'no key' },
    });
    const error = await errorOf(openGcs(emulator, { client }).create('a', bytesOf('x')));
    expect(error).toMatchObject({ code: 'unauthenticated', ambiguous: false });
    expect(emulator.seen).toHaveLength(0);
  });

  // B31
  test('a missing permission is `forbidden`, never not found', async () => {
    const emulator = await emulate({ denied: ['get', 'create', 'delete'] });
    const store = openGcs(emulator);
    for (const call of [
      () => store.get('a'),
      () => store.head('a'),
      () => store.create('a', bytesOf('x')),
      () => store.delete('a'),
    ]) {
      const error = await errorOf(call());
      expect(error).toMatchObject({ code: 'forbidden', ambiguous: false, retryable: false });
    }
    expect((await store.list({ prefix: '', limit: 1 })).objects).toEqual([]);
  });

  test('a 404 without permission to list is not found, and is asked about once', async () => {
    const emulator = await emulate({ denied: ['list'] });
    const store = openGcs(emulator);
    expect((await store.get('a')).found).toBe(false);
    expect((await store.get('a')).found).toBe(false);
    expect(emulator.seen).toHaveLength(3);
    const error = await errorOf(store.list({ prefix: '', limit: 1 }));
    expect(error.code).toBe('forbidden');
  });

  test('a 403 that is about the rate is `throttled`', async () => {
    const emulator = await emulate();
    emulator.fault({ kind: 'status', status: 403, reason: 'rateLimitExceeded' });
    const error = await errorOf(openGcs(emulator).create('a', bytesOf('x')));
    expect(error).toMatchObject({ code: 'throttled', ambiguous: true });
  });
});
