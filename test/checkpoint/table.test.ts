/**
 * Goal: a table gives back its entries, as a whole and by ranges, and nothing passes for it that is
 * damaged.
 * Method: tables of entries drawn from seeds, read through the same ranges that a bucket would be
 * asked for; each byte of a small one flipped; directories of other members under a hash that is
 * right.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { canonicalText } from '../../bucketstore/base/canonical.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { BLOCK_BYTES } from '../../checkpoint/constants.ts';
import { columnsOf, openTable, verifyTable } from '../../checkpoint/table.ts';
import { blocksFor, sliceBlocks, stretchOf, verifyBlocks } from '../../checkpoint/table-blocks.ts';
import { type BuiltTable, TableBuilder } from '../../checkpoint/table-builder.ts';
import {
  type DataRange,
  decodeDirectory,
  type TableDirectory,
  type TableRef,
} from '../../checkpoint/table-directory.ts';
import { EntryCursor, findEntry } from '../../checkpoint/table-entry.ts';
import { changed, type Loose, placesOf, refusal } from '../log/forge.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import {
  drawEntries,
  drawPath,
  keyOfTable,
  type PlainEntry,
  readAll,
  tableOf,
  text,
  utf8,
} from './table-values.ts';

const COLUMNS: ReadonlyMap<string, Uint8Array> = new Map([
  ['versions', utf8('versions of any kind')],
  ['bodies', utf8('bodies of rows')],
  ['empty', new Uint8Array(0)],
]);

/** What a bucket answers to a range request. */
function read(table: BuiltTable, { offset, length }: DataRange): Uint8Array {
  return Uint8Array.from(table.bytes.subarray(offset, offset + length));
}

function directoryOf(table: BuiltTable): TableDirectory {
  const { length } = table.ref.directory;
  return decodeDirectory('segment', table.ref, read(table, { offset: 0, length }));
}

/** A path read, as a reader does one; also how many bytes it took. */
function lookUp(
  table: BuiltTable,
  path: string,
  directory = directoryOf(table),
): { entry: PlainEntry | null; row: number; bytes: number } {
  const stretch = stretchOf(directory, path);
  if (stretch === null) return { entry: null, row: -1, bytes: 0 };
  const blocks = blocksFor(directory, stretch);
  const bytes = sliceBlocks(directory, stretch, blocks, read(table, blocks));
  const found = findEntry(directory.key, bytes, utf8(path), stretch.row);
  const entry = found === null ? null : { path: text(found.path), json: text(found.json) };
  return { entry, row: found?.row ?? -1, bytes: blocks.length };
}

describe('a table', () => {
  test.each([1, 2, 3, 4, 5, 6])('gives back what was put in, seed %i', (seed) => {
    const random = new SeededRandom(seed);
    const entries = drawEntries(random, 1 + random.integer(400), 2000);
    const table = tableOf(entries, { columns: COLUMNS, postings: utf8('later') });
    expect(readAll(table)).toEqual(entries);
    expect(table.ref).toMatchObject({
      bytes: table.bytes.length,
      entries: entries.length,
      first: entries[0]?.path,
      last: entries.at(-1)?.path,
      hash: sha256Hex(table.bytes),
    });
    const opened = verifyTable('segment', table.ref, table.bytes);
    expect(new Map([...columnsOf(opened)].map(([name, bytes]) => [name, text(bytes)]))).toEqual(
      new Map([...COLUMNS].map(([name, bytes]) => [name, text(bytes)])),
    );
    const { columns, postings } = opened.directory.ranges;
    for (const { offset } of [...columns.values(), postings]) expect(offset % 8).toBe(0);
    expect([...columns.keys()]).toEqual([...COLUMNS.keys()].sort());
    const again = tableOf(entries, {
      columns: new Map([...COLUMNS].reverse()),
      postings: utf8('later'),
    });
    expect(Buffer.compare(again.bytes, table.bytes)).toBe(0);
  });

  test.each([11, 12, 13])('has every path where its marks say, seed %i', (seed) => {
    const random = new SeededRandom(seed);
    // Long entries: stretches begin in the middle of blocks and end in the next.
    const entries = drawEntries(random, 60, 16_000, 500);
    const table = tableOf(entries, { columns: COLUMNS });
    expect(table.bytes.length).toBeGreaterThan(4 * BLOCK_BYTES);
    const directory = directoryOf(table);
    for (const [index, entry] of entries.entries()) {
      const { entry: found, row, bytes } = lookUp(table, entry.path, directory);
      expect(found).toEqual(entry);
      expect(row).toBe(index);
      expect(bytes).toBeLessThanOrEqual(2 * BLOCK_BYTES);
    }
    const there = new Set(entries.map(({ path }) => path));
    const absent = Array.from({ length: 50 }, () => drawPath(random, 500));
    for (const path of [...absent, '/', '/\u{10ffff}']) {
      if (!there.has(path)) expect(lookUp(table, path, directory).entry).toBe(null);
    }
  });

  test('marks the first entry that begins at or behind each block', () => {
    const random = new SeededRandom(21);
    const entries = drawEntries(random, 90, 16_000);
    const { marks, ranges } = directoryOf(tableOf(entries));
    const starts: number[] = [];
    let end = 0;
    for (const { path, json } of entries) {
      starts.push(end);
      end += 6 + utf8(path).length + utf8(json).length;
    }
    const expected = new Set<number>();
    for (let block = 0; block < ranges.entries.length; block += BLOCK_BYTES) {
      const row = starts.findIndex((start) => start >= block);
      if (row >= 0) expected.add(row);
    }
    expect(marks).toEqual(
      [...expected].map((row) => ({ path: entries[row]?.path, row, offset: starts[row] })),
    );
  });

  test('ends exactly with a block, or with one byte in the next', () => {
    const json = (bytes: number): string => `"${'x'.repeat(bytes - 2)}"`;
    for (const more of [-8, 0, 8]) {
      // One entry of 6 + 2 bytes and JSON; postings of 8 make the data one block and `more`.
      const table = tableOf([{ path: '/a', json: json(BLOCK_BYTES - 16 + more) }], {
        postings: utf8('postings'),
      });
      const directory = directoryOf(table);
      expect(table.bytes.length - directory.length).toBe(BLOCK_BYTES + more);
      expect(directory.blocks).toHaveLength(more > 0 ? 2 : 1);
      expect(lookUp(table, '/a').entry?.path).toBe('/a');
      expect(text(lastBytes(directory, table))).toBe('postings');
    }
  });

  test('marks an entry that begins where a block does', () => {
    for (const more of [-1, 0, 1]) {
      // Each has 6 + 2 bytes beside its JSON.
      const half = BLOCK_BYTES / 2 - 8;
      const lengths = [half, half + more, 20, 20];
      const entries = lengths.map((length, n) => {
        return { path: `/${'abcd'[n]}`, json: `"${'z'.repeat(length - 2)}"` };
      });
      const { marks } = directoryOf(tableOf(entries));
      const begins = BLOCK_BYTES + more;
      const second = more < 0 ? { path: '/d', row: 3, offset: begins + 28 } : null;
      expect(marks).toEqual([
        { path: '/a', row: 0, offset: 0 },
        second ?? { path: '/c', row: 2, offset: begins },
      ]);
    }
  });

  test('holds an entry over several blocks', () => {
    const long = `"${'y'.repeat(3 * BLOCK_BYTES)}"`;
    const entries = [
      { path: '/a', json: '{}' },
      { path: '/b', json: long },
      { path: '/c', json: '{}' },
    ];
    const table = tableOf(entries, {}, 'records');
    expect(readAll(table, 'records')).toEqual(entries);
    const { marks } = openTable('records', table.ref, table.bytes).directory;
    expect(marks.map(({ row }) => row)).toEqual([0, 2]);
  });

  test('is not made of nothing, out of order, or of what has no name', () => {
    expect(() => tableOf([])).toThrow(InvariantError);
    const pair = [
      { path: '/b', json: '{}' },
      { path: '/a', json: '{}' },
    ];
    expect(() => tableOf(pair)).toThrow(InvariantError);
    expect(() => tableOf([pair[0], pair[0]].flatMap((entry) => entry ?? []))).toThrow(
      InvariantError,
    );
    expect(() => tableOf([{ path: 'a', json: '{}' }])).toThrow(InvariantError);
    expect(() => tableOf([{ path: '/a', json: '' }])).toThrow(InvariantError);
    const [entry] = pair;
    if (entry === undefined) throw new RangeError('no entry');
    for (const name of ['', 'A', '__proto__', '1', 'x'.repeat(33)]) {
      const columns = new Map([[name, utf8('x')]]);
      expect(() => tableOf([entry], { columns })).toThrow(InvariantError);
    }
    const columns = new Map([['a', utf8('x')]]);
    expect(() => tableOf([entry], { columns }, 'records')).toThrow(InvariantError);
  });

  test('is followed by another from the same builder, as if that were the first', () => {
    const builder = new TableBuilder('segment', 1);
    builder.add(utf8('/z'), utf8(`{"a":"${'x'.repeat(400)}"}`));
    builder.finish({ columns: COLUMNS });
    expect([builder.entries, builder.bytes]).toEqual([0, 0]);
    builder.add(utf8('/a'), utf8('{}'));
    const second = builder.finish({ columns: COLUMNS });
    const alone = new TableBuilder('segment', 1);
    alone.add(utf8('/a'), utf8('{}'));
    const { bytes } = alone.finish({ columns: COLUMNS });
    expect(Buffer.compare(second.bytes, bytes)).toBe(0);
  });
});

function lastBytes(directory: TableDirectory, table: BuiltTable): Uint8Array {
  const { postings } = directory.ranges;
  const blocks = blocksFor(directory, postings);
  return sliceBlocks(directory, postings, blocks, read(table, blocks));
}

describe('damage to a table', () => {
  const entries = drawEntries(new SeededRandom(31), 12, 60);
  const table = tableOf(entries, { columns: COLUMNS, postings: utf8('post') });
  const key = keyOfTable(table);

  test('of any byte is found by whoever reads all of it', () => {
    for (let at = 0; at < table.bytes.length; at++) {
      const bytes = Uint8Array.from(table.bytes);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      refusal(key, () => openTable('segment', table.ref, bytes));
    }
  });

  test('of any byte is found by whoever reads its directory, or the block that has it', () => {
    const directory = directoryOf(table);
    const { length } = table.ref.directory;
    for (let at = 0; at < table.bytes.length; at++) {
      const bytes = Uint8Array.from(table.bytes);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      if (at < length) {
        refusal(key, () => decodeDirectory('segment', table.ref, bytes.subarray(0, length)));
      } else {
        refusal(key, () => verifyBlocks(directory, 0, bytes.subarray(length)));
      }
    }
  });

  test('of length is found', () => {
    const longer = Buffer.concat([table.bytes, Buffer.from([0])]);
    for (const bytes of [longer, table.bytes.subarray(0, -1), new Uint8Array(0)]) {
      refusal(key, () => openTable('segment', table.ref, bytes));
      refusal(key, () => verifyTable('segment', table.ref, bytes));
    }
    const big = tableOf(drawEntries(new SeededRandom(32), 40, 9000));
    const directory = directoryOf(big);
    const range = { offset: 10, length: 100 };
    const blocks = blocksFor(directory, range);
    const right = read(big, blocks);
    expect(right).toHaveLength(BLOCK_BYTES);
    expect(sliceBlocks(directory, range, blocks, right)).toHaveLength(100);
    for (const wrong of [right.subarray(1), right.subarray(0, -1), new Uint8Array(0)]) {
      refusal(directory.key, () => sliceBlocks(directory, range, blocks, wrong));
    }
    const second = read(big, { offset: blocks.offset + BLOCK_BYTES, length: BLOCK_BYTES });
    verifyBlocks(directory, 1, second);
    refusal(directory.key, () => verifyBlocks(directory, 0, second));
    refusal(directory.key, () => verifyBlocks(directory, 1_000_000, second));
  });

  test('of order, lengths and names of entries is found by whoever walks over them', () => {
    const { ranges, length } = directoryOf(table);
    const good = table.bytes.subarray(length, length + ranges.entries.length);
    const walk = (bytes: Uint8Array): number => {
      const cursor = new EntryCursor('k', bytes);
      let count = 0;
      while (cursor.advance()) count++;
      return count;
    };
    expect(walk(good)).toBe(entries.length);
    for (const cut of [1, 5, 6, 7, good.length - 1])
      refusal('k', () => walk(good.subarray(0, cut)));
    refusal('k', () => walk(Buffer.concat([good, good])));
    refusal('k', () => walk(Buffer.from([0, 0, 0, 0, 0, 2, 0x7b, 0x7d])));
    refusal('k', () => walk(Buffer.from([0, 1, 0, 0, 0, 1, 0x2f, 0x7b])));
    refusal('k', () =>
      walk(Buffer.concat([Buffer.from([0xff, 0xff, 0, 0, 0, 2]), Buffer.alloc(70_000)])),
    );
  });

  test('that its writer did is found by `verifyTable`', () => {
    const forged = [
      { ...table.ref, last: '/\u{10ffff}' },
      { ...table.ref, hash: sha256Hex('another') },
    ];
    for (const ref of forged) {
      openTable('segment', ref, table.bytes);
      refusal(`${keyOfTable({ ...table, ref })}`, () => verifyTable('segment', ref, table.bytes));
    }
  });
});

describe('a directory', () => {
  const entries = drawEntries(new SeededRandom(41), 30, 9000);
  // Without the empty column: another directory that is valid too.
  const columns = new Map([...COLUMNS].filter(([, bytes]) => bytes.length > 0));
  const table = tableOf(entries, { columns });
  const head = text(table.bytes.subarray(0, table.ref.directory.length - 1));
  const members = JSON.parse(head) as { [name: string]: Loose };

  /** A reference under which any bytes are the directory. */
  function refOf(bytes: Uint8Array): TableRef {
    const length = table.ref.bytes - table.ref.directory.length + bytes.length;
    const directory = { length: bytes.length, hash: sha256Hex(bytes) };
    return { ...table.ref, bytes: length, directory };
  }

  function refuses(line: string): void {
    const bytes = utf8(line);
    refusal(keyOfTable(table), () => decodeDirectory('segment', refOf(bytes), bytes));
  }

  test('is valid as it is', () => {
    const bytes = utf8(`${canonicalText(members)}\n`);
    expect(decodeDirectory('segment', refOf(bytes), bytes)).toEqual(directoryOf(table));
    expect(directoryOf(table).marks.length).toBeGreaterThan(1);
  });

  test('is refused with a member missing, renamed, or of another value', () => {
    for (const path of placesOf(members)) {
      const dropped = changed(members, path, (at, step) =>
        Array.isArray(at) ? at.splice(Number(step), 1) : Reflect.deleteProperty(at, step),
      );
      // Without its last column, the postings are not where they were.
      refuses(`${canonicalText(dropped)}\n`);
      const more = changed(members, path, (at, step) =>
        Array.isArray(at) ? at.push(0) : Object.assign(at, { [`${step}x`]: 1 }),
      );
      refuses(`${canonicalText(more)}\n`);
      for (const value of [null, true, '', 'x', -1, 1, 2 ** 52, [], {}, [[]]]) {
        const other = changed(members, path, (at, step) => Object.assign(at, { [step]: value }));
        const line = `${canonicalText(other)}\n`;
        // Any hash may be a block's, and any row beside it a mark's: only all entries tell.
        if (line === `${head}\n` || isMarkRow(path, value)) continue;
        // A newer format.
        if (path[0] === 'schema' && value === 2 ** 52) continue;
        refuses(line);
      }
    }
  });

  /** A row or path of a mark that could be: `verifyTable` alone knows better. */
  function isMarkRow(path: readonly (string | number)[], value: unknown): boolean {
    return path[0] === 'marks' && path[2] === 1 && value === 1 && path[1] === 1;
  }

  test('is refused in another spelling', () => {
    const lines = [
      head,
      `${head}\n\n`,
      ` ${head}\n`,
      `${head.replace(',"', ', "')}\n`,
      `${head.replace('"schema":2', '"schema":2,"schema":2')}\n`,
      `${head.replace('"schema":2', '"schema":2.0')}\n`,
      `${head.replace('{', '{"__proto__":{},')}\n`,
      `${head.replace('"columns":{', '"columns":{"__proto__":[0,0],')}\n`,
      `${head.replace('"schema":2', '"schema":1')}\n`,
      '[]\n',
      '\n',
      `${'['.repeat(100_000)}\n`,
    ];
    for (const line of lines) {
      expect(line).not.toBe(`${head}\n`);
      refuses(line);
    }
  });

  test('of a newer schema is refused as that', () => {
    const bytes = utf8(`${head.replace('"schema":2', '"schema":3,"zoo":1')}\n`);
    expect(() => decodeDirectory('segment', refOf(bytes), bytes)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_FORMAT' }),
    );
  });

  test('is refused beside another manifest, or as another kind', () => {
    const bytes = utf8(`${head}\n`);
    const ref = refOf(bytes);
    const others: TableRef[] = [
      { ...ref, bytes: ref.bytes + 1 },
      { ...ref, entries: ref.entries + 1 },
      { ...ref, first: '/' },
      { ...ref, directory: { ...ref.directory, length: ref.directory.length + 1 } },
      { ...ref, directory: { ...ref.directory, hash: sha256Hex('x') } },
    ];
    for (const other of others) {
      refusal(keyOfTable(table), () => decodeDirectory('segment', other, bytes));
    }
    refusal(keyOfTable(table, 'records'), () => decodeDirectory('records', ref, bytes));
  });

  test('finds stretches that cover all entries, each once, in order', () => {
    const directory = directoryOf(table);
    let end = 0;
    for (const { path, row, offset } of directory.marks) {
      const stretch = stretchOf(directory, path);
      expect(stretch).toMatchObject({ row, offset });
      expect(offset).toBe(end);
      end += stretch?.length ?? 0;
    }
    expect(end).toBe(directory.ranges.entries.length);
    const before = entries[0]?.path.slice(0, -1) ?? '';
    expect(compareUtf8(before, entries[0]?.path ?? '')).toBeLessThan(0);
    expect(stretchOf(directory, before)).toBe(null);
  });

  test('refuses to read beyond the data', () => {
    const directory = directoryOf(table);
    const data = table.ref.bytes - directory.length;
    expect(blocksFor(directory, { offset: data, length: 0 }).length).toBe(0);
    expect(() => blocksFor(directory, { offset: data, length: 1 })).toThrow(InvariantError);
    expect(() => blocksFor(directory, { offset: -1, length: 1 })).toThrow(InvariantError);
  });
});
