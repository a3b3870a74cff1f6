/**
 * Goal: a pack gives back the stored versions that were put in, and nothing else passes for one.
 * Method: streams from seeds through bytes and back; the line, every row and every body of a pack
 * damaged under hashes that are right again; what lies at the limits.
 */
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { PACK_BYTES_MAX } from '../../checkpoint/constants.ts';
import {
  checkPacked,
  decodePack,
  decodePackDirectory,
  directoryBytes,
  encodePack,
  findPack,
  type PackRef,
  packKey,
  slicePacked,
} from '../../checkpoint/pack.ts';
import { ROW_BYTES } from '../../checkpoint/pack-directory.ts';
import { refusal } from '../log/forge.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { cutAll, drawInputs, EPOCH, packInput, packRef } from './object-values.ts';

interface Row {
  readonly sequence: bigint;
  readonly offset: number;
  readonly length: number;
  readonly hash: string;
}

interface Parts {
  readonly line: string;
  readonly rows: readonly Row[];
  readonly bodies: Buffer;
}

/** The versions of sequences 7 to 11: no gap hides a sequence that is off by one. */
const INPUTS = [3, 1, 4, 1, 5].map((length, index) => packInput(7 + index, length));
const [PACK] = cutAll(INPUTS, 'unit');
const PARTS = takeApart(PACK?.bytes ?? new Uint8Array());

function takeApart(bytes: Uint8Array): Parts {
  const buffer = Buffer.from(bytes);
  const rowsAt = buffer.indexOf('\n') + 1;
  const line = buffer.toString('latin1', 0, rowsAt);
  const { versions } = JSON.parse(line);
  const rows = Array.from({ length: versions }, (_, index): Row => {
    const at = rowsAt + index * ROW_BYTES;
    return {
      sequence: buffer.readBigUInt64BE(at),
      offset: buffer.readUInt32BE(at + 8),
      length: buffer.readUInt32BE(at + 12),
      hash: buffer.toString('hex', at + 16, at + 48),
    };
  });
  return { line, rows, bodies: buffer.subarray(rowsAt + versions * ROW_BYTES) };
}

/** A pack of any parts, and a root's word for it that fits. */
function forge(change: Partial<Parts>): { readonly ref: PackRef; readonly bytes: Buffer } {
  const { line, rows, bodies } = { ...PARTS, ...change };
  const packed = rows.map(({ sequence: at, offset, length, hash }) => {
    const row = Buffer.alloc(ROW_BYTES);
    row.writeBigUInt64BE(at, 0);
    row.writeUInt32BE(offset, 8);
    row.writeUInt32BE(length, 12);
    row.write(hash, 16, 'hex');
    return row;
  });
  const directory = Buffer.concat([Buffer.from(line), ...packed]);
  const bytes = Buffer.concat([directory, bodies]);
  const hashes = {
    directory: { length: directory.length, hash: sha256Hex(directory) },
    hash: sha256Hex(bytes),
  };
  const head = { first: sequence(7), last: sequence(11), versions: 5 };
  return { ref: { ...head, bytes: bytes.length, epoch: EPOCH, ...hashes }, bytes };
}

/** The problem that the reader of a forged pack names; that of its directory refuses it too. */
function problem(change: Partial<Parts>): string {
  const { ref, bytes } = forge(change);
  const key = packKey(ref);
  const whole = refusal(key, () => decodePack(ref, bytes)).message;
  const directory = bytes.subarray(0, ref.directory.length);
  refusal(key, () => decodePackDirectory(ref, directory));
  return whole.slice(key.length + 2);
}

const withRow = (index: number, change: (row: Row) => Partial<Row>): Partial<Parts> => ({
  rows: PARTS.rows.map((row, at) => (at === index ? { ...row, ...change(row) } : row)),
});

describe('a pack', () => {
  test('gives back what was put in, whole and by range', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = new SeededRandom(seed);
      const inputs = drawInputs(random, random.pick([1, 900, 2 ** 52]), 60, 900);
      const packs = cutAll(inputs, 'rewritten');
      expect(packs).toHaveLength(1);
      for (const { ref, bytes } of packs) {
        const decoded = decodePack(ref, bytes);
        expect(decoded.ref).toEqual(ref);
        const directory = decodePackDirectory(ref, bytes.subarray(0, ref.directory.length));
        expect([...directory]).toEqual([...decoded.directory]);
        expect(directory.versions).toBe(inputs.length);
        for (const input of inputs) {
          const found = directory.find(input.sequence);
          expect(found).toMatchObject({ length: input.bytes.length, hash: input.storedHash });
          if (found === undefined) continue;
          const range = slicePacked(bytes, found);
          checkPacked(packKey(ref), found, range);
          expect(Buffer.compare(range, input.bytes)).toBe(0);
        }
      }
    }
  });

  test('has no version of a sequence in a gap or beyond its ends', () => {
    const inputs = drawInputs(new SeededRandom(3), 10, 200, 20);
    const [pack] = cutAll(inputs, 'unit');
    const there = new Set(inputs.map((input) => Number(input.sequence)));
    const { directory } = decodePack(pack?.ref ?? packRef(2, 2), pack?.bytes ?? Buffer.alloc(0));
    for (let at = 1; at <= Math.max(...there) + 3; at++) {
      expect(directory.find(sequence(at)) !== undefined, `${at}`).toBe(there.has(at));
    }
    expect(there.size).toBe(directory.versions);
  });

  test('is found by the sequences that it covers', () => {
    const packs = [packRef(2, 900), packRef(1030, 1030), packRef(1031, 2048)];
    const found = (at: number): number | undefined => findPack(packs, sequence(at))?.first;
    expect([1, 2, 900, 901, 1029, 1030, 1031, 2048, 2049].map(found)).toEqual([
      undefined,
      2,
      2,
      undefined,
      undefined,
      1030,
      1031,
      1031,
      undefined,
    ]);
    expect(findPack([], sequence(2))).toBeUndefined();
  });

  test('keeps nothing of a whole pack in memory but the directory', () => {
    const { ref, bytes } = forge({});
    const { directory } = decodePack(ref, bytes);
    bytes.fill(0);
    expect(directory.byteLength).toBe(5 * ROW_BYTES);
    expect([...directory].map(({ hash }) => hash)).toEqual(INPUTS.map((input) => input.storedHash));
  });

  test('is at most 4 MiB, and full when it is as large', () => {
    const head = { first: sequence(7), last: sequence(71), versions: 65 };
    const left = PACK_BYTES_MAX - directoryBytes(head) - 63 * 65_536;
    const rows = Array.from({ length: 65 }, (_, index) => {
      return packInput(7 + index, index < 63 ? 65_536 : Math.floor((left + (index - 63)) / 2));
    });
    const [pack, ...rest] = cutAll(rows, 'rewritten');
    expect(rest).toEqual([]);
    expect(pack?.bytes.length).toBe(PACK_BYTES_MAX);
    expect(decodePack(pack?.ref ?? packRef(2, 2), pack?.bytes ?? Buffer.alloc(0)).ref).toEqual(
      pack?.ref,
    );
    const more = [...PARTS.rows, ...PARTS.rows].map(({ length, hash }, index) => {
      return { sequence: sequence(7 + index), length, hash };
    });
    expect(() => encodePack(EPOCH, more, Buffer.alloc(PACK_BYTES_MAX))).toThrow(InvariantError);
    const { ref, bytes } = forge({ bodies: Buffer.alloc(PACK_BYTES_MAX) });
    refusal(packKey(ref), () => decodePack(ref, bytes));
  });

  test('is not made of what its rows do not say', () => {
    const rows = PARTS.rows.map(({ length, hash }, index) => ({
      sequence: sequence(7 + index),
      length,
      hash,
    }));
    expect(encodePack(EPOCH, rows, PARTS.bodies).bytes).toEqual(PACK?.bytes);
    const [first, second, ...others] = rows;
    if (first === undefined || second === undefined) return expect.unreachable();
    const wrong = [
      [],
      [second, first, ...others],
      [first, first, ...others],
      [{ ...first, sequence: sequence(1) }, second, ...others],
      [{ ...first, length: first.length + 1 }, second, ...others],
      [{ ...first, length: 0 }, { ...second, length: first.length + second.length }, ...others],
    ];
    for (const versions of wrong) {
      expect(() => encodePack(EPOCH, versions, PARTS.bodies)).toThrow(InvariantError);
    }
  });
});

describe('a damaged pack', () => {
  test('is none: undamaged parts are read', () => {
    const { ref, bytes } = forge({});
    expect(ref).toEqual(PACK?.ref);
    expect(decodePack(ref, bytes).ref).toEqual(ref);
  });

  test.each<[string, (line: string) => string, RegExp]>([
    ['no schema', (line) => line.replace('"schema":2,', ''), /^schema: missing$/],
    ['an older schema', (line) => line.replace('"schema":2', '"schema":1'), /^schema: 1 is not 2$/],
    ['no first', (line) => line.replace('"first":7,', ''), /^first: missing$/],
    ['no last', (line) => line.replace('"last":11,', ''), /^last: missing$/],
    ['no versions', (line) => line.replace(',"versions":5', ''), /^versions: missing$/],
    ['another member', (line) => line.replace('}', ',"x":1}'), /^x: unknown field$/],
    ['first one less', (line) => line.replace('7', '6'), /^first: 6, the first row says 7$/],
    ['first one more', (line) => line.replace('7', '8'), /^versions: 5 is not 1 to 4$/],
    ['genesis first', (line) => line.replace('7', '1'), /^first: 1 is not 2 to/],
    ['last one less', (line) => line.replace('11', '10'), /^versions: 5 is not 1 to 4$/],
    ['last one more', (line) => line.replace('11', '12'), /^last: 12, the last row says 11$/],
    ['last before first', (line) => line.replace('11', '6'), /^last: 6 is not 7 to/],
    ['versions one less', (line) => line.replace(':5', ':4'), /^(rows\[0\]\.offset|versions): /],
    ['versions one more', (line) => line.replace(':5', ':6'), /^versions: 6 is not 1 to 5$/],
    ['no versions at all', (line) => line.replace(':5', ':0'), /^versions: 0 is not 1 to 5$/],
    ['a fraction', (line) => line.replace(':5', ':5.5'), /^versions: not a safe integer$/],
    ['a text', (line) => line.replace(':7', ':"7"'), /^first: not a safe integer$/],
    ['a member twice', (line) => line.replace('"last', '"last":11,"last'), /^not canonical JSON/],
    [
      'another order',
      () => '{"last":11,"first":7,"schema":2,"versions":5}\n',
      /^not canonical JSON/,
    ],
    ['a space', (line) => line.replace(',', ', '), /^not canonical JSON/],
    ['no end', () => 'x'.repeat(300), /^no end of the first line$/],
    ['no JSON', () => '\n', /^not JSON$/],
    ['an array', () => '[]\n', /^JSON: not an object$/],
  ])('is refused with %s in its first line', (_, change, expected) => {
    const line = change(PARTS.line);
    expect(line).not.toBe(PARTS.line);
    // Offsets that fit the line, so that only what was changed is wrong.
    const shift = line.length - PARTS.line.length;
    const rows = PARTS.rows.map((row) => ({ ...row, offset: row.offset + shift }));
    expect(problem({ line, rows })).toMatch(expected);
  });

  test('of a newer schema is refused by both versions, not called damaged', () => {
    const line = PARTS.line.replace('"schema":2', '"schema":3').replace('"last":11,', '');
    const { ref, bytes } = forge({ line });
    expect(() => decodePack(ref, bytes)).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_FORMAT' }),
    );
  });

  test.each(PARTS.rows.map((_, index) => index))('is refused with row %i damaged', (index) => {
    const name = `rows[${index}]`;
    for (const by of [-1n, 1n, 2n ** 53n, 2n ** 63n]) {
      const damaged = withRow(index, (row) => ({ sequence: row.sequence + by }));
      expect(problem(damaged)).toMatch(/^(rows\[\d\]\.sequence|first|last): /);
    }
    for (const by of [-1, 1, 1000]) {
      const moved = withRow(index, (row) => ({ offset: row.offset + by }));
      expect(problem(moved)).toMatch(`${name}.offset: `);
      const longer = withRow(index, (row) => ({ length: row.length + Math.abs(by) }));
      expect(problem(longer)).toMatch(index < 4 ? `rows[${index + 1}].offset: ` : 'rows: end at ');
    }
    expect(problem(withRow(index, () => ({ length: 0 })))).toMatch(`${name}.length: `);
    expect(problem(withRow(index, () => ({ length: 65_537 })))).toMatch(`${name}.length: `);
  });

  test('is refused with a row dropped, twice or in another place', () => {
    for (const index of PARTS.rows.keys()) {
      const { rows } = PARTS;
      const row = rows[index];
      const next = rows[index + 1];
      if (row === undefined) continue;
      const fewer = rows.toSpliced(index, 1);
      expect(problem({ rows: fewer })).toMatch(/^(versions|first|rows\[\d\]\.\w+): /);
      const shifted = fewer.map((kept) => ({ ...kept, offset: kept.offset - ROW_BYTES }));
      const line = PARTS.line.replace(':5', ':4');
      expect(problem({ line, rows: shifted })).toMatch(/^(last|rows\[\d\]\.offset): /);
      expect(problem({ rows: rows.toSpliced(index, 0, row) })).toMatch(
        /^rows(\[\d\]\.sequence)?: /,
      );
      if (next === undefined) continue;
      expect(problem({ rows: rows.toSpliced(index, 2, next, row) })).toMatch(/^(first|rows\[\d\])/);
    }
  });

  test('is refused with a body dropped, twice or in another place, or with bytes behind', () => {
    const { bodies } = PARTS;
    expect(problem({ bodies: bodies.subarray(1) })).toMatch('rows: end at ');
    expect(problem({ bodies: Buffer.concat([bodies, Buffer.from('x')]) })).toMatch('rows: end at ');
    const swapped = Buffer.concat([bodies.subarray(3), bodies.subarray(0, 3)]);
    const { ref, bytes } = forge({ bodies: swapped });
    const { message } = refusal(packKey(ref), () => decodePack(ref, bytes));
    expect(message).toContain('are not the stored version of sequence 7');
  });

  test('with a wrong body or row hash is refused by sequence, whole and by range', () => {
    for (const [index, { sequence: at, offset, length }] of PARTS.rows.entries()) {
      const bodies = Buffer.from(PARTS.bodies);
      const place = offset - (PARTS.rows[0]?.offset ?? 0) + length - 1;
      bodies[place] = (bodies[place] ?? 0) ^ 1;
      const flip = ({ hash }: Row) => ({
        hash: hash.replace(/.$/, (x) => (x === '0' ? '1' : '0')),
      });
      for (const change of [{ bodies }, withRow(index, flip)]) {
        const { ref, bytes } = forge(change);
        const key = packKey(ref);
        const named = `are not the stored version of sequence ${at}`;
        expect(refusal(key, () => decodePack(ref, bytes)).message).toContain(named);
        const directory = decodePackDirectory(ref, bytes.subarray(0, ref.directory.length));
        const found = directory.find(sequence(Number(at)));
        if (found === undefined) return expect.unreachable();
        const range = slicePacked(bytes, found);
        expect(refusal(key, () => checkPacked(key, found, range)).message).toContain(named);
      }
    }
  });

  test('with any bit of any byte flipped is refused under its name', () => {
    const { ref, bytes } = forge({});
    const key = packKey(ref);
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      refusal(key, () => decodePack(ref, damaged));
      if (at >= ref.directory.length) continue;
      refusal(key, () => decodePackDirectory(ref, damaged.subarray(0, ref.directory.length)));
    }
    refusal(key, () => decodePack(ref, bytes.subarray(1)));
  });

  test('whose directory is not what the root says is refused', () => {
    const { ref, bytes } = forge({});
    const directory = bytes.subarray(0, ref.directory.length);
    const longer = bytes.subarray(0, ref.directory.length + 1);
    const withDirectory = (read: Buffer): PackRef => ({
      ...ref,
      directory: { length: read.length, hash: sha256Hex(read) },
    });
    const cases: readonly [PackRef, Buffer, string][] = [
      [{ ...ref, first: sequence(6) }, directory, 'first: 7, the root says 6'],
      [{ ...ref, last: sequence(12) }, directory, 'last: 11, the root says 12'],
      [{ ...ref, versions: 4 }, directory, 'versions: 5, the root says 4'],
      [{ ...ref, bytes: ref.bytes + 1 }, directory, 'rows: end at '],
      [ref, longer, 'directory: '],
      [withDirectory(longer), longer, 'directory: '],
      [ref, directory.subarray(1), 'directory: '],
    ];
    for (const [said, read, expected] of cases) {
      const { message } = refusal(packKey(said), () => decodePackDirectory(said, read));
      expect(message).toContain(`${packKey(said)}: ${expected}`);
    }
  });
});
