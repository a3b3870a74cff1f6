/**
 * Goal: what was written once is read for ever, and is still what is written. Method: golden files
 * of format 1 decode to their values, their values encode to the same bytes, and the SHA-256 of
 * each file stands here, so that nobody changes a file to please the code.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { sha256HexPortable } from '../../bucketstore/base/digest.ts';
import {
  decodeCheckpointRecord,
  encodeCheckpointRecord,
} from '../../bucketstore/log/checkpoint-record.ts';
import { encodeMarker, recogniseHead } from '../../bucketstore/log/marker.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import { decodeSlot, encodeSlot } from '../../bucketstore/log/slot.ts';
import { GOLDEN_RECORDS, GOLDEN_RUNS, GOLDEN_SEGMENTS } from '../checkpoint/golden-tables.ts';
import { GOLDEN_HISTORY, GOLDEN_PACKS, GOLDEN_ROOTS } from '../checkpoint/golden-values.ts';
import { keyOfRecord } from './checkpoint-values.ts';
import { GOLDEN_CHECKPOINTS, GOLDEN_MARKERS, GOLDEN_SLOTS } from './golden-values.ts';

const FOLDER = new URL('../golden/format-1/', import.meta.url);
const HASHES: { readonly [file: string]: string } = {
  'archive.slot': 'b09b3ec2a86170fe50ab72e0b6a7ebb803b235e5e4135fad21dfded543d2fb66',
  'barrier-schema1.slot': 'a6f5a95da727285e9f5bb0ccb89b1ea654b286d02d7d095396772e92b220484d',
  'barrier.slot': '415443af0befa9e0a88540730560a193a5e3f78ccf5849bbf2be3bedbff03c9d',
  'checkpoint-closed.json': '0d085a5ad8de051755800585f7dbc2c9e2480e53ed7df32bb84405810a776689',
  'checkpoint-first.json': '8a2f827d51adf9c8c635ff84582e9915992a4d9b1040f4cf2ce3cad1f770f369',
  'checkpoint-moved.json': '9f0011db5e7d25018b71c271d766bed83b8f241760bf5d38d86b1fca9b94c903',
  'checkpoint-sweep.json': '0c24d238eed94447dcbdafe352a6506576065b017954d68311045339b5d8740c',
  'clear.slot': 'd06754391427b507c08e66288e21e7b3b03998bbd1b367c93652335e9f64f361',
  'empty.run': 'c3c6322de0582809842836a4735af02b46b1005011042224a066ab118ee46a44',
  'floor.slot': 'fa38c842a5ed8f9bc3bae05f85735e3c836259d44014c5042e3e2f03f03070e6',
  'group.slot': '6039f64821c6f1e205d4ba8f71b33798dddb000b5bc4dde4c6f3054caf6f0fcf',
  'history.json': '51514cb1a517cc998ea45a7f55a7ffe3967e297eee626bf66e2ff0adb720339e',
  'inlined.slot': 'e2b0d64a959577520f4f71b84853d3f35b8f989bfe7bd40f44c32564f5a6cdcd',
  'long.seg': 'cac7a4d382f111caf09d260786b534e5032df5f3ebdab47eb746126b64a7a12d',
  'marker-genesis.json': '8f0d253be2c47aab71c6b7846fcbf377dcb1faf3e634dc7ab638141f2da978b7',
  'marker-migrated.json': '78582c2d6bd51615b16976c3c4deb00e8ffd68875895904709fa0167f7ee45c2',
  'metadata.slot': 'cecead548e604cc91d1f0177b7bcb039e3e9ea34c4b61c6fe131c89921b90f6b',
  'one.pack': '6d12cbb1d4c8df3e39dcba7f66bec294b30c18253a0f6f0c6eed86d8fda2ed05',
  'pin.slot': '85ac733bd7301360c257979d50cb4c17fd6ffb55e72f97150476e701478300f4',
  'records.run': '7d7144c3efc754bf2b01cdef8fede821d3b09c8de0c503117b739f374b7d966c',
  'rewritten.pack': '9a41aaa7844e20cb0587e452c814826cfa9b114c770d3646f255b4691f68ec36',
  'root-first.json': '912616f88d36bddd96b056ee4e54062edaad79568951cef9de09b24227600421',
  'root-imported.json': '9fe6f25fbaeea30133ad4e8bba40e0e4092533ff83a80d1ecd75933de9e5659c',
  'seal-closed.slot': 'd6888813ac125830a391317b4c037bdd9fafdf1e45d631f98fcdb8fb56545920',
  'seal-move.slot': '9df4e30c0a0f4c55600122187284493760890cf829db96705233f458de9d8d66',
  'seal-rollback.slot': '8e4725b1e2d882cd93996be53dcf2e5326051528202365008b09f49a9bbbf6fe',
  'segments.run': 'fe39e5b25240c1eccd32bc85a71ab3d485b6014eb7dc59083284c345b5d84f86',
  'small.rec': '9fc1a8cdf5b5c96ca4d88bb965de8ee4197cd4bc845b4d8425c6c353b255b5b3',
  'small.seg': 'd7c3994fc11a402566668c838740f42f4e30635ad8f38627d1be14b7d996c255',
  'staged.slot': 'a5c7ff7e51bd23896f83649e89bf0da3863ace2efeaa95ead523b82fa65137e5',
  'unit.pack': 'b4dffca1cd1b89fac41c1a6e050350972b64aa50781a1cea96fece62f126717f',
  'unpin.slot': '3f3ebd11ae82b3a7c82c5d5f7df26e08bc8e9806b1412961d20b7e38c291233a',
};

const read = (file: string): Uint8Array => readFileSync(new URL(file, FOLDER));

test('the golden files are the ones that were listed, unchanged', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(HASHES).sort());
  for (const [file, hash] of Object.entries(HASHES)) {
    expect(sha256HexPortable(read(file)), file).toBe(hash);
  }
  const log = [GOLDEN_MARKERS, GOLDEN_CHECKPOINTS, GOLDEN_SLOTS];
  // Read and written in `test/checkpoint/golden.test.ts` and `golden-tables.test.ts`.
  const checkpoints = [GOLDEN_PACKS, GOLDEN_HISTORY, GOLDEN_ROOTS];
  const tables = [GOLDEN_SEGMENTS, GOLDEN_RECORDS, GOLDEN_RUNS];
  const cases = [...log, ...checkpoints, ...tables].flatMap(Object.keys);
  expect(cases.sort()).toEqual(Object.keys(HASHES).sort());
});

describe.each(Object.entries(GOLDEN_MARKERS))('%s', (file, marker) => {
  test('is still read', () => {
    expect(recogniseHead(read(file))).toEqual({ kind: 'marker', marker });
  });

  test('is still written', () => {
    expect(Buffer.compare(encodeMarker(marker), read(file))).toBe(0);
  });
});

describe.each(Object.entries(GOLDEN_CHECKPOINTS))('%s', (file, record) => {
  test('is still read', () => {
    expect(decodeCheckpointRecord(keyOfRecord(record), read(file))).toEqual(record);
  });

  test('is still written', () => {
    expect(Buffer.compare(encodeCheckpointRecord(record), read(file))).toBe(0);
  });
});

describe.each(Object.entries(GOLDEN_SLOTS))('%s', (file, input) => {
  test('is still read', () => {
    const { entries, bodies, ...header } = input;
    const { slot } = decodeSlot(slotKey(input.first), read(file));
    expect(slot).toMatchObject(header);
    expect(slot.entries).toEqual(entries);
    expect(slot.inlined.map((item) => item.sequence)).toEqual(bodies.map((body) => body.sequence));
  });

  test('is still written', () => {
    expect(Buffer.compare(encodeSlot(input).bytes, read(file))).toBe(0);
  });
});
