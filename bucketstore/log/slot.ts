/**
 * A slot: one object of the log, created once and never rewritten (I1). It commits a batch of
 * entries, and carries their small stored versions.
 *
 * LAYOUT
 *
 *     offset 0    64 lower-case hex digits: SHA-256 of everything from offset 65
 *            64   newline
 *            65   header: one line of canonical JSON
 *            …    newline
 *            …    inlined stored versions, raw, in order of sequence, without anything between
 *
 * The header is
 *
 *     { schema: 2, world_id, incarnation_id, first, store, time, documents, prev, epoch,
 *       inlined: [[sequence, length, hash] …], entries: [entry …] }
 *
 * The entry at index i has sequence first + i. Where an inlined version begins follows from the
 * lengths before it. `prev` is the SHA-256 of the whole object before it in the log, first line
 * included.
 *
 * VALIDITY. A slot is valid when
 *
 *  1. it is at most 4 MiB, and its first line is the checksum of the rest;
 *  2. the header is canonical JSON with exactly these fields, at most 1 MiB; schema is 2;
 *  3. `first` is what its name says, at least 2; it holds 1 to 256 entries;
 *  4. every entry is valid alone (`entry-rules.ts`) and at most 16 KiB of canonical JSON;
 *  5. no operation ID occurs twice; groups lie inside the slot and do not overlap; a control entry
 *     is the only entry;
 *  6. exactly the writes with `at: "slot"` have an inlined version, in order, whose hash is the
 *     entry's `stored_hash`; any other write names a blob of the slot's own epoch;
 *  7. inlined versions are 1 byte to 64 KiB, together at most 1 MiB, fill the rest of the object
 *     exactly, and each has its hash.
 *
 * Whether it belongs behind the slot before it is `chain.ts`'s, and what it does to the state
 * `snapshot/apply.ts`'s.
 *
 * READER. Check the first line; find the next newline; parse what is between, strictly; check the
 * rules; encode the header again and compare; slice and hash the rest. A name that exists and holds
 * no valid slot stops the world: it is never taken for the end of the log, and never for an older
 * tip.
 *
 * WHY. The checksum comes first, so that a cut or damaged object is told from a wrong one before a
 * byte of it is believed, whatever the service checks itself. Stored versions lie outside the JSON:
 * they need no escapes, are read by range, and a batch costs one object.
 */
import { NEWLINE } from '../base/ascii.ts';
import { assert } from '../base/assert.ts';
import { canonicalText } from '../base/canonical.ts';
import { sha256Hex } from '../base/digest.ts';
import { integrityError } from '../base/errors.ts';
import type { Sequence } from '../base/sequence.ts';
import { sliceInlined } from './bodies.ts';
import { entryText, entryToJson } from './entry-codec.ts';
import { slotKey } from './names.ts';
import {
  ENTRY_BYTES_MAX,
  type Entry,
  type Inlined,
  SLOT_BYTES_MAX,
  SLOT_HEADER_BYTES_MAX,
  type Slot,
} from './records.ts';
import { decodeHeader, headerText, type InlinedItem } from './slot-header.ts';
import { slotProblem } from './slot-rules.ts';
import { assertCanonical } from './strict.ts';

/** Hex digits of the first line, and its end. */
const CHECKSUM_BYTES = 65;

/** A slot as its committer knows it, before it has bytes. */
export interface SlotInput {
  readonly worldId: string;
  readonly incarnationId: string;
  readonly first: Sequence;
  readonly store: string;
  readonly time: number;
  readonly documents: number;
  readonly prev: string;
  readonly epoch: number;
  readonly entries: readonly Entry[];
  /** `entryText` of each entry, when it was made already; must be of these very entries. */
  readonly texts?: readonly string[];
  /** The stored version of each entry with `at: "slot"`, ascending by sequence. */
  readonly bodies: readonly SlotBody[];
}

export interface SlotBody {
  readonly sequence: Sequence;
  readonly bytes: Uint8Array;
}

export interface EncodedSlot {
  readonly bytes: Uint8Array;
  /** SHA-256 of the whole object, 64 hex: the next slot's `prev`. */
  readonly hash: string;
  readonly slot: Slot;
}

export interface DecodedSlot {
  readonly slot: Slot;
  /** SHA-256 of the whole object, 64 hex. */
  readonly hash: string;
}

/**
 * The bytes of a slot. A pure function: the same input gives the same bytes.
 * @throws InvariantError when the input breaks a rule of the format; nothing of a batch that was
 *   built within the limits does
 */
export function encodeSlot(input: SlotInput): EncodedSlot {
  const { texts = input.entries.map(entryText), bodies, ...fields } = input;
  assert(texts.length === input.entries.length, 'a text for each entry');
  for (const [index, text] of texts.entries()) {
    const bytes = Buffer.byteLength(text);
    assert(bytes <= ENTRY_BYTES_MAX, () => `entries[${index}]: ${bytes} bytes do not fit`);
  }
  const items = bodies.map(({ sequence, bytes }) => {
    return { sequence, length: bytes.length, hash: sha256Hex(bytes) };
  });
  const header = Buffer.from(headerText({ ...fields, inlined: items }, texts));
  assert(header.length <= SLOT_HEADER_BYTES_MAX, () => `a header of ${header.length} bytes`);
  const last = (input.first + (input.entries.length - 1)) as Sequence;
  const slot: Slot = { ...fields, last, inlined: placeInlined(items, header.length) };
  const problem = slotProblem(slot);
  assert(problem === null, () => `slot ${input.first}: ${problem}`);
  const bytes = assemble(header, bodies);
  assert(bytes.length <= SLOT_BYTES_MAX, () => `a slot of ${bytes.length} bytes`);
  return { bytes, hash: sha256Hex(bytes), slot };
}

/**
 * The slot that an object holds, checked by every rule above.
 * @param key the object's key; its sequence must be the slot's first
 * @throws StoreError INTEGRITY naming the object and the field; UNSUPPORTED_FORMAT for a slot of a
 *   newer schema
 */
export function decodeSlot(key: string, bytes: Uint8Array): DecodedSlot {
  const header = checkedHeader(key, bytes);
  const { text, fields } = decodeHeader(key, header);
  const last = (fields.first + (fields.entries.length - 1)) as Sequence;
  const inlined = placeInlined(fields.inlined, header.length);
  const slot: Slot = { ...fields, last, inlined };
  const problem = slotProblem(slot);
  if (problem !== null) throw integrityError(key, problem);
  if (slotKey(slot.first) !== key)
    throw integrityError(key, `first: ${slot.first}, not the name's`);
  assertCanonical(key, text, headerText(fields, checkedTexts(key, slot.entries)));
  checkBodies(key, slot, bytes, header.length);
  return { slot, hash: sha256Hex(bytes) };
}

/** The header of an object whose checksum is right. */
function checkedHeader(key: string, bytes: Uint8Array): Uint8Array {
  if (bytes.length > SLOT_BYTES_MAX) {
    throw integrityError(key, `${bytes.length} bytes, more than ${SLOT_BYTES_MAX}`);
  }
  const rest = bytes.subarray(CHECKSUM_BYTES);
  const line = `${sha256Hex(rest)}\n`;
  for (let i = 0; i < CHECKSUM_BYTES; i++) {
    if (bytes[i] !== line.charCodeAt(i)) {
      throw integrityError(
        key,
        `the first line is not the checksum of the ${rest.length} bytes after it`,
      );
    }
  }
  const end = rest.indexOf(NEWLINE);
  if (end < 0) throw integrityError(key, 'no end of the header');
  return rest.subarray(0, end);
}

/** Canonical texts of decoded entries, each within its limit. */
function checkedTexts(key: string, entries: readonly Entry[]): string[] {
  return entries.map((entry, index) => {
    const text = canonicalText(entryToJson(entry));
    const bytes = Buffer.byteLength(text);
    if (bytes <= ENTRY_BYTES_MAX) return text;
    throw integrityError(key, `entries[${index}]: ${bytes} bytes, more than ${ENTRY_BYTES_MAX}`);
  });
}

function checkBodies(key: string, slot: Slot, bytes: Uint8Array, headerBytes: number): void {
  let end = bodiesOffset(headerBytes);
  for (const item of slot.inlined) end += item.length;
  if (end !== bytes.length) {
    throw integrityError(key, `inlined: ends at ${end} of ${bytes.length} bytes`);
  }
  for (const [index, item] of slot.inlined.entries()) {
    if (sha256Hex(sliceInlined(bytes, item)) !== item.hash) {
      throw integrityError(key, `inlined[${index}][2]: not the hash of its bytes`);
    }
  }
}

function placeInlined(items: readonly InlinedItem[], headerBytes: number): Inlined[] {
  let offset = bodiesOffset(headerBytes);
  return items.map(({ sequence, length, hash }) => {
    const item = { sequence, hash, offset, length };
    offset += length;
    return item;
  });
}

function bodiesOffset(headerBytes: number): number {
  return CHECKSUM_BYTES + headerBytes + 1;
}

function assemble(header: Uint8Array, bodies: readonly SlotBody[]): Uint8Array {
  let length = bodiesOffset(header.length);
  for (const body of bodies) length += body.bytes.length;
  const bytes = new Uint8Array(length);
  bytes.set(header, CHECKSUM_BYTES);
  let offset = CHECKSUM_BYTES + header.length;
  bytes[offset++] = NEWLINE;
  for (const body of bodies) {
    bytes.set(body.bytes, offset);
    offset += body.bytes.length;
  }
  const line = `${sha256Hex(bytes.subarray(CHECKSUM_BYTES))}\n`;
  for (let i = 0; i < CHECKSUM_BYTES; i++) bytes[i] = line.charCodeAt(i);
  return bytes;
}
