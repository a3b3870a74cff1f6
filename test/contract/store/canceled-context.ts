/**
 * CanceledContext: a call whose signal has aborted is refused with its reason, and does nothing.
 */
import assert from 'node:assert/strict';
import { create, inView, type StoreCase, textOf } from './store-case.ts';

export const canceledContext: StoreCase = async ({ open }) => {
  const store = await open();
  const path = '/c.md';
  const { document } = await create(store, path, 'one');
  const reason = new DOMException('the caller left', 'AbortError');
  const signal = AbortSignal.abort(reason);
  const options = { signal };
  const before = await store.stat();
  const writes: readonly (() => Promise<unknown>)[] = [
    () => store.publish({ path, expected: 1, body: 'two' }, options),
    () => store.append({ path, expected: 1, content: 'two' }, options),
    () => store.setArchived({ path, archived: true }, options),
    () => store.commit([{ kind: 'publish', path, expected: 1, body: 'two' }], options),
    () => store.stat(options),
  ];
  for (const write of writes) await assertAborted(write(), reason);
  const view = store.view();
  const reads: readonly (() => Promise<unknown>)[] = [
    () => view.get(path, options),
    () => view.stat(path, options),
    () => view.listEntries('/', options),
    () => view.isDir('/', options),
    () => view.versions(path, options),
    () => view.lookupHash(document.bodyHash, options),
    () => view.verifyChain(path, options),
  ];
  for (const read of reads) await assertAborted(read(), reason);
  assert.equal(textOf((await view.get(path)).body), 'one', 'the view goes on for others');
  // Also when the state is chosen and the body is at hand.
  for (const read of reads) await assertAborted(read(), reason);
  await view.close();
  assert.equal((await store.stat()).sequence, before.sequence);
  const after = await inView(store, (fresh) => fresh.get(path));
  assert.equal(after.version, 1);
  assert.equal(after.archived, false);
};

async function assertAborted(work: Promise<unknown>, reason: unknown): Promise<void> {
  let result: unknown;
  try {
    result = await work;
  } catch (error) {
    assert.equal(error, reason);
    return;
  }
  assert.fail(`was answered: ${JSON.stringify(result)}`);
}
