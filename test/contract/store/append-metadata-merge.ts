/** AppendMetadataMerge: an append inherits, overrides, and is checked again as a whole. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase, update } from './store-case.ts';

export const appendMetadataMerge: StoreCase = async ({ open }) => {
  const store = await open();
  const path = '/m.md';
  await create(store, path, 'v1', { type: 'Note' });
  await update(store, path, 1, 'one', { type: 'Note', title: 'Old', tags: 'a, b', retention: '5' });
  const merged = await store.append({
    path,
    expected: 2,
    content: 'two',
    metadata: { title: 'New', zone: 'eu' },
  });
  assert.deepEqual(
    { ...merged.document.metadata },
    { type: 'Note', title: 'New', tags: 'a,b', zone: 'eu' },
    'inherited, overridden, retention left behind, type kept',
  );
  await create(store, '/plain.md', 'one');
  const plain = await store.append({ path: '/plain.md', expected: 1, content: 'two' });
  assert.deepEqual({ ...plain.document.metadata }, { type: 'Document' }, 'untagged stays untagged');
  await create(store, '/d/index.md', 'one');
  const index = await store.append({ path: '/d/index.md', expected: 1, content: 'two' });
  assert.equal(index.document.metadata, null, 'an index needs no type');
  const big = 'x'.repeat(600);
  await create(store, '/big.md', 'one', { a: big });
  const append = store.append({
    path: '/big.md',
    expected: 1,
    content: 'two',
    metadata: { b: big },
  });
  await refused(append, 'INVALID_META');
  const base = await inView(store, (view) => view.get('/big.md'));
  assert.equal(base.version, 1);
  assert.deepEqual({ ...base.metadata }, { a: big }, 'the base version is untouched');
};
