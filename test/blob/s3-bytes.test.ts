/**
 * Goal: no byte that S3 sends is taken for an object's unless length, range and checksum agree, and
 * no body holds a caller up.
 * Method: the driver and the real SDK over answers written here, in virtual time.
 */

import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { failureOf } from '../support/outcome.ts';
import type { ScriptedAnswer } from '../support/s3-script.ts';
import {
  BYTES,
  CALLS,
  DATE_MS,
  failed,
  hello,
  OPERATIONS,
  scripted,
  WRITES,
} from '../support/s3-scripted.ts';

describe('ranges', () => {
  const part = (headers: Readonly<Record<string, string>>, body: string): ScriptedAnswer => ({
    ...hello(headers, body),
    status: 206,
  });

  test('a part is asked for by its last byte and must be that part', async () => {
    const { store, requests } = scripted(part({ 'content-range': 'bytes 1-2/5' }, 'el'));
    const read = await store.get('k', { range: [1, 3] });
    expect(requests[0]?.headers['range']).toBe('bytes=1-2');
    expect(read).toMatchObject({ bytes: Buffer.from('el'), attributes: { size: 5 } });
  });

  test.each([
    ['another part', part({ 'content-range': 'bytes 0-1/5' }, 'he')],
    ['a shorter part', part({ 'content-range': 'bytes 1-1/5' }, 'e')],
    ['a part that does not say which', part({}, 'el')],
    ['a part with other bytes than it says', part({ 'content-range': 'bytes 1-2/5' }, 'ell')],
  ])('%s is an integrity error', async (_, answer) => {
    const { store } = scripted(answer);
    expect(await failureOf(store.get('k', { range: [1, 3] }))).toMatchObject({
      code: 'integrity',
    });
  });

  test('a part of an object that was asked for whole is an integrity error', async () => {
    const { store } = scripted(part({ 'content-range': 'bytes 0-1/5' }, 'he'));
    expect(await failureOf(store.get('k'))).toMatchObject({ code: 'integrity' });
  });

  test('the end is clipped, the whole object is cut, nothing is read beyond its end', async () => {
    const { store, requests } = scripted(
      part({ 'content-range': 'bytes 3-4/5' }, 'lo'),
      hello(),
      failed(416, 'InvalidRange'),
      { ...hello({}, ''), headers: { ...hello().headers } },
      { ...hello({}, ''), headers: { ...hello().headers } },
    );
    const text = async (range: readonly [number, number]): Promise<string> => {
      const read = await store.get('k', { range });
      return read.found ? Buffer.from(read.bytes).toString() : 'absent';
    };
    expect(await text([3, 99])).toBe('lo');
    expect(await text([1, 4])).toBe('ell');
    expect(await text([9, 12])).toBe('');
    expect(await text([2, 2])).toBe('');
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'HEAD', 'HEAD']);
  });
});

describe('bytes against their checksums', () => {
  const wrong = { etag: '"00000000000000000000000000000000"' };
  const good: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['an MD5 ETag', {}],
    ['CRC32, which outranks the ETag', { ...wrong, 'x-amz-checksum-crc32': 'NhCmhg==' }],
    ['an ETag of several parts', { etag: '"00000000000000000000000000000000-2"' }],
    ['an ETag that is none under KMS', { ...wrong, 'x-amz-server-side-encryption': 'aws:kms' }],
  ];
  test.each(good)('are taken with %s', async (_, headers) => {
    const { store } = scripted(hello(headers));
    expect(await store.get('k')).toMatchObject({ found: true });
  });

  const bad: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['ETag', wrong],
    ['ETag beside AES256', { ...wrong, 'x-amz-server-side-encryption': 'AES256' }],
    ['CRC32', { 'x-amz-checksum-crc32': 'AAAAAA==' }],
    ['SHA-1', { 'x-amz-checksum-sha1': 'AAAA' }],
    ['SHA-256', { 'x-amz-checksum-sha256': 'AAAA' }],
    ['length, one more', { 'content-length': '6' }],
    ['length, one less', { 'content-length': '4' }],
  ];
  test.each(bad)('are refused with another %s', async (_, headers) => {
    const { store } = scripted(hello(headers));
    const error = await failureOf(store.get('k'));
    expect(error).toMatchObject({ code: 'integrity', retryable: true, date: DATE_MS });
  });

  test('are refused when nothing proves them: no ETag, no date, no length', async () => {
    for (const header of ['etag', 'last-modified', 'content-length']) {
      const answer = hello(header === 'content-length' ? { etag: '"x"' } : {});
      const headers = Object.fromEntries(
        Object.entries(answer.headers ?? {}).filter(([name]) => name !== header),
      );
      const { store } = scripted({ ...answer, headers });
      expect(await failureOf(store.get('k')), header).toMatchObject({ code: 'integrity' });
    }
  });
});

describe('time', () => {
  test('a call ends at its deadline; a write that was sent is in doubt', async () => {
    for (const operation of OPERATIONS) {
      const { store, clock, arrival } = scripted('never');
      const sent = arrival();
      const failure = failureOf(CALLS[operation](store));
      await sent;
      await clock.advance(9_999);
      expect(clock.sleeping).toBe(1);
      await clock.advance(1);
      const ambiguous = WRITES.has(operation);
      expect(await failure).toMatchObject({ code: 'timeout', ambiguous });
      expect(clock.sleeping).toBe(0);
    }
  });

  test('a signal that aborts ends a call; one that has, sends nothing', async () => {
    const { store, requests, clock, arrival } = scripted('never');
    const caller = new AbortController();
    const sent = arrival();
    const failure = failureOf(store.create('k', BYTES, { signal: caller.signal }));
    await sent;
    caller.abort('reason');
    expect(await failure).toMatchObject({ code: 'aborted', ambiguous: true, cause: 'reason' });
    const late = await failureOf(store.create('k', BYTES, { signal: caller.signal }));
    expect(late).toMatchObject({ code: 'aborted', ambiguous: false, cause: 'reason' });
    expect(requests).toHaveLength(1);
    expect(clock.sleeping).toBe(0);
  });

  // B06
  test('a body that stalls ends 3 s after its last byte, and is destroyed', async () => {
    const body = new Readable({ read() {} });
    const { store, clock, arrival } = scripted({ ...hello(), body });
    const sent = arrival();
    const failure = failureOf(store.get('k'));
    await sent;
    await clock.advance(0);
    for (const byte of ['h', 'e']) {
      await clock.advance(2_000);
      body.push(Buffer.from(byte));
      await clock.advance(0);
    }
    expect(body.destroyed).toBe(false);
    await clock.advance(2_999);
    expect(body.destroyed).toBe(false);
    await clock.advance(1);
    expect(await failure).toMatchObject({ code: 'timeout', ambiguous: false });
    expect(body.destroyed).toBe(true);
    expect(clock.sleeping).toBe(0);
  });

  test('a call that ends well leaves no timer', async () => {
    const { store, clock } = scripted(hello());
    await store.get('k');
    expect(clock.sleeping).toBe(0);
  });
});
