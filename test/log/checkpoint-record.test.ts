/**
 * Goal: a checkpoint record gives back what was written, and nothing else passes for one.
 * Method: any valid record through bytes and back; every field of two records that use all of them
 * removed, renamed and retyped under a checksum that is right; states that no replay reaches.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { canonicalText } from '../../bucketstore/base/canonical.ts';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import {
  decodeCheckpointRecord,
  encodeCheckpointRecord,
} from '../../bucketstore/log/checkpoint-record.ts';
import { checkpointKey } from '../../bucketstore/log/names.ts';
import {
  CHECKPOINT_RECORD_BYTES_MAX,
  type CheckpointRecord,
} from '../../bucketstore/log/records.ts';
import { anyCheckpoint, checkpoint, keyOfRecord, sealed } from './checkpoint-values.ts';
import { changed, type Loose, placesOf, refusal } from './forge.ts';
import { hashOf, uuidOf } from './values.ts';

type Members = { [name: string]: Loose };

const membersOf = (record: CheckpointRecord): Members =>
  JSON.parse(Buffer.from(encodeCheckpointRecord(record)).toString()) as Members;

/** The bytes of any members, with a checksum that is right. */
function forge({ check: _, ...body }: Members, spell = canonicalText): Uint8Array {
  return Buffer.from(spell({ ...body, check: sha256Hex(spell(body)) }));
}

describe('checkpoint record', () => {
  test('decode then encode gives the same bytes', () => {
    fc.assert(
      fc.property(anyCheckpoint, (record) => {
        const bytes = encodeCheckpointRecord(record);
        const decoded = decodeCheckpointRecord(keyOfRecord(record), bytes);
        expect(decoded).toEqual(record);
        expect(Buffer.compare(encodeCheckpointRecord(decoded), bytes)).toBe(0);
      }),
      { numRuns: 250, seed: 7 },
    );
  });

  test('is written under the root’s epoch, which may be later than the state’s', () => {
    const record = checkpoint({ epoch: 4, root: { epoch: 4, hash: hashOf(1) } });
    const later = checkpoint({ epoch: 4, root: { epoch: 7, hash: hashOf(1) } });
    for (const one of [record, later]) {
      const key = checkpointKey(one.sequence, one.root.epoch);
      expect(decodeCheckpointRecord(key, encodeCheckpointRecord(one))).toEqual(one);
    }
  });

  test('is refused under any name but its own', () => {
    const bytes = encodeCheckpointRecord(checkpoint());
    const names = [
      checkpointKey(sequence(5001), 5),
      checkpointKey(sequence(5000), 4),
      checkpointKey(sequence(5000), 6),
      `${keyOfRecord(checkpoint())}x`,
      '_demarkus/v1/head.json',
    ];
    for (const name of names) refusal(name, () => decodeCheckpointRecord(name, bytes));
  });

  test('of a newer schema is refused by both versions, not called damaged', () => {
    const bytes = forge({ ...membersOf(checkpoint()), schema: 3, colour: 'red' });
    expect(() => decodeCheckpointRecord(keyOfRecord(checkpoint()), bytes)).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED_FORMAT',
        message: expect.stringMatching(/3.*2/),
      }),
    );
  });

  test('holds thousands of pins, and is not made beyond its limit', () => {
    const pinned = (count: number): CheckpointRecord =>
      checkpoint({
        sequence: sequence(100_000),
        pins: Array.from({ length: count }, (_, n) => [
          `${n}`.padStart(128, 'p'),
          sequence(n + 5000),
        ]),
      });
    const many = pinned(6900);
    const bytes = encodeCheckpointRecord(many);
    expect(bytes.length).toBeLessThanOrEqual(CHECKPOINT_RECORD_BYTES_MAX);
    expect(decodeCheckpointRecord(keyOfRecord(many), bytes)).toEqual(many);
    expect(() => encodeCheckpointRecord(pinned(7600))).toThrow(InvariantError);
  });
});

describe.each<[string, CheckpointRecord]>([
  ['an open sweep', checkpoint()],
  ['a seal', sealed()],
])('a checkpoint record of %s', (_, record) => {
  const key = keyOfRecord(record);
  const bytes = encodeCheckpointRecord(record);
  const members = membersOf(record);
  const places = placesOf(members).filter(([step]) => step !== 'check');

  test('is valid as it is', () => {
    expect(Buffer.compare(forge(members), bytes)).toBe(0);
    expect(decodeCheckpointRecord(key, bytes)).toEqual(record);
  });

  test('is refused with a field missing or renamed', () => {
    // Without `schema1` it is another valid record: rollback would be allowed.
    const needed = places.filter((path) => path.join('.') !== 'schema1');
    for (const path of needed) {
      const drop = changed(members, path, (at, step) =>
        Array.isArray(at) ? at.splice(Number(step), 1) : Reflect.deleteProperty(at, step),
      );
      // One pin or kept checkpoint less is another valid record too.
      const dropsItem = path.length === 2 && /^(kept|pins)$/.test(`${path[0]}`);
      if (!dropsItem) refusal(key, () => decodeCheckpointRecord(key, forge(drop as Members)));
      const rename = changed(members, path, (at, step) => Object.assign(at, { [`${step}x`]: 1 }));
      if (JSON.stringify(rename) === JSON.stringify(members)) continue;
      refusal(key, () => decodeCheckpointRecord(key, forge(rename as Members)));
    }
  });

  test('is refused with a value of another type', () => {
    for (const path of places) {
      const before = path.reduce<Loose>(
        (value, step) => (value as Members)[step] as Loose,
        members,
      );
      for (const value of [null, true, '', 1.5, -1, 2 ** 53, [], {}, [[[]]]]) {
        if (JSON.stringify(value) === JSON.stringify(before)) continue;
        // No open or cleared plan, no barrier, no pins, no seal: other valid records.
        if (value === null && /^(plan|swept\.plan|successor)$/.test(path.join('.'))) continue;
        if (Array.isArray(value) && value.length === 0 && path.join('.') === 'pins') continue;
        const forgery = changed(members, path, (at, step) => Object.assign(at, { [step]: value }));
        const spell = Number.isSafeInteger(value) || typeof value !== 'number';
        const forged = forge(forgery as Members, spell ? canonicalText : JSON.stringify);
        refusal(key, () => decodeCheckpointRecord(key, forged));
      }
    }
  });

  test('names the object and the field', () => {
    for (const name of Object.keys(members).filter((member) => member !== 'schema1')) {
      const { [name]: _, ...rest } = members;
      const forged = name === 'check' ? Buffer.from(canonicalText(rest)) : forge(rest);
      const error = refusal(key, () => decodeCheckpointRecord(key, forged));
      expect(error.message).toBe(`${key}: ${name}: missing`);
    }
    const more = forge({ ...members, colour: 'red' });
    const { message } = refusal(key, () => decodeCheckpointRecord(key, more));
    expect(message).toBe(`${key}: colour: unknown field`);
  });

  test('is refused with another check, in another spelling, or cut', () => {
    const text = Buffer.from(bytes).toString();
    const spellings = [
      canonicalText({ ...members, check: hashOf(1) }),
      ` ${text}`,
      `${text}\n`,
      text.replace(',"', ', "'),
      text.replace('"schema":2', '"schema":2,"schema":2'),
      text.replace('"schema":2', '"schema":2.0'),
      text.replace('{', '{"__proto__":{},'),
      JSON.stringify(Object.fromEntries(Object.entries(members).reverse())),
      '',
      '[]',
      `{"schema":2,"kept":${'['.repeat(100_000)}`,
      `{"schema":2,"kept":[${'0,'.repeat(400_000)}0]}`,
      text.slice(0, text.length / 2),
    ];
    for (const spelling of spellings) {
      expect(spelling).not.toBe(text);
      refusal(key, () => decodeCheckpointRecord(key, Buffer.from(spelling)));
    }
  });

  test('is refused with any bit of any byte flipped', () => {
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      expect(() => decodeCheckpointRecord(key, damaged)).toThrow(
        expect.objectContaining({
          code: expect.stringMatching(/^(INTEGRITY|UNSUPPORTED_FORMAT)$/),
        }),
      );
    }
  });
});

describe('a state that no replay reaches', () => {
  const at = sequence(5000);
  const none = {
    plan: null,
    kept: [],
    schema1: false,
    swept: { ...checkpoint().swept, plan: null },
  };
  test.each<[string, Partial<CheckpointRecord>, string]>([
    ['a sequence that no slot holds', { sequence: sequence(1) }, 'sequence'],
    ['a floor above the sequence', { floor: { at: sequence(5001), mutation: at } }, 'floor.at'],
    ['a floor on its mutation', { floor: { at, mutation: at } }, 'floor.mutation'],
    ['a mutation above the sequence', { mutation: sequence(5001) }, 'mutation'],
    ['a barrier that kept nothing', { kept: [] }, 'kept'],
    ['kept checkpoints without a barrier', { ...none, kept: [[sequence(9), 1]] }, 'kept'],
    ['a kept checkpoint at the sequence', { kept: [[at, 1]] }, 'kept[0]'],
    ['a kept checkpoint of the epoch', { kept: [[sequence(9), 4]] }, 'kept[0]'],
    ['a barrier in the first epoch', { epoch: 1 }, 'kept[0]'],
    [
      'kept checkpoints twice',
      {
        kept: [
          [sequence(9), 1],
          [sequence(9), 1],
        ],
      },
      'kept[1]',
    ],
    ['schema 1 given up without a barrier', { ...none, schema1: true }, 'schema1'],
    ['a pin above the sequence', { pins: [['a', sequence(5001)]] }, 'pins[0][1]'],
    [
      'pins out of order',
      {
        pins: [
          ['a', sequence(9)],
          ['b', sequence(8)],
        ],
      },
      'pins[1][1]',
    ],
    [
      'pins at one sequence',
      {
        pins: [
          ['a', sequence(9)],
          ['b', sequence(9)],
        ],
      },
      'pins[1][1]',
    ],
    [
      'a pin twice',
      {
        pins: [
          ['a', sequence(8)],
          ['a', sequence(9)],
        ],
      },
      'pins[1][0]',
    ],
    ['a pin without a name', { pins: [['', sequence(8)]] }, 'pins[0][0]'],
    ['fewer versions than documents', { documents: 301 }, 'swept.retained'],
    ['a root of an epoch before', { root: { epoch: 3, hash: hashOf(4) } }, 'root.epoch'],
    ['a seal beside a plan', { ...sealed(), plan: hashOf(2) }, 'successor'],
    ['a seal beside pins', { ...sealed(), pins: [['a', sequence(8)]] }, 'successor'],
    ['a mutation behind a seal', { ...sealed(), mutation: at }, 'successor'],
    [
      'a move to nowhere',
      { ...sealed(), successor: { op: uuidOf(1), reason: 'move' } },
      'successor.reason',
    ],
  ])('%s is neither written nor read', (_, change, field) => {
    const record = checkpoint(change);
    expect(() => encodeCheckpointRecord(record)).toThrow(`checkpoint record: ${field}: `);
    expect(() => encodeCheckpointRecord(record)).toThrow(InvariantError);
    const { worldId: _w, incarnationId: _i, schema1, ...rest } = record;
    const { world_id, incarnation_id, schema } = membersOf(checkpoint());
    const ids = { world_id, incarnation_id, schema } as Members;
    const forged = forge({
      ...ids,
      ...(rest as unknown as Members),
      ...(schema1 ? { schema1 } : {}),
    });
    const key = keyOfRecord(record);
    const error = refusal(key, () => decodeCheckpointRecord(key, forged));
    expect(error.message).toContain(`${key}: ${field}: `);
  });
});
