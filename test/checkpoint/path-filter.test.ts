/**
 * Goal: a filter never denies a path of its run or a directory above one, and denies nearly all
 * others.
 * Method: paths of odd worlds and of large ones, and as many that are none of them.
 */

import { describe, expect, test } from 'vitest';
import { atOnce } from '../../bucketstore/base/in-turns.ts';
import { ancestors } from '../../bucketstore/document/path.ts';
import { hashPath, PathFilter, type PathHash } from '../../checkpoint/path-filter.ts';
import { PathListBuilder } from '../../checkpoint/path-list.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { someDocuments } from './column-worlds.ts';
import { typicalDocuments } from './typical-documents.ts';

function filterOf(paths: readonly string[]): PathFilter {
  const builder = new PathListBuilder();
  for (const path of paths) builder.append(Buffer.from(path), Buffer.byteLength(path));
  const list = atOnce(builder.finishing());
  return atOnce(PathFilter.making(list.cursor(), list.length));
}

function mayHave(filter: PathFilter, path: string): boolean {
  const bytes = Buffer.from(path);
  const hash: PathHash = { block: 0, bits: 0 };
  hashPath(bytes, bytes.length, hash);
  return filter.mayHave(hash);
}

describe('a filter', () => {
  test('has every path, and every directory above one', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const paths = someDocuments(new SeededRandom(seed), 200).map(({ path }) => path);
      const filter = filterOf(paths);
      const directories = paths.flatMap((path) => ancestors(path)).map((path) => `${path}/`);
      const missing = [...paths, ...directories, '/'].filter((path) => !mayHave(filter, path));
      expect(missing).toEqual([]);
    }
  });

  test('denies all but one in a hundred others, at two bytes or so a path', () => {
    const paths = typicalDocuments(1, 20_000).map(({ path }) => path);
    const filter = filterOf(paths);
    const wrong = [
      paths.filter((path) => mayHave(filter, `${path}x`)),
      paths.filter((path) => mayHave(filter, path.slice(0, -1))),
      // A path that is a document's is no directory's.
      paths.filter((path) => mayHave(filter, `${path}/`)),
      paths.filter((_, index) => mayHave(filter, `/${index}`)),
    ];
    for (const { length } of wrong) expect(length).toBeLessThan(paths.length / 100);
    expect(filter.bytes).toBeLessThan(2.5 * paths.length);
  });

  test('of nothing has nothing', () => {
    const filter = filterOf([]);
    expect(['/', '/a', '/a/'].filter((path) => mayHave(filter, path))).toEqual([]);
  });
});
