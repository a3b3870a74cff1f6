/**
 * Entries between their values and JSON. Field names are snake case on the bucket; hashes are 64
 * hex digits without a prefix. An entry's bytes do not depend on its place in the log, so a batch
 * that lost its name is written again as it was.
 */
import { assert } from '../base/assert.ts';
import { canonicalText, type Json } from '../base/canonical.ts';
import type { Metadata } from '../document/metadata.ts';
import { CONTROL_KINDS, controlFromFields, controlToJson } from './control.ts';
import { entryProblem } from './entry-rules.ts';
import type { ArchiveEntry, CatalogRecord, Entry, EntryPlace, WriteEntry } from './records.ts';
import { Fields } from './strict.ts';

const KINDS = ['write', 'archive', ...CONTROL_KINDS] as const;
const VERBS = ['publish', 'append'] as const;

/**
 * The canonical text of an entry, as its slot holds it. Make it once: `encodeSlot` takes it.
 * @throws InvariantError when the entry breaks a rule of the format; its size is `encodeSlot`'s
 */
export function entryText(entry: Entry): string {
  const problem = entryProblem(entry);
  assert(problem === null, () => `${entry.kind} entry ${entry.op}: ${problem}`);
  return canonicalText(entryToJson(entry));
}

/**
 * Bytes of an entry in its slot; at most `ENTRY_BYTES_MAX` fit.
 * @throws InvariantError when the entry breaks a rule of the format
 */
export function sizeOfEntry(entry: Entry): number {
  return Buffer.byteLength(entryText(entry));
}

/**
 * The entry that a JSON value says, by the rules that hold for an entry alone.
 * @param object key of the slot, for errors
 * @param index position in it, for errors
 * @throws StoreError INTEGRITY
 */
export function decodeEntry(object: string, index: number, value: Json): Entry {
  const fields = new Fields(object, `entries[${index}]`, value);
  const entry = entryFromFields(object, fields);
  fields.end();
  const problem = entryProblem(entry);
  return problem === null ? entry : fields.refuse(problem);
}

/** The JSON of an entry; its canonical text is what a slot holds. */
export function entryToJson(entry: Entry): Json {
  switch (entry.kind) {
    case 'write':
      return writeToJson(entry);
    case 'archive':
      return archiveToJson(entry);
    default:
      return controlToJson(entry);
  }
}

/** Members in canonical order: `canonicalText` need not sort them. */
function writeToJson(entry: WriteEntry): Json {
  const { title, metadata } = entry.catalog;
  return {
    agent: entry.agent,
    at: entry.at === 'slot' ? 'slot' : { epoch: entry.at.epoch },
    body_hash: entry.bodyHash,
    catalog: { metadata, title },
    first: entry.first,
    group: entry.group,
    kind: entry.kind,
    modified: entry.modified,
    op: entry.op,
    path: entry.path,
    stored_hash: entry.storedHash,
    verb: entry.verb,
    version: entry.version,
  };
}

function archiveToJson(entry: ArchiveEntry): Json {
  const { agent, archived, first, group, kind, op, path, version } = entry;
  return { agent, archived, first, group, kind, op, path, version };
}

function entryFromFields(object: string, fields: Fields): Entry {
  const kind = fields.choice('kind', KINDS);
  switch (kind) {
    case 'write':
      return readWrite(object, fields);
    case 'archive':
      return readArchive(fields);
    default:
      return controlFromFields(kind, fields);
  }
}

function readWrite(object: string, fields: Fields): WriteEntry {
  const agent = fields.optionalString('agent');
  const group = fields.optionalInteger('group');
  return {
    kind: 'write',
    op: fields.string('op'),
    verb: fields.choice('verb', VERBS),
    path: fields.string('path'),
    version: fields.integer('version'),
    first: fields.integer('first'),
    bodyHash: fields.string('body_hash'),
    modified: fields.integer('modified'),
    catalog: readCatalog(object, fields.object('catalog')),
    at: readPlace(object, fields),
    storedHash: fields.string('stored_hash'),
    ...(agent === undefined ? {} : { agent }),
    ...(group === undefined ? {} : { group }),
  };
}

function readArchive(fields: Fields): ArchiveEntry {
  const agent = fields.optionalString('agent');
  const group = fields.optionalInteger('group');
  return {
    kind: 'archive',
    op: fields.string('op'),
    path: fields.string('path'),
    version: fields.integer('version'),
    first: fields.integer('first'),
    archived: fields.boolean('archived'),
    ...(agent === undefined ? {} : { agent }),
    ...(group === undefined ? {} : { group }),
  };
}

function readCatalog(object: string, fields: Fields): CatalogRecord {
  const title = fields.string('title');
  const value = fields.json('metadata');
  fields.end();
  if (value === null) return { title, metadata: null };
  const metadata: Metadata = new Fields(object, fields.path('metadata'), value).strings();
  return { title, metadata: Object.freeze(metadata) };
}

function readPlace(object: string, fields: Fields): EntryPlace {
  const value = fields.json('at');
  if (value === 'slot') return 'slot';
  const place = new Fields(object, fields.path('at'), value);
  const epoch = place.integer('epoch');
  place.end();
  return { epoch };
}
