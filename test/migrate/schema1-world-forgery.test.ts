/**
 * Goal: what a world of the old store says that is not so is found, and the object is named, though
 * every object is valid by itself and lies under its hash.
 * Method: one thing after another said otherwise, and all hashes above it made right; receipts and
 * change blocks, which no hash protects, changed in every field.
 */
import { describe, expect, test } from 'vitest';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { decodeChangeBlock, encodeChangeBlock } from '../../migrate/schema1-changes.ts';
import { changeBlockKey, HEAD_KEY } from '../../migrate/schema1-keys.ts';
import type { ReceiptChange, Schema1Entry, Schema1Version } from '../../migrate/schema1-records.ts';
import { shardOf } from '../../migrate/schema1-shard.ts';
import { type Damage, damagesOf } from './damages.ts';
import {
  DOCUMENTS,
  ForgedWorld,
  type Forgery,
  freshWorld,
  namedBy,
  OTHER_HASH,
  OTHER_WORLD,
  type Places,
  pathOf,
  verifyForged,
} from './schema1-forge.ts';

const version = (change: Partial<Schema1Version>, at = -1): NonNullable<Forgery['block']> => {
  return (block) => ({
    ...block,
    versions: block.versions.with(at, { ...(block.versions.at(at) as Schema1Version), ...change }),
  });
};

interface ForgedCase extends Forgery {
  readonly blames: keyof Places | RegExp;
  readonly says: string;
  /** Only found when blobs are read. */
  readonly deep?: true;
}

const FORGED: readonly (readonly [string, ForgedCase])[] = [
  [
    'a block of another document',
    {
      block: (block) => ({ ...block, pathHash: OTHER_HASH }),
      blames: 'block',
      says: 'path_hash: ',
    },
  ],
  [
    'a block that goes on',
    {
      block: (block) => ({
        ...block,
        last: block.last + 1,
        versions: [
          ...block.versions,
          { ...(block.versions.at(-1) as Schema1Version), version: block.last + 1 },
        ],
      }),
      blames: 'block',
      says: 'last: ',
    },
  ],
  [
    'a block that begins later',
    {
      block: (block) => ({ ...block, first: block.first + 1, versions: block.versions.slice(1) }),
      blames: 'block',
      says: 'first: ',
    },
  ],
  [
    'a newest version with another body',
    { block: version({ bodyHash: OTHER_HASH }), blames: 'block', says: 'body_hash of the newest' },
  ],
  [
    'a newest version of another time',
    { block: version({ modified: 1 }), blames: 'block', says: 'modified of the newest' },
  ],
  [
    'a version whose blob is not there',
    { block: version({ storedHash: OTHER_HASH }), blames: 'blob', says: 'missing' },
  ],
  [
    'a manifest that is archived',
    { manifest: (one) => ({ ...one, archived: true }), blames: 'manifest', says: 'archived: true' },
  ],
  [
    'a manifest of fewer versions',
    {
      manifest: (one) => ({
        ...one,
        version: one.version - 1,
        blocks: one.blocks.map((block) => ({ ...block, last: block.last - 1 })),
      }),
      blames: 'manifest',
      says: 'current: ',
    },
  ],
  [
    'a manifest of another document',
    {
      manifest: (one) => ({
        ...one,
        pathHash: OTHER_HASH,
        blocks: one.blocks.map((block) => ({ ...block, pathHash: OTHER_HASH })),
      }),
      blames: 'manifest',
      says: 'path_hash: ',
    },
  ],
  [
    'an entry of more versions',
    {
      entry: (entry) => ({ ...entry, version: entry.version + 1 }),
      blames: 'manifest',
      says: 'current: ',
    },
  ],
  [
    'an entry that is archived',
    {
      entry: (entry) => ({ ...entry, archived: true }),
      blames: 'manifest',
      says: 'archived: false',
    },
  ],
  [
    'an entry with another body',
    {
      entry: (entry) => ({ ...entry, bodyHash: OTHER_HASH }),
      blames: 'block',
      says: 'body_hash of the newest',
    },
  ],
  [
    'an entry of another time',
    {
      entry: (entry) => ({ ...entry, modified: 1 }),
      blames: 'block',
      says: 'modified of the newest',
    },
  ],
  [
    'an entry whose manifest is not there',
    {
      entry: (entry) => ({ ...entry, manifestHash: OTHER_HASH }),
      blames: /manifests\/f{64}/,
      says: 'missing',
    },
  ],
  [
    'a document below another',
    {
      entries: (entries) => [...entries, below(entries)].sort(byPath),
      root: (root) => ({ ...root, documents: DOCUMENTS + 1 }),
      blames: 'shard',
      says: 'lies below the document',
    },
  ],
  [
    'a root that counts otherwise',
    {
      root: (root) => ({ ...root, documents: DOCUMENTS - 1 }),
      blames: 'root',
      says: `document_count: ${DOCUMENTS - 1}, its shards hold ${DOCUMENTS}`,
    },
  ],
  [
    'a root of another world',
    { root: (root) => ({ ...root, worldId: OTHER_WORLD }), blames: 'root', says: 'world_id: ' },
  ],
  [
    'a head of another world',
    { head: (head) => ({ ...head, worldId: OTHER_WORLD }), blames: 'root', says: 'world_id: ' },
  ],
  [
    'a catalog with another title',
    { entry: catalog({ title: 'Another' }), deep: true, blames: 'shard', says: 'catalog.title' },
  ],
  [
    'a catalog with other metadata',
    {
      entry: catalog({ metadata: { owner: 'ann' } }),
      deep: true,
      blames: 'shard',
      says: 'catalog.metadata',
    },
  ],
  [
    'a stored version of another number',
    {
      blob: (text) => text.replace(/^(---\nversion: )/, '$19'),
      deep: true,
      blames: 'blob',
      says: 'version: 9',
    },
  ],
  [
    'a stored version with another body',
    { blob: (text) => `${text}!`, deep: true, blames: 'blob', says: 'body: its hash' },
  ],
  [
    'a stored version after another',
    {
      blob: (text) => text.replace(/sha256-[0-9a-f]{64}/, `sha256-${OTHER_HASH}`),
      deep: true,
      blames: 'blob',
      says: 'previous-hash: ',
    },
  ],
  [
    'a stored version that is none',
    {
      blob: (text) => text.replace('archived', 'Archived'),
      deep: true,
      blames: 'blob',
      says: 'line 3',
    },
  ],
  [
    'a version that others come after, with another body',
    {
      block: version({ bodyHash: OTHER_HASH }, 0),
      deep: true,
      blames: /blobs\//,
      says: 'body: its hash',
    },
  ],
];

function catalog(change: Partial<Schema1Entry['catalog']>): NonNullable<Forgery['entry']> {
  return (entry) => ({ ...entry, catalog: { ...entry.catalog, ...change } });
}

/** An entry below one of these, in their shard. */
function below([entry]: readonly Schema1Entry[]): Schema1Entry {
  if (entry === undefined) throw new RangeError('no entry');
  for (let number = 0; ; number++) {
    const path = `${entry.path}/${number}.md`;
    if (shardOf(path) === shardOf(entry.path)) return { ...entry, path };
  }
}

function byPath(a: Schema1Entry, b: Schema1Entry): number {
  return compareUtf8(a.path, b.path);
}

describe('what is said otherwise under hashes that are right', () => {
  test.each(FORGED)('%s is named', async (_, { blames, says, deep = false, ...forgery }) => {
    const forged = await freshWorld();
    const places = await forged.forge(pathOf(forged), forgery);
    const report = await verifyForged(forged, true);
    const isBlamed = ({ object }: { readonly object: string }): boolean => {
      return typeof blames === 'string' ? object === places[blames] : blames.test(object);
    };
    const found = report.problems.filter(isBlamed);
    expect(found.map(({ problem }) => problem).join()).toContain(says);
    const shallow = (await verifyForged(forged)).problems.filter(isBlamed);
    expect(shallow.length > 0).toBe(!deep);
  });

  test('nothing at all is no problem', async () => {
    const forged = await freshWorld();
    const before = forged.placesOf(pathOf(forged));
    const after = await forged.forge(pathOf(forged), {});
    expect(after.manifest).toBe(before.manifest);
    expect(await verifyForged(forged, true)).toMatchObject({ problems: [] });
  });

  test('a problem names the other object too', async () => {
    const forged = await freshWorld();
    const places = await forged.forge(pathOf(forged), { entry: (e) => ({ ...e, version: 99 }) });
    const { problems } = await verifyForged(forged);
    expect(problems.find(({ object }) => object === places.manifest)?.problem).toBe(
      `current: 2, the entry of ${pathOf(forged)} says 99, in ${places.shard}`,
    );
  });

  test('more problems than a report holds are counted', async () => {
    const forged = await ForgedWorld.of({ seed: 3, documents: 1100 });
    for (const key of forged.keys()) if (key.includes('/manifests/')) await forged.remove(key);
    const report = await verifyForged(forged);
    expect(report.problems).toHaveLength(1000);
    expect(report.problemCount).toBe(1100);
  });
});

/** Changes the receipt of a sequence in a change block. */
async function forgeReceipt(
  forged: ForgedWorld,
  index: number,
  change: Partial<ReceiptChange> | { readonly operationId: string },
): Promise<string> {
  const key = changeBlockKey(index);
  const block = decodeChangeBlock(key, forged.bytes(key), forged.world.worldId);
  const [first, ...rest] = block.receipts;
  if (first?.change === null || first === undefined) throw new RangeError('nothing told');
  const told =
    'operationId' in change
      ? { ...first, ...change }
      : { ...first, change: { ...first.change, ...change } };
  await forged.put(key, encodeChangeBlock({ ...block, receipts: [told, ...rest] }));
  return key;
}

describe('what is told of the past', () => {
  const sampled = (damages: readonly Damage[], count: number): readonly Damage[] => {
    const step = Math.max(1, Math.floor(damages.length / count));
    return damages.filter((_, index) => index % step === 0);
  };

  /** Which operation it was, and by whom: nothing else tells. */
  const UNKNOWABLE: readonly RegExp[] = [
    /^change receipts\[\d+\]\.operation_id$/,
    /^(change|drop) receipts\[\d+\]\.agent$/,
  ];

  test.each(['head', 'changes'])('a damaged %s is named in every field', async (kind) => {
    const forged = await freshWorld();
    const key = kind === 'head' ? HEAD_KEY : changeBlockKey(1);
    const bytes = forged.bytes(key);
    const damages = sampled(damagesOf(Buffer.from(bytes).toString()), 150);
    expect(damages.length).toBeGreaterThan(100);
    for (const { what, text } of damages) {
      await forged.put(key, text());
      const objects = namedBy(await verifyForged(forged));
      if (objects.length === 0)
        expect(
          UNKNOWABLE.some((one) => one.test(what)),
          what,
        ).toBe(true);
      // Of another world: who is right is not known.
      else if (!/world_id|sequence|root/.test(what))
        expect(objects.join(), what).toMatch(/head|changes/);
    }
    await forged.put(key, bytes);
    expect(await verifyForged(forged)).toMatchObject({ problems: [] });
  });

  test.each<[string, Partial<ReceiptChange> | { readonly operationId: string }, string]>([
    ['a document that is not there', { path: '/none.md' }, 'no document /none.md'],
    ['a version that it never had', { version: 99 }, 'version 99, which is at '],
  ])('a change block that tells of %s is named', async (_, change, says) => {
    const forged = await freshWorld();
    const key = await forgeReceipt(forged, 0, change);
    const { problems } = await verifyForged(forged);
    expect(problems).toEqual([{ object: key, problem: expect.stringContaining(says) }]);
  });

  test('a change block that tells another story than the head is named', async () => {
    const forged = await freshWorld();
    const index = Math.floor(forged.head.sequence / 8) - 1;
    const key = await forgeReceipt(forged, index, { operationId: OTHER_WORLD });
    expect(namedBy(await verifyForged(forged))).toEqual([key]);
  });

  test('a head whose newest receipt is not of its root is named', async () => {
    const forged = await freshWorld();
    const path = pathOf(forged);
    await forged.forge(path, {
      head: (head) => ({
        ...head,
        receipts: head.receipts.map((receipt, index) => {
          if (receipt.change === null || index < head.receipts.length - 1) return receipt;
          return { ...receipt, change: { ...receipt.change, bodyHash: OTHER_HASH } };
        }),
      }),
    });
    for (const key of forged.keys()) if (key.includes('/changes/')) await forged.remove(key);
    expect(namedBy(await verifyForged(forged))).toEqual([HEAD_KEY]);
  });

  test('a change block beyond the head is named', async () => {
    const forged = await freshWorld();
    const { sequence: last, receipts } = forged.head;
    const index = Math.floor(last / 8);
    const first = index * 8 + 1;
    const later = Array.from({ length: 8 }, (_, i) => ({
      ...receipts[0],
      operationId: `11111111-2222-4333-8444-55555555555${i}`,
      sequence: first + i,
      change: null,
    }));
    const { worldId } = forged.world;
    await forged.put(changeBlockKey(index), encodeChangeBlock({ worldId, first, receipts: later }));
    expect(await verifyForged(forged)).toMatchObject({
      problems: [
        {
          object: changeBlockKey(index),
          problem: `tells of ${first + 7}, and the head is at ${last}`,
        },
      ],
    });
  });
});
