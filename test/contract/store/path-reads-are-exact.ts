/** PathReadsAreExact: store B sees what A has just acknowledged, without waiting. */
import assert from 'node:assert/strict';
import { conflicts, create, inView, refused, type StoreCase, textOf } from './store-case.ts';

const ROUNDS = 4;

export const pathReadsAreExact: StoreCase = async ({ open }) => {
  const a = await open();
  const b = await open();
  await create(a, '/x/doc.md', 'body 1');
  for (let version = 1; version <= ROUNDS; version++) {
    const [writer, reader] = version % 2 === 0 ? [b, a] : [a, b];
    const body = `body ${version + 1}`;
    await writer.publish({ path: '/x/doc.md', expected: version, body });
    const read = await inView(reader, (view) => view.get('/x/doc.md'));
    assert.equal(textOf(read.body), body);
    await create(writer, `/x/${version}/new.md`, 'x');
    assert.equal(await inView(reader, (view) => view.isDir(`/x/${version}`)), true);
    const { version: current } = await inView(reader, (view) => view.stat('/x/doc.md'));
    assert.equal(current, version + 1);
    const versions = await inView(reader, (view) => view.versions('/x/doc.md'));
    assert.equal(versions.length, version + 1);
    await inView(reader, (view) => view.verifyChain('/x/doc.md'));
    await conflicts(
      reader.publish({ path: '/x/doc.md', expected: version, body: 'x' }),
      version + 1,
    );
  }
  await a.setArchived({ path: '/x/doc.md', archived: true });
  await refused(b.publish({ path: '/x/doc.md', expected: 5, body: 'x' }), 'ARCHIVED');
};
