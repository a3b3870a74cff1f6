// Goal: what the GCS driver makes of each answer, failure and limit, without a port. Method: the
// driver over a fake slice of the client and a fake sender that answers from a script; time is a
// manual clock.
import { describe, expect, test } from 'vitest';
import { type BlobError, isBlobError } from '../../blob/errors.ts';
import { createGcsBucket, type GcsClient } from '../../blob/gcs.ts';
import { crc32c, crc32cBase64 } from '../../blob/gcs-crc32c.ts';
import {
  SendError,
  type Sender,
  type WireRequest,
  type WireResponse,
} from '../../blob/gcs-send.ts';
import { bytesOf } from '../contract/blob-case.ts';
import { drain, ManualClock } from '../support/manual-clock.ts';

const DATE = 'Tue, 14 Nov 2023 22:13:20 GMT';
const DATE_MS = 1_700_000_000_000;

type Reply = WireResponse | Error | 'silent';

function reply(status: number, body: unknown = '', headers: WireResponse['headers'] = {}): Reply {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: { date: DATE, ...headers }, bytes: bytesOf(text) };
}

/** The metadata of an object as the service writes it. */
function meta(name: string, text = 'x', generation = '7'): Readonly<Record<string, string>> {
  const size = String(bytesOf(text).length);
  const updated = '2023-11-14T22:13:20.345Z';
  return { name, generation, size, updated, crc32c: crc32cBase64(bytesOf(text)) };
}

function media(text: string, headers: WireResponse['headers'] = {}): Reply {
  const hash = `crc32c=${crc32cBase64(bytesOf(text))},md5=x`;
  const length = String(bytesOf(text).length);
  const known = { 'x-goog-hash': hash, 'x-goog-stored-content-length': length };
  const all = { 'x-goog-generation': '7', 'last-modified': DATE, ...known, ...headers };
  return reply(headers['content-range'] === undefined ? 200 : 206, text, all);
}

interface SetUp {
  readonly store: ReturnType<typeof createGcsBucket>;
  readonly sent: WireRequest[];
  readonly clock: ManualClock;
}

/** A store whose requests are answered by `replies`, in order; one too many fails. */
function setUp(replies: readonly Reply[], auth?: Error | 'never', prefix?: string): SetUp {
  const clock = new ManualClock();
  const sent: WireRequest[] = [];
  const left = [...replies];
  const sender: Sender = {
    send(request, signal) {
      sent.push(request);
      const next = left.shift() ?? new Error('one request too many');
      if (next === 'silent') {
        return new Promise((_, reject) => {
          const stop = (): void => reject(new SendError('stopped', true, undefined));
          signal.addEventListener('abort', stop, { once: true });
        });
      }
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    close() {},
  };
  const client: GcsClient = {
    apiEndpoint: 'http://fake',
    makeAuthenticatedRequest({ headers }, { onAuthenticated }) {
      if (auth === 'never') return;
      if (auth !== undefined) return onAuthenticated(auth);
      onAuthenticated(null, { headers: { ...headers, Authorization: 'Bearer t' } });
    },
  };
  const store = createGcsBucket({ bucket: 'b', prefix, client, sender, timing: clock });
  return { store, sent, clock };
}

async function errorOf(call: Promise<unknown>): Promise<BlobError> {
  const thrown: unknown = await call.then(
    (value) => new Error(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (!isBlobError(thrown)) throw thrown;
  return thrown;
}

const CALLS = {
  create: ({ store }: SetUp) => store.create('k', bytesOf('x')),
  replace: ({ store }: SetUp) => store.replace('k', '7', bytesOf('x')),
  delete: ({ store }: SetUp) => store.delete('k'),
  get: ({ store }: SetUp) => store.get('k'),
  head: ({ store }: SetUp) => store.head('k'),
  list: ({ store }: SetUp) => store.list({ prefix: 'k', limit: 10 }),
} as const;
const WRITES: readonly string[] = ['create', 'replace', 'delete'];

describe('statuses', () => {
  // Status, code, and whether a write that gets it is ambiguous.
  const table: readonly (readonly [number, string, boolean])[] = [
    [401, 'unauthenticated', false],
    [403, 'forbidden', false],
    [408, 'timeout', true],
    [429, 'throttled', true],
    [500, 'unavailable', true],
    [502, 'unavailable', true],
    [503, 'unavailable', true],
    [504, 'unavailable', true],
    [304, 'integrity', true],
    [302, 'integrity', true],
    [201, 'integrity', true],
  ];
  for (const [status, code, ambiguous] of table) {
    test(`${status} is \`${code}\` for every call`, async () => {
      for (const [operation, call] of Object.entries(CALLS)) {
        const run = setUp([reply(status)]);
        const error = await errorOf(call(run));
        expect(error, operation).toMatchObject({ code, operation, key: 'k', date: DATE_MS });
        expect(error.ambiguous, operation).toBe(ambiguous && WRITES.includes(operation));
        expect(run.sent).toHaveLength(1);
      }
    });
  }

  test('412 is `exists` and `changed` for uploads, and `integrity` for the rest', async () => {
    expect(await CALLS.create(setUp([reply(412)]))).toEqual({ outcome: 'exists', date: DATE_MS });
    expect(await CALLS.replace(setUp([reply(412)]))).toEqual({ outcome: 'changed', date: DATE_MS });
    for (const name of ['delete', 'get', 'head', 'list'] as const) {
      expect((await errorOf(CALLS[name](setUp([reply(412)])))).code, name).toBe('integrity');
    }
  });

  test('404 is `no-bucket` for uploads and lists without another request', async () => {
    for (const name of ['create', 'replace', 'list'] as const) {
      const run = setUp([reply(404)]);
      expect(await errorOf(CALLS[name](run))).toMatchObject({
        code: 'no-bucket',
        ambiguous: false,
      });
      expect(run.sent).toHaveLength(1);
    }
  });

  test('404 on an object asks for the bucket, and remembers only a yes', async () => {
    for (const name of ['get', 'head', 'delete'] as const) {
      const absent = setUp([reply(404), reply(404), reply(404), reply(404)]);
      expect((await errorOf(CALLS[name](absent))).code).toBe('no-bucket');
      expect((await errorOf(CALLS[name](absent))).code).toBe('no-bucket');
      const unsure = setUp([reply(404), reply(503)]);
      expect((await errorOf(CALLS[name](unsure))).code).toBe('unavailable');
      for (const yes of [reply(200, '{}'), reply(403)]) {
        const there = setUp([reply(404), yes, reply(404)]);
        await CALLS[name](there);
        await CALLS[name](there);
        expect(there.sent, name).toHaveLength(3);
      }
      const known = setUp([reply(412), reply(404)]);
      await CALLS.create(known);
      await CALLS[name](known);
      expect(known.sent, name).toHaveLength(2);
    }
  });

  test('400 on an upload is `integrity`, not ambiguous: its checksum', async () => {
    const error = await errorOf(CALLS.create(setUp([reply(400)])));
    expect(error).toMatchObject({ code: 'integrity', ambiguous: false });
    expect((await errorOf(CALLS.list(setUp([reply(400)])))).code).toBe('unsupported');
  });

  test('what the service says is in the message, and decides nothing', async () => {
    const body = { error: { message: 'rate exceeded: not found', errors: [{ reason: 'other' }] } };
    const error = await errorOf(CALLS.get(setUp([reply(403, body)])));
    expect(error.code).toBe('forbidden');
    expect(error.message).toContain('rate exceeded: not found');
  });
});

describe('failures to send', () => {
  const kinds = [
    ['network', 'unavailable'],
    ['short', 'integrity'],
    ['long', 'integrity'],
    ['idle', 'timeout'],
  ] as const;
  for (const [kind, code] of kinds) {
    test(`\`${kind}\` is \`${code}\`, ambiguous for a write that had a connection`, async () => {
      for (const [operation, call] of Object.entries(CALLS)) {
        for (const sent of [true, false]) {
          const error = await errorOf(call(setUp([new SendError(kind, sent, DATE)])));
          const ambiguous = sent && WRITES.includes(operation);
          expect(error, operation).toMatchObject({ code, ambiguous, date: DATE_MS });
        }
      }
    });
  }

  test('wrong credentials and an unreachable token service are told apart', async () => {
    const coded = (code: string | number): Error => Object.assign(new Error('auth'), { code });
    const table = [
      [new Error('no credentials'), 'unauthenticated'],
      [coded(400), 'unauthenticated'],
      [coded('401'), 'unauthenticated'],
      [coded('ENOENT'), 'unauthenticated'],
      [coded('ERR_OSSL_UNSUPPORTED'), 'unauthenticated'],
      [coded('ENOTFOUND'), 'unavailable'],
      [coded('ECONNRESET'), 'unavailable'],
      [coded(503), 'unavailable'],
    ] as const;
    for (const [auth, code] of table) {
      const run = setUp([], auth);
      expect(await errorOf(CALLS.create(run))).toMatchObject({ code, ambiguous: false });
      expect(run.sent).toHaveLength(0);
    }
  });
});

describe('limits', () => {
  test('a call ends at its deadline, ambiguous for a write, its timer gone', async () => {
    const run = setUp(['silent', 'silent']);
    const write = errorOf(run.store.create('k', bytesOf('x')));
    const read = errorOf(run.store.get('k', { deadlineMs: 50 }));
    await drain();
    await run.clock.advance(50);
    expect(await read).toMatchObject({ code: 'timeout', ambiguous: false });
    await run.clock.advance(9_950);
    expect(await write).toMatchObject({ code: 'timeout', ambiguous: true });
    expect(run.clock.sleeping).toBe(0);
  });

  test('a token that never comes ends at the deadline, and nothing was sent', async () => {
    const run = setUp([], 'never');
    const write = errorOf(run.store.create('k', bytesOf('x')));
    await drain();
    await run.clock.advance(10_000);
    expect(await write).toMatchObject({ code: 'timeout', ambiguous: false });
  });

  test('the deadline spans all requests of a call', async () => {
    const run = setUp([reply(404), 'silent']);
    const read = errorOf(run.store.get('k', { deadlineMs: 100 }));
    await drain();
    await run.clock.advance(100);
    expect(await read).toMatchObject({ code: 'timeout', operation: 'get' });
  });

  test('an abort keeps its reason; it is ambiguous only for a write that was sent', async () => {
    const run = setUp(['silent']);
    const caller = new AbortController();
    const write = errorOf(run.store.create('k', bytesOf('x'), { signal: caller.signal }));
    await drain();
    const reason = new Error('enough');
    caller.abort(reason);
    expect(await write).toMatchObject({ code: 'aborted', ambiguous: true, cause: reason });
    expect(run.clock.sleeping).toBe(0);
  });

  test('`close()` ends what runs as `aborted` and refuses what comes', async () => {
    const run = setUp(['silent']);
    const write = errorOf(run.store.create('k', bytesOf('x')));
    await drain();
    await run.store.close();
    await run.store.close();
    expect(await write).toMatchObject({ code: 'aborted', ambiguous: true });
    expect((await errorOf(run.store.get('k'))).code).toBe('invalid');
  });
});

describe('what is sent', () => {
  test('an upload is one request with precondition, checksum and credentials', async () => {
    const run = setUp([reply(200, meta('p/k'))], undefined, 'p');
    const created = await run.store.create('k', bytesOf('x'), { lane: 'commit' });
    const attributes = { key: 'k', generation: '7', size: 1, modifiedMs: DATE_MS };
    expect(created).toEqual({ outcome: 'created', attributes, date: DATE_MS });
    const [request] = run.sent;
    const url = new URL(request?.url ?? '');
    expect(url.pathname).toBe('/upload/storage/v1/b/b/o');
    expect(url.searchParams.get('uploadType')).toBe('multipart');
    expect(url.searchParams.get('ifGenerationMatch')).toBe('0');
    expect(url.searchParams.get('name')).toBe('p/k');
    expect(request).toMatchObject({ method: 'POST', lane: 'commit' });
    expect(request?.headers).toMatchObject({ Authorization: 'Bearer t' });
    const body = Buffer.from(request?.body ?? []).toString();
    expect(body).toContain(`"crc32c":"${crc32cBase64(bytesOf('x'))}"`);
  });

  test('an upload whose answer is about other bytes is `integrity` and ambiguous', async () => {
    const wrong = [{ ...meta('k'), name: 'other' }, meta('k', 'xx'), meta('k', 'y'), {}, 'no json'];
    for (const body of wrong) {
      const error = await errorOf(CALLS.create(setUp([reply(200, body)])));
      expect(error).toMatchObject({ code: 'integrity', ambiguous: true });
    }
  });
});

describe('lists', () => {
  const page = (names: readonly string[], nextPageToken?: string): Reply =>
    reply(200, { items: names.map((name) => meta(name)), ...(nextPageToken && { nextPageToken }) });

  test('the key of the offset is dropped without costing a place', async () => {
    const run = setUp([page(['b', 'c', 'd'], 't'), page(['c', 'd', 'e'], 't'), page(['b'])]);
    const query = { prefix: '', after: 'b', limit: 2 };
    const keys = async (): Promise<unknown> => {
      const { objects, more } = await run.store.list(query);
      return [objects.map(({ key }) => key), more];
    };
    expect(await keys()).toEqual([['c', 'd'], true]);
    expect(await keys()).toEqual([['c', 'd'], true]);
    expect(await keys()).toEqual([[], false]);
    expect(new URL(run.sent[0]?.url ?? '').searchParams.get('maxResults')).toBe('3');
  });

  test('at the limit of 1000 a page may be one short, and says that there is more', async () => {
    const names = Array.from({ length: 1000 }, (_, i) => `k${String(i).padStart(4, '0')}`);
    const run = setUp([page(names, 't')]);
    const { objects, more } = await run.store.list({ prefix: 'k', after: 'k0000', limit: 1000 });
    expect([objects.length, more]).toEqual([999, true]);
    expect(new URL(run.sent[0]?.url ?? '').searchParams.get('maxResults')).toBe('1000');
  });

  test('empty pages with a token are followed, but not twice with the same', async () => {
    const run = setUp([page([], 't1'), page([], 't2'), page(['a'])]);
    const { objects, more } = await run.store.list({ prefix: '', limit: 5 });
    expect([objects.map(({ key }) => key), more]).toEqual([['a'], false]);
    expect(run.sent.map(({ url }) => new URL(url).searchParams.get('pageToken'))).toEqual([
      null,
      't1',
      't2',
    ]);
    const stuck = setUp([page([], 't'), page([], 't')]);
    expect((await errorOf(stuck.store.list({ prefix: '', limit: 5 }))).code).toBe('integrity');
  });

  test('a page out of order, out of its prefix or before its offset is `integrity`', async () => {
    const query = { prefix: 'k', after: 'k5', limit: 5 };
    for (const names of [['k7', 'k6'], ['k6', 'k6'], ['k4'], ['l'], ['k\u{1d400}', 'k\uff21']]) {
      const run = setUp([page(names)]);
      expect((await errorOf(run.store.list(query))).code, names.join()).toBe('integrity');
    }
    expect((await errorOf(CALLS.list(setUp([reply(200, 'no')])))).code).toBe('integrity');
  });
});

describe('downloads', () => {
  test('a whole object is verified by length and checksum', async () => {
    const good = await CALLS.get(setUp([media('hello')]));
    expect(good).toMatchObject({ found: true, attributes: { size: 5, generation: '7' } });
    const wrong: readonly WireResponse['headers'][] = [
      { 'x-goog-hash': 'crc32c=AAAAAA==' },
      { 'x-goog-hash': 'md5=x' },
      { 'x-goog-stored-content-length': '6' },
      { 'x-goog-generation': undefined },
      { 'content-range': 'bytes 0-4/5' },
    ];
    for (const headers of wrong) {
      const error = await errorOf(CALLS.get(setUp([media('hello', headers)])));
      expect(error, JSON.stringify(headers)).toMatchObject({ code: 'integrity', date: DATE_MS });
    }
  });

  test('a range is verified by its place and length', async () => {
    const get = (answer: Reply): Promise<unknown> =>
      setUp([answer]).store.get('k', { range: [2, 5] });
    expect(await get(media('llo', { 'content-range': 'bytes 2-4/9' }))).toMatchObject({
      found: true,
      attributes: { size: 9 },
    });
    expect(await get(media('ll', { 'content-range': 'bytes 2-3/4' }))).toMatchObject({
      found: true,
    });
    const wrong = ['bytes 1-3/9', 'bytes 2-5/9', 'bytes 2-3/9', 'bytes 2-4/4', 'bytes */9'];
    for (const range of wrong) {
      expect((await errorOf(get(media('llo', { 'content-range': range })))).code).toBe('integrity');
    }
    expect((await errorOf(get(media('llo')))).code).toBe('integrity');
  });

  test('a range without bytes is answered from the attributes', async () => {
    const beyond = setUp([reply(416), reply(200, meta('k'))]);
    const empty = setUp([reply(200, meta('k'))]);
    const gone = setUp([reply(416), reply(404)]);
    const nothing = { found: true, bytes: new Uint8Array(0), attributes: { size: 1 } };
    expect(await beyond.store.get('k', { range: [5, 6] })).toMatchObject(nothing);
    expect(await empty.store.get('k', { range: [3, 3] })).toMatchObject(nothing);
    expect(await gone.store.get('k', { range: [5, 6] })).toEqual({ found: false, date: DATE_MS });
  });
});

describe('crc32c', () => {
  test('has the published check value, at any alignment and length', () => {
    expect(crc32c(bytesOf('123456789'))).toBe(0xe3069283);
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(new Uint8Array(0))).toBe(0);
    const text = bytesOf('__123456789');
    expect(crc32cBase64(text.subarray(2))).toBe('4waSgw==');
  });
});
