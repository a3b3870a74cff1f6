/**
 * Goal: columns say of every document what its state says, however they were made and cut.
 * Method: random worlds of odd names, as columns and as a plain list of documents; every accessor
 * is asked of both. A gathered segment is compared with one made of states, byte for byte, and a
 * small one with bytes that were written out by hand.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { importanceOf } from '../../bucketstore/document/metadata.ts';
import { isHiddenName } from '../../bucketstore/document/path.ts';
import type { DocumentState } from '../../bucketstore/snapshot/state.ts';
import { COLUMN_NAMES } from '../../checkpoint/column-names.ts';
import { ColumnsBuilder, pairHash, searchTags, titleWords } from '../../checkpoint/columns.ts';
import { readColumns } from '../../checkpoint/columns-reader.ts';
import { hashOf } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import {
  cutAtRandom,
  hexOf,
  rangesOf,
  SEEDS,
  SEGMENT,
  segmentOf,
  someDocuments,
  worldOf,
} from './column-worlds.ts';

/** Rows by word, of what each document has. */
function rowsByWord(
  documents: readonly DocumentState[],
  wordsOf: (document: DocumentState) => readonly string[],
): [string, number[]][] {
  const rows = new Map<string, number[]>();
  for (const [row, document] of documents.entries()) {
    for (const word of new Set(wordsOf(document))) {
      rows.set(word, [...(rows.get(word) ?? []), row]);
    }
  }
  return [...rows].sort(([a], [b]) => compareUtf8(a, b));
}

describe.each(SEEDS)('the columns of run %i', (seed) => {
  const { documents, columns } = worldOf(seed);

  test('say of each document what its state says', () => {
    expect(columns.rows).toBe(documents.length);
    const found = documents.map((_, row) => ({
      path: columns.path(row),
      current: {
        version: columns.version(row),
        bodyHash: columns.bodyHash(row),
        storedHash: columns.storedHash(row),
        modified: columns.modified(row),
      },
      first: columns.first(row),
      archived: columns.archived(row),
      catalog: { title: columns.titles.at(row) },
    }));
    expect(documents).toMatchObject(found);
  });

  test('say of each path whether it is hidden, and of metadata its importance and pairs', () => {
    for (const [row, { path, catalog }] of documents.entries()) {
      expect(columns.hidden(row)).toBe(path.split('/').slice(1).some(isHiddenName));
      expect(columns.importance(row)).toBe(importanceOf(catalog.metadata));
      const pairs = Object.entries(catalog.metadata ?? {});
      const hashes = pairs.map(([key, value]) => pairHash(key, value));
      expect([...columns.pairs.at(row)]).toEqual(hashes.sort((a, b) => a - b));
    }
  });

  test('find words and tags', () => {
    const words = rowsByWord(documents, ({ catalog }) => titleWords(catalog.title));
    const tags = rowsByWord(documents, ({ catalog }) => searchTags(catalog.metadata));
    for (const [list, expected] of [
      [columns.words, words],
      [columns.tags, tags],
    ] as const) {
      const found = Array.from({ length: list.size }, (_, i) => [list.word(i), [...list.rows(i)]]);
      expect(found).toEqual(expected);
      for (const [i, [word, rows]] of expected.entries()) {
        expect(list.find(word)).toBe(i);
        expect(list.count(i)).toBe(rows.length);
        expect(list.find(`${word}\u0001`)).toBe(-1);
      }
    }
    for (const part of ['a', 'alph', 'σ', 'x', 'long', 'i', '語', 'nowhere', '\u{1d4b3}', 'a\nb']) {
      const having = words.flatMap(([word], i) => (word.includes(part) ? [i] : []));
      expect([...columns.words.containing(part)]).toEqual(having);
    }
  });

  test('find pairs', () => {
    for (const [key, value] of [
      ['type', 'Note'],
      ['type', ''],
      ['importance', '1'],
      ['no', 'one'],
    ] as const) {
      const rows = documents.flatMap(({ catalog }, row) =>
        catalog.metadata?.[key] === value ? [row] : [],
      );
      expect([...columns.pairs.rowsWith(pairHash(key, value))]).toEqual(rows);
    }
  });

  test('find paths, and what comes after a text, by bytes', () => {
    const random = new SeededRandom(seed);
    const paths = documents.map(({ path }) => path);
    const odd = ['', '/', '0', '/a/', '/\u{10ffff}', `/${'z'.repeat(5000)}`];
    const texts = [...paths, ...odd].flatMap((path) => {
      const cut = path.slice(0, random.integer(path.length + 1));
      return [path, `${path}0`, `${path}/`, cut.isWellFormed() ? cut : ''];
    });
    const bounds = texts.map((text) => {
      const bound = paths.findIndex((other) => compareUtf8(other, text) >= 0);
      return bound < 0 ? paths.length : bound;
    });
    expect(texts.map((text) => columns.lowerBound(text))).toEqual(bounds);
    expect(texts.map((text) => columns.find(text))).toEqual(texts.map((t) => paths.indexOf(t)));
  });
});

describe('`ColumnsBuilder`', () => {
  test.each(SEEDS)('makes by `gather()` the bytes that it makes by `add()` (seed %i)', (seed) => {
    const random = new SeededRandom(seed);
    const documents = someDocuments(random, 300);
    // Sources that overlap, as the segments of several runs do; what none has is added.
    const sources = [1, 2, 3].map(() => {
      const kept = documents.filter(() => random.integer(3) > 0);
      return { kept, columns: segmentOf(kept) };
    });
    for (const piece of cutAtRandom(random, documents, 3)) {
      const builder = new ColumnsBuilder();
      for (const document of piece) {
        const source = random.pick(sources);
        const from = source.kept.indexOf(document);
        if (from >= 0) builder.gather(source.columns, from);
        else builder.add(document.path, document);
      }
      expect(builder.rows).toBe(piece.length);
      expect(hexOf(builder.finish())).toEqual(hexOf(rangesOf(piece)));
    }
  });

  test('names every column once, in order', () => {
    const names = [...rangesOf(someDocuments(new SeededRandom(1), 3)).keys()];
    expect(names).toEqual([...COLUMN_NAMES]);
    expect(names).toEqual([...names].sort());
  });

  test('makes the bytes that the format says', () => {
    const current = { storedHash: hashOf(1), at: { epoch: 1 } };
    const ranges = rangesOf([
      {
        path: '/a/.x.md',
        current: { ...current, version: 300, bodyHash: hashOf(2), modified: 2 ** 32 + 5 },
        first: 2,
        archived: false,
        catalog: { title: 'Big big \u{1d4b3}', metadata: { importance: '.75', tags: 'Go,go,B c' } },
      },
      {
        path: '/a/y',
        current: {
          ...current,
          version: 1,
          storedHash: hashOf(4),
          bodyHash: hashOf(3),
          modified: 7,
        },
        first: 1,
        archived: true,
        catalog: { title: 'a big', metadata: null },
      },
    ]);
    const pairs = ['importance=.75', 'tags=Go,go,B c'].map((pair) => sha256Hex(pair).slice(0, 8));
    const lowestFirst = pairs.sort().map((hash) => hash.match(/../g)?.reverse().join(''));
    const text = (value: string): string => Buffer.from(value).toString('hex');
    expect(hexOf(ranges)).toEqual({
      bodies: `${hashOf(2)}${hashOf(3)}`,
      firsts: '0200000001000000',
      flags: '0201',
      importance_values: text('0.5\n0.75\n'),
      importances: '0100',
      modified: '0500000007000000',
      modified_high: '0100',
      pair_counts: '0200',
      pairs: lowestFirst.join(''),
      paths: `0008${text('/a/.x.md')}0301${text('y')}`,
      stored: `${hashOf(1)}${hashOf(4)}`,
      tag_rows: '01000100',
      tags: text('b c\ngo\n'),
      title_lengths: '0c000500',
      titles: text('Big big \u{1d4b3}a big'),
      versions: '2c01000001000000',
      word_rows: '0101' + '020001' + '0100',
      words: text('a\nbig\n\u{1d4b3}\n'),
    });
  });

  test('refuses paths out of order, and what is no document path', () => {
    const [a, b] = someDocuments(new SeededRandom(2), 9);
    if (a === undefined || b === undefined) throw new RangeError('two documents are needed');
    const builder = new ColumnsBuilder();
    builder.add(b.path, b);
    expect(() => builder.add(a.path, a)).toThrow(InvariantError);
    expect(() => builder.add(b.path, b)).toThrow(InvariantError);
    expect(() => builder.gather(segmentOf([a]), 0)).toThrow(InvariantError);
    for (const path of ['/', 'a', '/a/', '//a', '/a/../b', '/\u0001', `/${'p'.repeat(4087)}`]) {
      expect(() => new ColumnsBuilder().add(path, a)).toThrow(InvariantError);
    }
  });
});

test('`readColumns()` reads bytes at any place in memory', () => {
  const documents = someDocuments(new SeededRandom(3), 200);
  const ranges = rangesOf(documents);
  const shifted = new Map(
    [...ranges].map(([name, bytes]) => {
      const room = new Uint8Array(bytes.length + 1);
      room.set(bytes, 1);
      return [name, room.subarray(1)];
    }),
  );
  const builder = new ColumnsBuilder();
  const columns = readColumns(SEGMENT, documents.length, shifted);
  for (const row of documents.keys()) builder.gather(columns, row);
  expect(hexOf(builder.finish())).toEqual(hexOf(ranges));
});
