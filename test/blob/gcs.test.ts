// Goal: what the GCS driver sends, and how it verifies the answer to an upload, a list, a download.
// Method: the driver over answers from a script, right ones and wrong ones, without a port.
import { describe, expect, test } from 'vitest';
import { crc32cBase64 } from '../../blob/gcs-crc32c.ts';
import type { WireResponse } from '../../blob/gcs-send.ts';
import { bytesOf } from '../contract/blob-case.ts';
import { CALLS, DATE_MS, media, meta, type Reply, reply, setUp } from '../support/gcs-script.ts';
import { errorOf } from '../support/outcome.ts';

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
