/** IsDirSemantics: root and directories are, documents are not, the rest is not found. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase } from './store-case.ts';

export const isDirSemantics: StoreCase = async ({ open }) => {
  const store = await open();
  const isDir = (path: string) => inView(store, (view) => view.isDir(path));
  assert.equal(await isDir('/'), true, 'the root of an empty world');
  await create(store, '/d/e/f.md', 'x');
  await create(store, '/h/.hidden.md', 'x');
  for (const path of ['/', '/d', '/d/', '//d/./e', '/h'])
    assert.equal(await isDir(path), true, path);
  assert.equal(await isDir('/d/e/f.md'), false);
  await store.setArchived({ path: '/d/e/f.md', archived: true });
  assert.equal(await isDir('/d/e'), true, 'archived documents keep their directory');
  assert.equal(await isDir('/d/e/f.md'), false);
  for (const path of ['/x', '/d/e/f', '/d/e/f.md/v1', '/d/../d', '/nul\u0000']) {
    await refused(isDir(path), 'NOT_FOUND');
  }
};
