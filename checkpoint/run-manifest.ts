/**
 * A run manifest: the tables that one run consists of, in the order of their paths.
 *
 * LAYOUT. One line of canonical JSON without a newline:
 *
 *     { schema: 2, kind: 'run' or 'records', after, through, entries,
 *       objects: [{ bytes, directory: [length, sha256], entries, epoch, first, hash, last }…] }
 *
 * The run is of the interval (after, through]. `first` and `last` are the paths of a table's first
 * and last entry, `bytes` is the length of the object and `hash` its SHA-256, `entries` their
 * number and in all. An interval in which nothing changed has no objects.
 *
 * VALIDITY. Exactly these fields; the interval is not empty; tables have entries, are of no later
 * epoch than the manifest, and their paths are disjoint and ascend; the numbers of entries add up.
 *
 * READER. The root names it by interval, epoch and hash. A path is in the one table whose first and
 * last path are around it (`tableFor`), or not in the run.
 *
 * WHY. Tables that did not change are named again, also under an older epoch, so that a run is
 * rewritten only where it changed. The directory's hash stands here, so that the first range read
 * of a table is verified.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { canonicalText, type Json } from '../bucketstore/base/canonical.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import { compareUtf8 } from '../bucketstore/base/order.ts';
import { sequence } from '../bucketstore/base/sequence.ts';
import { isDocumentPath } from '../bucketstore/document/path.ts';
import { readSequence } from '../bucketstore/log/control.ts';
import { hashProblem, rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { SCHEMA } from '../bucketstore/log/format.ts';
import { EPOCH_MAX, keyOf } from '../bucketstore/log/names.ts';
import { DOCUMENTS_MAX } from '../bucketstore/log/records.ts';
import { readSchemaObject } from '../bucketstore/log/schema-object.ts';
import { assertCanonical, Fields, isInteger, type JsonBounds } from '../bucketstore/log/strict.ts';
import { type Interval, intervalText, isSameInterval } from './interval.ts';
import type { RunRef } from './root.ts';
import { DIRECTORY_BYTES_MAX, type TableKind, type TableRef } from './table-directory.ts';

/** Documents as of an interval's end, or the versions made in it. */
export type RunKind = 'run' | 'records';

/** What kind of tables a run consists of. */
export const TABLE_KINDS: Readonly<Record<RunKind, TableKind>> = {
  run: 'segment',
  records: 'records',
};

export interface RunManifest extends Interval {
  readonly kind: RunKind;
  /** Of all tables. */
  readonly entries: number;
  /** In the order of their paths. */
  readonly objects: readonly TableRef[];
}

export interface EncodedRunManifest {
  readonly bytes: Uint8Array;
  readonly ref: RunRef;
}

/** A manifest at most, bytes: two hundred thousand tables with usual paths. */
export const RUN_MANIFEST_BYTES_MAX = 67_108_864;
/** A table has eight commas in more than 200 bytes. */
const BOUNDS: JsonBounds = {
  bytesMax: RUN_MANIFEST_BYTES_MAX,
  depthMax: 4,
  commasMax: RUN_MANIFEST_BYTES_MAX / 16,
};
const KINDS = ['run', 'records'] as const;

/** The key of a run manifest. */
export function runKey({ epoch, hash }: Pick<RunRef, 'epoch' | 'hash'>): string {
  return keyOf({ kind: 'index', type: 'run', epoch, hash });
}

/** A manifest of tables, their entries added up. */
export function runManifest(
  kind: RunKind,
  { after, through }: Interval,
  objects: readonly TableRef[],
): RunManifest {
  const entries = objects.reduce((sum, object) => sum + object.entries, 0);
  return { kind, after, through, entries, objects };
}

/**
 * The bytes of a manifest. A pure function.
 * @param epoch that the manifest is written in
 * @throws InvariantError when it breaks a rule of the format
 */
export function encodeRunManifest(manifest: RunManifest, epoch: number): EncodedRunManifest {
  const problem = manifestProblem(manifest, epoch);
  assert(problem === null, () => `run manifest: ${problem}`);
  const bytes = new TextEncoder().encode(manifestText(manifest));
  assert(bytes.length <= RUN_MANIFEST_BYTES_MAX, () => `run manifest: ${bytes.length} bytes`);
  const { after, through } = manifest;
  return { bytes, ref: { after, through, epoch, hash: sha256Hex(bytes) } };
}

/**
 * The manifest that a root names.
 * @throws StoreError INTEGRITY naming the manifest unless it is a valid one, of that kind and
 *   interval; UNSUPPORTED_FORMAT for a newer schema
 */
export function decodeRunManifest(kind: RunKind, ref: RunRef, bytes: Uint8Array): RunManifest {
  const key = runKey(ref);
  if (sha256Hex(bytes) !== ref.hash) throw integrityError(key, 'not the bytes of its name');
  const { text, fields } = readSchemaObject(key, bytes, BOUNDS);
  const manifest: RunManifest = {
    kind: fields.choice('kind', KINDS),
    after: readAfter(fields),
    through: readSequence(fields, 'through'),
    entries: fields.integer('entries'),
    objects: fields.array('objects').map((item, index) => {
      return readObject(new Fields(key, `objects[${index}]`, item));
    }),
  };
  fields.end();
  const problem = manifestProblem(manifest, ref.epoch);
  if (problem !== null) return fields.refuse(problem);
  assertCanonical(key, text, manifestText(manifest));
  if (manifest.kind !== kind) fields.fail('kind', `the root says ${kind}`);
  if (!isSameInterval(manifest, ref)) fields.fail('after', `the root says ${intervalText(ref)}`);
  return manifest;
}

/**
 * The table that can hold a path, undefined when none of the run's can. Binary search.
 */
export function tableFor({ objects }: RunManifest, path: string): TableRef | undefined {
  let low = 0;
  let high = objects.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const object = objects[middle];
    if (object === undefined || compareUtf8(object.last, path) >= 0) high = middle;
    else low = middle + 1;
  }
  const found = objects[low];
  return found !== undefined && compareUtf8(found.first, path) <= 0 ? found : undefined;
}

function manifestProblem(manifest: RunManifest, epoch: number): string | null {
  const { after, through, entries, objects } = manifest;
  const problem =
    rangeProblem('epoch', epoch, 1, EPOCH_MAX) ??
    rangeProblem('through', through, 1, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('after', after, 0, through - 1);
  if (problem !== null) return problem;
  let before: TableRef | undefined;
  let sum = 0;
  for (const [index, object] of objects.entries()) {
    const odd = objectProblem(object, epoch);
    if (odd !== null) return `objects[${index}].${odd}`;
    if (before !== undefined && compareUtf8(before.last, object.first) >= 0) {
      return `objects[${index}].first: not behind the table before`;
    }
    sum += object.entries;
    before = object;
  }
  return (
    rangeProblem('entries', entries, sum, sum) ?? rangeProblem('entries', sum, 0, DOCUMENTS_MAX)
  );
}

function objectProblem(object: TableRef, epoch: number): string | null {
  const { bytes, directory, entries, first, last, hash } = object;
  if (!isDocumentPath(first)) return 'first: not a canonical document path';
  if (!isDocumentPath(last)) return 'last: not a canonical document path';
  const order = compareUtf8(first, last);
  const problem =
    rangeProblem('directory[0]', directory.length, 2, DIRECTORY_BYTES_MAX) ??
    hashProblem('directory[1]', directory.hash) ??
    rangeProblem('bytes', bytes, directory.length + 1, Number.MAX_SAFE_INTEGER) ??
    rangeProblem('entries', entries, 1, DOCUMENTS_MAX) ??
    rangeProblem('epoch', object.epoch, 1, epoch) ??
    hashProblem('hash', hash);
  if (problem !== null) return problem;
  if (entries === 1) return order === 0 ? null : 'last: not the only path';
  return order < 0 ? null : 'last: not behind the first path';
}

function readAfter(fields: Fields): Interval['after'] {
  const after = fields.integer('after');
  if (after === 0) return 0;
  return after > 0 ? sequence(after) : fields.fail('after', `${after} is no sequence`);
}

function readObject(fields: Fields): TableRef {
  const object: TableRef = {
    bytes: fields.integer('bytes'),
    directory: readDirectory(fields),
    entries: fields.integer('entries'),
    epoch: fields.integer('epoch'),
    first: fields.string('first'),
    last: fields.string('last'),
    hash: fields.string('hash'),
  };
  fields.end();
  return object;
}

function readDirectory(fields: Fields): TableRef['directory'] {
  const [length, hash, ...rest] = fields.array('directory');
  return isInteger(length) && typeof hash === 'string' && rest.length === 0
    ? { length, hash }
    : fields.fail('directory', 'not a length and a hash');
}

/** Members in canonical order: a large manifest is not sorted again. */
function manifestText({ kind, after, through, entries, objects }: RunManifest): string {
  return canonicalText({
    after,
    entries,
    kind,
    objects: objects.map(objectJson),
    schema: SCHEMA,
    through,
  });
}

function objectJson({ bytes, directory, entries, epoch, first, hash, last }: TableRef): Json {
  const { length, hash: directoryHash } = directory;
  return { bytes, directory: [length, directoryHash], entries, epoch, first, hash, last };
}
