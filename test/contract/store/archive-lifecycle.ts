/** ArchiveLifecycle: archiving changes what is served, never the document's identity. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase, update } from './store-case.ts';

export const archiveLifecycle: StoreCase = async ({ open }) => {
  const store = await open();
  const path = '/a/old.md';
  await create(store, path, 'one');
  const { document } = await update(store, path, 1, 'two');
  const hash = document.bodyHash;
  assert.equal(await inView(store, (view) => view.lookupHash(hash)), path);
  const archived = await store.setArchived({ path, archived: true });
  assert.equal(archived.committed, true);
  assert.equal(archived.document.archived, true);
  const { etag, version, modified } = archived.document;
  assert.deepEqual(
    { etag, version, modified },
    {
      etag: document.etag,
      version: 2,
      modified: document.modified,
    },
  );
  const tip = (await store.stat()).sequence;
  assert.equal((await store.setArchived({ path, archived: true })).committed, false);
  assert.equal((await store.stat()).sequence, tip, 'a no-op uses no sequence');
  await refused(
    inView(store, (view) => view.lookupHash(hash)),
    'NOT_FOUND',
  );
  await refused(store.publish({ path, expected: 2, body: 'three' }), 'ARCHIVED');
  await refused(store.publish({ path, expected: 2, body: 'two' }), 'ARCHIVED');
  await refused(store.publish({ path, expected: 'any', body: 'three' }), 'ARCHIVED');
  await refused(store.append({ path, expected: 2, content: 'x' }), 'ARCHIVED');
  await refused(store.publish({ path, expected: 1, body: 'three' }), 'CONFLICT');
  await refused(
    store.publish({ path: `${path}/b.md`, expected: 'absent', body: '' }),
    'PATH_COLLISION',
  );
  await inView(store, async (view) => {
    const current = await view.get(path);
    assert.equal(current.archived, true, 'the current version is flagged');
    assert.equal(current.etag, document.etag);
    assert.equal((await view.get(path, { version: 2 })).archived, false, 'a pinned one is not');
    assert.equal((await view.versions(path)).length, 2);
    await view.verifyChain(path);
  });
  const back = await store.setArchived({ path, archived: false });
  assert.equal(back.committed, true);
  assert.equal(back.document.etag, document.etag);
  assert.equal((await store.setArchived({ path, archived: false })).committed, false);
  assert.equal(await inView(store, (view) => view.lookupHash(hash)), path);
  await update(store, path, 2, 'three');
  await refused(store.setArchived({ path: '/none.md', archived: true }), 'NOT_FOUND');
};
