/**
 * Goal: a key has one meaning and a meaning one key. Method: any name goes to a key and back; keys
 * that no name has are null; order in keys is order in numbers.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvariantError } from '../../bucketstore/base/assert.ts';
import { compareUtf8 } from '../../bucketstore/base/order.ts';
import { sequence } from '../../bucketstore/base/sequence.ts';
import {
  blobKey,
  checkpointKey,
  keyOf,
  type ObjectName,
  parseKey,
  parseSlotKey,
  slotKey,
} from '../../bucketstore/log/names.ts';
import { hashOf, uuidOf } from './values.ts';

const anySequence = fc.integer({ min: 1, max: 2 ** 53 - 1 }).map(sequence);
const anyEpoch = fc.integer({ min: 1, max: 0xffff_ffff });
const anyHash = fc.stringMatching(/^[0-9a-f]{64}$/);
const addressed = <K extends string>(kind: K, epochMin: number) =>
  fc.record({
    kind: fc.constant(kind),
    epoch: fc.integer({ min: epochMin, max: 0xffff_ffff }),
    hash: anyHash,
  });
const type = fc.constantFrom('run' as const, 'seg' as const, 'rec' as const, 'txt' as const);
const anyName: fc.Arbitrary<ObjectName> = fc.oneof(
  fc.constant({ kind: 'marker' as const }),
  fc.record({ kind: fc.constant('slot' as const), first: anySequence }),
  fc.record({ kind: fc.constant('checkpoint' as const), sequence: anySequence, epoch: anyEpoch }),
  addressed('blob', 0),
  addressed('history', 0),
  addressed('pack', 1),
  addressed('root', 1),
  fc.tuple(addressed('index', 1), type).map(([name, t]) => ({ ...name, type: t })),
  fc.record({ kind: fc.constant('plan' as const), hash: anyHash }),
  fc.record({ kind: fc.constant('probe' as const), id: fc.uuid() }),
);

describe('keys', () => {
  test('`parseKey()` is the inverse of `keyOf()`', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const key = keyOf(name);
        expect(parseKey(key)).toEqual(name);
        expect(key).toMatch(/^_demarkus\/v1\/[A-Za-z0-9._/-]+$/);
      }),
      { numRuns: 1000, seed: 2 },
    );
  });

  test('are spelled as the format says', () => {
    const hash = hashOf(0xab);
    const spelled: [ObjectName, string][] = [
      [{ kind: 'marker' }, 'head.json'],
      [{ kind: 'slot', first: sequence(18) }, 'log/0000000000000012.slot'],
      [{ kind: 'slot', first: sequence(2 ** 53 - 1) }, 'log/001fffffffffffff.slot'],
      [{ kind: 'blob', epoch: 10, hash }, `blobs/0000000a/${hash}`],
      [{ kind: 'blob', epoch: 0, hash }, `blobs/${hash}`],
      [{ kind: 'pack', epoch: 1, hash }, `packs/00000001/${hash}`],
      [
        { kind: 'checkpoint', sequence: sequence(4000), epoch: 2 },
        'checkpoints/001ffffffffff05f.00000002.json',
      ],
      [{ kind: 'root', epoch: 1, hash }, `roots/00000001/${hash}.json`],
      [{ kind: 'index', type: 'run', epoch: 1, hash }, `index/00000001/${hash}.run`],
      [{ kind: 'history', epoch: 1, hash }, `history/00000001/${hash}.json`],
      [{ kind: 'history', epoch: 0, hash }, `history/${hash}.json`],
      [{ kind: 'plan', hash }, `plans/${hash}.json`],
      [{ kind: 'probe', id: uuidOf(1) }, `probe/${uuidOf(1)}`],
    ];
    for (const [name, key] of spelled) expect(keyOf(name)).toBe(`_demarkus/v1/${key}`);
  });

  test('that no name has are null', () => {
    const hash = hashOf(1);
    const strays = [
      'log/',
      'log/0000000000000000.slot',
      'log/0020000000000000.slot',
      'log/0020000000000001.slot',
      'log/ffffffffffffffff.slot',
      'log/000000000000000A.slot',
      'log/00000000000000012.slot',
      'log/000000000000002.slot',
      'log/0000000000000002',
      'log/0000000000000002.slot.tmp',
      'log/0000000000000002.slot\n',
      'log/+000000000000002.slot',
      'log/x/0000000000000002.slot',
      `blobs/00000000/${hash}`,
      `blobs/0000001/${hash}`,
      `blobs/00000001/${hash}.json`,
      `blobs/${hash.toUpperCase().replace(/0/g, 'A')}`,
      `packs/${hash}`,
      `roots/${hash}.json`,
      `roots/00000001/${hash}`,
      `index/00000001/${hash}.runs`,
      `index/00000001/${hash}`,
      `index/ab/${hash}.json`,
      `plans/00000001/${hash}.json`,
      'checkpoints/001fffffffffffff.00000001.json',
      'checkpoints/001ffffffffffff0.00000000.json',
      'checkpoints/001ffffffffffff0.json',
      'checkpoints/001ffffffffffff0.00000001.json.json',
      'probe/x',
      'head.json/x',
      'toString',
      '',
    ];
    for (const stray of strays) expect(parseKey(`_demarkus/v1/${stray}`), stray).toBeNull();
    expect(parseKey(slotKey(sequence(2)).slice(1))).toBeNull();
    expect(parseSlotKey(checkpointKey(sequence(2), 1))).toBeNull();
  });

  test('order slots upwards and checkpoints downwards', () => {
    fc.assert(
      fc.property(anySequence, anySequence, anyEpoch, (a, b, epoch) => {
        const order = Math.sign(a - b);
        expect(Math.sign(compareUtf8(slotKey(a), slotKey(b)))).toBe(order);
        const downwards = compareUtf8(checkpointKey(a, epoch), checkpointKey(b, epoch));
        expect(Math.sign(downwards) + order).toBe(0);
      }),
      { seed: 3 },
    );
  });

  test('are not made of what they cannot hold', () => {
    expect(() => blobKey(-1, hashOf(1))).toThrow(InvariantError);
    expect(() => blobKey(2 ** 32, hashOf(1))).toThrow(InvariantError);
    expect(() => blobKey(1, 'a/b')).toThrow(InvariantError);
    expect(() => checkpointKey(sequence(1), 0)).toThrow(InvariantError);
    expect(() => keyOf({ kind: 'probe', id: '../head.json' })).toThrow(InvariantError);
  });
});
