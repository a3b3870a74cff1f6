/** DocumentOwnedFrontmatter: a body's own fence is the author's, byte for byte. */
import assert from 'node:assert/strict';
import { create, inView, type StoreCase, textOf } from './store-case.ts';

export const documentOwnedFrontmatter: StoreCase = async ({ open }) => {
  const store = await open();
  const bodies = [
    '---\nversion: 9\ntitle: mine\n---\n# Text\n',
    '---\n---\n',
    '---\r\ntitle: crlf\r\n---\r\ntext',
    '\ufeff---\ntitle: bom\n---\n',
    '---\nnever closed\n',
  ];
  for (const [index, body] of bodies.entries()) {
    const path = `/owned/${index}.md`;
    const written = await create(store, path, body, { title: 'ours' });
    assert.equal(textOf(written.document.body), body);
    const read = await inView(store, (view) => view.get(path));
    assert.equal(textOf(read.body), body);
    assert.deepEqual({ ...read.metadata }, { title: 'ours' }, 'nothing of the block is metadata');
    assert.equal(read.version, 1);
  }
};
