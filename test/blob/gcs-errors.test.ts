// Goal: what the GCS driver makes of every status and of every failure to send.
// Method: each of its calls over answers from a script, without a port.
import { describe, expect, test } from 'vitest';
import { SendError } from '../../blob/gcs-send.ts';
import { CALLS, DATE, DATE_MS, reply, setUp, WRITES } from '../support/gcs-script.ts';
import { errorOf } from '../support/outcome.ts';

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
