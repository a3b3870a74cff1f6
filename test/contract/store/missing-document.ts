/** MissingDocument: absent documents and versions, and paths that can be none, are not found. */
import { create, inView, refused, type StoreCase } from './store-case.ts';

export const missingDocument: StoreCase = async ({ open }) => {
  const store = await open();
  await create(store, '/d/here.md', 'x');
  for (const path of ['/none.md', '/d', '/', '', '/d/../d/here.md', `/${'x'.repeat(5000)}`]) {
    await inView(store, async (view) => {
      await refused(view.get(path), 'NOT_FOUND');
      await refused(view.stat(path), 'NOT_FOUND');
      await refused(view.versions(path), 'NOT_FOUND');
      await refused(view.verifyChain(path), 'NOT_FOUND');
      await refused(view.get(path, { version: 1 }), 'NOT_FOUND');
    });
  }
  for (const version of [0, 2, -1, 2 ** 31]) {
    await refused(
      inView(store, (view) => view.get('/d/here.md', { version })),
      'NOT_FOUND',
    );
  }
  const hash = `sha256-${'0'.repeat(64)}`;
  await refused(
    inView(store, (view) => view.lookupHash(hash)),
    'NOT_FOUND',
  );
  await refused(
    inView(store, (view) => view.lookupHash('0'.repeat(64))),
    'NOT_FOUND',
  );
};
