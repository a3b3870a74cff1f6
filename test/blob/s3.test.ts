/**
 * Goal: the S3 driver asks for what it should, and expected answers of a service become expected
 * outcomes.
 * Method: the driver and the real SDK over answers written here, in virtual time; the same over
 * sockets is in `test/real/s3-faults.test.ts`, on a real server in `test/real/rgw.test.ts`.
 */
import { describe, expect, test } from 'vitest';
import { createS3Bucket } from '../../blob/s3.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { failureOf } from '../support/outcome.ts';
import { errorBody, pageBody, type ScriptedAnswer } from '../support/s3-script.ts';
import { BYTES, DATE, DATE_MS, failed, hello, MD5, scripted } from '../support/s3-scripted.ts';

describe('expected outcomes', () => {
  test('a create sends its condition, length and checksums, and knows the date', async () => {
    const { store, requests } = scripted({ status: 200, headers: { date: DATE, etag: '"e"' } });
    expect(await store.create('k/1', BYTES)).toEqual({ outcome: 'created', date: DATE_MS });
    expect(requests[0]).toMatchObject({ method: 'PUT', path: '/bucket/team/a/k/1' });
    expect(requests[0]?.headers).toMatchObject({
      'if-none-match': '*',
      'content-length': '5',
      'content-md5': Buffer.from(MD5, 'hex').toString('base64'),
    });
  });

  test('a create that meets the name is `exists`', async () => {
    const { store } = scripted(failed(412, 'PreconditionFailed'), failed(412));
    expect(await store.create('k', BYTES)).toEqual({ outcome: 'exists', date: DATE_MS });
    expect(await store.create('k', BYTES)).toEqual({ outcome: 'exists', date: DATE_MS });
  });

  test('a replace names the ETag without quotes, and once more with them', async () => {
    const { store, requests } = scripted(
      failed(412, 'PreconditionFailed'),
      hello({}, ''),
      failed(412, 'PreconditionFailed'),
      failed(412, 'PreconditionFailed'),
      failed(404, 'NoSuchKey'),
    );
    const calls = () => store.replace('k', `${MD5}@1704067200`, BYTES);
    expect(await calls()).toMatchObject({ outcome: 'replaced' });
    expect(requests.map(({ headers }) => headers['if-match'])).toEqual([MD5, `"${MD5}"`]);
    expect(await calls()).toEqual({ outcome: 'changed', date: DATE_MS });
    expect(await calls()).toEqual({ outcome: 'changed', date: DATE_MS });
  });

  test('get, head and list agree on an object, and its key is the caller’s', async () => {
    const page = pageBody(['team/a/k']).replace('&quot;e&quot;', `&quot;${MD5}&quot;`);
    const { store } = scripted(hello(), hello({}, ''), { status: 200, body: page });
    const attributes = {
      key: 'k',
      generation: `${MD5}@1704067200`,
      size: 5,
      modifiedMs: 1_704_067_200_000,
    };
    const read = await store.get('k');
    expect(read).toEqual({ found: true, bytes: Buffer.from(BYTES), attributes, date: DATE_MS });
    expect(await store.head('k')).toMatchObject({ found: true, attributes: { key: 'k' } });
    const listed = await store.list({ prefix: '', limit: 5 });
    expect(listed.objects).toEqual([{ ...attributes, size: 1 }]);
  });

  test('absent is a value for get, head and delete', async () => {
    const { store } = scripted(failed(404, 'NoSuchKey'), failed(404), failed(404, 'NoSuchKey'));
    expect(await store.get('k')).toEqual({ found: false, date: DATE_MS });
    expect(await store.head('k')).toEqual({ found: false, date: DATE_MS });
    expect(await store.delete('k')).toEqual({ date: DATE_MS });
  });

  test('a head that finds nothing asks once whether the bucket is there', async () => {
    const page = { status: 200, body: pageBody([]) };
    const { store, requests } = scripted(failed(404), page, failed(404));
    expect((await store.head('k')).found).toBe(false);
    expect((await store.head('k')).found).toBe(false);
    expect(requests.map(({ method }) => method)).toEqual(['HEAD', 'GET', 'HEAD']);
    const gone = scripted(failed(404), failed(404, 'NoSuchBucket'));
    expect(await failureOf(gone.store.head('k'))).toMatchObject({ code: 'no-bucket' });
    const mayNotList = scripted(failed(404), failed(403, 'AccessDenied'));
    expect((await mayNotList.store.head('k')).found).toBe(false);
  });
});

test('the bytes of a create are those of the moment it was called', async () => {
  const { store, requests } = scripted({ status: 200, headers: { etag: '"e"' } });
  const bytes = new TextEncoder().encode('hello');
  const pending = store.create('k', bytes);
  bytes.fill(0);
  await pending;
  expect(requests[0]).toMatchObject({ body: Buffer.from('hello') });
});

test('the name of a store has its endpoint and no credentials', () => {
  const store = createS3Bucket({
    bucket: 'bucket',
    prefix: 'team/a',
    endpoint: 'http://127.0.0.1:7480',
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    timing: new ManualClock(),
  });
  expect(store.name).toBe('s3://bucket/team/a?endpoint=http%3A%2F%2F127.0.0.1%3A7480');
});

test('keys are checked with their prefix, and nothing is sent', async () => {
  const { store, requests } = scripted();
  const long = 'k'.repeat(1024 - 'team/a/'.length);
  for (const key of ['', `${long}k`, 'a\nb']) {
    expect(await failureOf(store.get(key))).toMatchObject({ code: 'invalid', ambiguous: false });
  }
  expect(requests).toHaveLength(0);
});

describe('lists', () => {
  test('the start is under the prefix, and the folder object of a console is no key', async () => {
    const page = { status: 200, body: pageBody(['team/a/x', 'team/a/y'], true) };
    const { store, requests } = scripted(page, { status: 200, body: pageBody([]) });
    const first = await store.list({ prefix: '', limit: 2 });
    expect(first).toMatchObject({ objects: [{ key: 'x' }, { key: 'y' }], more: true });
    await store.list({ prefix: 'log/', after: 'log/1', limit: 7 });
    expect(requests.map(({ query }) => query)).toMatchObject([
      { prefix: 'team/a/', 'start-after': 'team/a/', 'max-keys': '2' },
      { prefix: 'team/a/log/', 'start-after': 'team/a/log/1', 'max-keys': '7' },
    ]);
  });

  // B18
  test('empty pages are followed, though not for ever', async () => {
    const empty = (token: string): ScriptedAnswer => ({
      status: 200,
      body: pageBody([], true, token),
    });
    const last = { status: 200, body: pageBody(['team/a/x']) };
    const { store, requests } = scripted(empty('t1'), empty('t2'), last, empty('t1'), empty('t1'));
    const query = { prefix: '', limit: 2 };
    expect(await store.list(query)).toMatchObject({ objects: [{ key: 'x' }], more: false });
    expect(requests[2]?.query).toMatchObject({ 'continuation-token': 't2' });
    expect(await failureOf(store.list(query))).toMatchObject({ code: 'integrity' });
  });

  // B18, B19
  test.each([
    ['the start itself', ['team/a/b', 'team/a/c']],
    ['keys before the start', ['team/a/a', 'team/a/c']],
    ['keys out of order', ['team/a/d', 'team/a/c']],
    ['a key twice', ['team/a/c', 'team/a/c']],
    ['UTF-16 order', ['team/a/\u{1d400}', 'team/a/\uff21']],
    ['keys of another prefix', ['team/b/c']],
    ['more than was asked for', ['team/a/c', 'team/a/d', 'team/a/e', 'team/a/f']],
  ])('a page with %s is an integrity error', async (_, keys) => {
    const { store } = scripted({ status: 200, body: pageBody(keys) });
    const error = await failureOf(store.list({ prefix: '', after: 'b', limit: 3 }));
    expect(error).toMatchObject({ code: 'integrity' });
  });

  test.each([
    ['an error', errorBody('InternalError')],
    ['a page for people', '<html><body>hello</body></html>'],
    ['a cut page', pageBody(['team/a/c']).slice(0, -40)],
    ['nothing', ''],
  ])('%s with status 200 is no empty page', async (_, body) => {
    const { store } = scripted({ status: 200, body });
    const error = await failureOf(store.list({ prefix: '', limit: 3 }));
    expect(error).toMatchObject({ code: 'integrity' });
  });
});
