/**
 * Goal: what was written once is read for ever, and is still what is written. Method: golden files
 * of format 1 decode to their values, their values encode to the same bytes;
 * `test/log/golden.test.ts` has the SHA-256 of each file.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { decodeHistory, encodeHistory } from '../../checkpoint/history.ts';
import { decodePack, decodePackDirectory, slicePacked } from '../../checkpoint/pack.ts';
import { PackCutter } from '../../checkpoint/pack-cutter.ts';
import { decodeRoot, encodeRoot } from '../../checkpoint/root.ts';
import { GOLDEN_EPOCH, GOLDEN_HISTORY, GOLDEN_PACKS, GOLDEN_ROOTS } from './golden-values.ts';
import { SOURCE } from './object-values.ts';

const FOLDER = new URL('../golden/format-1/', import.meta.url);
const read = (file: string): Uint8Array => readFileSync(new URL(file, FOLDER));
const nameOf = (bytes: Uint8Array): { readonly epoch: number; readonly hash: string } => ({
  epoch: GOLDEN_EPOCH,
  hash: sha256Hex(bytes),
});

describe.each(Object.entries(GOLDEN_PACKS))('%s', (file, inputs) => {
  const bytes = read(file);

  test('is still read', () => {
    const { ref, directory } = decodePack(nameOf(bytes), bytes);
    const found = [...directory].map((version) => ({
      sequence: version.sequence,
      storedHash: version.hash,
      bytes: new Uint8Array(slicePacked(bytes, version)),
    }));
    expect(found).toEqual(inputs);
    const range = decodePackDirectory(ref, bytes.subarray(0, ref.directory.length));
    expect([...range]).toEqual([...directory]);
  });

  test('is still written', () => {
    const cutter = new PackCutter(GOLDEN_EPOCH, 'rewritten');
    for (const input of inputs) expect(cutter.add(SOURCE, input)).toBeNull();
    expect(Buffer.compare(cutter.finish()?.bytes ?? new Uint8Array(), bytes)).toBe(0);
  });
});

describe.each(Object.entries(GOLDEN_HISTORY))('%s', (file, { path, records }) => {
  test('is still read', () => {
    const bytes = read(file);
    const ref = { first: records[0]?.version ?? 0, ...nameOf(bytes) };
    expect(decodeHistory(path, ref, bytes)).toEqual(records);
  });

  test('is still written', () => {
    expect(Buffer.compare(encodeHistory(path, records, GOLDEN_EPOCH).bytes, read(file))).toBe(0);
  });
});

describe.each(Object.entries(GOLDEN_ROOTS))('%s', (file, { root, life }) => {
  test('is still read', () => {
    const bytes = read(file);
    expect(decodeRoot(nameOf(bytes), bytes, life)).toEqual(root);
  });

  test('is still written', () => {
    expect(Buffer.compare(encodeRoot(root, GOLDEN_EPOCH, life).bytes, read(file))).toBe(0);
  });
});
