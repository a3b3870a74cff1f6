/** The cases of the bucket contract about reading bytes back, and about calls that do nothing. */
import assert from 'node:assert/strict';
import {
  assertBytes,
  assertRejects,
  attributesOf,
  type BlobCaseContext,
  bytesOf,
  listKeys,
  mustCreate,
  patternOf,
  readBytes,
} from './blob-case.ts';

const MIB = 1024 * 1024;

/** What is written is read, with attributes on which every call agrees. */
export async function roundTrips({ store }: BlobCaseContext): Promise<void> {
  assert.ok(store.name.length > 0);
  for (const [i, length] of [1, 2, 1000, 65_536, 100_001].entries()) {
    const key = `round/${i}/trip`;
    const bytes = patternOf(length, i);
    const created = await mustCreate(store, key, bytes);
    const read = await store.get(key);
    assert.ok(read.found);
    assertBytes(read.bytes, bytes, key);
    assert.equal(read.attributes.key, key);
    assert.equal(read.attributes.size, length);
    assert.ok(read.attributes.generation.length > 0);
    assert.ok(Number.isFinite(read.attributes.modifiedMs));
    assert.deepEqual(await attributesOf(store, key), read.attributes);
    const { objects } = await store.list({ prefix: key, limit: 1 });
    assert.deepEqual(objects, [read.attributes]);
    if (created.outcome === 'created' && created.attributes !== undefined) {
      assert.equal(created.attributes.generation, read.attributes.generation);
      assert.equal(created.attributes.size, length);
    }
  }
}

/** Neither the writer's buffer nor a reader's is the store's own, a `Buffer` included. */
export async function aliasing({ store }: BlobCaseContext): Promise<void> {
  for (const [i, bytes] of [bytesOf('as written'), Buffer.from('as written')].entries()) {
    const key = `alias/${i}`;
    const pending = store.create(key, bytes);
    assert.equal((await pending).outcome, 'created');
    bytes.fill(0);
    const first = await readBytes(store, key);
    assertBytes(first, bytesOf('as written'), key);
    first.fill(1);
    const second = await store.get(key, { range: [0, 4] });
    assert.ok(second.found);
    assertBytes(second.bytes, bytesOf('as w'), key);
    second.bytes.fill(2);
    assertBytes(await readBytes(store, key), bytesOf('as written'), key);
  }
}

/** A range is clipped to the object; one at or beyond its end reads nothing. */
export async function rangeReads({ store }: BlobCaseContext): Promise<void> {
  const bytes = patternOf(1000, 7);
  await mustCreate(store, 'ranged', bytes);
  await mustCreate(store, 'empty', new Uint8Array(0));
  const ranges = [
    [0, 1000],
    [0, 1],
    [999, 1000],
    [10, 500],
    [990, 2000],
    [0, Number.MAX_SAFE_INTEGER],
    [1000, 1001],
    [5000, 6000],
    [0, 0],
    [400, 400],
  ] as const;
  for (const range of ranges) {
    const read = await store.get('ranged', { range });
    assert.ok(read.found, `range ${range}`);
    assertBytes(read.bytes, bytes.subarray(...range), `range ${range}`);
    assert.equal(read.attributes.size, 1000, `size with range ${range}`);
    assert.deepEqual(read.attributes, await attributesOf(store, 'ranged'));
  }
  const read = await store.get('empty', { range: [0, 10] });
  assert.ok(read.found);
  assert.equal(read.bytes.length, 0);
  assert.equal((await store.get('absent', { range: [0, 10] })).found, false);
}

/** An object without bytes is an object. */
export async function emptyObject({ store }: BlobCaseContext): Promise<void> {
  await mustCreate(store, 'nothing', new Uint8Array(0));
  assert.equal((await readBytes(store, 'nothing')).length, 0);
  assert.equal((await attributesOf(store, 'nothing')).size, 0);
  assert.equal((await store.create('nothing', bytesOf('x'))).outcome, 'exists');
  assert.deepEqual(await listKeys(store, { prefix: '', limit: 10 }), ['nothing']);
}

/** The largest object that is read whole, and a range across it. */
export async function eightMib({ store }: BlobCaseContext): Promise<void> {
  const bytes = patternOf(8 * MIB, 8);
  await mustCreate(store, 'large', bytes);
  assertBytes(await readBytes(store, 'large'), bytes, 'large');
  const read = await store.get('large', { range: [3 * MIB - 1, 5 * MIB + 1] });
  assert.ok(read.found);
  assertBytes(read.bytes, bytes.subarray(3 * MIB - 1, 5 * MIB + 1), 'range of large');
}

/** A call that is no call is refused as `invalid` before it does anything. */
export async function validation({ store, supports }: BlobCaseContext): Promise<void> {
  const bytes = bytesOf('x');
  const badTexts = ['a'.repeat(1025), 'é'.repeat(513), 'a\nb', '\u0000', 'a\u007f', '\ud800'];
  for (const key of ['', '.', '..', ...badTexts]) {
    const what = `key ${JSON.stringify(key).slice(0, 20)}`;
    await assertRejects(() => store.create(key, bytes), 'invalid', `create ${what}`);
    await assertRejects(() => store.get(key), 'invalid', `get ${what}`);
    await assertRejects(() => store.head(key), 'invalid', `head ${what}`);
    await assertRejects(() => store.delete(key), 'invalid', `delete ${what}`);
    if (supports.replace) {
      await assertRejects(() => store.replace(key, '1', bytes), 'invalid', `replace ${what}`);
    }
  }
  for (const text of badTexts) {
    await assertRejects(() => store.list({ prefix: text, limit: 1 }), 'invalid', 'list prefix');
    const query = { prefix: '', after: text, limit: 1 };
    await assertRejects(() => store.list(query), 'invalid', 'list after');
  }
  for (const limit of [0, -1, 1001, 1.5, Number.NaN]) {
    await assertRejects(() => store.list({ prefix: '', limit }), 'invalid', `limit ${limit}`);
  }
  for (const range of [
    [-1, 2],
    [2, 1],
    [0.5, 1],
    [0, Number.NaN],
  ] as const) {
    await assertRejects(() => store.get('a', { range }), 'invalid', `range ${range}`);
  }
  if (supports.replace) {
    await assertRejects(() => store.replace('a', '', bytes), 'invalid', 'empty generation');
  }
  for (const prefix of ['.', '..']) {
    assert.deepEqual(await listKeys(store, { prefix, limit: 1000 }), []);
    await mustCreate(store, `${prefix}dotted`, bytes);
  }
  assert.deepEqual(await listKeys(store, { prefix: '..', limit: 10 }), ['..dotted']);
  assert.deepEqual(await listKeys(store, { prefix: '.', limit: 10 }), ['..dotted', '.dotted']);
}

/**
 * A call with a signal that has aborted rejects as `aborted`, with its reason, and has no effect.
 */
export async function canceledContext({ store, supports }: BlobCaseContext): Promise<void> {
  await mustCreate(store, 'kept', bytesOf('kept'));
  const { generation } = await attributesOf(store, 'kept');
  const reason = new Error('called off');
  const options = { signal: AbortSignal.abort(reason) };
  const calls = {
    create: () => store.create('new', bytesOf('x'), options),
    get: () => store.get('kept', options),
    head: () => store.head('kept', options),
    list: () => store.list({ prefix: '', limit: 1 }, options),
    delete: () => store.delete('kept', options),
    ...(supports.replace && {
      replace: () => store.replace('kept', generation, bytesOf('x'), options),
    }),
  };
  for (const [name, call] of Object.entries(calls)) {
    await assertRejects(call, 'aborted', name);
    await call().catch((error: Error) => assert.equal(error.cause, reason, `cause of ${name}`));
  }
  assert.equal((await store.get('new')).found, false);
  assertBytes(await readBytes(store, 'kept'), bytesOf('kept'), 'kept');
  assert.equal((await attributesOf(store, 'kept')).generation, generation);
}

/** Answers that found or changed nothing are plain values without anything else in them. */
export async function zeroResults({ store, supports }: BlobCaseContext): Promise<void> {
  const only = (result: object, expected: object): void => {
    assert.deepEqual({ ...result, date: 0 }, { ...expected, date: 0 });
  };
  only(await store.get('absent'), { found: false });
  only(await store.get('absent', { range: [0, 1] }), { found: false });
  only(await store.head('absent'), { found: false });
  only(await store.list({ prefix: 'absent/', limit: 5 }), { objects: [], more: false });
  only(await store.delete('absent'), {});
  await mustCreate(store, 'taken', bytesOf('x'));
  only(await store.create('taken', bytesOf('y')), { outcome: 'exists' });
  only(await store.delete('taken'), {});
  if (!supports.replace) return;
  await mustCreate(store, 'other', bytesOf('z'));
  const { generation } = await attributesOf(store, 'other');
  await store.delete('other');
  only(await store.replace('other', generation, bytesOf('y')), { outcome: 'changed' });
}
