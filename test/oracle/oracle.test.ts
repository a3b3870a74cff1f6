/**
 * Goal: the oracle reads what is there, believes nothing that it can check, and names what is
 * wrong. Method: a small world written with the store's own encoders; then one thing at a time made
 * wrong in its bucket.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { Metadata } from '../../bucketstore/document/metadata.ts';
import { storeVersion } from '../../bucketstore/document/stored.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import { blobKey, MARKER_KEY, slotKey } from '../../bucketstore/log/names.ts';
import type { Entry, WriteEntry } from '../../bucketstore/log/records.ts';
import { encodeSlot, type SlotBody } from '../../bucketstore/log/slot.ts';
import { archive, hashOf, INCARNATION, STORE, uuidOf, WORLD, write } from '../log/values.ts';
import { OracleError } from './objects.ts';
import { type OracleBucket, readWorld } from './world.ts';

/** A bucket that is a map; tests change the map. */
function bucketOf(objects: ReadonlyMap<string, Uint8Array>): OracleBucket {
  const attributes = (key: string) => ({ key, generation: '1', size: 0, modifiedMs: 0 });
  return {
    async get(key) {
      const bytes = objects.get(key);
      return bytes ? { found: true, bytes, attributes: attributes(key) } : { found: false };
    },
    // Two keys a page, so that paging is used.
    async list({ prefix, after = '' }) {
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after);
      return { objects: keys.sort().slice(0, 2).map(attributes), more: keys.length > 2 };
    },
  };
}

interface Version {
  readonly bytes: Uint8Array;
  readonly fields: Pick<WriteEntry, 'bodyHash' | 'storedHash' | 'catalog' | 'version' | 'path'>;
}

function versionOf(path: string, version: number, text: string, before?: Version): Version {
  const metadata: Metadata | null =
    version === 1 ? null : { type: 'Document', tags: 'a,b', x: 'y' };
  const body = new TextEncoder().encode(text);
  const previousHash = before?.fields.storedHash ?? null;
  const bytes = storeVersion({ version, previousHash, metadata, body });
  const catalog = { title: path.slice(1), metadata };
  const hashes = { bodyHash: sha256Hex(body), storedHash: sha256Hex(bytes) };
  return { bytes, fields: { path, version, catalog, ...hashes } };
}

/** Builds a log slot by slot. */
class World {
  readonly objects: Map<string, Uint8Array> = new Map();
  #first = 2;
  #prev: string;
  #time = 1;

  constructor() {
    const marker = encodeMarker(genesisMarker(WORLD, INCARNATION));
    this.objects.set(MARKER_KEY, marker);
    this.#prev = sha256Hex(marker);
  }

  add(
    documents: number,
    entries: readonly Entry[],
    versions: readonly Version[],
    epoch = 1,
  ): string {
    const first = sequence(this.#first);
    const stored = new Map(versions.map(({ bytes, fields }) => [fields.storedHash, bytes]));
    const bodies = entries.flatMap((entry, index): SlotBody[] => {
      const bytes = entry.kind === 'write' ? stored.get(entry.storedHash) : undefined;
      if (bytes === undefined || entry.kind !== 'write') return [];
      if (entry.at === 'slot') return [{ sequence: sequence(first + index), bytes }];
      this.objects.set(blobKey(entry.at.epoch, entry.storedHash), bytes);
      return [];
    });
    const ids = { worldId: WORLD, incarnationId: INCARNATION, store: STORE };
    const place = { first, time: this.#time++, documents, prev: this.#prev, epoch };
    const { bytes, hash } = encodeSlot({ ...ids, ...place, entries, bodies });
    this.objects.set(slotKey(first), bytes);
    this.#first += entries.length;
    this.#prev = hash;
    return slotKey(first);
  }
}

const a1 = versionOf('/a.md', 1, '# A\n');
const a2 = versionOf('/a.md', 2, '# A\nmore\n', a1);
const b1 = versionOf('/b/c.md', 1, 'large');
const A1 = write(1, { ...a1.fields, at: 'slot' });
const A2 = write(2, { ...a2.fields, verb: 'append', first: 2, at: 'slot' });
const B1 = write(3, b1.fields);

function example(): World {
  const world = new World();
  world.add(2, [A1, B1], [a1, b1]);
  world.add(2, [A2], [a2]);
  const kept = [[sequence(2), 1]] as const;
  world.add(2, [{ kind: 'barrier', op: uuidOf(4), plan: hashOf(1), kept }], []);
  world.add(2, [archive(5, { path: '/a.md', version: 2, first: 2 })], [], 2);
  world.add(2, [{ kind: 'seal', op: uuidOf(6), reason: 'closed' }], [], 2);
  return world;
}

async function problem(world: World): Promise<OracleError> {
  try {
    await readWorld(bucketOf(world.objects));
  } catch (error) {
    if (error instanceof OracleError) return error;
    throw error;
  }
  return expect.unreachable('was believed');
}

test('a world is read with its documents, versions and operations', async () => {
  const world = await readWorld(bucketOf(example().objects));
  expect(world.tip).toBe(7);
  expect(world.sealed).toBe(true);
  expect(world.entries.map(({ sequence: at, kind }) => `${at} ${kind}`)).toEqual([
    '2 write',
    '3 write',
    '4 write',
    '5 barrier',
    '6 archive',
    '7 seal',
  ]);
  expect([...world.ops.values()]).toEqual([[2], [3], [4], [5], [6], [7]]);
  const a = world.documents.get('/a.md');
  expect(a).toMatchObject({ version: 2, first: 2, archived: true });
  expect(a?.versions.get(2)?.storedBytes).toEqual(a2.bytes);
  expect(Buffer.from(a?.versions.get(2)?.body ?? []).toString()).toBe('# A\nmore\n');
  expect(world.documents.get('/b/c.md')?.versions.get(1)?.storedBytes).toEqual(b1.bytes);
});

describe('what is wrong in the bucket is found, and named', () => {
  const first = slotKey(sequence(2));
  const second = slotKey(sequence(4));
  const cases: [string, string, (objects: Map<string, Uint8Array>) => void][] = [
    ['no marker', MARKER_KEY, (objects) => objects.delete(MARKER_KEY)],
    [
      'another marker',
      first,
      (objects) => objects.set(MARKER_KEY, encodeMarker(genesisMarker(WORLD, STORE))),
    ],
    ['a hole', second, (objects) => objects.delete(first)],
    ['an empty slot', second, (objects) => objects.set(second, new Uint8Array())],
    [
      'a slot that was cut',
      first,
      (objects) => objects.set(first, objects.get(first)?.subarray(0, 400) ?? new Uint8Array()),
    ],
    [
      'a slot under another name',
      slotKey(sequence(8)),
      (objects) => objects.set(slotKey(sequence(8)), objects.get(second) ?? new Uint8Array()),
    ],
    [
      'a name that is none',
      `${first}.bak`,
      (objects) => objects.set(`${first}.bak`, new Uint8Array()),
    ],
    ['a blob that is gone', '/b/c.md', (objects) => objects.delete(blobKey(1, B1.storedHash))],
    [
      'a blob with other bytes',
      `${first}, entry 3`,
      (objects) => objects.set(blobKey(1, B1.storedHash), a1.bytes),
    ],
  ];
  test.each(cases)('%s', async (_, object, spoil) => {
    const world = example();
    spoil(world.objects);
    expect((await problem(world)).object).toBe(object);
  });
});

describe('what no writer may write is found, and named', () => {
  const cases: [string, number, Entry[], Version[]][] = [
    ['a version out of turn', 1, [{ ...A2, first: 1 }], [a2]],
    ['a version that chains to another', 1, [A1, { ...A2, ...chained() }], [a1, chainedVersion()]],
    ['a wrong body hash', 1, [{ ...A1, bodyHash: hashOf(1) }], [a1]],
    [
      'metadata that the version lacks',
      1,
      [{ ...A1, catalog: { title: 'a', metadata: { x: 'y' } } }],
      [a1],
    ],
    ['a wrong count', 2, [A1], [a1]],
    ['an archive of nothing', 0, [archive(1)], []],
    [
      'a write to an archived document',
      1,
      [A1, archive(9, { path: '/a.md', version: 1, first: 1 }), A2],
      [a1, a2],
    ],
  ];
  test.each(cases)('%s', async (_, documents, entries, versions) => {
    const world = new World();
    const key = world.add(documents, entries, versions);
    expect((await problem(world)).object).toContain(key);
  });

  test('a document above another', async () => {
    const world = new World();
    const above = versionOf('/b', 1, 'above');
    world.add(2, [B1, write(9, { ...above.fields, at: 'slot' })], [b1, above]);
    expect((await problem(world)).object).toBe('/b/c.md');
  });

  test('anything behind a seal', async () => {
    const world = example();
    const key = world.add(2, [{ kind: 'unpin', op: uuidOf(9), id: 'x' }], [], 2);
    expect((await problem(world)).object).toBe(key);
  });

  test('a slot of another epoch', async () => {
    const world = new World();
    const key = world.add(1, [A1], [a1], 2);
    expect((await problem(world)).object).toBe(key);
  });
});

function chainedVersion(): Version {
  return versionOf('/a.md', 2, '# A\nmore\n', b1);
}

function chained(): Pick<WriteEntry, 'bodyHash' | 'storedHash' | 'catalog' | 'first'> {
  const { bodyHash, storedHash, catalog } = chainedVersion().fields;
  return { bodyHash, storedHash, catalog, first: 1 };
}

test('the oracle shares no code with what it judges', () => {
  const folder = new URL('./', import.meta.url);
  const files = readdirSync(folder).filter((name) => !name.endsWith('.test.ts'));
  const sources = files.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('\n');
  const imported = [...sources.matchAll(/from '([^']+)'/g)].map(([, name]) => name);
  expect([...new Set(imported)].sort()).toEqual([
    '../../blob/blob.ts',
    './objects.ts',
    'node:crypto',
  ]);
  expect(sources).toContain("import type { BlobStore } from '../../blob/blob.ts'");
});
