/** AppendSemantics: content is joined by one newline; stale and missing are told apart. */
import assert from 'node:assert/strict';
import { conflicts, create, inView, refused, type StoreCase, textOf } from './store-case.ts';

export const appendSemantics: StoreCase = async ({ open }) => {
  const store = await open();
  await create(store, '/log.md', 'one');
  const append = (expected: number, content: string) =>
    store.append({ path: '/log.md', expected, content });
  assert.equal(textOf((await append(1, 'two\n')).document.body), 'one\ntwo\n');
  const third = await append(2, 'three');
  assert.equal(textOf(third.document.body), 'one\ntwo\nthree', 'no second newline');
  assert.equal(third.document.version, 3);
  const read = await inView(store, (view) => view.get('/log.md'));
  assert.equal(textOf(read.body), 'one\ntwo\nthree', 'body only');
  await conflicts(append(2, 'stale'), 3);
  await refused(store.append({ path: '/none.md', expected: 1, content: 'x' }), 'NOT_FOUND');
  await refused(append(3, ''), 'INVALID_CONTENT');
  await create(store, '/empty.md', '');
  const { document } = await store.append({ path: '/empty.md', expected: 1, content: 'first' });
  assert.equal(textOf(document.body), 'first', 'nothing in front of the first line');
  await inView(store, (view) => view.verifyChain('/log.md'));
};
