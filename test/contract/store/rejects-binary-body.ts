/** RejectsBinaryBody: what is not UTF-8 is no body. */
import assert from 'node:assert/strict';
import { create, inView, refused, type StoreCase } from './store-case.ts';

export const rejectsBinaryBody: StoreCase = async ({ open }) => {
  const store = await open();
  await create(store, '/text.md', 'text');
  const binaries = [
    [0xff],
    [0x61, 0xc3],
    [0xed, 0xa0, 0x80],
    [0xc0, 0xaf],
    [0xf4, 0x90, 0x80, 0x80],
  ];
  for (const binary of binaries) {
    const body = new Uint8Array(binary);
    await refused(store.publish({ path: '/bin.md', expected: 'any', body }), 'INVALID_CONTENT');
    const append = store.append({ path: '/text.md', expected: 1, content: body });
    await refused(append, 'INVALID_CONTENT');
  }
  await refused(
    inView(store, (view) => view.get('/bin.md')),
    'NOT_FOUND',
  );
  assert.equal((await inView(store, (view) => view.get('/text.md'))).version, 1);
};
