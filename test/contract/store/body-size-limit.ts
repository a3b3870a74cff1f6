/** BodySizeLimit: 1 MiB is taken, one byte more is not, nor an append that would pass it. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase } from './store-case.ts';

const LIMIT = 1_048_576;

export const bodySizeLimit: StoreCase = async ({ open }) => {
  const store = await open();
  await create(store, '/full.md', 'x'.repeat(LIMIT));
  const over = 'x'.repeat(LIMIT + 1);
  await refused(store.publish({ path: '/over.md', expected: 'any', body: over }), 'SIZE_LIMIT');
  // Bytes count, not characters.
  const wide = 'ü'.repeat(LIMIT / 2 + 1);
  await refused(store.publish({ path: '/over.md', expected: 'any', body: wide }), 'SIZE_LIMIT');
  await refused(store.append({ path: '/full.md', expected: 1, content: 'x' }), 'SIZE_LIMIT');
  await refused(
    inView(store, (view) => view.get('/over.md')),
    'NOT_FOUND',
  );
  const read = await inView(store, (view) => view.get('/full.md'));
  assert.equal(read.version, 1);
  assert.equal(read.body.length, LIMIT);
  await create(store, '/near.md', 'x'.repeat(LIMIT - 2));
  const near = await store.append({ path: '/near.md', expected: 1, content: 'y' });
  assert.equal(near.document.body.length, LIMIT, 'the newline between counts');
};
