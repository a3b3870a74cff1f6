/**
 * Goal: a history block gives back the 256 records that were closed, and nothing else passes for
 * one.
 * Method: ranges from seeds through bytes and back; every field damaged under a name that is right
 * again; ranges that are none.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { canonicalText } from '../../bucketstore/base/canonical.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import type { VersionRecord } from '../../bucketstore/snapshot/state.ts';
import {
  decodeHistory,
  encodeHistory,
  type HistoryRef,
  historyFirst,
  historyKey,
} from '../../checkpoint/history.ts';
import { changed, type Loose, placesOf, refusal } from '../log/forge.ts';
import { hashOf } from '../log/values.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { drawRange, EPOCH } from './object-values.ts';

type Members = { [name: string]: Loose };

const PATH = '/menü/日本 🜁.md';
const RECORDS = drawRange(new SeededRandom(1), 257);
const { bytes: BYTES, ref: REF } = encodeHistory(PATH, RECORDS, EPOCH);
const MEMBERS = JSON.parse(Buffer.from(BYTES).toString()) as Members;
/** Records that are damaged one by one: the last blob's is among them. */
const SHORT = new Set([0, 1, 2, 254, 255, RECORDS.findLastIndex(({ at }) => 'epoch' in at)]);

/** A block of any text, under the name that it has. */
function forge(text: string): { readonly ref: HistoryRef; readonly bytes: Uint8Array } {
  return { ref: { first: 257, hash: sha256Hex(text), epoch: EPOCH }, bytes: Buffer.from(text) };
}

/** What the reader of a forged block says. */
function problem(text: string): string {
  const { ref, bytes } = forge(text);
  const key = historyKey(ref);
  return refusal(key, () => decodeHistory(PATH, ref, bytes)).message.slice(key.length + 2);
}

function withRecord(index: number, change: Partial<VersionRecord>): VersionRecord[] {
  return RECORDS.map((record, at) => (at === index ? { ...record, ...change } : record));
}

describe('a history block', () => {
  test('decode then encode gives the same bytes', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = new SeededRandom(seed);
      const first = 1 + 256 * random.integer(random.pick([3, 8_388_607]));
      const records = drawRange(random, first);
      const { bytes, ref } = encodeHistory(PATH, records, EPOCH);
      expect(ref).toEqual({ first, hash: sha256Hex(bytes), epoch: EPOCH });
      const decoded = decodeHistory(PATH, ref, bytes);
      expect(decoded).toEqual(records);
      expect(Buffer.compare(encodeHistory(PATH, decoded, EPOCH).bytes, bytes)).toBe(0);
    }
  });

  test('is the same in every epoch but for its key', () => {
    const later = encodeHistory(PATH, RECORDS, EPOCH + 1);
    expect(Buffer.compare(later.bytes, BYTES)).toBe(0);
    expect(later.ref).toEqual({ ...REF, epoch: EPOCH + 1 });
  });

  test('fits however long its numbers are', () => {
    const records = Array.from({ length: 256 }, (_, index): VersionRecord => {
      return {
        version: 2_147_483_137 + index,
        storedHash: hashOf(1),
        bodyHash: hashOf(2),
        modified: 253_402_300_799,
        at: { seq: sequence(2 ** 53 - 256 + index) },
      };
    });
    const { bytes, ref } = encodeHistory(PATH, records, 0xffff_ffff);
    expect(bytes.length).toBeLessThan(65_536);
    expect(decodeHistory(PATH, ref, bytes)).toEqual(records);
  });

  test('begins with one more than a multiple of 256', () => {
    const firsts = [1, 2, 255, 256, 257, 512, 513, 2_147_483_647].map(historyFirst);
    expect(firsts).toEqual([1, 1, 1, 1, 257, 257, 513, 2_147_483_393]);
  });

  test('of another path, another range or a younger blob is refused', () => {
    const key = historyKey(REF);
    const other = refusal(key, () => decodeHistory(`${PATH}x`, REF, BYTES));
    expect(other.message).toBe(`${key}: path_hash: of another path`);
    const range = refusal(key, () => decodeHistory(PATH, { ...REF, first: 1 }, BYTES));
    expect(range.message).toBe(`${key}: first: the record run says 1`);
    const young = { ...REF, epoch: 1 };
    const youngKey = historyKey(young);
    const { message } = refusal(youngKey, () => decodeHistory(PATH, young, BYTES));
    expect(message).toMatch(/records\[\d+\]\[4\]\.epoch: /);
  });

  test('is not read as one of schema 1', () => {
    expect(() => decodeHistory(PATH, { ...REF, epoch: 0 }, BYTES)).toThrow(InvariantError);
    expect(historyKey({ ...REF, epoch: 0 })).toBe(`_demarkus/v1/history/${REF.hash}.json`);
  });

  test('of a newer schema is refused by both versions, not called damaged', () => {
    const { ref, bytes } = forge(canonicalText({ ...MEMBERS, schema: 3, colour: 'red' }));
    expect(() => decodeHistory(PATH, ref, bytes)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_FORMAT' }),
    );
  });
});

describe('a damaged history block', () => {
  /** All members, and all parts of some of the records. */
  const places = placesOf(MEMBERS).filter(([name, index]) => {
    return name !== 'records' || index === undefined || SHORT.has(Number(index));
  });

  test('is refused with a field missing, naming it', () => {
    for (const path of places) {
      const drop = changed(MEMBERS, path, (at, step) =>
        Array.isArray(at) ? at.splice(Number(step), 1) : Reflect.deleteProperty(at, step),
      );
      const named = path.length === 1 ? `${path[0]}: missing` : 'records';
      expect(problem(canonicalText(drop))).toMatch(named);
    }
  });

  test('is refused with a field twice or unknown', () => {
    for (const path of places) {
      const twice = changed(MEMBERS, path, (at, step) => {
        if (Array.isArray(at)) at.splice(Number(step), 0, at[Number(step)] ?? null);
        else Object.assign(at, { [`${step}x`]: at[step] });
      });
      expect(problem(canonicalText(twice))).toMatch(
        path.length === 1 ? /unknown field|bytes of JSON/ : 'records',
      );
    }
    const text = canonicalText(MEMBERS);
    for (const name of Object.keys(MEMBERS)) {
      const member = `"${name}":`;
      const repeated = text.replace(
        member,
        `${member}${canonicalText(MEMBERS[name] ?? null)},${member}`,
      );
      expect(problem(repeated)).toMatch(/not canonical JSON|commas|bytes of JSON/);
    }
  });

  test('is refused with records or members in another order', () => {
    for (const index of [0, 1, 100, 254]) {
      const [one, other] = [RECORDS[index], RECORDS[index + 1]];
      if (one === undefined || other === undefined) return expect.unreachable();
      const records = (MEMBERS['records'] as Loose[]).toSpliced(
        index,
        2,
        ...(MEMBERS['records'] as Loose[]).slice(index, index + 2).reverse(),
      );
      expect(problem(canonicalText({ ...MEMBERS, records }))).toMatch(`records[${index + 1}][0]: `);
    }
    expect(problem(JSON.stringify(Object.fromEntries(Object.entries(MEMBERS).reverse())))).toMatch(
      'not canonical JSON',
    );
  });

  test('is refused with a value of another type', () => {
    for (const path of places) {
      for (const value of [null, true, '', 1.5, -1, 2 ** 53, [], {}] as Loose[]) {
        const forged = changed(MEMBERS, path, (at, step) => Object.assign(at, { [step]: value }));
        expect(problem(JSON.stringify(forged))).toMatch(`${path[0]}`);
      }
    }
  });

  test('is refused with a number changed by one, unless only what it leads to can tell', () => {
    const accepted = new Set<string>();
    for (const path of places) {
      const value = path.reduce<Loose>((at, step) => (at as Members)[step] as Loose, MEMBERS);
      // A newer schema is no damage.
      if (typeof value !== 'number' || path[0] === 'schema') continue;
      for (const by of [-1, 1]) {
        const change = (at: object, step: string | number) =>
          Object.assign(at, { [step]: value + by });
        const { ref, bytes } = forge(canonicalText(changed(MEMBERS, path, change)));
        try {
          decodeHistory(PATH, ref, bytes);
          accepted.add(path.slice(2).join('.'));
        } catch (error) {
          const field = path[0] === 'records' ? /: records/ : /: (first|last|records\[0\])/;
          expect(error).toMatchObject({ code: 'INTEGRITY', message: expect.stringMatching(field) });
        }
      }
    }
    // A time and a place are as good as those beside them; stored versions are checked by hash.
    expect([...accepted].sort()).toEqual(['3', '4.epoch', '4.seq']);
  });

  test('is refused in another spelling, cut, or with any bit of any byte flipped', () => {
    const text = Buffer.from(BYTES).toString();
    for (const spelling of [` ${text}`, `${text}\n`, text.slice(0, -1), '', '[]', 'null']) {
      problem(spelling);
    }
    problem(`{"records":${'['.repeat(60_000)}`);
    problem(`{"records":[${'0,'.repeat(30_000)}0]}`);
    problem(text.padEnd(70_000));
    const key = historyKey(REF);
    for (let at = 0; at < BYTES.length; at += 97) {
      const damaged = Uint8Array.from(BYTES);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      refusal(key, () => decodeHistory(PATH, REF, damaged));
    }
  });
});

describe('a range that is none', () => {
  test.each<[string, readonly VersionRecord[], number]>([
    ['nothing', [], EPOCH],
    ['255 records', RECORDS.slice(0, 255), EPOCH],
    ['257 records', [...RECORDS, ...drawRange(new SeededRandom(9), 513).slice(0, 1)], EPOCH],
    ['a range that is not aligned', drawRange(new SeededRandom(2), 258), EPOCH],
    ['versions from 0', drawRange(new SeededRandom(2), 0), EPOCH],
    ['a gap', withRecord(255, { version: 513 }), EPOCH],
    ['a version twice', withRecord(9, { version: 265 }), EPOCH],
    ['a hash that is none', withRecord(9, { storedHash: 'x' }), EPOCH],
    [
      'a body hash that is none',
      withRecord(9, { bodyHash: hashOf(1).toUpperCase().slice(1) }),
      EPOCH,
    ],
    ['a time before 1970', withRecord(9, { modified: -1 }), EPOCH],
    ['a time after 9999', withRecord(9, { modified: 253_402_300_800 }), EPOCH],
    ['genesis as a place', withRecord(0, { at: { seq: sequence(1) } }), EPOCH],
    ['a place before the one before', withRecord(255, { at: { seq: sequence(2) } }), EPOCH],
    ['a blob that is younger than the block', withRecord(255, { at: { epoch: EPOCH + 1 } }), EPOCH],
    ['an epoch that no key has', RECORDS, 0],
  ])('%s makes no block', (_, records, epoch) => {
    expect(() => encodeHistory(PATH, records, epoch)).toThrow(InvariantError);
  });

  test('has blobs of earlier epochs behind later ones', () => {
    const at = RECORDS.findIndex((record) => 'epoch' in record.at && record.at.epoch > 0);
    expect(at).toBeGreaterThanOrEqual(0);
    expect(() => encodeHistory(PATH, withRecord(255, { at: { epoch: 0 } }), EPOCH)).toThrow(
      InvariantError,
    );
  });
});
