/**
 * A pack: inlined stored versions, moved out of the slots that are to be collected.
 *
 * LAYOUT
 *
 *     offset 0    one line of canonical JSON { schema: 2, first, last, versions }, newline
 *            …    a row of 48 bytes for each version, ascending by sequence:
 *                   sequence, unsigned 64 bits · offset, 32 bits · length, 32 bits, big-endian
 *                   SHA-256 of the stored version, 32 bytes
 *            …    stored versions, raw, in the order of their rows, without anything between
 *
 * Line and rows are the *directory*. Offsets count from the start of the object.
 *
 * VALIDITY. At most 4 MiB; `first` and `last` are the first and the last row's sequence, `versions`
 * is the number of rows, at least 1; sequences are 2 or more and ascend; a stored version has 1
 * byte to 64 KiB; the first begins where the directory ends, each other where the one before ends,
 * the last ends with the object; each has its hash.
 *
 * READER. The root names each pack with `first`, `last` and `versions`, its length and hash, and
 * the length and hash of its directory. Look the pack up, read the directory by range, find the
 * row, read the version by range, check its hash. A directory may be kept: it never changes.
 *
 * WHY. Rows have a fixed width, so that a directory is searched as it was read, without an object
 * for each row. A version is verified alone, so nobody reads a pack for a body. Cuts at unit ends
 * make the packs of a unit a function of the unit alone (I4), whoever packs it, and from where.
 */
import { NEWLINE } from '../bucketstore/base/ascii.ts';
import { assert } from '../bucketstore/base/assert.ts';
import { canonicalText } from '../bucketstore/base/canonical.ts';
import { sha256Hex } from '../bucketstore/base/digest.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import type { Sequence } from '../bucketstore/base/sequence.ts';
import { readSequence } from '../bucketstore/log/control.ts';
import { SCHEMA } from '../bucketstore/log/format.ts';
import { keyOf } from '../bucketstore/log/names.ts';
import { readSchemaObject } from '../bucketstore/log/schema-object.ts';
import { assertCanonical, type JsonBounds } from '../bucketstore/log/strict.ts';
import { PACK_BYTES_MAX } from './constants.ts';
import {
  headProblem,
  PackDirectory,
  type PackedVersion,
  type PackHead,
  ROW_BYTES,
  rowsProblem,
} from './pack-directory.ts';

/** A pack as a root names it. */
export interface PackRef extends PackHead {
  /** Length of the object. */
  readonly bytes: number;
  readonly directory: { readonly length: number; readonly hash: string };
  readonly epoch: number;
  /** SHA-256 of the object, 64 hex. */
  readonly hash: string;
}

export interface EncodedPack {
  readonly bytes: Uint8Array;
  readonly ref: PackRef;
}

export interface DecodedPack {
  readonly ref: PackRef;
  readonly directory: PackDirectory;
}

/** The line has four members, two of them with a long number. */
const LINE_BOUNDS: JsonBounds = { bytesMax: 128, depthMax: 1, commasMax: 8 };

/** The key of a pack. */
export function packKey({ epoch, hash }: Pick<PackRef, 'epoch' | 'hash'>): string {
  return keyOf({ kind: 'pack', epoch, hash });
}

/** The pack that covers a sequence, undefined when none does. Binary search. */
export function findPack(packs: readonly PackRef[], at: Sequence): PackRef | undefined {
  let low = 0;
  let high = packs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const pack = packs[middle];
    if (pack === undefined || pack.last >= at) high = middle;
    else low = middle + 1;
  }
  const found = packs[low];
  return found !== undefined && found.first <= at ? found : undefined;
}

/** Length of the directory of a pack, bytes. */
export function directoryBytes(head: PackHead): number {
  return lineOf(head).length + head.versions * ROW_BYTES;
}

/**
 * The bytes of a pack. A pure function. `PackCutter` says what goes into which.
 * @param versions rows without their offsets, ascending
 * @param bodies the stored versions, one after another; their hashes are the caller's to check
 * @throws InvariantError when it would break a rule of the format
 */
export function encodePack(
  epoch: number,
  versions: readonly Omit<PackedVersion, 'offset'>[],
  bodies: Uint8Array,
): EncodedPack {
  const first = versions[0]?.sequence;
  const last = versions.at(-1)?.sequence;
  assert(first !== undefined && last !== undefined, 'a pack of nothing');
  const head = { first, last, versions: versions.length };
  const line = lineOf(head);
  const length = directoryBytes(head);
  const bytes = Buffer.alloc(length + bodies.length);
  assert(bytes.length <= PACK_BYTES_MAX, () => `a pack of ${bytes.length} bytes`);
  bytes.write(line, 'latin1');
  writeRows(bytes, line.length, length, versions);
  bytes.set(bodies, length);
  const directory = bytes.subarray(0, length);
  const problem =
    headProblem(head) ?? rowsProblem(directory.subarray(line.length), head, length, bytes.length);
  assert(problem === null, () => `pack: ${problem}`);
  const hashes = { directory: { length, hash: sha256Hex(directory) }, hash: sha256Hex(bytes) };
  return { bytes, ref: { ...head, bytes: bytes.length, epoch, ...hashes } };
}

function writeRows(
  bytes: Buffer,
  rowsAt: number,
  bodiesAt: number,
  versions: readonly Omit<PackedVersion, 'offset'>[],
): void {
  let row = rowsAt;
  let offset = bodiesAt;
  for (const { sequence, length, hash } of versions) {
    bytes.writeBigUInt64BE(BigInt(sequence), row);
    bytes.writeUInt32BE(offset, row + 8);
    bytes.writeUInt32BE(length, row + 12);
    bytes.write(hash, row + 16, 'hex');
    row += ROW_BYTES;
    offset += length;
  }
}

/**
 * The directory of a pack that a root names, read by range.
 * @param bytes the first `ref.directory.length` bytes of the object; kept, not copied
 * @throws StoreError INTEGRITY naming the pack unless they are that directory, and it is valid and
 *   says what the root says; UNSUPPORTED_FORMAT for a newer schema
 */
export function decodePackDirectory(ref: PackRef, bytes: Uint8Array): PackDirectory {
  const key = packKey(ref);
  const { length, hash } = ref.directory;
  if (bytes.length !== length) {
    throw integrityError(key, `directory: ${bytes.length} bytes, the root says ${length}`);
  }
  if (sha256Hex(bytes) !== hash) throw integrityError(key, 'directory: not the bytes of its hash');
  const { head, rows, length: end } = readDirectory(key, bytes, ref.bytes);
  for (const name of ['first', 'last', 'versions'] as const) {
    if (head[name] !== ref[name]) {
      throw integrityError(key, `${name}: ${head[name]}, the root says ${ref[name]}`);
    }
  }
  if (end !== length) throw integrityError(key, `directory: ${length} bytes, its line says ${end}`);
  return new PackDirectory(rows);
}

/**
 * A whole pack, every stored version of it checked against its hash.
 * @throws StoreError INTEGRITY naming the pack and the row; UNSUPPORTED_FORMAT for a newer schema
 */
export function decodePack(name: Pick<PackRef, 'epoch' | 'hash'>, bytes: Uint8Array): DecodedPack {
  const key = packKey(name);
  if (bytes.length > PACK_BYTES_MAX) {
    throw integrityError(key, `${bytes.length} bytes, more than ${PACK_BYTES_MAX}`);
  }
  if (sha256Hex(bytes) !== name.hash) throw integrityError(key, 'not the bytes of its name');
  const { head, length, rows } = readDirectory(key, bytes, bytes.length);
  // A copy: the directory must not keep the whole pack in memory.
  const directory = new PackDirectory(new Uint8Array(rows));
  for (const version of directory) checkPacked(key, version, slicePacked(bytes, version));
  const hash = sha256Hex(bytes.subarray(0, length));
  const { epoch } = name;
  const ref = { ...head, bytes: bytes.length, directory: { length, hash }, epoch, hash: name.hash };
  return { ref, directory };
}

/** The bytes of a stored version in a whole pack: a view, not a copy. */
export function slicePacked(bytes: Uint8Array, { offset, length }: PackedVersion): Uint8Array {
  const end = offset + length;
  assert(end <= bytes.length, () => `a version to ${end} of ${bytes.length} bytes`);
  return bytes.subarray(offset, end);
}

/**
 * Checks what a range read of a stored version gave.
 * @param key the pack's
 * @throws StoreError INTEGRITY naming the pack and the sequence
 */
export function checkPacked(key: string, version: PackedVersion, bytes: Uint8Array): void {
  if (bytes.length === version.length && sha256Hex(bytes) === version.hash) return;
  const { sequence, offset, length } = version;
  throw integrityError(
    key,
    `the ${length} bytes at ${offset} are not the stored version of sequence ${sequence}`,
  );
}

/** A directory that is valid in an object of `total` bytes. */
function readDirectory(
  key: string,
  bytes: Uint8Array,
  total: number,
): { readonly head: PackHead; readonly length: number; readonly rows: Uint8Array } {
  const end = bytes.subarray(0, LINE_BOUNDS.bytesMax + 1).indexOf(NEWLINE);
  if (end < 0) throw integrityError(key, 'no end of the first line');
  const { text, fields } = readSchemaObject(key, bytes.subarray(0, end), LINE_BOUNDS);
  const head: PackHead = {
    first: readSequence(fields, 'first'),
    last: readSequence(fields, 'last'),
    versions: fields.integer('versions'),
  };
  fields.end();
  const wrong = headProblem(head);
  if (wrong !== null) return fields.refuse(wrong);
  assertCanonical(key, `${text}\n`, lineOf(head));
  const length = directoryBytes(head);
  const rows = bytes.subarray(end + 1, length);
  const problem = rowsProblem(rows, head, length, total);
  if (problem !== null) throw integrityError(key, problem);
  return { head, length, rows };
}

function lineOf({ first, last, versions }: PackHead): string {
  return `${canonicalText({ first, last, schema: SCHEMA, versions })}\n`;
}
