/**
 * Control entries between their values and JSON: `floor`, `barrier`, `clear`, `pin`, `unpin`,
 * `seal`. All coordination between stores goes through them. Each is alone in its slot.
 */
import { assertNever } from '../base/assert.ts';
import type { Json } from '../base/canonical.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import type { BarrierEntry, ControlEntry, SealEntry } from './records.ts';
import { type Fields, isInteger } from './strict.ts';

/** The `kind` of every control entry. */
export const CONTROL_KINDS = ['floor', 'barrier', 'clear', 'pin', 'unpin', 'seal'] as const;
const SEAL_REASONS = ['move', 'rollback', 'closed'] as const;

/** The JSON of a control entry; its canonical text is what a slot holds. */
export function controlToJson(entry: ControlEntry): Json {
  const { kind, op } = entry;
  switch (entry.kind) {
    case 'floor':
      return { kind, op, at: entry.at, mutation: entry.mutation };
    case 'barrier':
      return { kind, op, plan: entry.plan, kept: entry.kept, schema1: entry.schema1 };
    case 'clear':
      return { kind, op, plan: entry.plan };
    case 'pin':
      return { kind, op, id: entry.id, owner: entry.owner, expires: entry.expires };
    case 'unpin':
      return { kind, op, id: entry.id };
    case 'seal': {
      const { reason, successor, location } = entry;
      return { kind, op, reason, successor, location };
    }
  }
}

/**
 * The control entry that the members say. Types only: values are `entry-rules.ts`'s, and `end` the
 * caller's.
 * @throws StoreError INTEGRITY for a missing member or one of another type
 */
export function controlFromFields(kind: ControlEntry['kind'], fields: Fields): ControlEntry {
  const op = fields.string('op');
  switch (kind) {
    case 'floor': {
      const at = readSequence(fields, 'at');
      return { kind, op, at, mutation: readSequence(fields, 'mutation') };
    }
    case 'barrier':
      return readBarrier(op, fields);
    case 'clear':
      return { kind, op, plan: fields.string('plan') };
    case 'pin': {
      const id = fields.string('id');
      return { kind, op, id, owner: fields.string('owner'), expires: fields.integer('expires') };
    }
    case 'unpin':
      return { kind, op, id: fields.string('id') };
    case 'seal':
      return readSeal(op, fields);
    default:
      return assertNever(kind);
  }
}

/**
 * A sequence member.
 * @throws StoreError INTEGRITY unless it is an integer of 1 to 2^53 − 1
 */
export function readSequence(fields: Fields, name: string): Sequence {
  const value = fields.integer(name);
  return value < 1 ? fields.fail(name, `${value} is no sequence`) : sequence(value);
}

/**
 * The member `kept`: checkpoints by sequence and epoch. Types only.
 * @throws StoreError INTEGRITY
 */
export function readKept(fields: Fields): BarrierEntry['kept'] {
  return fields.array('kept').map((item, index): readonly [Sequence, number] => {
    const [at, epoch, ...rest] = Array.isArray(item) ? item : [];
    if (!isInteger(at) || at < 1 || !isInteger(epoch) || rest.length > 0) {
      return fields.fail(`kept[${index}]`, 'not a sequence and an epoch');
    }
    return [sequence(at), epoch];
  });
}

/**
 * The member `schema1`, which is true or absent.
 * @throws StoreError INTEGRITY
 */
export function readSchema1(fields: Fields): boolean {
  if (!fields.has('schema1')) return false;
  return fields.boolean('schema1') || fields.fail('schema1', 'not true; absent otherwise');
}

function readBarrier(op: string, fields: Fields): BarrierEntry {
  const plan = fields.string('plan');
  const kept = readKept(fields);
  return { kind: 'barrier', op, plan, kept, ...(readSchema1(fields) ? { schema1: true } : {}) };
}

/**
 * What a seal says beside its kind and operation. Types only.
 * @throws StoreError INTEGRITY
 */
export function readSeal(op: string, fields: Fields): SealEntry {
  const reason = fields.choice('reason', SEAL_REASONS);
  const successor = fields.optionalString('successor');
  const location = fields.optionalString('location');
  return {
    kind: 'seal',
    op,
    reason,
    ...(successor === undefined ? {} : { successor }),
    ...(location === undefined ? {} : { location }),
  };
}
