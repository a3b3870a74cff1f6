/**
 * Goal: a table of names finds what was added and nothing else, however many there are; what is
 * held against a listing is what is there, whichever was known first.
 * Method: against a map, with names that are alike; names of every kind in either order.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { NAME_BYTES, NameTable } from '../../migrate/name-table.ts';
import { Schema1Inventory } from '../../migrate/schema1-inventory.ts';
import { parseSchema1Key, type Schema1Name } from '../../migrate/schema1-keys.ts';
import { hashOf } from './schema1-values.ts';

const shaOf = (number: number): string => sha256Hex(String(number));
const nameOf = (number: number): Buffer => Buffer.from(shaOf(number), 'hex');

describe('a table of names', () => {
  test('gives each name a place, in the order in which they came', () => {
    const table = new NameTable();
    const count = 150_000;
    const wrong: number[] = [];
    for (let i = 0; i < count; i++) {
      if (table.add(nameOf(i)) !== i) wrong.push(i);
      if (i % 7 === 0 && table.add(nameOf(i >> 1)) !== i >> 1) wrong.push(i >> 1);
    }
    expect(table.size).toBe(count);
    for (let i = 0; i < count; i += 11) {
      if (!table.at(i).equals(nameOf(i)) || table.add(nameOf(i)) !== i) wrong.push(i);
    }
    expect(wrong).toEqual([]);
    expect(table.size).toBe(count);
  });

  test('tells names apart by any of their bytes', () => {
    const table = new NameTable();
    const base = Buffer.alloc(NAME_BYTES);
    table.add(base);
    for (let at = 0; at < NAME_BYTES; at++) {
      const other = Buffer.from(base);
      other[at] = 1;
      expect(table.add(other)).toBe(at + 1);
    }
    expect(table.size).toBe(NAME_BYTES + 1);
  });

  test('keeps a copy: what was handed in may change', () => {
    const table = new NameTable();
    const name = nameOf(1);
    table.add(name);
    name.fill(0);
    expect(table.at(0).equals(nameOf(1))).toBe(true);
  });

  test('takes nothing of another length, and has nothing beyond its end', () => {
    const table = new NameTable();
    expect(() => table.add(Buffer.alloc(31))).toThrow(InvariantError);
    expect(() => table.at(0)).toThrow(InvariantError);
  });
});

describe('an inventory', () => {
  const keys = {
    root: `roots/${hashOf(1)}.json`,
    shard: `index/0a/${hashOf(1)}.json`,
    manifest: `docs/${hashOf(2)}/manifests/${hashOf(1)}.json`,
    history: `history/${hashOf(1)}.json`,
  };
  const named = (key: string): Schema1Name => {
    const name = parseSchema1Key(`_demarkus/v1/${key}`);
    if (name === null) throw new RangeError(key);
    return name;
  };

  test.each(Object.entries(keys))('holds a %s that was listed first, last or only', (kind, key) => {
    const name = named(key);
    const first = new Schema1Inventory();
    first.reach(name);
    first.list(name, { size: 5 });
    const last = new Schema1Inventory();
    last.list(name, { size: 5 });
    last.reach(name);
    const only = new Schema1Inventory();
    only.list(name, { size: 5 });
    const of = kind as keyof typeof keys;
    expect(first.unreachable(of)).toEqual({ objects: 0, bytes: 0 });
    expect(last.unreachable(of)).toEqual({ objects: 0, bytes: 0 });
    expect(only.unreachable(of)).toEqual({ objects: 1, bytes: 5 });
  });

  test.each([
    ['shard', keys.shard, keys.shard.replace('0a', '0b')],
    ['manifest', keys.manifest, keys.manifest.replace(hashOf(2), `1${hashOf(2).slice(1)}`)],
    ['manifest', keys.manifest, `docs/${hashOf(2)}/manifests/1${hashOf(1).slice(1)}.json`],
    ['root', keys.root, `roots/${hashOf(3)}.json`],
  ] as const)('tells a %s from the same bytes in another place', (kind, reached, listed) => {
    const inventory = new Schema1Inventory();
    inventory.reach(named(reached));
    inventory.list(named(listed), { size: 7 });
    expect(inventory.unreachable(kind)).toEqual({ objects: 1, bytes: 7 });
  });

  test.each([
    [
      'manifests of one document',
      (n: number) => ({ pathHash: sha256Hex('/a.md'), hash: shaOf(n) }),
    ],
    ['one manifest of many documents', (n: number) => ({ pathHash: shaOf(n), hash: shaOf(0) })],
  ] as const)('finds 20,000 %s as fast as any', (_, manifestOf) => {
    const inventory = new Schema1Inventory();
    const count = 20_000;
    for (let n = 0; n < count; n++) {
      inventory.list({ kind: 'manifest', ...manifestOf(n) }, { size: 1 });
    }
    for (let n = 0; n < count; n++) inventory.reach({ kind: 'manifest', ...manifestOf(n) });
    expect(inventory.unreachable('manifest')).toEqual({ objects: 0, bytes: 0 });
    // Two calls for each, and a third for those that moved when the table grew.
    expect(inventory.probes).toBeGreaterThan(2 * count);
    expect(inventory.probes).toBeLessThan(3 * 3 * count);
  });

  test('knows of each blob that is not there the first document that has it', () => {
    const inventory = new Schema1Inventory();
    const blob = (number: number): Schema1Name => ({ kind: 'blob', hash: hashOf(number) });
    inventory.list(blob(9), { size: 1 });
    inventory.list(blob(1), { size: 40 });
    inventory.list(blob(3), { size: 0 });
    inventory.list(blob(4), { size: 101 });
    inventory.reachBlobs(
      '/a.md',
      [1, 2].map((n) => ({ version: n, storedHash: hashOf(n) })),
    );
    inventory.reachBlobs(
      '/b.md',
      [2, 3, 4].map((n) => ({ version: n, storedHash: hashOf(n) })),
    );
    expect([...inventory.oddBlobs(100)]).toEqual([
      { hash: hashOf(3), path: '/b.md', version: 3, size: 0 },
      { hash: hashOf(4), path: '/b.md', version: 4, size: 101 },
      { hash: hashOf(2), path: '/a.md', version: 2, size: null },
    ]);
    expect(inventory.unreachable('blob')).toEqual({ objects: 1, bytes: 1 });
  });

  test('has no place for what is not addressed by a hash', () => {
    const inventory = new Schema1Inventory();
    for (const name of ['head.json', 'changes/0000000000000001.json', 'pins/a.json']) {
      inventory.reach(named(name));
      inventory.list(named(name), { size: 3 });
    }
    for (const kind of ['root', 'shard', 'manifest', 'history', 'blob'] as const) {
      expect(inventory.unreachable(kind).objects).toBe(0);
    }
  });
});
