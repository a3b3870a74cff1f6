/** ClosedView: every read after `close` is refused; closing twice is nothing. */
import assert from 'node:assert/strict';
import { create, refused, type StoreCase } from './store-case.ts';

export const closedView: StoreCase = async ({ open }) => {
  const store = await open();
  const { document } = await create(store, '/v.md', 'one');
  for (const readFirst of [true, false]) {
    const view = store.view();
    if (readFirst) assert.equal((await view.get('/v.md')).version, 1);
    await view.close();
    await view.close();
    const reads: readonly (() => Promise<unknown>)[] = [
      () => view.get('/v.md'),
      () => view.stat('/v.md'),
      () => view.listEntries('/'),
      () => view.isDir('/'),
      () => view.versions('/v.md'),
      () => view.lookupHash(document.bodyHash),
      () => view.verifyChain('/v.md'),
    ];
    for (const read of reads) await refused(read(), 'VIEW_CLOSED');
  }
  const fresh = store.view();
  assert.equal((await fresh.get('/v.md')).version, 1, 'another view is not concerned');
  await fresh.close();
};
