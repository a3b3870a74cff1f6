/**
 * Goal: no bytes make a decoder do anything but accept its own encoding or refuse with INTEGRITY (or
 * say that the format is newer); nothing hangs, and nothing else is thrown.
 * Method: valid slots and markers, damaged at random by a seed: bytes flipped, cut, repeated, swapped, numbers and quotes put
 * in; half of them under a checksum that is right again. `BUCKETSTORE_FUZZ_SECONDS` goes on with
 * further seeds for so long; `BUCKETSTORE_FUZZ_SEED` sets the first.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../../bucketstore/base/clock.ts';
import { isStoreError } from '../../bucketstore/base/errors.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { sliceInlined } from '../../bucketstore/log/bodies.ts';
import { encodeMarker, genesisMarker, recogniseHead } from '../../bucketstore/log/marker.ts';
import { MARKER_KEY, slotKey } from '../../bucketstore/log/names.ts';
import { decodeSlot, encodeSlot } from '../../bucketstore/log/slot.ts';
import { withChecksum } from './forge.ts';
import { anySlot, INCARNATION, WORLD } from './values.ts';

const SEED = Number(process.env['BUCKETSTORE_FUZZ_SEED'] ?? 1);
const SECONDS = Number(process.env['BUCKETSTORE_FUZZ_SECONDS'] ?? 0);
/** Texts that mean something to a parser. */
const TOKENS = [
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
const damage = fc.record({
  kind: fc.nat(DAMAGES.length - 1),
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  length: fc.integer({ min: 1, max: 200 }),
  token: fc.constantFrom(...TOKENS),
});
const damages = fc.array(damage, { minLength: 1, maxLength: 3 });
type DamagePlan = typeof damages extends fc.Arbitrary<infer T> ? T : never;

function damaged(bytes: Uint8Array, plan: DamagePlan): Buffer {
  let result = Buffer.from(bytes);
  for (const { kind, at, length, token } of plan) {
    const place = Math.floor(at * result.length);
    result = Buffer.from(DAMAGES[kind]?.(result, place, length, token) ?? result);
  }
  return result;
}

/** What `decode` answered, when it is one of the two answers allowed. */
function answer<T>(object: string, decode: () => T): T | 'refused' {
  try {
    return decode();
  } catch (error) {
    if (!isStoreError(error)) throw error;
    expect(['INTEGRITY', 'UNSUPPORTED_FORMAT']).toContain(error.code);
    expect(error.details.object).toBe(object);
    return 'refused';
  }
}

function fuzzSlots(seed: number, numRuns: number): void {
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

function fuzzMarkers(seed: number, numRuns: number): void {
  const bytes = encodeMarker(genesisMarker(WORLD, INCARNATION));
  const property = fc.property(damages, (plan) => {
    const forged = damaged(bytes, plan);
    const head = answer(MARKER_KEY, () => recogniseHead(forged));
    if (head === 'refused' || head.kind !== 'marker') return;
    expect(Buffer.compare(encodeMarker(head.marker), forged)).toBe(0);
  });
  fc.assert(property, { seed, numRuns });
}

test('a damaged slot is refused, or is another valid slot', () => {
  fuzzSlots(SEED, 1500);
});

test('a damaged marker is refused, or of another format', () => {
  fuzzMarkers(SEED, 1500);
});

// Registered only when it is asked for: a unit test never looks at a clock.
if (SECONDS > 0) {
  test(`more of it for ${SECONDS} s`, { timeout: (SECONDS + 60) * 1000 }, () => {
    const end = systemClock.monotonic() + SECONDS * 1000;
    let seed = SEED;
    while (systemClock.monotonic() < end) {
      seed++;
      fuzzSlots(seed, 500);
      fuzzMarkers(seed, 500);
    }
    console.log(`seeds ${SEED} to ${seed} passed`);
  });
}
