/**
 * Goal: whatever lies below a document is found, however deep and in whatever order, and nothing
 * else is. Method: paths by hand; any paths of few names, against every pair of them.
 */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { Schema1Topology } from '../../migrate/schema1-topology.ts';

function topologyOf(paths: Iterable<string>): Schema1Topology {
  const topology = new Schema1Topology();
  for (const path of paths) topology.add(path, path.length);
  return topology;
}

function collisionsOf(paths: Iterable<string>): string[] {
  const found = topologyOf(paths).collisions();
  return [...found].map(({ path, above }) => `${path} below ${above}`).sort();
}

describe('documents', () => {
  test.each([
    ['none', []],
    ['neighbours', ['/a.md', '/a.md.md', '/a.mdx/b', '/a', '/b/a.md']],
    ['a shared directory', ['/d/a', '/d/b', '/d/e/a', '/d/e/b']],
    ['hidden ones', ['/.well-known/a', '/versions/a', '/versions/b']],
    ['names of what sorts before a slash', ['/a', '/a\t/b', '/a /b', '/a!', '/a./b', '/a-/b']],
  ])('%s fit', (_, paths) => {
    expect(collisionsOf(paths)).toEqual([]);
    expect(collisionsOf(paths.toReversed())).toEqual([]);
  });

  test.each([
    ['document ancestor', ['/a.md', '/a.md/b.md'], ['/a.md/b.md below /a.md']],
    ['far above', ['/a', '/b', '/a/b/c/d'], ['/a/b/c/d below /a']],
    ['just above', ['/a/b/c', '/a/b/c/d'], ['/a/b/c/d below /a/b/c']],
    [
      'with names between them in the order of bytes',
      ['/a', '/a\tb', '/a!', '/a.md', '/a/b'],
      ['/a/b below /a'],
    ],
    [
      'several, each below the topmost',
      ['/a/b', '/a', '/a/b/c', '/c/d', '/a/z', '/b'],
      ['/a/b below /a', '/a/b/c below /a', '/a/z below /a'],
    ],
  ])('%s told', (_, paths, expected) => {
    expect(collisionsOf(paths)).toEqual(expected);
    expect(collisionsOf(paths.toReversed())).toEqual(expected);
  });

  test('any are held against each other as if in pairs', () => {
    const name = fc.constantFrom('a', 'b', 'a.md', 'a\t', 'a b', '\uffee', '\u{1f600}');
    const names = fc.array(name, { minLength: 1, maxLength: 4 });
    const path = names.map((parts) => `/${parts.join('/')}`);
    const paths = fc.uniqueArray(path, { maxLength: 30 });
    fc.assert(
      fc.property(paths, (all) => {
        const expected = all.flatMap((one) => {
          const above = all.filter((other) => one.startsWith(`${other}/`));
          const [topmost] = above.sort((a, b) => a.length - b.length);
          return topmost === undefined ? [] : [`${one} below ${topmost}`];
        });
        expect(collisionsOf(all)).toEqual(expected.sort());
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  test('are known by path with their versions, each taken once', () => {
    const topology = topologyOf(['/a', '/b/c']);
    expect(topology.size).toBe(2);
    expect(['/a', '/b', '/b/c'].map((path) => topology.versionOf(path))).toEqual([2, undefined, 4]);
    expect(() => topology.add('/a', 1)).toThrow(InvariantError);
  });
});

test('nothing is kept of the directories of a path, however many', () => {
  const paths = Array.from({ length: 200 }, (_, index) => `/${index}/${'a/'.repeat(2000)}b`);
  const set = vi.spyOn(Map.prototype, 'set');
  const add = vi.spyOn(Set.prototype, 'add');
  try {
    expect(topologyOf(paths).size).toBe(paths.length);
    expect(set.mock.calls.length + add.mock.calls.length).toBe(paths.length);
  } finally {
    set.mockRestore();
    add.mockRestore();
  }
  expect(collisionsOf(paths)).toEqual([]);
});
