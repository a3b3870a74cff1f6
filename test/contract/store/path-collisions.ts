/** PathCollisions: a document is never above or below another, archived ones included. */
import assert from 'node:assert/strict';
import { create, inView, namesIn, refused, type StoreCase } from './store-case.ts';

export const pathCollisions: StoreCase = async ({ open }) => {
  const store = await open();
  const other = await open();
  await create(store, '/a.md', 'x');
  await create(store, '/dir/b.md', 'x');
  const write = (path: string) => other.publish({ path, expected: 'any', body: 'x' });
  await refused(write('/a.md/under.md'), 'PATH_COLLISION');
  await refused(write('/a.md/far/under.md'), 'PATH_COLLISION');
  await refused(write('/dir'), 'PATH_COLLISION');
  for (const path of ['/a.md/under.md', '/a.md/far', '/dir']) {
    await refused(
      inView(store, (view) => view.get(path)),
      'NOT_FOUND',
    );
  }
  assert.deepEqual(await namesIn(store, '/'), ['a.md', 'dir/'], 'nothing is left behind');
  await store.setArchived({ path: '/a.md', archived: true });
  await refused(write('/a.md/under.md'), 'PATH_COLLISION');
  assert.equal((await store.stat()).documents, 2);
  for (const path of ['/', '/x/../y.md', '', '/nul\u0000.md', `/${'x'.repeat(5000)}`]) {
    await refused(write(path), 'INVALID_PATH');
    await refused(other.append({ path, expected: 1, content: 'x' }), 'INVALID_PATH');
    await refused(other.setArchived({ path, archived: true }), 'INVALID_PATH');
  }
};
