/** VerifyChainTampered: an old version that was changed breaks the chain; versions still list. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase, tamper, update } from './store-case.ts';

export const verifyChainTampered: StoreCase = async ({ open, bucket }) => {
  const inline = await open();
  // Both places a stored version may lie in: the slot, and an object of its own.
  const staged = await open({ inlineBytes: 0 });
  for (const [store, path] of [
    [inline, '/slot.md'],
    [staged, '/blob.md'],
  ] as const) {
    await create(store, path, `first of ${path}`);
    await update(store, path, 1, `second of ${path}`);
    for (const reader of [inline, staged]) await inView(reader, (view) => view.verifyChain(path));
    await tamper(bucket, `first of ${path}`, `fIrst of ${path}`);
    for (const reader of [inline, staged]) {
      await inView(reader, async (view) => {
        const error = await refused(view.verifyChain(path), 'INTEGRITY');
        assert.match(error.message, /chain broken/);
        assert.equal((await view.versions(path)).length, 2);
        assert.equal((await view.get(path)).version, 2, 'the current version is sound');
      });
    }
  }
};
