/**
 * VersionHistory: versions newest first, each readable with the ETag it was given, in one chain.
 */
import assert from 'node:assert/strict';
import { create, inView, type StoreCase, textOf, update } from './store-case.ts';

const VERSIONS = 5;

export const versionHistory: StoreCase = async ({ open }) => {
  const store = await open();
  const other = await open();
  const etags = [(await create(store, '/h.md', 'body 1')).document.etag];
  for (let version = 1; version < VERSIONS; version++) {
    const writer = version % 2 === 0 ? store : other;
    const body = `body ${version + 1}`;
    etags.push((await update(writer, '/h.md', version, body)).document.etag);
  }
  assert.equal(new Set(etags).size, VERSIONS);
  for (const reader of [store, other]) {
    await inView(reader, async (view) => {
      const versions = await view.versions('/h.md');
      const numbers = versions.map(({ version }) => version);
      assert.deepEqual(numbers, [5, 4, 3, 2, 1], 'newest first');
      assert.deepEqual(versions.map(({ etag }) => etag).toReversed(), etags);
      for (const [index, etag] of etags.entries()) {
        const version = index + 1;
        const read = await view.get('/h.md', { version });
        assert.equal(read.etag, etag, `ETag of version ${version}`);
        assert.equal(read.version, version);
        assert.equal(textOf(read.body), `body ${version}`);
      }
      await view.verifyChain('/h.md');
    });
  }
};
