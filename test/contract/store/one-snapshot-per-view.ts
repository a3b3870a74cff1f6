/** OneSnapshotPerView: a view that has read once never sees a later write. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase, textOf, update } from './store-case.ts';

export const oneSnapshotPerView: StoreCase = async ({ open, advance }) => {
  const a = await open();
  const b = await open();
  await create(a, '/d/one.md', 'v1');
  for (const [index, choose] of (['get', 'listEntries'] as const).entries()) {
    const views = [a.view(), b.view()];
    await advance(1_001);
    for (const view of views)
      await (choose === 'get' ? view.get('/d/one.md') : view.listEntries('/d'));
    const version = 1 + index;
    await update(a, '/d/one.md', version, `v${version + 1}`);
    const { document } = await create(b, `/d/late-${index}.md`, `late ${index}`);
    await advance(1_001);
    for (const view of views) {
      assert.equal(textOf((await view.get('/d/one.md')).body), `v${version}`);
      assert.equal((await view.versions('/d/one.md')).length, version);
      assert.equal((await view.listEntries('/d')).length, 1 + index);
      await refused(view.get(`/d/late-${index}.md`), 'NOT_FOUND');
      await refused(view.lookupHash(document.bodyHash), 'NOT_FOUND');
      await view.close();
    }
    const fresh = await inView(b, (view) => view.get('/d/one.md'));
    assert.equal(fresh.version, version + 1);
  }
};
