/**
 * Goal: only the next slot of this very log follows.
 * Method: a chain of real slots; then each link broken alone.
 */
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../bucketstore/base/digest.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import { belongs, type ChainEnd, follows } from '../../bucketstore/log/chain.ts';
import { encodeMarker, genesisMarker } from '../../bucketstore/log/marker.ts';
import type { Slot } from '../../bucketstore/log/records.ts';
import { encodeSlot } from '../../bucketstore/log/slot.ts';
import { hashOf, INCARNATION, slotInput, uuidOf, WORLD, write } from './values.ts';

const marker = encodeMarker(genesisMarker(WORLD, INCARNATION));
const start: ChainEnd = { sequence: sequence(1), hash: sha256Hex(marker), time: 0 };
const identity = { worldId: WORLD, incarnationId: INCARNATION };
const next = encodeSlot(slotInput([write(1), write(2)], [], { prev: start.hash, time: 1 }));

describe('`follows()`', () => {
  test('accepts the first slot behind the marker, and the second behind it', () => {
    expect(follows(start, next.slot)).toBeNull();
    const end: ChainEnd = { sequence: next.slot.last, hash: next.hash, time: 1 };
    const second = slotInput([write(3)], [], { first: sequence(4), prev: next.hash, time: 2 });
    expect(follows(end, encodeSlot(second).slot)).toBeNull();
  });

  test.each<[string, Partial<Slot>]>([
    ['first', { first: sequence(3) }],
    ['first', { first: sequence(1) }],
    ['prev', { prev: hashOf(9) }],
    ['time', { time: 0 }],
  ])('names a wrong %s', (field, change) => {
    expect(follows(start, { ...next.slot, ...change })).toMatch(new RegExp(`^${field}: `));
  });
});

test('`belongs()` names the world or incarnation that a slot is of', () => {
  expect(belongs(identity, next.slot)).toBeNull();
  const other = uuidOf(9);
  expect(belongs({ ...identity, worldId: other }, next.slot)).toMatch(/^world_id: .*1111/);
  expect(belongs({ ...identity, incarnationId: other }, next.slot)).toMatch(
    /^incarnation_id: .*222/,
  );
});
