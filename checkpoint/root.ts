/**
 * A root: what a checkpoint consists of. Everything else of it is reached from here, by hash.
 *
 * LAYOUT. One line of canonical JSON without a newline:
 *
 *     { schema: 2, sequence, packed_through, base: { position, documents },
 *       runs: [{ after, epoch, hash, through }…], records: [{ after, epoch, hash, through }…],
 *       packs: [{ bytes, directory: [length, sha256], epoch, first, hash, last, versions }…] }
 *
 * `runs` and `records` name the manifests of the runs and of the record runs, each of the interval
 * (after, through]; a pack is named with what it holds and how its directory is verified.
 *
 * VALIDITY. `root-rules.ts` has it: the base is the last one at or before the sequence, as far as
 * its document count says; runs and record runs are those that `plan.ts` plans; `packed_through`
 * and the base's position are where the life began or where a unit ends; packs ascend, none is
 * beyond `packed_through`, and those behind the base lie in one unit each. What a root names is of
 * no epoch before the life's first, and of none after the root's own.
 *
 * READER. The checkpoint record (or the marker) names it by epoch and hash; its sequence must be
 * that one's. What it names is read as it is needed, each thing verified by its hash here. Whether
 * a pack is missing, only a look for a version in it tells: a unit may have none.
 *
 * WHY. It is small beside what it names, and what did not change since the root before is named
 * again, so that a checkpoint costs bytes in proportion to what changed.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { canonicalText, type Json } from '../bucketstore/base/canonical.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { type Sequence, sequence } from '../bucketstore/base/sequence.ts';
import { readSequence } from '../bucketstore/log/control.ts';
import { SCHEMA } from '../bucketstore/log/format.ts';
import { keyOf } from '../bucketstore/log/names.ts';
import type { Start } from '../bucketstore/log/records.ts';
import { readSchemaObject } from '../bucketstore/log/schema-object.ts';
import { assertCanonical, Fields, isInteger, type JsonBounds } from '../bucketstore/log/strict.ts';
import type { BasePosition } from './base-positions.ts';
import { ROOT_BYTES_MAX } from './constants.ts';
import type { Interval } from './interval.ts';
import type { PackRef } from './pack.ts';
import { rootProblem } from './root-rules.ts';

/** A run manifest as a root names it. */
export interface RunRef extends Interval {
  readonly epoch: number;
  /** SHA-256 of the manifest, 64 hex. */
  readonly hash: string;
}

export interface Root {
  readonly sequence: Sequence;
  /** Every inlined stored version up to here is in a pack. */
  readonly packedThrough: Sequence;
  readonly base: BasePosition;
  /** The base, then the changes after it, ascending. */
  readonly runs: readonly RunRef[];
  /** Record runs, ascending. */
  readonly records: readonly RunRef[];
  /** Ascending. */
  readonly packs: readonly PackRef[];
}

/** How a life of the world began, as its marker says: what a root is judged by. */
export interface LifeStart extends Pick<Start, 'sequence' | 'documents' | 'epoch'> {
  /** Whether it began with a root, and not with nothing. */
  readonly hasRoot: boolean;
}

/** How a checkpoint record or a marker names a root. */
export interface RootRef {
  readonly epoch: number;
  /** SHA-256 of the object, 64 hex. */
  readonly hash: string;
}

export interface EncodedRoot {
  readonly bytes: Uint8Array;
  readonly ref: RootRef;
}

/** A run has 4 commas and a pack 9, in at least 100 and 200 bytes. */
const BOUNDS: JsonBounds = {
  bytesMax: ROOT_BYTES_MAX,
  depthMax: 5,
  commasMax: ROOT_BYTES_MAX / 16,
};

/** The key of a root. */
export function rootKey({ epoch, hash }: RootRef): string {
  return keyOf({ kind: 'root', epoch, hash });
}

/** The start that a marker says. */
export function lifeStart({ sequence: at, documents, epoch, root }: Start): LifeStart {
  return { sequence: at, documents, epoch, hasRoot: root !== null };
}

/**
 * The bytes of a root. A pure function.
 * @param epoch that the root is written in
 * @throws InvariantError when it breaks a rule of the format
 */
export function encodeRoot(root: Root, epoch: number, life: LifeStart): EncodedRoot {
  const problem = rootProblem(root, epoch, life);
  assert(problem === null, () => `root: ${problem}`);
  const bytes = new TextEncoder().encode(rootText(root));
  assert(bytes.length <= ROOT_BYTES_MAX, () => `root: ${bytes.length} bytes`);
  return { bytes, ref: { epoch, hash: sha256Hex(bytes) } };
}

/**
 * The root that a checkpoint record or a marker names. Whether its sequence is that one's, its
 * caller knows.
 * @throws StoreError INTEGRITY naming the root and the field unless it is a valid one;
 *   UNSUPPORTED_FORMAT for a newer schema
 */
export function decodeRoot(ref: RootRef, bytes: Uint8Array, life: LifeStart): Root {
  const key = rootKey(ref);
  if (sha256Hex(bytes) !== ref.hash) throw integrityError(key, 'not the bytes of its name');
  const { text, fields } = readSchemaObject(key, bytes, BOUNDS);
  const root: Root = {
    sequence: readSequence(fields, 'sequence'),
    packedThrough: readSequence(fields, 'packed_through'),
    base: readBase(fields.object('base')),
    runs: readItems(key, fields, 'runs', readRun),
    records: readItems(key, fields, 'records', readRun),
    packs: readItems(key, fields, 'packs', readPack),
  };
  fields.end();
  const problem = rootProblem(root, ref.epoch, life);
  if (problem !== null) return fields.refuse(problem);
  assertCanonical(key, text, rootText(root));
  return root;
}

function readItems<T>(key: string, fields: Fields, name: string, read: (item: Fields) => T): T[] {
  return fields.array(name).map((item, index) => {
    const members = new Fields(key, `${name}[${index}]`, item);
    const result = read(members);
    members.end();
    return result;
  });
}

function readBase(fields: Fields): BasePosition {
  const base = {
    position: readSequence(fields, 'position'),
    documents: fields.integer('documents'),
  };
  fields.end();
  return base;
}

function readRun(fields: Fields): RunRef {
  return {
    after: readAfter(fields),
    through: readSequence(fields, 'through'),
    epoch: fields.integer('epoch'),
    hash: fields.string('hash'),
  };
}

function readAfter(fields: Fields): Sequence | 0 {
  const after = fields.integer('after');
  if (after === 0) return 0;
  return after > 0 ? sequence(after) : fields.fail('after', `${after} is no sequence`);
}

function readPack(fields: Fields): PackRef {
  return {
    first: readSequence(fields, 'first'),
    last: readSequence(fields, 'last'),
    versions: fields.integer('versions'),
    bytes: fields.integer('bytes'),
    directory: readDirectory(fields),
    epoch: fields.integer('epoch'),
    hash: fields.string('hash'),
  };
}

function readDirectory(fields: Fields): PackRef['directory'] {
  const [length, hash, ...rest] = fields.array('directory');
  return isInteger(length) && typeof hash === 'string' && rest.length === 0
    ? { length, hash }
    : fields.fail('directory', 'not a length and a hash');
}

/** Members in canonical order: a large root is not sorted again. */
function rootText(root: Root): string {
  return canonicalText({
    base: { documents: root.base.documents, position: root.base.position },
    packed_through: root.packedThrough,
    packs: root.packs.map(packJson),
    records: root.records.map(runJson),
    runs: root.runs.map(runJson),
    schema: SCHEMA,
    sequence: root.sequence,
  });
}

function runJson({ after, epoch, hash, through }: RunRef): Json {
  return { after, epoch, hash, through };
}

function packJson({ bytes, directory, epoch, first, hash, last, versions }: PackRef): Json {
  return {
    bytes,
    directory: [directory.length, directory.hash],
    epoch,
    first,
    hash,
    last,
    versions,
  };
}
