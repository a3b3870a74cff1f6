/**
 * Goal: a slot's bytes are its value and nothing else is accepted for it.
 * Method: any valid slot goes through bytes and back; then limits at their edge, from both sides.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { sha256Hex, sha256HexPortable } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { findInlined, sliceInlined } from '../../bucketstore/log/bodies.ts';
import { entryText, sizeOfEntry } from '../../bucketstore/log/entry-codec.ts';
import { slotKey } from '../../bucketstore/log/names.ts';
import { ENTRY_BYTES_MAX, type Entry } from '../../bucketstore/log/records.ts';
import { decodeSlot, encodeSlot, type SlotInput } from '../../bucketstore/log/slot.ts';
import { anySlot, archive, hashOf, inlined, slotInput, uuidOf, write } from './values.ts';

function roundTrip(input: SlotInput): ReturnType<typeof decodeSlot> {
  return decodeSlot(slotKey(input.first), encodeSlot(input).bytes);
}

describe('slot', () => {
  test('decode then encode gives the same bytes, and the value again', () => {
    fc.assert(
      fc.property(anySlot, (input) => {
        const encoded = encodeSlot(input);
        const { slot, hash } = decodeSlot(slotKey(input.first), encoded.bytes);
        expect(slot).toEqual(encoded.slot);
        expect(slot.entries).toEqual(input.entries);
        expect(hash).toBe(sha256HexPortable(encoded.bytes));
        const bodies = slot.inlined.map((item) => ({
          sequence: item.sequence,
          bytes: sliceInlined(encoded.bytes, item),
        }));
        const again = encodeSlot({ ...slot, bodies });
        expect(Buffer.compare(again.bytes, encoded.bytes)).toBe(0);
      }),
      { numRuns: 1000, seed: 1 },
    );
  });

  test('`encodeSlot()` takes texts that were made before', () => {
    const input = slotInput([write(1), archive(2)]);
    const texts = input.entries.map(entryText);
    expect(encodeSlot({ ...input, texts }).hash).toBe(encodeSlot(input).hash);
  });

  test('an entry has the same bytes wherever it stands', () => {
    const entry = inlined(1, 'body');
    const early = encodeSlot(slotInput([entry], ['body']));
    const late = encodeSlot(slotInput([write(2), entry], ['body'], { first: sequence(900) }));
    for (const { bytes } of [early, late]) {
      expect(Buffer.from(bytes).includes(entryText(entry))).toBe(true);
    }
  });

  test('inlined versions are found by sequence and sliced by place', () => {
    const input = slotInput([inlined(1, 'one'), write(2), inlined(3, 'three')], ['one', 'three']);
    const { bytes, slot } = encodeSlot(input);
    const found = [2, 3, 4, 5].map((at) => findInlined(slot.inlined, sequence(at)));
    const texts = found.map((item) => item && Buffer.from(sliceInlined(bytes, item)).toString());
    expect(texts).toEqual(['one', undefined, 'three', undefined]);
  });

  test('the first line is the checksum of the rest', () => {
    const { bytes } = encodeSlot(slotInput([write(1)]));
    const line = Buffer.from(bytes.subarray(0, 65)).toString();
    expect(line).toBe(`${sha256Hex(bytes.subarray(65))}\n`);
  });
});

const PAD = 'x'.repeat(70_000);
const longPath = (n: number): string => `/${String(n).padEnd(4086, 'p')}`;
/** Writes of nearly 16 KiB: every control character takes six bytes in JSON. */
const fat = (n: number): Entry =>
  write(n, { path: longPath(n), catalog: { title: '\u0001'.repeat(1024), metadata: null } });

describe('limits', () => {
  const many = (n: number): Entry[] => Array.from({ length: n }, (_, i) => write(i + 1));
  const bodies = (n: number, bytes: number): SlotInput => {
    const texts = Array.from({ length: n }, () => PAD.slice(0, bytes));
    return slotInput(
      texts.map((text, i) => inlined(i + 1, text)),
      texts,
    );
  };
  const inside: [string, SlotInput][] = [
    ['256 entries', slotInput(many(256))],
    ['64 KiB inlined', bodies(1, 65_536)],
    ['1 byte inlined', bodies(1, 1)],
    ['1 MiB inlined', bodies(16, 65_536)],
    ['a group of 64', slotInput([write(1, { group: 64 }), ...many(64).slice(1)])],
    [
      'two groups side by side',
      slotInput([2, 0, 2, 0].map((group, i) => write(i, group ? { group } : {}))),
    ],
    ['the last sequence', slotInput([write(1)], [], { first: sequence(2 ** 53 - 1) })],
    ['the last version', slotInput([write(1, { version: 2 ** 31 - 1, first: 2 ** 31 - 1 })])],
    ['all documents', slotInput([write(1)], [], { documents: 16_777_216 })],
    ['the longest path', slotInput([write(1, { path: longPath(1) })])],
    [
      'the longest title',
      slotInput([write(1, { catalog: { title: 'é'.repeat(512), metadata: null } })]),
    ],
    ['time 0', slotInput([write(1)], [], { time: 0 })],
    [
      'the last epoch',
      slotInput([write(1, { at: { epoch: 0xffff_ffff } })], [], { epoch: 0xffff_ffff }),
    ],
  ];
  test.each(inside)('%s fits', (_, input) => {
    expect(roundTrip(input).slot.entries).toEqual(input.entries);
  });

  const outside: [string, SlotInput][] = [
    ['no entry', slotInput([])],
    ['257 entries', slotInput(many(257))],
    ['64 KiB + 1 inlined', bodies(1, 65_537)],
    ['an empty stored version', bodies(1, 0)],
    ['more than 1 MiB inlined', bodies(17, 65_536)],
    ['more than 1 MiB of header', slotInput(Array.from({ length: 110 }, (_, i) => fat(i + 1)))],
    ['a group of 1', slotInput([write(1, { group: 1 })])],
    ['a group of 65', slotInput([write(1, { group: 65 }), ...many(65).slice(1)])],
    ['a group beyond the slot', slotInput([write(1), write(2, { group: 2 })])],
    ['a group in a group', slotInput([write(1, { group: 3 }), write(2, { group: 2 }), write(3)])],
    ['an operation twice', slotInput([write(1), write(2, { op: uuidOf(1) })])],
    [
      'a control entry with company',
      slotInput([write(1), { kind: 'unpin', op: uuidOf(2), id: 'a' }]),
    ],
    [
      'two control entries',
      slotInput([1, 2].map((n) => ({ kind: 'unpin', op: uuidOf(n), id: 'a' }))),
    ],
    ['sequence 1', slotInput([write(1)], [], { first: sequence(1) })],
    ['a sequence beyond 2^53', slotInput(many(2), [], { first: sequence(2 ** 53 - 1) })],
    ['a version above 2^31', slotInput([write(1, { version: 2 ** 31 })])],
    ['first above version', slotInput([write(1, { first: 2 })])],
    ['a document too many', slotInput([write(1)], [], { documents: 16_777_217 })],
    ['a blob of another epoch', slotInput([write(1, { at: { epoch: 2 } })])],
    ['epoch 0', slotInput([write(1, { at: { epoch: 0 } })], [], { epoch: 0 })],
    ['a path too long', slotInput([write(1, { path: `${longPath(1)}p` })])],
    ['the root', slotInput([write(1, { path: '/' })])],
    ['a path that is not canonical', slotInput([write(1, { path: '/a//b' })])],
    ['an empty title', slotInput([write(1, { catalog: { title: '', metadata: null } })])],
    [
      'a title too long',
      slotInput([write(1, { catalog: { title: `é${'e'.repeat(1023)}`, metadata: null } })]),
    ],
    [
      'a title of half a character',
      slotInput([write(1, { catalog: { title: '\ud83d', metadata: null } })]),
    ],
    ['empty metadata', slotInput([write(1, { catalog: { title: 'a', metadata: {} } })])],
    [
      'a reserved metadata key',
      slotInput([write(1, { catalog: { title: 'a', metadata: { version: '1' } } })]),
    ],
    [
      'tags as typed',
      slotInput([write(1, { catalog: { title: 'a', metadata: { tags: 'a, b' } } })]),
    ],
    ['an agent that the metadata lacks', slotInput([write(1, { agent: 'someone' })])],
    [
      'metadata whose agent is not repeated',
      slotInput([write(1, { catalog: { title: 'a', metadata: { agent: 'b' } } })]),
    ],
    ['an empty agent', slotInput([archive(1, { agent: '' })])],
    ['an agent of two lines', slotInput([archive(1, { agent: 'a\nb' })])],
    ['a world that is no UUID', slotInput([write(1)], [], { worldId: 'world' })],
    [
      'an operation in upper case',
      slotInput([write(1, { op: 'ABCDEF00-0000-4000-8000-000000000000' })]),
    ],
    [
      'an inlined version nobody names',
      { ...slotInput([write(1)]), bodies: [{ sequence: sequence(2), bytes: new Uint8Array(1) }] },
    ],
    ['an inlined version that is missing', slotInput([inlined(1, 'a')])],
    ['other bytes than the hash', slotInput([inlined(1, 'a')], ['b'])],
    [
      'a floor above itself',
      slotInput([{ kind: 'floor', op: uuidOf(1), at: sequence(3), mutation: sequence(2) }]),
    ],
    [
      'a barrier that keeps its future',
      slotInput([{ kind: 'barrier', op: uuidOf(1), plan: hashOf(1), kept: [[sequence(2), 1]] }]),
    ],
    [
      'a barrier that keeps nothing',
      slotInput([{ kind: 'barrier', op: uuidOf(1), plan: hashOf(1), kept: [] }]),
    ],
    ['a move to nowhere', slotInput([{ kind: 'seal', op: uuidOf(1), reason: 'move' }])],
  ];
  test.each(outside)('%s is refused before it is written', (_, input) => {
    expect(() => encodeSlot(input)).toThrow(InvariantError);
  });

  test('an entry of more than 16 KiB is refused', () => {
    const kept = (n: number): Entry => ({
      kind: 'barrier',
      op: uuidOf(1),
      plan: hashOf(1),
      kept: Array.from({ length: n }, (_, i) => [sequence(1000 + i), 1]),
    });
    const fits = (n: number): boolean => sizeOfEntry(kept(n)) <= ENTRY_BYTES_MAX;
    let n = 1000;
    while (fits(n + 1)) n++;
    const first = sequence(1_000_000);
    expect(roundTrip(slotInput([kept(n)], [], { first })).slot.entries).toEqual([kept(n)]);
    expect(() => encodeSlot(slotInput([kept(n + 1)], [], { first }))).toThrow(InvariantError);
  });
});
