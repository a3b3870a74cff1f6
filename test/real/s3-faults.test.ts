/**
 * Goal: whatever the network, a proxy or the service does to a request of the S3 driver, the caller
 * is told the truth: never "exists" for its own write, never a cut object, never an empty page for
 * a failed one, and nothing hangs or holds a socket.
 * Method: the driver with the real SDK on a server that fails on command; what it received and
 * stored is the judge. Credentials and checksums are in `s3-settings.test.ts`.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import type { Fault, FaultServer } from '../support/fault-server.ts';
import { failureOf } from '../support/outcome.ts';
import { closeAll, faultServer, openS3, retryingClient } from '../support/s3-faults.ts';

afterEach(closeAll);

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const BODY = utf8('a body that is long enough to be cut somewhere in the middle');

async function pair(): Promise<{ readonly server: FaultServer; readonly store: BlobStore }> {
  const server = await faultServer();
  return { server, store: openS3(server) };
}

/** What a write met and whether it was stored all the same. */
const LOST_ANSWERS: readonly (readonly [string, Fault, string])[] = [
  ['the connection drops after it is stored', { kind: 'drop', applied: true }, 'unavailable'],
  ['the connection drops before it is stored', { kind: 'drop', applied: false }, 'unavailable'],
  ...[500, 502, 503, 504].map(
    (status) =>
      [
        `status ${status} comes after it is stored`,
        { kind: 'answer', status, applied: true },
        'unavailable',
      ] as const,
  ),
  [
    'the service asks to slow down after it is stored',
    { kind: 'answer', status: 503, code: 'SlowDown', applied: true },
    'throttled',
  ],
  ['status 429 comes', { kind: 'answer', status: 429, applied: true }, 'throttled'],
  ['status 408 comes', { kind: 'answer', status: 408, applied: false }, 'timeout'],
  [
    'a conflict is answered though it is stored',
    { kind: 'answer', status: 409, code: 'ConditionalRequestConflict', applied: true },
    'unavailable',
  ],
  [
    'a conflict is answered and nothing is stored',
    { kind: 'answer', status: 409, code: 'ConditionalRequestConflict', applied: false },
    'unavailable',
  ],
  ['a success carries an error', { kind: 'error-body', applied: true }, 'integrity'],
  ['a page of a proxy says 200', { kind: 'page', status: 200 }, 'integrity'],
  ['a page of a proxy says 404', { kind: 'page', status: 404 }, 'integrity'],
  ['status 304 comes', { kind: 'answer', status: 304, applied: true }, 'integrity'],
];

// B01, B02
describe('a write whose answer is lost', () => {
  for (const own of [true, false]) {
    const client = own ? 'our client' : "a caller's retrying client";
    test.each(LOST_ANSWERS)(`is ambiguous and sent once by ${client} when %s`, async (...row) => {
      const [, fault, code] = row;
      const server = await faultServer();
      const store = openS3(server, own ? {} : { client: retryingClient(server) });
      server.program({ method: 'PUT', fault });
      const error = await failureOf(store.create('log/1', BODY));
      expect(error).toMatchObject({ code, ambiguous: true, retryable: true, operation: 'create' });
      expect(server.requests.map(({ method }) => method)).toEqual(['PUT']);
      const stored = 'applied' in fault && fault.applied === true;
      expect(server.objects.has('log/1')).toBe(stored);
      const next = await store.create('log/1', BODY);
      expect(next.outcome).toBe(stored ? 'exists' : 'created');
    });
  }

  test('is ambiguous for `replace()` and `delete()` too, each sent once', async () => {
    const { server, store } = await pair();
    await store.create('head.json', BODY);
    const head = await store.head('head.json');
    const generation = head.found ? head.attributes.generation : '';
    server.reset();
    server.program({ fault: { kind: 'drop', applied: true }, times: 2 });
    const replaced = await failureOf(store.replace('head.json', generation, utf8('new')));
    expect(replaced).toMatchObject({ code: 'unavailable', ambiguous: true });
    const deleted = await failureOf(store.delete('head.json'));
    expect(deleted).toMatchObject({ code: 'unavailable', ambiguous: true });
    expect(server.requests).toHaveLength(2);
  });

  test('is no doubt when the service refused: a damaged body, a permission', async () => {
    const { server, store } = await pair();
    const codes = { BadDigest: [400, 'integrity'], AccessDenied: [403, 'forbidden'] } as const;
    for (const [code, [status, expected]] of Object.entries(codes)) {
      server.program({ method: 'PUT', fault: { kind: 'answer', status, code } });
      const error = await failureOf(store.create(code, BODY));
      expect(error).toMatchObject({ code: expected, ambiguous: false });
      server.reset();
    }
  });

  test('carries Date and Retry-After of the service', async () => {
    const { server, store } = await pair();
    const headers = { 'Retry-After': '7', Date: 'Mon, 01 Jan 2024 00:00:01 GMT' };
    server.program({ fault: { kind: 'answer', status: 503, code: 'SlowDown', headers } });
    const error = await failureOf(store.create('a', BODY));
    expect(error).toMatchObject({ retryAfterMs: 7000, date: Date.UTC(2024, 0, 1, 0, 0, 1) });
  });
});

// B07
describe('a create that is never answered', () => {
  test.each([true, false])('ends at its deadline, stored: %s', async (applied) => {
    const { server, store } = await pair();
    server.program({ method: 'PUT', fault: { kind: 'silent', applied } });
    const error = await failureOf(store.create('log/1', BODY, { deadlineMs: 100 }));
    expect(error).toMatchObject({ code: 'timeout', ambiguous: true, retryable: true });
    expect(server.objects.has('log/1')).toBe(applied);
    await until(() => server.openSockets === 0);
  });

  test('ends when its signal aborts, with the reason as cause', async () => {
    const { server, store } = await pair();
    server.program({ method: 'PUT', fault: { kind: 'silent', applied: true } });
    const caller = new AbortController();
    const pending = failureOf(store.create('log/1', BODY, { signal: caller.signal }));
    await until(() => server.requests.length === 1);
    const reason = new Error('enough');
    caller.abort(reason);
    expect(await pending).toMatchObject({ code: 'aborted', ambiguous: true, cause: reason });
    await until(() => server.openSockets === 0);
  });
});

// B06
describe('a body that does not come whole', () => {
  // Far off, so that what ends a stalled body is its own limit.
  const deadlineMs = 3_600_000;
  const reads: Readonly<Record<string, (store: BlobStore) => Promise<unknown>>> = {
    get: (store) => store.get('a', { deadlineMs }),
    'get of a range': (store) => store.get('a', { range: [2, 40], deadlineMs }),
    list: (store) => store.list({ prefix: '', limit: 10 }, { deadlineMs }),
  };
  const faults: readonly (readonly [string, Fault, string])[] = [
    ['stalls', { kind: 'stall', afterBytes: 20 }, 'timeout'],
    ['stalls before its first byte', { kind: 'stall', afterBytes: 0 }, 'timeout'],
    ['is cut by a reset', { kind: 'cut', afterBytes: 20 }, 'integrity'],
    ['is one byte short and ends cleanly', { kind: 'short' }, 'integrity'],
  ];
  for (const [name, read] of Object.entries(reads)) {
    test.each(faults)(
      `is an error of ${name} when it %s`,
      async (_, fault, code) => {
        const { server, store } = await pair();
        await store.create('a', BODY);
        server.program({ method: 'GET', fault });
        const error = await failureOf(read(store));
        expect(error).toMatchObject({ code, ambiguous: false, retryable: true });
        await until(() => server.openSockets === 0);
        await read(store);
      },
      30_000,
    );
  }

  test('is an error when its bytes are changed', async () => {
    const { server, store } = await pair();
    await store.create('a', BODY);
    server.program({ method: 'GET', fault: { kind: 'corrupt' } });
    expect(await failureOf(store.get('a'))).toMatchObject({ code: 'integrity' });
  });

  test('ends an error document that stalls, too', async () => {
    const { server, store } = await pair();
    server.program({ method: 'GET', fault: { kind: 'stall', afterBytes: 30 } });
    expect(await failureOf(store.get('absent', { deadlineMs }))).toMatchObject({ code: 'timeout' });
  });
});

describe('an answer that is none', () => {
  test('is never an empty page: an error with status 200, a page of a proxy', async () => {
    const { server, store } = await pair();
    for (const fault of [{ kind: 'error-body' }, { kind: 'page', status: 200 }] as const) {
      server.program({ method: 'GET', fault });
      const error = await failureOf(store.list({ prefix: '', limit: 10 }));
      expect(error).toMatchObject({ code: 'integrity', retryable: true });
      server.reset();
    }
  });

  test('is never *not found*: a page of a proxy with status 404, or a 304', async () => {
    const { server, store } = await pair();
    for (const fault of [
      { kind: 'page', status: 404 },
      { kind: 'answer', status: 304 },
    ] as const) {
      server.program({ method: 'GET', fault });
      expect(await failureOf(store.get('a'))).toMatchObject({ code: 'integrity' });
      server.reset();
    }
  });
});

// B31
test('a 403 is `forbidden` for every call and names the permission', async () => {
  const { server, store } = await pair();
  const fault: Fault = { kind: 'answer', status: 403, code: 'AccessDenied' };
  server.program({ times: Number.POSITIVE_INFINITY, fault });
  const calls: readonly (readonly [() => Promise<unknown>, string])[] = [
    [() => store.head('log/2'), 's3:ListBucket, without which absent reads as forbidden'],
    [() => store.get('log/2'), 's3:GetObject'],
    [() => store.list({ prefix: 'log/', limit: 1 }), 's3:ListBucket'],
    [() => store.create('log/2', BODY), 's3:PutObject'],
    [() => store.delete('log/2'), 's3:DeleteObject'],
  ];
  for (const [call, permission] of calls) {
    const error = await failureOf(call());
    expect(error).toMatchObject({ code: 'forbidden', retryable: false, ambiguous: false });
    expect(String(error)).toContain(permission);
  }
});

// B05
test('200 calls that end early leave no socket but the idle ones of the pool', async () => {
  const server = await faultServer();
  const store = openS3(server, { maxSockets: 8 });
  await store.create('taken', BODY);
  server.program({ key: 'unchanged', times: 1000, fault: { kind: 'answer', status: 304 } });
  server.program({ key: 'page', times: 1000, fault: { kind: 'page', status: 404 } });
  server.program({ key: 'short', times: 1000, fault: { kind: 'short' } });
  server.program({ key: 'stalled', times: 1000, fault: { kind: 'stall', afterBytes: 3 } });
  server.program({ key: 'silent', times: 1000, fault: { kind: 'silent', applied: false } });
  const endings: readonly (() => Promise<unknown>)[] = [
    () => store.get('absent'),
    () => store.head('absent'),
    () => store.create('taken', BODY),
    () => store.get('unchanged'),
    () => store.get('page'),
    () => store.get('short'),
    () => store.get('stalled'),
    () => store.get('silent', { deadlineMs: 50 }),
    () => store.get('silent', { signal: AbortSignal.timeout(50) }),
    () => store.get('taken', { range: [900, 901] }),
  ];
  // More of each than the pool has room for: a kind that kept its sockets would leave none for the
  // reads.
  const calls = Array.from({ length: 20 }, () => endings).flat();
  await Promise.allSettled(calls.map((call) => call()));
  await until(() => server.openSockets <= 8);

  server.reset();
  const reads = await Promise.all(Array.from({ length: 100 }, () => store.get('taken')));
  expect(reads.every(({ found }) => found)).toBe(true);
  await until(() => server.openSockets === 8);
  const connections = server.connections;
  await Promise.all(Array.from({ length: 100 }, () => store.get('taken')));
  expect(server.connections).toBe(connections);

  await store.close();
  await until(() => server.openSockets === 0);
});

test('`close()` releases the sockets of our own client, and only those', async () => {
  const server = await faultServer();
  const client = retryingClient(server);
  const theirs = openS3(server, { client });
  const ours = openS3(server);
  await ours.create('a', BODY);
  await theirs.create('b', BODY);
  await theirs.close();
  await ours.close();
  await until(() => server.openSockets === 1);
  for (const store of [ours, theirs]) {
    expect(await failureOf(store.get('a'))).toMatchObject({ code: 'invalid' });
  }
  const again = openS3(server, { client });
  expect((await again.get('b')).found).toBe(true);
  expect(server.openSockets).toBe(1);
});

/** Waits for what the other side of a socket notices a moment later. */
async function until(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { timeout: 10_000, interval: 5 }).toBe(true);
}
