/**
 * WriteGetRoundtrip: what is written is read, body only, with the hash of the stored bytes as
 * ETag.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type ContractStore, create, inView, type StoreCase, textOf } from './store-case.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const writeGetRoundtrip: StoreCase = async ({ open }) => {
  const store = await open();
  const other = await open();
  const body = '# Title\n\nText with ünïcode.\n';
  const metadata = { tags: ' alpha,  beta ', title: 'A title', zone: 'eu' };
  const { document, sequence, pruned } = await create(store, '/doc', body, metadata);
  const stored =
    '---\nversion: 1\narchived: false\ntags: [alpha, beta]\ntitle: A title\nmeta.zone: eu\n---\n';
  assert.equal(document.etag, sha256(stored + body), 'ETag of the stored bytes');
  assert.equal(document.bodyHash, `sha256-${sha256(body)}`);
  assert.match(document.modified, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.equal(sequence, 2, 'the first sequence after genesis');
  assert.equal(pruned, null);
  for (const reader of [store, other]) {
    const read = await inView(reader, (view) => view.get('/doc'));
    assert.equal(textOf(read.body), body);
    assert.deepEqual({ ...read.metadata }, { tags: 'alpha,beta', title: 'A title', zone: 'eu' });
    assert.equal(read.archived, false);
    assert.equal(read.path, '/doc');
    assert.deepEqual({ ...read, metadata: null }, { ...document, metadata: null });
  }
  const bare = await create(store, '/bare.md', '', {});
  assert.equal(bare.document.metadata, null, 'no metadata is null on write');
  const read = await inView(other, (view) => view.get('/bare.md'));
  assert.equal(read.metadata, null, 'and on read');
  assert.equal(read.body.length, 0);
  await keepsItsBytes(store);
};

/** Nothing is shared with the caller: neither what was handed in nor what was handed out. */
async function keepsItsBytes(store: ContractStore): Promise<void> {
  const given = Buffer.from('as it was');
  const writing = store.publish({ path: '/own.md', expected: 'absent', body: given });
  given.fill('x');
  const { document } = await writing;
  document.body.fill(0);
  for (let round = 0; round < 2; round++) {
    const read = await inView(store, (view) => view.get('/own.md'));
    assert.equal(textOf(read.body), 'as it was');
    read.body.fill(0);
  }
}
