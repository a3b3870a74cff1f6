/** ArchivePrecondition: as for a write; not run for a no-op or a missing document. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase } from './store-case.ts';

export const archivePrecondition: StoreCase = async ({ open }) => {
  const store = await open();
  const path = '/p.md';
  await create(store, path, 'one');
  const seen: unknown[] = [];
  const note = (_: unknown, prepared: unknown): void => {
    seen.push(prepared);
  };
  await store.setArchived({ path, archived: false, precondition: note });
  const missing = store.setArchived({ path: '/none.md', archived: true, precondition: note });
  await refused(missing, 'NOT_FOUND');
  const stale = store.setArchived({ path, archived: true, expected: 7, precondition: note });
  await refused(stale, 'CONFLICT');
  assert.deepEqual(seen, [], 'not run where there is nothing to decide');
  const no = new RangeError('keep it');
  const refuse = (): void => {
    throw no;
  };
  const refusal = store.setArchived({ path, archived: true, precondition: refuse });
  await assert.rejects(refusal, (error) => error === no);
  assert.equal((await inView(store, (view) => view.get(path))).archived, false);
  await store.setArchived({ path, archived: true, precondition: note });
  assert.deepEqual(seen, [{ path, archived: true }]);
  assert.equal((await inView(store, (view) => view.get(path))).archived, true);
};
