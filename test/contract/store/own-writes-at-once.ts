/** OwnWritesAtOnce: a store sees its own writes in every class of read, without waiting. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase, update } from './store-case.ts';

export const ownWritesAtOnce: StoreCase = async ({ open }) => {
  const store = await open();
  for (let round = 1; round <= 3; round++) {
    const path = `/own/${round}.md`;
    const { bodyHash } = (await create(store, path, `body ${round}`)).document;
    const names = await inView(store, (view) => view.listEntries('/own'));
    assert.equal(names.length, round, 'listed');
    assert.equal(await inView(store, (view) => view.lookupHash(bodyHash)), path);
    assert.equal((await inView(store, (view) => view.get(path))).version, 1);
  }
  const { bodyHash } = (await update(store, '/own/1.md', 1, 'other')).document;
  assert.equal(await inView(store, (view) => view.lookupHash(bodyHash)), '/own/1.md');
  await store.setArchived({ path: '/own/1.md', archived: true });
  assert.equal((await inView(store, (view) => view.listEntries('/own'))).length, 2);
  await refused(
    inView(store, (view) => view.lookupHash(bodyHash)),
    'NOT_FOUND',
  );
};

/** The part that needs catalog lookup. */
export const ownLookupsAtOnce: StoreCase = async ({ open }) => {
  const store = await open();
  await create(store, '/own.md', '# Astrolabe\n');
  const found = await inView(store, (view) => view.lookup?.('astrolabe') ?? Promise.resolve([]));
  assert.deepEqual(
    found.map(({ path }) => path),
    ['/own.md'],
  );
};
