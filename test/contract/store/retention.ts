/**
 * Retention: the newest n stay, numbering goes on, and only a write that carries the key prunes.
 */
import assert from 'node:assert/strict';
import { inView, refused, type StoreCase } from './store-case.ts';

export const retention: StoreCase = async ({ open }) => {
  const store = await open();
  const other = await open();
  const path = '/r.md';
  const write = async (version: number, keep: string | null) => {
    const metadata = keep === null ? null : { retention: keep };
    const body = `body ${version}`;
    const result = await store.publish({ path, expected: version - 1, body, metadata });
    assert.equal(result.document.version, version);
    return result.pruned;
  };
  const retained = async () => {
    const versions = await inView(other, (view) => view.versions(path));
    return versions.map(({ version }) => version);
  };
  for (const version of [1, 2, 3]) assert.equal(await write(version, null), null);
  assert.equal(await write(4, '9'), null, 'a window wider than the history prunes nothing');
  assert.deepEqual(await write(5, '3'), [1, 2], 'oldest and newest pruned');
  assert.deepEqual(await retained(), [5, 4, 3]);
  assert.equal(await write(6, null), null, 'a plain write prunes nothing');
  assert.deepEqual(await retained(), [6, 5, 4, 3]);
  assert.deepEqual(await write(7, '+1'), [3, 6], 'retention 1 keeps the new one only');
  assert.deepEqual(await retained(), [7], 'numbering goes on');
  assert.equal(await write(8, null), null);
  assert.deepEqual(await retained(), [8, 7], 'nothing comes back');
  for (const version of [1, 6, 9]) {
    await refused(
      inView(other, (view) => view.get(path, { version })),
      'NOT_FOUND',
    );
  }
  await inView(other, (view) => view.verifyChain(path));
};
