/** Checkpoint records: one of every field, and an arbitrary of everything that is valid. */
import fc from 'fast-check';
import { type Sequence, sequence } from '../../bucketstore/base/sequence.ts';
import { checkpointKey } from '../../bucketstore/log/names.ts';
import type { CheckpointRecord } from '../../bucketstore/log/records.ts';
import { hashOf, INCARNATION, uuidOf, WORLD } from './values.ts';

const SAFE_MAX = Number.MAX_SAFE_INTEGER;

/** The name that a record belongs under. */
export function keyOfRecord(record: CheckpointRecord): string {
  return checkpointKey(record.sequence, record.root.epoch);
}

/** An unsealed record that uses every other field; change what a test is about. */
export function checkpoint(change: Partial<CheckpointRecord> = {}): CheckpointRecord {
  return {
    worldId: WORLD,
    incarnationId: INCARNATION,
    sequence: sequence(5000),
    slot: hashOf(1),
    time: 1_790_000_000_123,
    documents: 70,
    epoch: 4,
    floor: { at: sequence(1025), mutation: sequence(1023) },
    mutation: sequence(4998),
    plan: hashOf(2),
    kept: [
      [sequence(2048), 2],
      [sequence(4096), 3],
    ],
    schema1: true,
    pins: [
      ['backup-1', sequence(4100)],
      ['Read.2', sequence(4999)],
    ],
    swept: { plan: hashOf(3), pruned: 11, retained: 300 },
    successor: null,
    root: { epoch: 5, hash: hashOf(4) },
    ...change,
  };
}

/** A record of the seal of a move. */
export function sealed(change: Partial<CheckpointRecord> = {}): CheckpointRecord {
  const successor = {
    op: uuidOf(1),
    reason: 'move' as const,
    successor: uuidOf(2),
    location: 'gs://b/p',
  };
  return checkpoint({ plan: null, pins: [], successor, ...change });
}

const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
const count = fc.integer({ min: 0, max: SAFE_MAX });
const upTo = (max: number): fc.Arbitrary<Sequence> =>
  fc.integer({ min: 1, max: Math.max(1, max) }).map(sequence);

const successors: fc.Arbitrary<CheckpointRecord['successor']> = fc.oneof(
  fc.record({ op: fc.uuid(), reason: fc.constantFrom('closed' as const, 'rollback' as const) }),
  fc.record({
    op: fc.uuid(),
    reason: fc.constant('move' as const),
    successor: fc.uuid(),
    location: fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }),
  }),
);

/** What barriers left behind, in a record at a sequence and of an epoch. */
function barriers(
  at: number,
  epoch: number,
): fc.Arbitrary<Pick<CheckpointRecord, 'plan' | 'kept' | 'schema1'> & { swept: string | null }> {
  const none = fc.constant({ plan: null, kept: [], schema1: false, swept: null });
  if (epoch === 1) return none;
  const kept = fc
    .uniqueArray(fc.tuple(upTo(at - 1), fc.integer({ min: 1, max: epoch - 1 })), {
      minLength: 1,
      maxLength: 4,
      selector: ([s, e]) => `${s}.${e}`,
    })
    .map((list) => list.sort(([s, e], [t, f]) => s - t || e - f));
  const plans = fc
    .tuple(fc.option(hex), fc.option(hex))
    .filter(([open, cleared]) => open !== null || cleared !== null);
  const some = fc
    .record({ kept, plans, schema1: fc.boolean() })
    .map(({ plans: [plan, swept], ...rest }) => ({ ...rest, plan, swept }));
  return fc.oneof({ weight: 1, arbitrary: none }, { weight: 3, arbitrary: some });
}

function pins(at: number): fc.Arbitrary<CheckpointRecord['pins']> {
  const pin = fc.tuple(
    fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/),
    fc.integer({ min: 2, max: at }).map(sequence),
  );
  return fc
    .uniqueArray(pin, { maxLength: 4, selector: ([id]) => id })
    .map((list) => list.sort(([, a], [, b]) => a - b))
    .filter((list) => new Set(list.map(([, pinned]) => pinned)).size === list.length);
}

/** Any valid record. */
export const anyCheckpoint: fc.Arbitrary<CheckpointRecord> = fc
  .record({
    at: fc.oneof(fc.integer({ min: 2, max: 5000 }), fc.integer({ min: 2, max: SAFE_MAX })),
    epochs: fc.tuple(
      fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 0xffff_ffff })),
      fc.integer({ min: 0, max: 3 }),
    ),
    documents: fc.integer({ min: 0, max: 16_777_216 }),
  })
  .chain(({ at, epochs: [epoch, later], documents }) =>
    fc
      .record({
        worldId: fc.uuid(),
        incarnationId: fc.uuid(),
        slot: hex,
        time: count,
        hash: hex,
        floor: upTo(at - 1).chain((mutation) =>
          fc
            .integer({ min: mutation + 1, max: at })
            .map((floor) => ({ at: sequence(floor), mutation })),
        ),
        mutation: upTo(at - 1),
        after: barriers(at, epoch),
        pins: pins(at),
        pruned: count,
        more: fc.nat(),
        seal: fc.option(successors),
      })
      .map(({ hash, after, pruned, more, seal, ...rest }): CheckpointRecord => {
        const { plan, swept, ...barrier } = after;
        const successor = plan === null && rest.pins.length === 0 ? seal : null;
        return {
          ...rest,
          ...barrier,
          plan,
          sequence: sequence(at),
          documents,
          epoch,
          successor,
          swept: { plan: swept, pruned, retained: documents + more },
          root: { epoch: Math.min(0xffff_ffff, epoch + later), hash },
        };
      }),
  );
