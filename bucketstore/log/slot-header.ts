/** The header line of a slot between its values and canonical JSON. `slot.ts` has the format. */
import { canonicalText, type Json } from '../base/canonical.ts';
import { integrityError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { readSequence } from './control.ts';
import { decodeEntry } from './entry-codec.ts';
import { SCHEMA } from './format.ts';
import { type Entry, SLOT_ENTRIES_MAX, SLOT_HEADER_BYTES_MAX, type Slot } from './records.ts';
import { readSchemaObject } from './schema-object.ts';
import { type Fields, isInteger, type JsonBounds } from './strict.ts';

/**
 * An entry has at most 50 metadata keys and 17 other members, a barrier at most 16 KiB of kept
 * checkpoints: no valid header comes near.
 */
const BOUNDS: JsonBounds = { bytesMax: SLOT_HEADER_BYTES_MAX, depthMax: 5, commasMax: 32_768 };

const NO_ENTRIES = '"entries":[]';

/** A stored version in the slot, as the header says it. */
export interface InlinedItem {
  readonly sequence: Sequence;
  readonly length: number;
  readonly hash: string;
}

/** What a header says, without what follows from it. */
export interface HeaderFields extends Omit<Slot, 'last' | 'inlined' | 'entries'> {
  readonly inlined: readonly InlinedItem[];
}

/**
 * The header line of a slot.
 * @param texts canonical text of each entry, in order; not read, only joined
 */
export function headerText(fields: HeaderFields, texts: readonly string[]): string {
  // In canonical order: `canonicalText` need not sort them.
  const frame = canonicalText({
    documents: fields.documents,
    entries: [],
    epoch: fields.epoch,
    first: fields.first,
    incarnation_id: fields.incarnationId,
    inlined: fields.inlined.map((item) => [item.sequence, item.length, item.hash]),
    prev: fields.prev,
    schema: SCHEMA,
    store: fields.store,
    time: fields.time,
    world_id: fields.worldId,
  });
  // Only a number stands before `entries` in canonical order, so this finds the member itself.
  const cut = frame.indexOf(NO_ENTRIES) + NO_ENTRIES.length - 1;
  return `${frame.slice(0, cut)}${texts.join(',')}${frame.slice(cut)}`;
}

/**
 * What a header line says: types, and each entry by its own rules.
 * @returns `text` to compare with the header encoded again
 * @throws StoreError INTEGRITY; UNSUPPORTED_FORMAT for a newer schema
 */
export function decodeHeader(
  key: string,
  bytes: Uint8Array,
): {
  readonly text: string;
  readonly fields: HeaderFields & { readonly entries: readonly Entry[] };
} {
  const { text, fields: header } = readSchemaObject(key, bytes, BOUNDS);
  const fields = {
    worldId: header.string('world_id'),
    incarnationId: header.string('incarnation_id'),
    first: readSequence(header, 'first'),
    store: header.string('store'),
    time: header.integer('time'),
    documents: header.integer('documents'),
    prev: header.string('prev'),
    epoch: header.integer('epoch'),
    inlined: items(header, 'inlined').map((item, index) => readInlined(key, index, item)),
    entries: items(header, 'entries').map((item, index) => decodeEntry(key, index, item)),
  };
  header.end();
  return { text, fields };
}

function items(header: Fields, name: string): readonly Json[] {
  const array = header.array(name);
  if (array.length <= SLOT_ENTRIES_MAX) return array;
  return header.fail(name, `${array.length} items, more than ${SLOT_ENTRIES_MAX}`);
}

function readInlined(key: string, index: number, value: Json): InlinedItem {
  const [at, length, hash, ...rest] = Array.isArray(value) ? value : [];
  if (
    !isInteger(at) ||
    at < 1 ||
    !isInteger(length) ||
    typeof hash !== 'string' ||
    rest.length > 0
  ) {
    throw integrityError(key, `inlined[${index}]: not a sequence, a length and a hash`);
  }
  return { sequence: sequence(at), length, hash };
}
