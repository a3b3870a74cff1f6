/**
 * Goal: made worlds of the old store are valid, are what they say they are, and hold every kind of
 * document that is hard to migrate.
 * Method: their bytes are read by the strict decoders of the old store, which the maker does not
 * use; each kind is shown by what is in the bucket, not by what was planned.
 */
import { describe, expect, it } from 'vitest';
import type { BlobStore } from '../../blob/blob.ts';
import { createMemoryBucket } from '../../blob/memory.ts';
import { decodeChangeBlock, decodeHead, decodeShard } from '../schema1/decode.ts';
import { type OldDocument, summaryOf } from '../schema1/document.ts';
import { OldStoreError } from '../schema1/error.ts';
import { RETAINED } from '../schema1/history-kinds.ts';
import {
  ancestorsOf,
  blobKey,
  CHANGE_BLOCK,
  changeKey,
  HEAD_KEY,
  PREFIX,
  sha256,
  shardLabel,
  shardOf,
} from '../schema1/names.ts';
import { fixturePlans, OldWorld, type OldWorldOptions } from '../schema1/old-world.ts';
import { encodeHead } from '../schema1/records.ts';
import { OldReplica } from '../schema1/replica.ts';
import { BODY_BYTES_MAX } from '../schema1/stored.ts';
import { bucketIn, stillTiming, temporaryDirectories } from '../support/file-buckets.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { SeededRandom } from '../support/seeded-random.ts';

const SEED = 11;
const world = new OldWorld({ seed: SEED, documents: 257 });
const objects = world.toMap();

async function opened(made: OldWorld): Promise<{
  readonly bucket: BlobStore;
  readonly replica: OldReplica;
}> {
  const timing = new ManualClock();
  const bucket = createMemoryBucket({ timing });
  await made.writeTo(bucket);
  const { worldId } = made;
  const chance = new SeededRandom(1);
  return { bucket, replica: await OldReplica.open(bucket, { worldId, timing, chance }) };
}

async function summaries(replica: OldReplica): Promise<ReadonlyMap<string, object>> {
  const found = new Map<string, object>();
  for await (const document of replica.documents()) found.set(document.path, summaryOf(document));
  return found;
}

/** All objects of a world by one hash. */
function digest(options: OldWorldOptions): string {
  const lines = [];
  for (const { key, bytes } of new OldWorld(options).objects())
    lines.push(`${key} ${sha256(bytes)}`);
  return sha256(lines.join('\n'));
}

function text(key: string): string {
  return Buffer.from(objects.get(key) ?? []).toString();
}

/** The bytes of the shard of a document, as text. */
function shardText(path: string): string {
  const label = shardLabel(shardOf(sha256(path)));
  const keys = [...objects.keys()].filter((key) => key.startsWith(`${PREFIX}index/${label}/`));
  expect(keys).toHaveLength(1);
  return text(keys[0] ?? '');
}

function only(kind: string): OldDocument {
  const [document, ...others] = world.ofKind(kind);
  expect(others).toEqual([]);
  if (document === undefined) throw new Error(`no document of kind ${kind}`);
  return document;
}

function tipText(kind: string): string {
  return Buffer.from(only(kind).versions.at(-1)?.stored ?? []).toString();
}

describe('a made world', () => {
  it.each([
    [0, {}],
    [1, {}],
    [257, {}],
    [80, { fixtures: true, receipts: 'named', changes: 'complete', spelling: 'long' }],
    [80, { fixtures: true, receipts: 'unnamed', changes: 'none', spelling: 'short' }],
    [300, { fixtures: false }],
  ] as const)('of %i documents with %j is read as it was made', async (documents, options) => {
    const made = new OldWorld({ seed: SEED, documents, ...options });
    const { replica } = await opened(made);
    const expected = new Map(
      Array.from(made.documents(), (document) => [document.path, summaryOf(document)]),
    );
    expect(expected.size).toBe(documents);
    expect(await summaries(replica)).toEqual(expected);
    const { head } = replica.snapshot;
    expect([head.sequence, head.receipts]).toEqual([made.sequence, made.receipts]);
  });

  it('is written whole, its head last', async () => {
    const order = Array.from(world.objects(), ({ key }) => key);
    expect(order.at(-1)).toBe(HEAD_KEY);
    const created: string[] = [];
    const timing = new ManualClock();
    const bucket = createMemoryBucket({ timing });
    const create = bucket.create.bind(bucket);
    bucket.create = (key, bytes, options) => {
      created.push(key);
      return create(key, bytes, options);
    };
    expect(await world.writeTo(bucket, { atOnce: 7 })).toBe(order.length);
    expect(created.at(-1)).toBe(HEAD_KEY);
    expect(new Set(created)).toEqual(new Set(objects.keys()));
    for (const [key, bytes] of objects) {
      const found = await bucket.get(key);
      expect(found.found && sha256(found.bytes)).toBe(sha256(bytes));
    }
  });

  it('is a location of files when it is written into a directory', async () => {
    const directories = await temporaryDirectories();
    const directory = await directories.fresh();
    const made = new OldWorld({ seed: SEED, documents: 20 });
    expect(made.writeToDirectory(directory)).toBe(made.toMap().size);
    const { worldId } = made;
    const options = { worldId, timing: stillTiming, chance: new SeededRandom(1) };
    const replica = await OldReplica.open(bucketIn(directory), options);
    expect(replica.snapshot.documentCount).toBe(20);
    expect((await summaries(replica)).size).toBe(20);
    await replica.publish('/new.md', '# New\n');
    expect((await OldReplica.open(bucketIn(directory), options)).snapshot.documentCount).toBe(21);
    await directories.remove();
  });

  it('is the same for the same seed, and another for another', () => {
    const options = { seed: SEED, documents: 80, fixtures: true };
    expect(digest(options)).toBe(digest(options));
    expect(digest({ ...options, seed: SEED + 1 })).not.toBe(digest(options));
  });

  it('says when its documents changed by clocks that disagree', () => {
    const receipts = world.receiptsOf(2, world.sequence);
    expect(new Set(receipts.map(({ operationId }) => operationId)).size).toBe(receipts.length);
    const { versions } = only('long');
    const times = versions.map(({ modified }) => modified);
    expect(times).not.toEqual(times.toSorted());
  });
});

describe('the receipts of a made world', () => {
  it('are of both generations in one window', () => {
    const { receipts } = decodeHead(objects.get(HEAD_KEY) ?? new Uint8Array());
    const named = receipts.filter(({ change }) => change !== null);
    expect(named.length).toBeGreaterThan(0);
    expect(named.length).toBeLessThan(receipts.length);
    const told = new Set(named.map(({ change }) => change?.op));
    expect(told).toEqual(new Set(['publish', 'archive']));
    expect(named.some(({ change }) => change?.agent === 'old\bagent')).toBe(true);
    expect(named.some(({ change }) => change?.agent === '')).toBe(true);
  });

  it('are kept in blocks of eight, the first of seven, with a gap', () => {
    const complete = Math.floor(world.sequence / CHANGE_BLOCK);
    const there = Array.from({ length: complete }, (_, block) => block).filter((block) =>
      objects.has(changeKey(block)),
    );
    const { missingChangeBlocks } = world;
    expect(missingChangeBlocks.length).toBeGreaterThan(0);
    expect(there).toHaveLength(complete - missingChangeBlocks.length);
    expect(there).toContain(complete - 1);
    for (const block of there) {
      const bytes = objects.get(changeKey(block)) ?? new Uint8Array();
      const { first, receipts } = decodeChangeBlock(block, changeKey(block), bytes);
      expect(receipts).toHaveLength(block === 0 ? 7 : 8);
      expect(receipts).toEqual(world.receiptsOf(first, (block + 1) * CHANGE_BLOCK));
    }
  });
});

describe('the documents of a made world', () => {
  it('are one of each kind and many plain ones, none above another', () => {
    const kinds = new Set(fixturePlans().map(({ kind }) => kind));
    for (const kind of kinds) {
      expect(world.ofKind(kind).length, kind).toBeGreaterThan(0);
    }
    expect(world.ofKind('plain')).toHaveLength(257 - fixturePlans().length);
    const paths = new Set(Array.from(world.documents(), ({ path }) => path));
    expect(paths.size).toBe(257);
    for (const path of paths) {
      expect(ancestorsOf(path).filter((above) => paths.has(above))).toEqual([]);
    }
  });

  it.each([...RETAINED])('of kind %s retain %j', (kind, [first, last]) => {
    const { versions } = only(kind);
    expect([versions[0]?.version, versions.at(-1)?.version]).toEqual([first, last]);
    const blocks = new Set(versions.map(({ hash }) => objects.has(blobKey(hash))));
    expect(blocks).toEqual(new Set([true]));
  });

  it('have long histories, whole blocks, and blobs of versions that are pruned', () => {
    expect(only('long').versions).toHaveLength(300);
    expect(only('whole-block').versions).toHaveLength(256);
    expect(only('block-and-one').versions).toHaveLength(257);
    const retained = new Set(
      Array.from(world.documents(), ({ versions }) => versions.map(({ hash }) => hash)).flat(),
    );
    const blobs = [...objects.keys()].filter((key) => key.startsWith(`${PREFIX}blobs/`));
    expect(blobs.length).toBeGreaterThan(retained.size);
  });

  it('are archived, archived again, and unarchived', () => {
    for (const kind of ['archived', 'archived-first', 'archived-again']) {
      expect(only(kind).archived, kind).toBe(true);
    }
    for (const kind of ['unarchived', 'revived']) expect(only(kind).archived, kind).toBe(false);
    expect(world.ofKind('plain').some(({ archived }) => archived)).toBe(true);
  });

  it('have paths that are hidden, not ASCII, marked up, and as long as can be', () => {
    expect(only('policy').path).toBe('/.well-known/demarkus/policy.md');
    expect(only('hidden-versions').path).toBe('/a/versions/b.md');
    const [composed, decomposed] = [only('composed').path, only('decomposed').path];
    expect(composed).not.toBe(decomposed);
    expect(composed).toBe(decomposed.normalize('NFC'));
    expect(Buffer.byteLength(only('long-path').path)).toBe(4087);
    const [astral, bmp] = [only('astral').path, only('private-use').path];
    expect(shardOf(sha256(astral))).toBe(shardOf(sha256(bmp)));
    // UTF-16 would have them the other way round.
    expect([astral, bmp].toSorted()).toEqual([astral, bmp]);
    const shard = shardText(astral);
    expect(shard.indexOf(bmp)).toBeLessThan(shard.indexOf(astral));
  });

  it('have HTML and separators of lines in paths, titles and metadata', () => {
    const shard = shardText(only('html').path);
    expect(shard).toContain('"path":"/fixtures/\\u003cb\\u003e\\u0026amp;\\"quoted\\"\\\\back.md"');
    expect(shard).toContain('"title":"Tom \\u0026 \\u003cJerry\\u003e \\"say\\" \\\\o/"');
    expect(shard).toContain('"agent":"bot \\u003cbot@example.org\\u003e \\u0026 sons"');
    const lines = shardText(only('line-separators').path);
    expect(lines).toContain('"path":"/fixtures/line\\u2028paragraph\\u2029.md"');
    expect(lines).toContain('"note":"a\\u2028b\\u2029c\u0085d\u007fe"');
    expect(lines).toContain('"title":"Line\\u2028Separated\\u2029Title"');
  });

  it('have U+0008 and U+000C in both spellings', () => {
    expect(shardText(only('controls-short').path)).toContain('"note":"a\\bb\\fc\\\\bd\\u0001');
    expect(shardText(only('controls-long').path)).toContain('"note":"a\\u0008b\\u000cc\\\\bd');
    expect(tipText('controls-short')).toContain('meta.note: a\bb\fc\\bd\u0001\u001fe\n');
  });

  it('have metadata that are absent, legacy, spelled freely, or as large as can be', () => {
    expect(only('no-metadata').catalog.metadata.size).toBe(0);
    expect(shardText(only('no-metadata').path)).toContain('"tags":[],"importance":"0.5"');
    expect(tipText('legacy-tags-current')).toContain('\nmeta.tags: legacy,current\ntype: ');
    expect(only('legacy-tags').versions.map(({ stored }) => text(blobKey(sha256(stored))))).toEqual(
      [
        expect.stringContaining('\nmeta.tags: legacy,first\n'),
        expect.stringContaining('\ntags: [legacy, first]\n'),
      ],
    );
    const { catalog, versions } = only('unnormalised');
    expect(catalog).toMatchObject({
      title: 'Spaced \u00a0title',
      tags: ['go', 'storage'],
      importance: '0.8',
    });
    expect([...catalog.metadata]).toEqual([
      ['importance', ' 0.80 '],
      ['tags', 'go, storage'],
      ['title', '  Spaced \u00a0title\u3000'],
    ]);
    expect(versions[0]?.metadata.get('tags')).toBe('go,storage');
    const numeric = shardText(only('numeric-keys').path);
    expect(numeric).toContain('"metadata":{"10":"ten","9":"nine","a":"letter","constructor":');
    const { metadata } = only('many-keys').catalog;
    const bytes = [...metadata].reduce((sum, pair) => sum + Buffer.byteLength(pair.join('')), 0);
    expect([metadata.size, bytes]).toEqual([50, 1024]);
  });

  it('have a line of front matter that says archived where nothing is', () => {
    expect(tipText('archived-line')).toMatch(/^---\nversion: 1\narchived: true\n---\n/);
    expect(only('archived-line').archived).toBe(false);
  });

  it('have every spelling of importance as its shortest decimal', () => {
    const kinds = ['small', 'outside', 'text', 'spelled', 'exponent'].map(
      (kind) => `importance-${kind}`,
    );
    const found = kinds.map((kind) => only(kind).catalog.importance);
    expect(found).toEqual(['0.0000001', '0.5', '0.5', '0.25', '0.1']);
  });

  it('have bodies that are empty, large, or look like front matter', () => {
    expect(only('empty-body').versions[0]?.body).toHaveLength(0);
    expect(only('large-body').versions[0]?.body).toHaveLength(BODY_BYTES_MAX);
    expect(tipText('front-matter-body')).toMatch(/\n---\n---\ntitle: Mine\n---\n# Body\n$/);
    const [castor, pollux] = world.ofKind('twin').map(({ versions }) => versions[0]?.hash);
    expect(castor).toBe(pollux);
  });

  it('have titles of files, of headings and of metadata, as they stand', () => {
    expect(only('title-of-file').catalog.title).toBe(' leading space.md');
    expect(only('title-leading-space').catalog.title).toBe('  Spaces before');
    expect(only('title-after-fence').catalog.title).toBe('Yes');
    expect(Buffer.byteLength(only('title-long').catalog.title)).toBeGreaterThan(1024);
    expect(only('title-mark').catalog.title).toBe('\ufeffMarked');
  });
});

describe('the strict decoder', () => {
  const head = objects.get(HEAD_KEY) ?? new Uint8Array();
  const headText = Buffer.from(head).toString();

  it.each<[string, (valid: string) => string]>([
    ['white space', (valid) => ` ${valid}`],
    ['a newline at the end', (valid) => `${valid}\n`],
    ['a second value', (valid) => `${valid}{}`],
    ['an unknown field', (valid) => valid.replace('{', '{"more":1,')],
    ['another order', (valid) => valid.replace(/("schema":1),("world_id":"[^"]*")/, '$2,$1')],
    ['a field twice', (valid) => valid.replace('{"schema":1', '{"schema":1,"schema":1')],
    ['upper case', (valid) => valid.replace('"schema"', '"Schema"')],
    ['another schema', (valid) => valid.replace('"schema":1', '"schema":2')],
    ['no receipts', (valid) => valid.replace(/"receipts":.*$/, '"receipts":null}')],
    ['a receipt less', (valid) => valid.replace(/"receipts":\[\{[^}]*\},/, '"receipts":[')],
    ['half a name', (valid) => valid.replace(/"op":"publish",/, '')],
    ['an empty agent', (valid) => valid.replace(/("op":"archive"),/, '$1,"agent":"",')],
    ['another result', (valid) => valid.replace('committed', 'aborted')],
    ['other escapes', (valid) => valid.replace('"publish"', '"\\u0070ublish"')],
    ['an integer with a point', (valid) => valid.replace('"schema":1', '"schema":1.0')],
  ])('refuses a head with %s', (_, spoil) => {
    const spoilt = spoil(headText);
    expect(spoilt).not.toBe(headText);
    expect(() => decodeHead(Buffer.from(spoilt))).toThrow(OldStoreError);
  });

  it('takes a head as it is, in either spelling', () => {
    const decoded = decodeHead(head);
    expect(decodeHead(encodeHead(decoded, 'long'))).toEqual(decoded);
    expect(encodeHead(decoded, 'long')).not.toEqual(encodeHead(decoded, 'short'));
  });

  it('refuses a shard whose bytes are not those of its name', () => {
    const [key = ''] = [...objects.keys()].filter((one) => one.startsWith(`${PREFIX}index/00/`));
    const hash = key.slice(-69, -5);
    const bytes = objects.get(key) ?? new Uint8Array();
    expect(decodeShard(0, hash, bytes).index).toBe(0);
    expect(() => decodeShard(1, hash, bytes)).toThrow(OldStoreError);
    expect(() => decodeShard(0, hash, Uint8Array.from([...bytes, 10]))).toThrow(OldStoreError);
  });
});
