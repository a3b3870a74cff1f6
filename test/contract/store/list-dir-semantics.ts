/** ListDirSemantics: what a directory shows, and what it hides. */
import assert from 'node:assert/strict';
import { create, namesIn, refused, type StoreCase } from './store-case.ts';

export const listDirSemantics: StoreCase = async ({ open }) => {
  const store = await open();
  const other = await open();
  const paths = [
    '/b.md',
    '/a.md',
    '/B.md',
    '/guides/setup.md',
    '/guides/deep/er.md',
    '/notes/.scratch.md',
    '/old/gone.md',
    '/.hidden/d.md',
    '/versions/v.md',
    '/.dot.md',
    '/versions.md',
    '/guides/versions/x.md',
  ];
  for (const path of paths) await create(store, path, `at ${path}`);
  await store.setArchived({ path: '/old/gone.md', archived: true });
  await store.setArchived({ path: '/b.md', archived: true });
  for (const reader of [store, other]) {
    const live = ['B.md', 'a.md', 'guides/', 'versions.md'];
    assert.deepEqual(await namesIn(reader, '/'), live, 'in byte order, live and visible only');
    assert.deepEqual(
      await namesIn(reader, '/', { includeArchived: true }),
      ['B.md', 'a.md', 'b.md', 'guides/', 'old/', 'versions.md'],
      'the archived view',
    );
    assert.deepEqual(await namesIn(reader, '/guides/'), ['deep/', 'setup.md'], 'a path uncleaned');
    assert.deepEqual(await namesIn(reader, '/notes'), [], 'hidden documents only');
    assert.deepEqual(await namesIn(reader, '/old'), []);
    assert.deepEqual(await namesIn(reader, '/old', { includeArchived: true }), ['gone.md']);
    assert.deepEqual(await namesIn(reader, '/.hidden'), ['d.md'], 'inside, nothing is hidden');
    await refused(namesIn(reader, '/a.md'), 'NOT_FOUND');
    await refused(namesIn(reader, '/nowhere'), 'NOT_FOUND');
    await refused(namesIn(reader, '/guides/../guides'), 'NOT_FOUND');
  }
  const all = await namesIn(await open(), '/');
  assert.ok(all.length > 1);
  assert.deepEqual(await namesIn(await open(), '/', { limit: 0 }), all, '0 is no limit');
};
