/**
 * Goal: no bytes make a decoder of tables, of their entries or of run manifests do anything but
 * accept its own encoding or refuse; nothing else is thrown, nothing hangs.
 * Method: damage from one fixed seed, under hashes that are right again wherever there is one.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { decodeIndexEntry, encodeIndexEntry } from '../../checkpoint/index-entry.ts';
import {
  decodeRecordEntry,
  encodeRecordEntry,
  type RecordEntry,
} from '../../checkpoint/record-entry.ts';
import type { RunRef } from '../../checkpoint/root.ts';
import {
  decodeRunManifest,
  encodeRunManifest,
  runKey,
  runManifest,
} from '../../checkpoint/run-manifest.ts';
import {
  decodeDirectory,
  encodeDirectory,
  type TableRef,
  tableKey,
} from '../../checkpoint/table-directory.ts';
import { EntryCursor } from '../../checkpoint/table-entry.ts';
import { answer, damaged, damages } from '../log/fuzz.ts';
import { hashOf } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { anyState, drawVersions } from './state-values.ts';
import { drawEntries, EPOCH, runOf, tableOf, text, utf8 } from './table-values.ts';

const seeds = fc.integer({ min: 0, max: 1_000_000 });
const KEY = tableKey('segment', { epoch: EPOCH, hash: hashOf(9) });
const RECORDS_KEY = tableKey('records', { epoch: EPOCH, hash: hashOf(9) });

const runs = (numRuns: number): fc.Parameters<unknown> => ({ seed: 1, numRuns });

test('a damaged directory is refused, or is another valid one', () => {
  const columns = new Map([['versions', utf8('versions')]]);
  fc.assert(
    fc.property(seeds, damages, (seed, plan) => {
      const table = tableOf(drawEntries(new SeededRandom(seed), 20, 9000), { columns });
      const forged = damaged(table.bytes.subarray(0, table.ref.directory.length), plan);
      const directory = { length: forged.length, hash: sha256Hex(forged) };
      const bytes = table.ref.bytes - table.ref.directory.length + forged.length;
      const ref: TableRef = { ...table.ref, bytes, directory };
      const key = tableKey('segment', ref);
      const decoded = answer(key, () => decodeDirectory('segment', ref, forged));
      if (decoded === 'refused') return;
      expect(text(encodeDirectory(decoded))).toBe(text(forged));
    }),
    runs(400),
  );
});

test('damaged entries are walked over in order, or refused', () => {
  fc.assert(
    fc.property(seeds, damages, (seed, plan) => {
      const table = tableOf(drawEntries(new SeededRandom(seed), 12, 60));
      const good = table.bytes.subarray(table.ref.directory.length);
      const forged = damaged(good, plan);
      const cursor = new EntryCursor(KEY, forged);
      let end = 0;
      while (answer(KEY, () => cursor.advance()) === true) {
        expect(cursor.start).toBe(end);
        end = cursor.end;
        expect(end).toBeLessThanOrEqual(forged.length);
      }
    }),
    runs(400),
  );
});

test('a damaged state is refused, or is another valid one', () => {
  fc.assert(
    fc.property(anyState, damages, (state, plan) => {
      const json = damaged(encodeIndexEntry(state, EPOCH), plan);
      const decoded = answer(KEY, () => decodeIndexEntry(KEY, { path: utf8(state.path), json }));
      if (decoded === 'refused') return;
      expect(text(encodeIndexEntry(decoded, EPOCH))).toBe(text(json));
    }),
    runs(600),
  );
});

test('a damaged entry of version records is refused, or is another valid one', () => {
  fc.assert(
    fc.property(seeds, damages, (seed, plan) => {
      const random = new SeededRandom(seed);
      const blocks = [{ first: 1, hash: hashOf(1), epoch: 2 }];
      const records = drawVersions(random, 257, random.integer(6));
      const entry: RecordEntry = { first: 1 + random.integer(256), blocks, records };
      const json = damaged(encodeRecordEntry('/a', entry, EPOCH), plan);
      const found = { path: utf8('/a'), json };
      const decoded = answer(RECORDS_KEY, () => decodeRecordEntry(RECORDS_KEY, found));
      if (decoded === 'refused') return;
      expect(text(encodeRecordEntry('/a', decoded, EPOCH))).toBe(text(json));
    }),
    runs(400),
  );
});

test('a damaged run manifest is refused, or is another valid one', () => {
  const interval = { after: sequence(5), through: sequence(9) };
  fc.assert(
    fc.property(seeds, damages, (seed, plan) => {
      const tables = runOf(drawEntries(new SeededRandom(seed), 20)).map(({ ref }) => ref);
      const { bytes } = encodeRunManifest(runManifest('run', interval, tables), EPOCH);
      const forged = damaged(bytes, plan);
      const ref: RunRef = { ...interval, epoch: EPOCH, hash: sha256Hex(forged) };
      const decoded = answer(runKey(ref), () => decodeRunManifest('run', ref, forged));
      if (decoded === 'refused') return;
      expect(text(encodeRunManifest(decoded, EPOCH).bytes)).toBe(text(forged));
    }),
    runs(400),
  );
});
