/**
 * Goal: segments, record tables and run manifests that were written once are read for ever, and are
 * still what is written. Method: golden files of format 1, which a small program of the tests'
 * wrote, are read by the store and by the oracle's decoders, and written by the store;
 * `test/log/golden.test.ts` has the SHA-256 of each file.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { ColumnsBuilder } from '../../checkpoint/columns.ts';
import { readColumns } from '../../checkpoint/columns-reader.ts';
import { decodeIndexEntry, encodeIndexEntry } from '../../checkpoint/index-entry.ts';
import { decodeRecordEntry, encodeRecordEntry } from '../../checkpoint/record-entry.ts';
import { decodeRunManifest, encodeRunManifest } from '../../checkpoint/run-manifest.ts';
import { columnsOf, entriesOf, verifyTable } from '../../checkpoint/table.ts';
import { TableBuilder } from '../../checkpoint/table-builder.ts';
import { type TableKind, type TableRef, tableKey } from '../../checkpoint/table-directory.ts';
import { decodeManifest, decodeTable } from '../oracle/checkpoints.ts';
import { GOLDEN_RECORDS, GOLDEN_RUNS, GOLDEN_SEGMENTS } from './golden-tables.ts';
import { GOLDEN_EPOCH } from './golden-values.ts';
import { manifestBytes, recordsBytes, segmentBytes } from './golden-writer.ts';

const FOLDER = new URL('../golden/format-1/', import.meta.url);
const read = (file: string): Buffer => readFileSync(new URL(file, FOLDER));
const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** How a manifest names a table of these paths. */
function refOf(bytes: Buffer, paths: readonly { readonly path: string }[]): TableRef {
  const length = bytes.indexOf(10) + 1;
  return {
    bytes: bytes.length,
    directory: { length, hash: sha256Hex(bytes.subarray(0, length)) },
    entries: paths.length,
    epoch: GOLDEN_EPOCH,
    first: paths[0]?.path ?? '',
    last: paths.at(-1)?.path ?? '',
    hash: sha256Hex(bytes),
  };
}

/** Path and JSON of each entry, by the store and by the oracle. */
function readBoth(kind: TableKind, ref: TableRef, bytes: Buffer) {
  const table = verifyTable(kind, ref, bytes);
  const found = [];
  const cursor = entriesOf(table);
  while (cursor.advance()) found.push({ path: cursor.path(), json: cursor.json() });
  const key = tableKey(kind, ref);
  const { length, hash } = ref.directory;
  const told = decodeTable(key, kind, { ...ref, directory: [length, hash] }, bytes, 65_536);
  expect(told).toEqual(
    found.map(({ path, json }) => ({
      path: Buffer.from(path).toString(),
      said: JSON.parse(Buffer.from(json).toString()),
    })),
  );
  return { key, table, found };
}

describe.each(Object.entries(GOLDEN_SEGMENTS))('%s', (file, states) => {
  const bytes = read(file);

  test('is still read', () => {
    const { key, table, found } = readBoth('segment', refOf(bytes, states), bytes);
    expect(found.map((entry) => decodeIndexEntry(key, entry))).toEqual(states);
    const columns = readColumns(key, states.length, columnsOf(table));
    for (const [row, { path, current, first, catalog }] of states.entries()) {
      expect(columns.paths.at(row)).toBe(path);
      expect(columns.titles.at(row)).toBe(catalog.title);
      expect([columns.versions[row], columns.firsts[row]]).toEqual([current.version, first]);
      const stored = columns.stored.subarray(32 * row, 32 * (row + 1));
      expect(Buffer.from(stored).toString('hex')).toBe(current.storedHash);
    }
  });

  test('is still written', () => {
    const builder = new TableBuilder('segment', GOLDEN_EPOCH);
    const columns = new ColumnsBuilder();
    for (const { path, ...state } of states) {
      builder.add(Buffer.from(path), encodeIndexEntry({ path, ...state }, GOLDEN_EPOCH));
      columns.add(path, state);
    }
    expect(isSame(builder.finish({ columns: columns.finish() }).bytes, bytes)).toBe(true);
  });

  test('is what the format says', () => {
    expect(isSame(segmentBytes(states), bytes)).toBe(true);
  });
});

describe.each(Object.entries(GOLDEN_RECORDS))('%s', (file, entries) => {
  const bytes = read(file);

  test('is still read', () => {
    const { key, found } = readBoth('records', refOf(bytes, entries), bytes);
    expect(found.map((entry) => decodeRecordEntry(key, entry))).toEqual(
      entries.map(({ path: _, ...entry }) => entry),
    );
  });

  test('is still written', () => {
    const builder = new TableBuilder('records', GOLDEN_EPOCH);
    for (const { path, ...entry } of entries) {
      builder.add(Buffer.from(path), encodeRecordEntry(path, entry, GOLDEN_EPOCH));
    }
    expect(isSame(builder.finish().bytes, bytes)).toBe(true);
  });

  test('is what the format says', () => {
    expect(isSame(recordsBytes(entries), bytes)).toBe(true);
  });
});

describe.each(Object.entries(GOLDEN_RUNS))('%s', (file, manifest) => {
  const bytes = read(file);

  test('is still read', () => {
    const { kind, after, through } = manifest;
    const ref = { after, through, epoch: GOLDEN_EPOCH, hash: sha256Hex(bytes) };
    expect(decodeRunManifest(kind, ref, bytes)).toEqual(manifest);
    const told = decodeManifest(file, bytes);
    const objects = manifest.objects.map(({ directory: { length, hash }, ...object }) => {
      return { ...object, directory: [length, hash] };
    });
    expect(told).toEqual({ ...manifest, schema: 2, objects });
  });

  test('is still written', () => {
    expect(isSame(encodeRunManifest(manifest, GOLDEN_EPOCH).bytes, bytes)).toBe(true);
  });

  test('is what the format says', () => {
    expect(isSame(manifestBytes(manifest), bytes)).toBe(true);
  });
});
