/** CatalogReadsWithinBound: lists and hash lookups through B are right 1 s after A's answer. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase } from './store-case.ts';

const BOUND_MS = 1_000;

export const catalogReadsWithinBound: StoreCase = async ({ open, advance }) => {
  const a = await open();
  const b = await open();
  const list = (path: string) =>
    inView(b, async (view) => (await view.listEntries(path)).map(({ name }) => name));
  assert.deepEqual(await list('/'), []);
  const { bodyHash } = (await create(a, '/d/one.md', 'one')).document;
  await advance(BOUND_MS + 1);
  assert.deepEqual(await list('/d'), ['one.md']);
  await create(a, '/d/two.md', 'two');
  await advance(BOUND_MS + 1);
  assert.deepEqual(await list('/d'), ['one.md', 'two.md']);
  assert.equal(await inView(b, (view) => view.lookupHash(bodyHash)), '/d/one.md');
  await a.setArchived({ path: '/d/one.md', archived: true });
  await advance(BOUND_MS + 1);
  assert.deepEqual(await list('/d'), ['two.md']);
  await refused(
    inView(b, (view) => view.lookupHash(bodyHash)),
    'NOT_FOUND',
  );
};

/** The part that needs catalog lookup. */
export const lookupsWithinBound: StoreCase = async ({ open, advance }) => {
  const a = await open();
  const b = await open();
  await create(a, '/d/one.md', '# Sextant\n');
  await advance(BOUND_MS + 1);
  const found = await inView(b, (view) => view.lookup?.('sextant') ?? Promise.resolve([]));
  assert.deepEqual(
    found.map(({ path }) => path),
    ['/d/one.md'],
  );
};
