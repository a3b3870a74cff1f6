/** Precondition: runs at the tip, after the store's own checks, and its error is the answer. */
import assert from 'node:assert/strict';
import type { StateReader } from '../../../bucketstore/index.ts';
import { conflicts, create, inView, refused, type StoreCase, textOf } from './store-case.ts';

export const precondition: StoreCase = async ({ open }) => {
  const store = await open();
  const path = '/p.md';
  await create(store, path, 'one', { tags: 'x' });
  let runs = 0;
  const count = (): void => {
    runs++;
  };
  const write = { path, body: 'two', precondition: count };
  await conflicts(store.publish({ ...write, expected: 9 }), 1);
  await store.publish({ ...write, expected: 1, body: 'one', metadata: { tags: 'x' } });
  await create(store, '/gone.md', 'gone');
  await store.setArchived({ path: '/gone.md', archived: true });
  await refused(store.publish({ ...write, path: '/gone.md', expected: 1 }), 'ARCHIVED');
  assert.equal(runs, 0, 'not after a conflict, a no-op or an archived document');
  const no = new RangeError('not today');
  const refuse = (): void => {
    throw no;
  };
  const refusal = store.publish({ path, expected: 1, body: 'two', precondition: refuse });
  await assert.rejects(refusal, (error) => error === no);
  assert.equal((await inView(store, (view) => view.get(path))).version, 1, 'nothing was stored');
  let shown = '';
  const { document } = await store.append({
    path,
    expected: 1,
    content: 'two',
    metadata: { title: 'T' },
    precondition: async (state: StateReader, prepared) => {
      const before = await state.get(path);
      const names = await state.listEntries('/');
      assert.equal(before.version, 1, 'the state before the write');
      assert.equal(names.length, 1);
      assert.deepEqual({ ...prepared.metadata }, { tags: 'x', title: 'T', type: 'Document' });
      assert.equal(prepared.path, path);
      shown = textOf(prepared.body);
    },
  });
  assert.equal(shown, 'one\ntwo', 'the append is merged before it is judged');
  assert.equal(document.version, 2);
};
