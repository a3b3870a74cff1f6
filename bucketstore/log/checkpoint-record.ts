/**
 * The checkpoint record: it makes derived objects a checkpoint, and holds the control state at its
 * sequence.
 *
 * LAYOUT. One line of canonical JSON without a newline:
 *
 *     { schema: 2, world_id, incarnation_id, sequence, slot, time, documents, epoch,
 *       floor: { at, mutation }, mutation, plan: hash or null, kept: [[sequence, epoch]…],
 *       schema1?: true, pins: [[id, sequence]…], swept: { plan: hash or null, pruned, retained },
 *       successor: null or { op, reason, successor?, location? }, root: { epoch, hash }, check }
 *
 * VALIDITY. Exactly these fields; `check` is the SHA-256 of the canonical JSON without `check`; the
 * name says `sequence` and `root.epoch`. The rest are the states that a replay can reach: a floor
 * and a mutation at or below the sequence; kept checkpoints of a barrier below it, each of an epoch
 * before `epoch`; a plan, open or cleared, exactly when there was a barrier; pins in the order of
 * their sequences; a seal only without an open plan and pins.
 *
 * READER. Newest first in a list of `checkpoints/`. Whether it counts, and whether its root holds,
 * is the reader's to find out; this only says that the record is one.
 *
 * WHY. Control state lives in slots, and slots are collected: what they decided must outlive them.
 * `epoch` is the state's and a function of the log (I4). The epoch that the checkpoint was written
 * in may be a later one, since a backlog is worked off behind a barrier: that one is `root.epoch`.
 */
import { assert } from '../base/assert.ts';
import { canonicalText, type Json } from '../base/canonical.ts';
import { sha256Hex } from '../base/digest.ts';
import { integrityError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { checkpointProblem } from './checkpoint-rules.ts';
import { readKept, readSchema1, readSeal, readSequence } from './control.ts';
import { SCHEMA } from './format.ts';
import { parseKey } from './names.ts';
import { CHECKPOINT_RECORD_BYTES_MAX, type CheckpointRecord, type Swept } from './records.ts';
import { readSchemaObject } from './schema-object.ts';
import { assertCanonical, Fields, isInteger, type JsonBounds } from './strict.ts';

/** The shortest pin has 8 bytes and 2 commas: the bytes are the limit. */
const BOUNDS: JsonBounds = {
  bytesMax: CHECKPOINT_RECORD_BYTES_MAX,
  depthMax: 4,
  commasMax: CHECKPOINT_RECORD_BYTES_MAX / 4,
};

/**
 * The bytes of a record. A pure function.
 * @throws InvariantError when the record breaks a rule of the format
 */
export function encodeCheckpointRecord(record: CheckpointRecord): Uint8Array {
  const problem = checkpointProblem(record);
  assert(problem === null, () => `checkpoint record: ${problem}`);
  const bytes = new TextEncoder().encode(recordText(record));
  assert(
    bytes.length <= CHECKPOINT_RECORD_BYTES_MAX,
    () => `checkpoint record: ${bytes.length} bytes, more than ${CHECKPOINT_RECORD_BYTES_MAX}`,
  );
  return bytes;
}

/**
 * The record that the object `key` holds.
 * @throws StoreError INTEGRITY naming `key` unless it is a valid one under its own name;
 *   UNSUPPORTED_FORMAT for a newer schema
 */
export function decodeCheckpointRecord(key: string, bytes: Uint8Array): CheckpointRecord {
  const name = parseKey(key);
  if (name?.kind !== 'checkpoint') throw integrityError(key, 'not the name of a checkpoint');
  const { text, fields } = readSchemaObject(key, bytes, BOUNDS);
  const record = readRecord(key, fields);
  const check = fields.string('check');
  fields.end();
  const problem = checkpointProblem(record);
  if (problem !== null) return fields.refuse(problem);
  if (check !== sha256Hex(canonicalText(recordJson(record)))) {
    return fields.fail('check', 'not the checksum of the rest');
  }
  assertCanonical(key, text, recordText(record));
  if (record.sequence !== name.sequence) fields.fail('sequence', `the name says ${name.sequence}`);
  if (record.root.epoch !== name.epoch) fields.fail('root.epoch', `the name says ${name.epoch}`);
  return record;
}

function readRecord(key: string, fields: Fields): CheckpointRecord {
  return {
    worldId: fields.string('world_id'),
    incarnationId: fields.string('incarnation_id'),
    sequence: readSequence(fields, 'sequence'),
    slot: fields.string('slot'),
    time: fields.integer('time'),
    documents: fields.integer('documents'),
    epoch: fields.integer('epoch'),
    floor: readFloor(fields.object('floor')),
    mutation: readSequence(fields, 'mutation'),
    plan: readHashOrNull(fields, 'plan'),
    kept: readKept(fields),
    schema1: readSchema1(fields),
    pins: readPins(fields),
    swept: readSwept(fields.object('swept')),
    successor: readSuccessor(key, fields),
    root: readRoot(fields.object('root')),
  };
}

function readFloor(fields: Fields): CheckpointRecord['floor'] {
  const floor = { at: readSequence(fields, 'at'), mutation: readSequence(fields, 'mutation') };
  fields.end();
  return floor;
}

function readHashOrNull(fields: Fields, name: string): string | null {
  const value = fields.json(name);
  return value === null || typeof value === 'string'
    ? value
    : fields.fail(name, 'not a string or null');
}

function readPins(fields: Fields): CheckpointRecord['pins'] {
  return fields.array('pins').map((item, index): readonly [string, Sequence] => {
    const [id, at, ...rest] = Array.isArray(item) ? item : [];
    if (typeof id !== 'string' || !isInteger(at) || at < 1 || rest.length > 0) {
      return fields.fail(`pins[${index}]`, 'not an ID and a sequence');
    }
    return [id, sequence(at)];
  });
}

function readSwept(fields: Fields): Swept {
  const swept = {
    plan: readHashOrNull(fields, 'plan'),
    pruned: fields.integer('pruned'),
    retained: fields.integer('retained'),
  };
  fields.end();
  return swept;
}

function readSuccessor(key: string, fields: Fields): CheckpointRecord['successor'] {
  const value = fields.json('successor');
  if (value === null) return null;
  const members = new Fields(key, fields.path('successor'), value);
  const { kind: _, ...seal } = readSeal(members.string('op'), members);
  members.end();
  return seal;
}

function readRoot(fields: Fields): CheckpointRecord['root'] {
  const root = { epoch: fields.integer('epoch'), hash: fields.string('hash') };
  fields.end();
  return root;
}

function recordText(record: CheckpointRecord): string {
  const body = recordJson(record);
  return canonicalText({ ...body, check: sha256Hex(canonicalText(body)) });
}

function recordJson(record: CheckpointRecord): { readonly [name: string]: Json | undefined } {
  const { floor, swept, successor, root } = record;
  return {
    schema: SCHEMA,
    world_id: record.worldId,
    incarnation_id: record.incarnationId,
    sequence: record.sequence,
    slot: record.slot,
    time: record.time,
    documents: record.documents,
    epoch: record.epoch,
    floor: { at: floor.at, mutation: floor.mutation },
    mutation: record.mutation,
    plan: record.plan,
    kept: record.kept,
    schema1: record.schema1 ? true : undefined,
    pins: record.pins,
    swept: { plan: swept.plan, pruned: swept.pruned, retained: swept.retained },
    successor: successor === null ? null : sealJson(successor),
    root: { epoch: root.epoch, hash: root.hash },
  };
}

function sealJson({ op, reason, successor, location }: NonNullable<CheckpointRecord['successor']>) {
  return { op, reason, successor, location };
}
