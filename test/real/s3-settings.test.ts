/**
 * Goal: servers that refuse checksum headers are usable with one documented setting and say which
 * without it; session credentials are renewed without a lost, doubled or falsely acknowledged
 * write.
 * Method: the driver with the real SDK on a server that checks both.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { isBlobError } from '../../blob/errors.ts';
import type { S3Credentials } from '../../blob/s3.ts';
import { systemClock } from '../../bucketstore/base/clock.ts';
import type { FaultServer } from '../support/fault-server.ts';
import { failureOf } from '../support/outcome.ts';
import { CREDENTIALS, closeAll, faultServer, openS3 } from '../support/s3-faults.ts';

afterEach(closeAll);

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

// B08
describe('a server that refuses checksum headers', () => {
  const calls: readonly ((store: BlobStore) => Promise<unknown>)[] = [
    (store) => store.create('a', utf8('x')),
    (store) => store.get('a'),
    (store) => store.get('a', { range: [0, 1] }),
    (store) => store.head('a'),
    (store) => store.list({ prefix: '', limit: 10 }),
    (store) => store.delete('a'),
    (store) => store.create('empty', new Uint8Array(0)),
    (store) => store.create('large', new Uint8Array(3_000_000)),
  ];

  test.each([501, 403] as const)('by %i is served with the setting', async (status) => {
    const server = await faultServer();
    server.refuseChecksums = status;
    const store = openS3(server, { checksums: 'required' });
    for (const call of calls) await call(store);
    const puts = server.requests.filter(({ method }) => method === 'PUT');
    expect(puts.map(({ headers }) => typeof headers['content-md5'])).toEqual(
      puts.map(() => 'string'),
    );
    expect(puts.map(({ headers }) => headers['content-length'])).toEqual(['1', '0', '3000000']);
  });

  test.each([501, 403] as const)('by %i is told apart from a permission', async (status) => {
    const server = await faultServer();
    server.refuseChecksums = status;
    const error = await failureOf(openS3(server).create('a', utf8('x')));
    expect(error).toMatchObject({ code: 'unsupported', retryable: false, ambiguous: false });
    expect(String(error)).toContain("checksums: 'required'");
    expect(String(error)).toContain('?checksums=required');
    expect(server.objects.size).toBe(0);
  });

  test('shows what is sent by default: both checksums, a length and no stream', async () => {
    const server = await faultServer();
    await openS3(server).create('a', utf8('x'));
    const headers = server.requests[0]?.headers ?? {};
    expect(headers['x-amz-checksum-crc32']).toBe('jNwWgw==');
    expect(headers['content-md5']).toBe('ndTkYSaMgDT1yFZOFVxnpg==');
    expect(headers['content-length']).toBe('1');
    expect(headers['if-none-match']).toBe('*');
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(headers['content-encoding']).toBeUndefined();
  });
});

// B09
describe('session credentials', () => {
  /** Gives tokens t1, t2, …; the server takes the newest only from when it is told of it. */
  class Tokens {
    fetches = 0;
    issued = 0;
    failures: ReadonlySet<number> | 'all-but-first' = new Set();
    expiration: (() => Date) | undefined;
    readonly #server: FaultServer;

    constructor(server: FaultServer) {
      this.#server = server;
    }

    readonly source = async (): Promise<S3Credentials> => {
      this.fetches += 1;
      const fails =
        this.failures === 'all-but-first' ? this.fetches > 1 : this.failures.has(this.fetches);
      if (fails) throw new Error('the token service is away');
      this.issued += 1;
      const sessionToken = `t${this.issued}`;
      this.#server.validTokens = new Set([sessionToken]);
      const expiration = this.expiration?.();
      return { ...CREDENTIALS, sessionToken, ...(expiration && { expiration }) };
    };

    /** From now on the service refuses what it gave. */
    expire(): void {
      this.#server.validTokens = new Set();
    }
  }

  test('that the service calls expired fail one call and are fetched for the next', async () => {
    const server = await faultServer();
    const tokens = new Tokens(server);
    const store = openS3(server, { credentials: tokens.source });
    await store.create('a', utf8('1'));
    tokens.expire();
    const error = await failureOf(store.create('b', utf8('2')));
    expect(error).toMatchObject({ code: 'unauthenticated', retryable: true, ambiguous: false });
    expect(server.objects.has('b')).toBe(false);
    expect((await store.create('b', utf8('2'))).outcome).toBe('created');
    expect(tokens.fetches).toBe(2);
  });

  test('are fetched again also when a head, which says no code, is refused', async () => {
    const server = await faultServer();
    const tokens = new Tokens(server);
    const store = openS3(server, { credentials: tokens.source });
    await store.create('a', utf8('1'));
    tokens.expire();
    expect(await failureOf(store.head('a'))).toMatchObject({ code: 'unauthenticated' });
    expect((await store.head('a')).found).toBe(true);
  });

  test('are fetched once for many calls that fail together', async () => {
    const server = await faultServer();
    const tokens = new Tokens(server);
    const store = openS3(server, { credentials: tokens.source });
    await store.create('a', utf8('1'));
    tokens.expire();
    await Promise.allSettled(Array.from({ length: 20 }, () => store.get('a')));
    const reads = await Promise.all(Array.from({ length: 20 }, () => store.get('a')));
    expect(reads.every(({ found }) => found)).toBe(true);
    expect(tokens.fetches).toBe(2);
  });

  test('that expire while a renewal fails once lose and double no write', async () => {
    const server = await faultServer();
    const tokens = new Tokens(server);
    tokens.failures = new Set([2]);
    tokens.expiration = () => new Date(systemClock.now() + 80);
    const store = openS3(server, { credentials: tokens.source });
    for (let i = 0; tokens.issued < 6; i++) {
      const key = `log/${i}`;
      let outcome = '';
      for (let attempt = 0; outcome === '' && attempt < 50; attempt++) {
        try {
          ({ outcome } = await store.create(key, utf8(key)));
        } catch (error) {
          if (!isBlobError(error)) throw error;
          expect(error).toMatchObject({ retryable: true, ambiguous: false });
        }
      }
      expect(outcome).toBe('created');
      await systemClock.sleep(5);
    }
    const keys = [...server.objects.keys()];
    expect(new Set(keys).size).toBe(keys.length);
    expect(tokens.fetches).toBe(tokens.issued + 1);
  });

  test('that cannot be renewed make calls fail as retryable; nothing is stored', async () => {
    const server = await faultServer();
    const tokens = new Tokens(server);
    tokens.failures = 'all-but-first';
    const store = openS3(server, { credentials: tokens.source });
    await store.create('a', utf8('1'));
    tokens.expire();
    for (let i = 0; i < 5; i++) {
      const error = await failureOf(store.create('b', utf8('2')));
      expect(error).toMatchObject({ code: 'unauthenticated', retryable: true, ambiguous: false });
    }
    expect([...server.objects.keys()]).toEqual(['a']);
    tokens.failures = new Set();
    expect((await store.create('b', utf8('2'))).outcome).toBe('created');
  });

  test('that never were there are `unauthenticated`, and nothing is sent', async () => {
    const server = await faultServer();
    const source = async (): Promise<S3Credentials> => {
      throw new Error('no such profile');
    };
    const error = await failureOf(openS3(server, { credentials: source }).get('a'));
    expect(error).toMatchObject({ code: 'unauthenticated', retryable: false, ambiguous: false });
    expect(String(error)).toContain('no such profile');
    expect(server.requests).toHaveLength(0);
  });
});
