/** NotModifiedDedup: writing what is there commits nothing; other metadata is a new version. */
import assert from 'node:assert/strict';
import { create, inView, type StoreCase, textOf } from './store-case.ts';

export const notModifiedDedup: StoreCase = async ({ open }) => {
  const store = await open();
  const write = (version: number, metadata: Readonly<Record<string, string>> | null) =>
    store.publish({ path: '/same.md', expected: version, body: 'same', metadata });
  const first = await create(store, '/same.md', 'same', { tags: ' alpha,beta ', title: 'T' });
  const before = await store.stat();
  const repeated = await write(1, { title: 'T', tags: 'alpha, beta' });
  assert.equal(repeated.committed, false, 'tags that read the same are the same');
  assert.equal(repeated.sequence, null);
  assert.equal(repeated.document.etag, first.document.etag);
  assert.equal(repeated.document.version, 1);
  assert.equal(textOf(repeated.document.body), 'same', 'the answer carries the document');
  assert.equal((await store.stat()).sequence, before.sequence, 'no sequence is used');
  const changed = await write(1, { title: 'U', tags: 'alpha,beta' });
  assert.equal(changed.document.version, 2, 'changed metadata is a version');
  const dropped = await write(2, null);
  assert.equal(dropped.document.version, 3, 'so is dropped metadata');
  const etags = [first, changed, dropped].map(({ document }) => document.etag);
  assert.equal(new Set(etags).size, 3);
  assert.equal(
    (await write(3, {})).committed,
    false,
    'no metadata and empty metadata are the same',
  );
  const blind = await store.publish({ path: '/same.md', expected: 'any', body: 'same' });
  assert.equal(blind.committed, false);
  const versions = await inView(store, (view) => view.versions('/same.md'));
  assert.equal(versions.length, 3);
};
