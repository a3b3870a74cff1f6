/**
 * Goal: no bytes make a column set that leaves its columns or says what no documents could.
 * Method: first, each rule is broken alone, and must be refused by the column's name. Then columns
 * are damaged at random places: what is accepted must be, byte for byte, what its own rows gather
 * to, so it is the columns of some documents; that they are the right ones is for the blocks'
 * hashes to say.
 */
import { describe, expect, test } from 'vitest';
import { isStoreError } from '../../bucketstore/base/errors.ts';
import { COLUMN_NAMES, type ColumnName } from '../../checkpoint/column-names.ts';
import { ColumnsBuilder } from '../../checkpoint/columns.ts';
import { readColumns } from '../../checkpoint/columns-reader.ts';
import { ResidentBuilder } from '../../checkpoint/resident-builder.ts';
import { hashOf } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { hexOf, rangesOf, SEGMENT, segmentOf, someDocuments, stateAt } from './column-worlds.ts';

type Ranges = ReadonlyMap<string, Uint8Array>;

/** Why columns are refused; null when they are not. */
function refusalOf(rows: number, ranges: Ranges): string | null {
  try {
    readColumns(SEGMENT, rows, ranges);
    return null;
  } catch (error) {
    if (!isStoreError(error) || error.code !== 'INTEGRITY') throw error;
    expect(error.details).toEqual({ object: SEGMENT });
    return error.message;
  }
}

function withColumn(ranges: Ranges, name: string, bytes: Uint8Array): Ranges {
  return new Map([...ranges, [name, bytes]]);
}

/** Two documents: `/a` and `/b`. */
const TWO = ['/a', '/b'].map((path, i) => ({
  path,
  current: {
    version: 2,
    storedHash: hashOf(1),
    bodyHash: hashOf(2),
    modified: 5,
    at: { epoch: 1 },
  },
  first: 1,
  archived: i === 0,
  catalog: { title: 'É a', metadata: { importance: `0.${i + 1}`, tags: 'x,y', k: 'v' } },
}));

const RULES: readonly (readonly [rule: string, column: ColumnName, hex: string])[] = [
  ['a body short of a byte', 'bodies', `${hashOf(2)}${hashOf(2).slice(2)}`],
  ['no first version', 'firsts', '0000000001000000'],
  ['a first version beyond the current one', 'firsts', '0300000001000000'],
  ['an unknown flag', 'flags', '0104'],
  ['a hidden path that is not', 'flags', '0102'],
  ['a value twice', 'importance_values', hex('0.1\n0.1\n')],
  ['values out of order', 'importance_values', hex('0.2\n0.1\n')],
  ['a value beyond 1', 'importance_values', hex('0.1\n2\n')],
  ['a value with another spelling', 'importance_values', hex('0.1\n.2\n')],
  ['a value without end', 'importance_values', hex('0.1\n0.2')],
  ['a value that is unused', 'importance_values', hex('0.1\n0.2\n0.3\n')],
  ['a place without value', 'importances', '0002'],
  ['places of another width', 'importances', '00000100'],
  ['a second beyond the year 9999', 'modified_high', '003c'],
  ['pairs that are too many', 'pair_counts', '0333'],
  ['pairs that are too few', 'pair_counts', '0302'],
  [
    'pairs out of order',
    'pairs',
    '02000000010000000300000001000000020000000300000000'.slice(0, 48),
  ],
  ['a path after a greater one', 'paths', `0002${hex('/b')}0101${hex('a')}`],
  ['a path twice', 'paths', `0002${hex('/b')}0200`],
  ['a path that shares more than it says', 'paths', `0002${hex('/a')}0002${hex('/b')}`],
  ['a path that shares more than there is', 'paths', `0002${hex('/a')}0301${hex('b')}`],
  ['a block that begins with what is shared', 'paths', `0102${hex('/a')}0101${hex('b')}`],
  ['a path cut short', 'paths', `0002${hex('/a')}0102${hex('b')}`],
  ['bytes after the last path', 'paths', `0002${hex('/a')}0101${hex('b')}00`],
  ['a length in more bytes than it needs', 'paths', `008200${hex('/a')}0101${hex('b')}`],
  ['a path that is not canonical', 'paths', `0002${hex('/a')}0102${hex('b/')}`],
  ['a path that is not UTF-8', 'paths', `0002${hex('/a')}0101ff`],
  ['a title cut within a code point', 'title_lengths', '01000700'],
  ['an empty title', 'title_lengths', '00000800'],
  ['titles that are too short', 'titles', hex('É aa')],
  ['titles that are not UTF-8', 'titles', 'ff'.repeat(8)],
  ['a version of 2^31', 'versions', '0200000000000080'],
  ['words out of order', 'words', hex('é\na\n')],
  ['a word twice', 'words', hex('a\na\n')],
  ['an empty word', 'words', hex('\na\n')],
  ['a word without end', 'words', hex('a\né')],
  ['words that are not UTF-8', 'words', '610aff0a'],
  ['a word without rows', 'word_rows', '00020001'],
  ['a word with a row twice', 'word_rows', '020000020001'],
  ['a word with more rows than there are', 'word_rows', '03000101020001'],
  ['a word with a row that there is not', 'word_rows', '020002020001'],
  ['rows of more words than there are', 'word_rows', '0200010200010100'],
  ['rows of fewer words than there are', 'word_rows', '020001'],
  ['a number beyond 32 bits', 'word_rows', '0200ffffffff1f020001'],
  ['tags out of order', 'tags', hex('y\nx\n')],
  ['a tag with a row that there is not', 'tag_rows', '020001020002'],
];

function hex(text: string): string {
  return Buffer.from(text).toString('hex');
}

describe('`readColumns()` refuses', () => {
  const ranges = rangesOf(TWO);

  test('nothing of what was written', () => {
    expect(refusalOf(2, ranges)).toBeNull();
  });

  test.each(RULES)('%s', (_, column, bytes) => {
    const refusal = refusalOf(2, withColumn(ranges, column, Buffer.from(bytes, 'hex')));
    // A column that is checked by another is named by either.
    expect(refusal).toMatch(/^index\/00000001\/aa\.seg: column [a-z_]+: /);
    const names = refusal?.match(/column ([a-z_]+): /)?.[1] ?? '';
    const others: Partial<Record<ColumnName, string>> = {
      flags: 'paths',
      importance_values: 'importance_values importances',
      modified_high: 'modified',
      pair_counts: 'pairs',
      title_lengths: 'titles',
      words: 'word_rows',
    };
    expect(`${column} ${others[column] ?? ''}`.split(' ')).toContain(names);
  });

  test.each(COLUMN_NAMES)('columns without %s', (name) => {
    const rest = new Map([...ranges].filter(([other]) => other !== name));
    expect(refusalOf(2, rest)).toBe(`${SEGMENT}: column ${name}: missing`);
  });

  test('a column that there is not, and another number of rows', () => {
    expect(refusalOf(2, withColumn(ranges, 'more', Buffer.of()))).toMatch(/unknown, more/);
    expect(refusalOf(1, ranges)).not.toBeNull();
    expect(refusalOf(3, ranges)).not.toBeNull();
  });
});

describe('columns with damage', () => {
  const random = new SeededRandom(5);
  const documents = someDocuments(random, 60);
  const ranges = rangesOf(documents);

  function damaged(bytes: Uint8Array): Uint8Array {
    const copy = Uint8Array.from(bytes);
    const at = random.integer(copy.length);
    switch (random.integer(4)) {
      case 0:
        return copy.subarray(0, at);
      case 1:
        return Uint8Array.of(...copy.subarray(0, at), random.integer(256), ...copy.subarray(at));
      case 2:
        copy[at] = (copy[at] ?? 0) + random.pick([1, 255]);
        return copy;
      default:
        copy[at] = random.integer(256);
        return copy;
    }
  }

  test.each(COLUMN_NAMES)('%s: are refused, or those of some documents', (name) => {
    let refused = 0;
    for (let i = 0; i < 300; i++) {
      const changed = withColumn(ranges, name, damaged(ranges.get(name) ?? Buffer.of()));
      if (refusalOf(documents.length, changed) !== null) {
        refused++;
        continue;
      }
      const columns = readColumns(SEGMENT, documents.length, changed);
      const builder = new ColumnsBuilder();
      for (const row of documents.keys()) builder.gather(columns, row);
      expect(hexOf(builder.finish())).toEqual(hexOf(changed));
    }
    // A byte too many, or too few, is always refused.
    expect(refused).toBeGreaterThan(100);
  });
});

describe('`ResidentBuilder.append()` refuses', () => {
  const random = new SeededRandom(6);

  function appended(...segments: readonly (readonly string[])[]): () => void {
    return () => {
      const builder = new ResidentBuilder(segments.flat().length);
      for (const paths of segments) {
        builder.append(segmentOf(paths.map((path) => stateAt(path, random))));
      }
      builder.finish();
    };
  }

  test.each([
    ['a segment that is not behind the last one', [['/b'], ['/a']]],
    ['a document of two segments', [['/a'], ['/a', '/b']]],
    ['a document above another', [['/a', '/a/b']]],
    [
      'a document above another with others between',
      [
        ['/a', '/a-b', '/a.md'],
        ['/a.n/x', '/a/b'],
      ],
    ],
    ['a document above another, two levels up', [['/a/b', '/a/b!/c'], ['/a/b/c/d']]],
  ])('%s', (_, segments) => {
    expect(appended(...segments)).toThrow(expect.objectContaining({ code: 'INTEGRITY' }));
  });

  test('nothing of a document beside another', () => {
    expect(appended(['/a', '/a-b/c'], ['/a.md', '/a0/b', '/aa/b'])).not.toThrow();
  });

  test('more rows, or fewer, than the run has', () => {
    const columns = segmentOf([stateAt('/a', random), stateAt('/b', random)]);
    expect(() => new ResidentBuilder(1).append(columns)).toThrow(
      expect.objectContaining({ code: 'INTEGRITY' }),
    );
    const builder = new ResidentBuilder(3);
    builder.append(columns);
    expect(() => builder.finish()).toThrow('2 of 3 documents');
  });
});
