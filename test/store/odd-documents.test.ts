/**
 * Goal: names and texts that trip other systems are documents like any other, the same in every
 * store.
 * Method: the scenarios' paths and bodies, written by one store and read by it, by another, and
 * by one that starts cold.
 */
import { describe, expect, test } from 'vitest';
import type { World } from '../../bucketstore/index.ts';
import { failureOf } from '../support/outcome.ts';
import { WorldBench } from '../support/world-bench.ts';

const create = (world: World, path: string, body = path, metadata: Record<string, string> = {}) =>
  world.publish({ path, expected: 'absent', body, metadata });

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

/** The store that wrote, another that followed, and one that starts now. */
async function readers(bench: WorldBench, writer: World, follower: World): Promise<World[]> {
  return [writer, follower, await bench.open()];
}

test('B19 names are in UTF-8 byte order on every store and page, each once', async () => {
  const bench = new WorldBench();
  const [a, b] = [await bench.open(), await bench.open()];
  const names = ['A.md', '\uff21.md', '\u{1d400}.md'];
  expect(names.toSorted()).not.toEqual(names);
  for (const name of names.toReversed()) await bench.run(create(a, `/guides/${name}`));
  for (const world of await readers(bench, a, b)) {
    const found: string[] = [];
    for (let after: string | undefined; ; after = found.at(-1)) {
      const view = world.view();
      await bench.run(view.isDir('/'));
      const [entry] = await bench.run(view.listEntries('/guides', { after, limit: 1 }));
      if (entry === undefined) break;
      found.push(entry.name);
    }
    expect(found).toEqual(names);
  }
});

test('B36 broken front matter is the same document every time, on every store', async () => {
  const bench = new WorldBench();
  const [a, b] = [await bench.open(), await bench.open()];
  const body = '---\ntags: [one, two\n---\n# X\n';
  for (const n of [1, 2, 3]) await bench.run(create(a, `/bad/${n}.md`, body));
  const catalogs = (await bench.slots()).map(({ entries: [entry] }) =>
    entry?.kind === 'write' ? entry.catalog : null,
  );
  expect(catalogs[0]).not.toBeNull();
  expect(catalogs).toEqual([catalogs[0], catalogs[0], catalogs[0]]);
  for (const world of await readers(bench, a, b)) {
    for (const n of [1, 2, 3]) {
      const found = await bench.run(world.view().get(`/bad/${n}.md`));
      expect(text(found.body)).toBe(body);
      expect(found.metadata).toBeNull();
    }
  }
});

test('B37 values keep the text that was written', async () => {
  const bench = new WorldBench();
  const [a, b] = [await bench.open(), await bench.open()];
  const metadata = {
    start: '11:30',
    date: '2024-11-05',
    country: 'no',
    build: '1e3',
    code: '007',
    ver: '1.10',
    big: '9007199254740993',
  };
  const lines = Object.entries(metadata).map(([key, value]) => `${key}: ${value}`);
  const body = `---\n${lines.join('\n')}\ntitle: A\ntitle: B\n---\n# X\n`;
  await bench.run(create(a, '/values.md', body, metadata));
  for (const world of await readers(bench, a, b)) {
    const found = await bench.run(world.view().get('/values.md'));
    expect({ ...found.metadata }).toEqual(metadata);
    expect(text(found.body)).toBe(body);
    expect((await bench.run(world.view().stat('/values.md'))).metadata).toEqual(found.metadata);
  }
});

describe('B40 one name in two normal forms', () => {
  const NFC = '/notes/\u00dcbersicht.md';
  const NFD = '/notes/U\u0308bersicht.md';

  test.each([true, false])('is two documents, told apart (in one batch: %s)', async (together) => {
    const bench = new WorldBench();
    const [a, b] = [await bench.open(), await bench.open()];
    if (together) await bench.run(Promise.all([create(a, NFC, 'nfc'), create(a, NFD, 'nfd')]));
    else {
      await bench.run(create(a, NFC, 'nfc'));
      await bench.run(create(b, NFD, 'nfd'));
    }
    for (const world of await readers(bench, a, b)) {
      expect(text((await bench.run(world.view().get(NFC))).body)).toBe('nfc');
      expect(text((await bench.run(world.view().get(NFD))).body)).toBe('nfd');
      const view = world.view();
      await bench.run(view.isDir('/'));
      const listed = (await bench.run(view.listEntries('/notes'))).map(({ name }) => name);
      expect(listed).toEqual(['U\u0308bersicht.md', '\u00dcbersicht.md']);
    }
  });
});

describe('B42 paths with characters that routes decode', () => {
  const LONG = `/${'p'.repeat(299)}/${'q'.repeat(723)}`;
  const taken = [
    '/a/with#hash.md',
    '/a/with space.md',
    '/a/100%.md',
    '/a/x%2Fy.md',
    '/a/q?z.md',
    '/a/plus+sign.md',
    '/a/..%2f..%2fhead.json',
    '/a/\u202egnp.md',
    '/a/.hidden.md',
    '/a/tab\there.md',
    LONG,
    `${LONG}x`,
    `/a/${'s'.repeat(300)}`,
  ];
  const refused = ['/a/../b.md', '/a/nul\u0000.md', '/a/del\u007f.md', `/${'x'.repeat(4087)}`, '/'];

  test('what a list shows can be fetched and archived by the same text', async () => {
    const bench = new WorldBench();
    const [a, b] = [await bench.open(), await bench.open()];
    for (const path of taken) await bench.run(create(a, path));
    await bench.run(create(a, '/a//b.md', 'b'));
    expect(await failureOf(bench.run(create(a, '/a/b.md/')))).toMatchObject({ code: 'CONFLICT' });
    for (const world of await readers(bench, a, b)) {
      const view = world.view();
      for (const path of taken) expect(text((await bench.run(view.get(path))).body)).toBe(path);
      for (const { name, isDir } of await bench.run(view.listEntries('/a'))) {
        expect(isDir).toBe(false);
        expect((await bench.run(view.get(`/a/${name}`))).path).toBe(`/a/${name}`);
      }
      const listed = await bench.run(view.listEntries('/a'));
      // Names that begin with a dot are hidden, and `b.md` is there too.
      const shown = taken.filter((path) => path.startsWith('/a/') && !path.startsWith('/a/.'));
      expect(listed).toHaveLength(shown.length + 1);
    }
    for (const path of taken) {
      const archived = await bench.run(a.setArchived({ path, archived: true }));
      expect(archived.committed).toBe(true);
    }
  });

  test('the rest is refused with a reason, and nothing is written outside the world', async () => {
    const bench = new WorldBench();
    const world = await bench.open();
    const before = await bench.keys();
    for (const path of refused) {
      const error = await failureOf(bench.run(create(world, path)));
      expect(error).toMatchObject({ code: 'INVALID_PATH', details: { path } });
    }
    expect(await bench.keys()).toEqual(before);
    for (const path of taken) await bench.run(create(world, path, 'x'.repeat(20_000)));
    for (const key of await bench.keys()) {
      expect(key).toMatch(
        /^_demarkus\/v1\/(head\.json|log\/[0-9a-f]{16}\.slot|blobs\/0{7}1\/[0-9a-f]{64})$/,
      );
    }
  });
});

test('B46 names that every object has are names like any other', async () => {
  const bench = new WorldBench();
  const [a, b] = [await bench.open(), await bench.open()];
  const words = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];
  for (const word of words) {
    await bench.run(create(a, `/${word}/${word}.md`, `# ${word}\n`, { title: word, tags: word }));
  }
  const metadata = { constructor: 'x', 'to-string': 'y' };
  const front = '---\n__proto__: {admin: true}\nconstructor: x\n---\n# X\n';
  await bench.run(create(b, '/__proto__/prototype.md', front, metadata));
  for (const world of await readers(bench, a, b)) {
    const view = world.view();
    await bench.run(view.isDir('/'));
    const names = (await bench.run(view.listEntries('/'))).map(({ name }) => name);
    expect(names).toEqual(words.toSorted());
    for (const word of words) {
      const found = await bench.run(view.get(`/${word}/${word}.md`));
      expect({ ...found.metadata }).toEqual({ title: word, tags: word });
      expect(await bench.run(view.lookupHash(found.bodyHash))).toBe(`/${word}/${word}.md`);
    }
    const odd = await bench.run(view.get('/__proto__/prototype.md'));
    expect({ ...odd.metadata }).toEqual(metadata);
    expect(text(odd.body)).toBe(front);
  }
  const error = await failureOf(create(a, '/p.md', 'x', JSON.parse('{"__proto__":"x"}')));
  expect(error).toMatchObject({ code: 'INVALID_META' });
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});
