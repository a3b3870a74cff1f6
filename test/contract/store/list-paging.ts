/** ListPaging: `after` is exclusive, need not exist, and a limit stops early. */
import assert from 'node:assert/strict';
import { create, namesIn, type StoreCase } from './store-case.ts';

export const listPaging: StoreCase = async ({ open }) => {
  const store = await open();
  const names = ['a.md', 'b.md', 'c', 'd.md', 'Ａ.md', '𝐀.md'];
  for (const name of names) await create(store, name === 'c' ? '/p/c/x.md' : `/p/${name}`, name);
  await create(store, '/p/.hidden.md', 'hidden');
  await create(store, '/q.md', 'beyond');
  const shown = ['a.md', 'b.md', 'c/', 'd.md', 'Ａ.md', '𝐀.md'];
  const page = (after: string | undefined, limit?: number) =>
    namesIn(store, '/p', { after, limit });
  assert.deepEqual(await page(undefined), shown, 'UTF-8 byte order');
  assert.deepEqual(await page('b.md'), shown.slice(2), 'exclusive');
  assert.deepEqual(await page('bb-absent'), shown.slice(2), 'a name that is not there');
  assert.deepEqual(await page('c'), shown.slice(3), 'after a directory');
  assert.deepEqual(await page('𝐀.md'), []);
  assert.deepEqual(await page(undefined, 2), shown.slice(0, 2));
  assert.deepEqual(await page('a.md', 1), ['b.md']);
  const walked: string[] = [];
  for (let after: string | undefined; ; ) {
    const [name] = await page(after, 1);
    if (name === undefined) break;
    walked.push(name);
    after = name.replace('/', '');
  }
  assert.deepEqual(walked, shown, 'page by page nothing is skipped or repeated');
};
