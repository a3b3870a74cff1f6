/** SharedBodyHash: of several documents with one body the smallest live path is found. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase, update } from './store-case.ts';

export const sharedBodyHash: StoreCase = async ({ open }) => {
  const store = await open();
  const { bodyHash } = (await create(store, '/m.md', 'shared')).document;
  const found = () => inView(store, (view) => view.lookupHash(bodyHash));
  await create(store, '/z.md', 'shared', { title: 'other metadata' });
  await create(store, '/a/b.md', 'shared');
  await create(store, '/B.md', 'shared');
  assert.equal(await found(), '/B.md', 'smallest by bytes');
  await store.setArchived({ path: '/B.md', archived: true });
  assert.equal(await found(), '/a/b.md', 'archiving one drops no other');
  await update(store, '/a/b.md', 1, 'not shared any more');
  assert.equal(await found(), '/m.md', 'updating one drops no other');
  await store.setArchived({ path: '/m.md', archived: true });
  assert.equal(await found(), '/z.md');
  await update(store, '/z.md', 1, 'gone');
  await refused(found(), 'NOT_FOUND');
  await store.setArchived({ path: '/B.md', archived: false });
  assert.equal(await found(), '/B.md');
};
