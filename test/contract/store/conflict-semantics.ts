/**
 * ConflictSemantics: a wrong expectation conflicts and names the current version; a blind write
 * lands.
 */
import assert from 'node:assert/strict';
import { conflicts, create, inView, type StoreCase, textOf, update } from './store-case.ts';

export const conflictSemantics: StoreCase = async ({ open }) => {
  const store = await open();
  const other = await open();
  const { document } = await create(store, '/c.md', 'one');
  await update(store, '/c.md', 1, 'two');
  const write = (expected: Parameters<typeof store.publish>[0]['expected'], body = 'x') =>
    other.publish({ path: '/c.md', expected, body });
  await conflicts(write('absent'), 2);
  await conflicts(write(0), 2);
  await conflicts(write(1), 2);
  await conflicts(write(3), 2);
  await conflicts(write({ etag: document.etag }), 2);
  await conflicts(other.publish({ path: '/none.md', expected: 1, body: 'x' }), 0);
  await conflicts(
    other.publish({ path: '/none.md', expected: { etag: document.etag }, body: 'x' }),
    0,
  );
  // A conflict wins over "not modified".
  await conflicts(write(1, 'two'), 2);
  const blind = await write('any', 'three');
  assert.equal(blind.document.version, 3, 'a blind write lands on top');
  const { etag } = blind.document;
  const byEtag = await store.publish({ path: '/c.md', expected: { etag }, body: 'four' });
  assert.equal(byEtag.document.version, 4);
  const fresh = await other.publish({ path: '/blind.md', expected: 'any', body: 'new' });
  assert.equal(fresh.document.version, 1, 'a blind write may be the first');
  const read = await inView(store, (view) => view.get('/c.md'));
  assert.equal(textOf(read.body), 'four', 'refused writes left nothing');
};
