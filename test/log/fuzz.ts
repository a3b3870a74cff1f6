/**
 * Damage for the decoders: valid slots, markers and checkpoint records with bytes flipped, cut,
 * repeated and swapped, and with texts put in that mean something to a parser. Half of the slots
 * and records get a checksum that is right again. All of it follows from a seed. A decoder may
 * accept its own encoding, or refuse by INTEGRITY (or say that the format is newer), and nothing
 * else.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { isStoreError } from '../../bucketstore/base/errors.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { sliceInlined } from '../../bucketstore/log/bodies.ts';
import {
  decodeCheckpointRecord,
  encodeCheckpointRecord,
} from '../../bucketstore/log/checkpoint-record.ts';
import { encodeMarker, genesisMarker, recogniseHead } from '../../bucketstore/log/marker.ts';
import { MARKER_KEY, slotKey } from '../../bucketstore/log/names.ts';
import { decodeSlot, encodeSlot } from '../../bucketstore/log/slot.ts';
import { anyCheckpoint, keyOfRecord } from './checkpoint-values.ts';
import { withChecksum } from './forge.ts';
import { anySlot, INCARNATION, WORLD } from './values.ts';

/** Texts that mean something to a parser. */
export const TOKENS: readonly string[] = [
  '"',
  ',',
  '[',
  '{',
  '}',
  ']',
  '0',
  '-1',
  '1e9',
  'null',
  '\\u0000',
  '\\u0008',
  '\\ud800',
  '\n',
  '\\',
  '\ufeff',
];

type Damage = (bytes: Buffer, at: number, length: number, token: string) => Buffer;
const DAMAGES: readonly Damage[] = [
  (bytes, at) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ (1 << (at % 8));
    return copy;
  },
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at) => bytes.subarray(at),
  (bytes, at, length) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]),
  (bytes, at, length) => Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]),
  (bytes, at, _, token) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(token), bytes.subarray(at)]),
  (bytes, at, _, token) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(token), bytes.subarray(at + token.length)]),
];
interface DamageStep {
  readonly kind: number;
  /** Where, as a part of the length. */
  readonly at: number;
  readonly length: number;
  readonly token: string;
}
const damage: fc.Arbitrary<DamageStep> = fc.record({
  kind: fc.nat(DAMAGES.length - 1),
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  length: fc.integer({ min: 1, max: 200 }),
  token: fc.constantFrom(...TOKENS),
});
type DamagePlan = DamageStep[];

/** Damage of one to three kinds. */
export const damages: fc.Arbitrary<DamagePlan> = fc.array(damage, { minLength: 1, maxLength: 3 });

/** A damaged copy. */
export function damaged(bytes: Uint8Array, plan: DamagePlan): Buffer {
  let result = Buffer.from(bytes);
  for (const { kind, at, length, token } of plan) {
    const place = Math.floor(at * result.length);
    result = Buffer.from(DAMAGES[kind]?.(result, place, length, token) ?? result);
  }
  return result;
}

/** What `decode` answered, when it is one of the two answers allowed. */
export function answer<T>(object: string, decode: () => T): T | 'refused' {
  try {
    return decode();
  } catch (error) {
    if (!isStoreError(error)) throw error;
    expect(['INTEGRITY', 'UNSUPPORTED_FORMAT']).toContain(error.code);
    expect(error.details.object).toBe(object);
    return 'refused';
  }
}

/**
 * Damages `numRuns` slots; throws at the first answer that is not allowed, naming seed and path.
 */
export function fuzzSlots(seed: number, numRuns: number): void {
  const property = fc.property(anySlot, damages, fc.boolean(), (input, plan, mend) => {
    const { bytes } = encodeSlot(input);
    const forged = mend ? withChecksum(damaged(bytes.subarray(65), plan)) : damaged(bytes, plan);
    const key = slotKey(input.first);
    const decoded = answer(key, () => decodeSlot(key, forged));
    if (decoded === 'refused') return;
    const { slot } = decoded;
    const bodies = slot.inlined.map((item) => ({
      sequence: sequence(item.sequence),
      bytes: sliceInlined(forged, item),
    }));
    expect(Buffer.compare(encodeSlot({ ...slot, bodies }).bytes, forged)).toBe(0);
  });
  fc.assert(property, { seed, numRuns });
}

/** The same with markers. */
export function fuzzMarkers(seed: number, numRuns: number): void {
  const bytes = encodeMarker(genesisMarker(WORLD, INCARNATION));
  const property = fc.property(damages, (plan) => {
    const forged = damaged(bytes, plan);
    const head = answer(MARKER_KEY, () => recogniseHead(forged));
    if (head === 'refused' || head.kind !== 'marker') return;
    expect(Buffer.compare(encodeMarker(head.marker), forged)).toBe(0);
  });
  fc.assert(property, { seed, numRuns });
}

/** The same with checkpoint records; half of them get a `check` that is right again. */
export function fuzzCheckpoints(seed: number, numRuns: number): void {
  const property = fc.property(anyCheckpoint, damages, fc.boolean(), (record, plan, mend) => {
    const key = keyOfRecord(record);
    const damagedBytes = damaged(encodeCheckpointRecord(record), plan);
    const forged = mend ? withCheck(damagedBytes) : damagedBytes;
    const decoded = answer(key, () => decodeCheckpointRecord(key, forged));
    if (decoded === 'refused') return;
    expect(Buffer.compare(encodeCheckpointRecord(decoded), forged)).toBe(0);
  });
  fc.assert(property, { seed, numRuns });
}

const CHECK = /"check":"[0-9a-f]{64}",/;

/** A record whose `check` says what the rest has, where the damage left room for one. */
function withCheck(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const body = Buffer.from(text.replace(CHECK, ''), 'latin1');
  return Buffer.from(text.replace(CHECK, `"check":"${sha256Hex(body)}",`), 'latin1');
}
