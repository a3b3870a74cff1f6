import { Storage } from '@google-cloud/storage';
import { afterEach, describe, expect, test } from 'vitest';
import { blobContract } from '../contract/index.ts';
import { crc32c } from '../support/gcs-emulator/objects.ts';
import { BUCKET, closeAll, emulate, openGcs } from '../support/gcs-emulator/open.ts';
import {
  type Call,
  caller,
  forms,
  OBJECTS,
  type Raw,
  type RawHeaders,
  UPLOAD,
} from '../support/gcs-emulator/raw.ts';
import { type RuleName, ruleNames, rules } from '../support/gcs-emulator/rules.ts';

afterEach(closeAll);

async function names(call: Call, query: string): Promise<readonly string[]> {
  const { json } = await call('GET', `${OBJECTS}?${query}`);
  return (json.items ?? []).map(({ name }) => Buffer.from(name, 'latin1').toString());
}

async function putAll(call: Call, keys: readonly string[]): Promise<void> {
  for (const key of keys) expect((await forms.media(call, key, key)).status).toBe(200);
}

/** 0 refuses a taken name, another generation a changed one, and neither has an effect. */
async function precondition(call: Call, form: keyof typeof forms): Promise<void> {
  const first = await forms[form](call, 'p', 'one', '&ifGenerationMatch=0');
  expect(first.status).toBe(200);
  expect((await forms[form](call, 'p', 'two', '&ifGenerationMatch=0')).status).toBe(412);
  expect((await forms[form](call, 'p', 'two', '&ifGenerationMatch=7')).status).toBe(412);
  expect((await call('GET', `${OBJECTS}/p?alt=media`)).text).toBe('one');
  const same = `&ifGenerationMatch=${first.json.generation}`;
  expect((await forms[form](call, 'p', 'three', same)).status).toBe(200);
  expect((await forms[form](call, 'absent', 'x', same)).status).toBe(412);
  expect((await forms[form](call, 'p', 'x', '&ifGenerationMatch=x')).status).toBe(400);
}

const checks: Readonly<Record<RuleName, (call: Call) => Promise<void>>> = {
  'media-precondition': (call) => precondition(call, 'media'),
  'multipart-precondition': (call) => precondition(call, 'multipart'),
  'resumable-precondition': async (call) => {
    await precondition(call, 'resumable');
    // Admitted when it starts, taken by another before it completes.
    const path = `${UPLOAD}?uploadType=resumable&name=late&ifGenerationMatch=0`;
    const start = await call('POST', path, '{}');
    await forms.media(call, 'late', 'other');
    const { pathname, search } = new URL(String(start.headers.location));
    expect((await call('PUT', pathname + search, 'mine')).status).toBe(412);
  },
  'multipart-precondition-atomic': async (call) => {
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        forms.multipart(call, 'race', `by ${i}`, '&ifGenerationMatch=0'),
      ),
    );
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
  },
  'match-generation': async (call) => {
    await forms.media(call, 'a', 'x');
    expect((await forms.media(call, 'a', 'y', '&ifGenerationMatch=7')).status).toBe(412);
  },
  'read-precondition': async (call) => {
    const generation = (await forms.media(call, 'a', 'x')).json.generation;
    for (const alt of ['json', 'media']) {
      const get = async (query: string): Promise<number> =>
        (await call('GET', `${OBJECTS}/a?alt=${alt}&${query}`)).status;
      expect(await get(`ifGenerationMatch=${generation}`)).toBe(200);
      expect(await get('ifGenerationMatch=7')).toBe(412);
      expect(await get(`ifGenerationNotMatch=${generation}`)).toBe(304);
      expect(await get('ifGenerationNotMatch=7')).toBe(200);
    }
  },
  'delete-precondition': async (call) => {
    const generation = (await forms.media(call, 'a', 'x')).json.generation;
    const remove = async (query: string): Promise<number> =>
      (await call('DELETE', `${OBJECTS}/a?${query}`)).status;
    expect(await remove('ifGenerationMatch=7')).toBe(412);
    expect(await remove(`ifGenerationNotMatch=${generation}`)).toBe(412);
    expect(await remove(`ifGenerationMatch=${generation}`)).toBe(204);
  },
  'read-after-write': async (call) => {
    await forms.media(call, 'a', 'x');
    expect((await call('GET', `${OBJECTS}/a?alt=media`)).text).toBe('x');
    await forms.media(call, 'a', 'y');
    expect((await call('GET', `${OBJECTS}/a?alt=media`)).text).toBe('y');
  },
  'read-after-delete': async (call) => {
    await forms.media(call, 'a', 'x');
    await call('DELETE', `${OBJECTS}/a`);
    const { status, json } = await call('GET', `${OBJECTS}/a`);
    expect(status).toBe(404);
    expect(json).toMatchObject({ error: { code: 404, errors: [{ reason: 'notFound' }] } });
  },
  'list-after-write': async (call) => {
    await forms.media(call, 'a', 'x');
    expect(await names(call, '')).toEqual(['a']);
  },
  'list-byte-order': async (call) => {
    await putAll(call, ['\u{1d400}', '\uff21', 'A']);
    expect(await names(call, '')).toEqual(['A', '\uff21', '\u{1d400}']);
  },
  'list-prefix': async (call) => {
    await putAll(call, ['a/1', 'ab', 'b']);
    expect(await names(call, 'prefix=a/')).toEqual(['a/1']);
  },
  'list-start-offset': async (call) => {
    await putAll(call, ['a', 'c', 'e']);
    expect(await names(call, 'startOffset=b')).toEqual(['c', 'e']);
  },
  'list-start-offset-inclusive': async (call) => {
    await putAll(call, ['a', 'c', 'e']);
    expect(await names(call, 'startOffset=c')).toEqual(['c', 'e']);
  },
  'list-end-offset': async (call) => {
    await putAll(call, ['a', 'c', 'e']);
    expect(await names(call, 'endOffset=e')).toEqual(['a', 'c']);
  },
  'list-max-results': async (call) => {
    await putAll(call, ['a', 'c', 'e']);
    expect(await names(call, 'maxResults=2')).toEqual(['a', 'c']);
  },
  'list-page-token': async (call) => {
    await putAll(call, ['a', 'c', 'e']);
    const token = (await call('GET', `${OBJECTS}?maxResults=2`)).json.nextPageToken;
    expect(token).toBeTypeOf('string');
    expect(await names(call, `maxResults=2&pageToken=${token}`)).toEqual(['e']);
    expect((await call('GET', `${OBJECTS}?maxResults=3`)).json.nextPageToken).toBeUndefined();
  },
  range: async (call) => {
    await forms.media(call, 'a', '0123456789');
    const get = (range: string): Promise<Raw> =>
      call('GET', `${OBJECTS}/a?alt=media`, '', { Range: range });
    const middle = await get('bytes=2-4');
    expect([middle.status, middle.text]).toEqual([206, '234']);
    expect(middle.headers['content-range']).toBe('bytes 2-4/10');
    expect((await get('bytes=8-99')).text).toBe('89');
    expect((await get('bytes=7-')).text).toBe('789');
    expect((await get('bytes=-2')).text).toBe('89');
  },
  'range-beyond-end': async (call) => {
    await forms.media(call, 'a', '0123456789');
    const answer = await call('GET', `${OBJECTS}/a?alt=media`, '', { Range: 'bytes=10-11' });
    expect(answer.status).toBe(416);
    expect(answer.headers['content-range']).toBe('bytes */10');
  },
  'upload-checksum': async (call) => {
    const good = crc32c(Buffer.from('x'));
    const md5 = 'nd3l60cDEFFlhVUQURt4Kw==';
    const wrong = 'AAAAAAAAAAAAAAAAAAAAAA==';
    expect((await forms.multipart(call, 'a', 'x', '', { crc32c: good })).status).toBe(200);
    const headers: readonly RawHeaders[] = [
      { 'Content-MD5': wrong },
      { 'x-goog-hash': `md5=${wrong}` },
      { 'x-goog-hash': 'crc32c=AAAAAA==' },
    ];
    for (const header of headers) {
      expect((await forms.media(call, 'b', 'x', '', header)).status).toBe(400);
    }
    for (const metadata of [{ crc32c: 'AAAAAA==' }, { md5Hash: wrong }, { md5Hash: md5 }]) {
      expect((await forms.multipart(call, 'b', 'x', '', metadata)).status).toBe(400);
    }
    expect((await call('GET', `${OBJECTS}/b`)).status).toBe(404);
  },
  'download-checksum': async (call) => {
    const stored = await forms.media(call, 'a', '123456789');
    const answer = await call('GET', `${OBJECTS}/a?alt=media`);
    // The check value of CRC-32C.
    expect(answer.headers['x-goog-hash']).toContain('crc32c=4waSgw==');
    expect(answer.headers['x-goog-hash']).toContain(`md5=${stored.json.md5Hash}`);
    expect(stored.json.crc32c).toBe('4waSgw==');
  },
  generation: async (call) => {
    const first = await forms.media(call, 'a', 'x');
    const second = await forms.media(call, 'a', 'x');
    await call('DELETE', `${OBJECTS}/a`);
    const third = await forms.media(call, 'a', 'x');
    const seen = [first, second, third].map(({ json }) => json.generation);
    expect(new Set(seen).size).toBe(3);
  },
  'generation-gone': async (call) => {
    const first = await forms.media(call, 'a', 'x');
    const path = `${OBJECTS}/a?generation=${first.json.generation}`;
    expect((await call('GET', path)).status).toBe(200);
    await forms.media(call, 'a', 'y');
    expect((await call('GET', path)).status).toBe(404);
  },
  'object-names': async (call) => {
    for (const name of ['..', '.', 'a\nb', 'a\rb', 'n'.repeat(1025)]) {
      expect((await forms.media(call, name, 'x')).status, name.slice(0, 9)).toBe(400);
    }
    expect((await forms.media(call, 'n'.repeat(1024), 'x')).status).toBe(200);
  },
  'delete-absent': async (call) => {
    expect((await call('DELETE', `${OBJECTS}/absent`)).status).toBe(404);
  },
  date: async (call) => {
    for (const path of [OBJECTS, `${OBJECTS}/absent`, '/nowhere']) {
      const { headers } = await call('GET', path);
      expect(Date.parse(String(headers.date)), path).toBeGreaterThan(0);
    }
  },
};

describe('each rule, by raw requests', () => {
  for (const name of ruleNames) {
    test(`${name}: ${rules[name].says}`, async () => {
      await checks[name](caller(await emulate()));
    });
    test(`${name} is not kept when ${rules[name].broken}`, async () => {
      const call = caller(await emulate({ broken: [name] }));
      await expect(checks[name](call)).rejects.toThrow(/expected/);
    });
  }
});

describe('each broken rule that the driver depends on fails the bucket contract', () => {
  for (const name of ruleNames) {
    const { caughtBy } = rules[name];
    if (typeof caughtBy !== 'string') continue;
    test(`${caughtBy} fails when ${rules[name].broken}`, async () => {
      await expect(runCase(caughtBy, name)).rejects.toThrow();
      await runCase(caughtBy, undefined);
    });
  }
});

/** Runs one case of the contract by name on the driver, with a rule broken or none. */
async function runCase(title: string, broken: RuleName | undefined): Promise<void> {
  const cases = new Map<string, () => Promise<void>>();
  blobContract({
    test: (name, run) => cases.set(name, run),
    factory: async () => {
      const emulator = await emulate(broken === undefined ? {} : { broken: [broken] });
      return { store: openGcs(emulator) };
    },
  });
  const run = cases.get(title);
  // Not a failure of the case, so it must not look like one.
  if (run === undefined) return expect.unreachable(`the contract has no case ${title}`);
  await run();
}

describe('modes', () => {
  test('the soft limit refuses a second mutation of a name within a second', async () => {
    let now = 1_700_000_000_000;
    const call = caller(await emulate({ softLimit: true, now: () => now }));
    expect((await forms.media(call, 'a', 'x')).status).toBe(200);
    const refused = await forms.media(call, 'a', 'y', '&ifGenerationMatch=0');
    expect(refused.status).toBe(429);
    expect(refused.json).toMatchObject({ error: { errors: [{ reason: 'rateLimitExceeded' }] } });
    expect((await call('DELETE', `${OBJECTS}/a`)).status).toBe(429);
    expect((await forms.media(call, 'b', 'x')).status).toBe(200);
    expect((await call('GET', `${OBJECTS}/a?alt=media`)).text).toBe('x');
    now += 1000;
    expect((await call('DELETE', `${OBJECTS}/a`)).status).toBe(204);
  });

  test('a token is asked for, permissions and the bucket are looked at', async () => {
    const call = caller(await emulate({ token: 't', denied: ['create'] }));
    const bearer = { Authorization: 'Bearer t' };
    expect((await call('GET', OBJECTS)).status).toBe(401);
    expect((await call('GET', OBJECTS, '', { Authorization: 'Bearer x' })).status).toBe(401);
    expect((await call('GET', OBJECTS, '', bearer)).status).toBe(200);
    expect((await forms.media(call, 'a', 'x', '', bearer)).status).toBe(403);
    expect((await call('GET', '/storage/v1/b/other/o', '', bearer)).status).toBe(404);
    expect((await call('GET', '/storage/v1/b/other/o/a', '', bearer)).status).toBe(404);
  });

  test('what no client should send is 400', async () => {
    const call = caller(await emulate());
    expect((await call('POST', `${UPLOAD}?uploadType=other&name=a`, 'x')).status).toBe(400);
    expect((await call('POST', `${UPLOAD}?uploadType=media`, 'x')).status).toBe(400);
    expect((await call('POST', `${UPLOAD}?uploadType=multipart&name=a`, 'x')).status).toBe(400);
    expect((await call('GET', `${OBJECTS}?maxResults=0`)).status).toBe(400);
  });
});

describe('the real client', () => {
  test('uploads in both of its forms, lists, downloads and deletes', async () => {
    const { endpoint } = await emulate();
    const retryOptions = { autoRetry: false };
    const bucket = new Storage({ apiEndpoint: endpoint, projectId: 'x', retryOptions }).bucket(
      BUCKET,
    );
    for (const resumable of [false, true]) {
      const file = bucket.file(`form/${resumable}`);
      const options = { resumable, preconditionOpts: { ifGenerationMatch: 0 } };
      await file.save('first', options);
      // A number in one form, a `status` in the other.
      await expect(file.save('second', options)).rejects.toMatchObject(
        resumable ? { status: 412 } : { code: 412 },
      );
      const [bytes] = await file.download({ validation: 'crc32c' });
      expect(bytes.toString()).toBe('first');
    }
    const [files] = await bucket.getFiles({ prefix: 'form/' });
    expect(files.map(({ name }) => name)).toEqual(['form/false', 'form/true']);
    await bucket.file('form/true').delete();
    expect(await bucket.file('form/true').exists()).toEqual([false]);
    const [part] = await bucket.file('form/false').download({ start: 1, end: 2 });
    expect(part.toString()).toBe('ir');
  });
});
