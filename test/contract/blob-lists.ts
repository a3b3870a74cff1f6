/**
 * The cases of the bucket contract about listing: byte order, exact prefixes, exclusive offsets,
 * pages.
 */
import assert from 'node:assert/strict';
import {
  assertBytes,
  attributesOf,
  type BlobCaseContext,
  bytesOf,
  eachOf,
  listKeys,
  listPages,
  mustCreate,
  readBytes,
  sortKeys,
} from './blob-case.ts';

const WIDTH = 16;

/** Sorted, prefix-exact, with current attributes; `after` is exclusive; pages join without seam. */
export async function list({ store, supports }: BlobCaseContext): Promise<void> {
  const keys = ['a', 'a-b', 'a.b', 'ab', 'b/1', 'b/10', 'b/2', 'b/c/d', 'b/c/e', 'bb', 'c'];
  for (const key of keys.toReversed()) await mustCreate(store, key, bytesOf(`at ${key}`));
  const all = await store.list({ prefix: '', limit: 1000 });
  assert.equal(all.more, false);
  assert.deepEqual(
    all.objects.map(({ key }) => key),
    sortKeys(keys),
  );
  for (const attributes of all.objects) {
    assert.equal(attributes.size, bytesOf(`at ${attributes.key}`).length);
    assert.deepEqual(attributes, await attributesOf(store, attributes.key));
  }
  const prefixes = ['a', 'a.', 'b', 'b/', 'b/1', 'b/c', 'b/c/', 'b/c/e', 'b/c/e/', 'B', 'c', 'd'];
  for (const prefix of prefixes) {
    const expected = sortKeys(keys.filter((key) => key.startsWith(prefix)));
    for (const limit of [1, 2, 3, 1000]) {
      assert.deepEqual(await listKeys(store, { prefix, limit }), expected, `${prefix} ${limit}`);
    }
  }
  for (const after of keys) {
    const expected = sortKeys(keys).slice(sortKeys(keys).indexOf(after) + 1);
    assert.deepEqual(await listKeys(store, { prefix: '', after, limit: 4 }), expected, after);
  }
  const exact = await store.list({ prefix: 'b/c/', limit: 2 });
  assert.deepEqual(
    exact.objects.map(({ key }) => key),
    ['b/c/d', 'b/c/e'],
  );
  const short = await store.list({ prefix: 'b/c/', limit: 1 });
  assert.equal(short.more, true, 'a page that leaves keys out says so');

  await store.delete('b/10');
  await mustCreate(store, 'b/11', bytesOf('late'));
  if (supports.replace) {
    const { generation } = await attributesOf(store, 'b/2');
    await store.replace('b/2', generation, bytesOf('now longer'));
  }
  const now = await store.list({ prefix: 'b/', limit: 1000 });
  assert.deepEqual(
    now.objects.map(({ key }) => key),
    ['b/1', 'b/11', 'b/2', 'b/c/d', 'b/c/e'],
  );
  for (const attributes of now.objects) {
    assert.deepEqual(attributes, await attributesOf(store, attributes.key));
  }
}

/**
 * More keys than a page holds, in an order that UTF-16 gets wrong, through pages of several sizes.
 */
export async function byteOrderOver1000Keys({ store }: BlobCaseContext): Promise<void> {
  // U+FF21 is ef bc a1 and U+1D400 is f0 9d 90 80: the other way round than their UTF-16 units.
  const letters = ['0', 'A', '~', '\u00e9', '\u0915', '\uac00', '\uff21', '\u{1d400}', '\u{1f600}'];
  const keys: string[] = [];
  for (const first of letters) {
    for (const second of letters) {
      for (let i = 0; i < 14; i++) keys.push(`order/${first}${second}${i}`);
    }
  }
  assert.ok(keys.length > 1000, `${keys.length} keys`);
  // Written in an order that is neither ascending nor descending.
  const shuffled = keys.map((_, i) => keys[(i * 557) % keys.length] ?? '');
  assert.equal(new Set(shuffled).size, keys.length);
  await eachOf(shuffled, WIDTH, (key) => mustCreate(store, key, bytesOf(key)));
  const expected = sortKeys(keys);
  for (const limit of [1000, 999, 250, 97]) {
    assert.deepEqual(await listKeys(store, { prefix: 'order/', limit }), expected, `by ${limit}`);
  }
  const first = await store.list({ prefix: '', limit: 1000 });
  assert.equal(first.more, true);
  const found = await listPages(store, { prefix: 'order/\uff21', limit: 50 });
  const narrow = expected.filter((key) => key.startsWith('order/\uff21'));
  assert.deepEqual(
    found.map(({ key }) => key),
    narrow,
  );
  const after = 'order/\uff21';
  const rest = expected.filter((key) => Buffer.compare(bytesOf(key), bytesOf(after)) > 0);
  assert.deepEqual(await listKeys(store, { prefix: '', after, limit: 1000 }), rest);
}

/** `after` need not name an object, nor lie within the prefix. */
export async function offsetThatNamesNoKey({ store }: BlobCaseContext): Promise<void> {
  const keys = ['m/02', 'm/04', 'm/06/a', 'm/06/c', 'm/08', 'z'];
  for (const key of keys) await mustCreate(store, key, bytesOf(key));
  const offsets = [
    '!',
    'm',
    'm/',
    'm/0',
    'm/01',
    'm/03',
    'm/05',
    'm/06',
    'm/06.',
    'm/06/',
    'm/06/b',
    'm/06/d',
    'm/060',
    'm/07',
    'm/09',
    'm0',
    'n',
    'zz',
    '~',
  ];
  for (const prefix of ['m/', 'm/0', 'm/06', 'm/06/', '']) {
    for (const after of offsets) {
      const expected = keys.filter(
        (key) => key.startsWith(prefix) && Buffer.compare(bytesOf(key), bytesOf(after)) > 0,
      );
      for (const limit of [1, 1000]) {
        const found = await listKeys(store, { prefix, after, limit });
        assert.deepEqual(found, expected, `prefix ${prefix} after ${after} by ${limit}`);
      }
    }
  }
}

const ODD_KEYS: readonly string[] = [
  'caf\u00e9',
  'cafe\u0301',
  '\u1e9b\u0323',
  'Case',
  'case',
  '100%',
  '%41',
  '%2F',
  'a%2Fb',
  '%',
  '%25',
  'a+b',
  'a b',
  ' lead',
  'trail ',
  '#hash',
  'a#b',
  '?query',
  'a?b=c&d',
  'back\\slash',
  '"quote"',
  "it's",
  '<tag>',
  '*',
  '~',
  ':',
  'a:b',
  '|',
  '...',
  '.hidden',
  'dot.',
  'x/./y',
  'x/../y',
  '../up',
  './here',
  '\u{1f600}/\u{1d400}',
  '\u0627\u0644\u0639',
  'con',
  `${'s'.repeat(300)}/${'t'.repeat(300)}`,
  `${'\u00e9'.repeat(150)}`,
  '\u{1d400}'.repeat(200),
];

const EMPTY_SEGMENTS: readonly string[] = ['e//f', 'e///f', '/lead', 'end/'];

/**
 * Keys that a path, a URL or a normaliser would change are kept as they are, each its own object.
 */
export async function oddKeys({ store, supports }: BlobCaseContext): Promise<void> {
  const long = 'l'.repeat(supports.keyBytes);
  const keys = [...ODD_KEYS, long, ...(supports.emptySegments ? EMPTY_SEGMENTS : [])];
  for (const key of keys) await mustCreate(store, key, bytesOf(`at ${key}`));
  for (const key of keys) {
    assertBytes(await readBytes(store, key), bytesOf(`at ${key}`), JSON.stringify(key));
    assert.equal((await attributesOf(store, key)).key, key);
    assert.equal((await store.create(key, bytesOf('other'))).outcome, 'exists');
  }
  for (const limit of [1000, 7]) {
    assert.deepEqual(await listKeys(store, { prefix: '', limit }), sortKeys(keys));
  }
  for (const prefix of ['%', 'a', 'x/.', 'x/..', '../', 's', 'caf', 'e/', 'l'.repeat(500)]) {
    const expected = sortKeys(keys.filter((key) => key.startsWith(prefix)));
    assert.deepEqual(await listKeys(store, { prefix, limit: 3 }), expected, `prefix ${prefix}`);
  }
  for (const key of keys) await store.delete(key);
  assert.deepEqual(await listKeys(store, { prefix: '', limit: 1000 }), []);
}
