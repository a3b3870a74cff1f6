/** VerifyChainTamperedTip: a newest version that names no predecessor is told as that. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase, tamper, update } from './store-case.ts';

export const verifyChainTamperedTip: StoreCase = async ({ open, bucket }) => {
  const inline = await open();
  const staged = await open({ inlineBytes: 0 });
  for (const [store, path] of [
    [inline, '/slot.md'],
    [staged, '/blob.md'],
  ] as const) {
    const first = await create(store, path, `first of ${path}`);
    await update(store, path, 1, `second of ${path}`);
    for (const reader of [inline, staged]) await inView(reader, (view) => view.verifyChain(path));
    const line = `previous-hash: sha256-${first.document.etag}`;
    await tamper(bucket, line, line.replace('previous-hash', 'previous_hash'));
    for (const reader of [inline, staged]) {
      const error = await refused(
        inView(reader, (view) => view.verifyChain(path)),
        'INTEGRITY',
      );
      assert.match(error.message, /missing previous-hash/);
      assert.equal((await inView(reader, (view) => view.versions(path))).length, 2);
    }
  }
};
