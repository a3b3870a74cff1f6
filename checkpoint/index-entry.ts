/**
 * An entry of a segment: the state of a document at the end of the run's interval. Its JSON, the
 * path apart:
 *
 *     { archived, at: { seq } or { epoch }, body_hash, catalog: { metadata, title }, first,
 *       modified, stored_hash, version }
 *
 * Values obey the rules of the log's write entries; an epoch of 0 is a blob of schema 1.
 */
import { assert } from '../bucketstore/base/assert.ts';
import { canonicalText } from '../bucketstore/base/canonical.ts';
import { integrityError } from '../bucketstore/base/errors.ts';
import type { Metadata } from '../bucketstore/document/metadata.ts';
import { decodeUtf8 } from '../bucketstore/document/text.ts';
import { agentOf, entryProblem, rangeProblem } from '../bucketstore/log/entry-rules.ts';
import { type CatalogRecord, ENTRY_BYTES_MAX } from '../bucketstore/log/records.ts';
import {
  assertCanonical,
  Fields,
  type JsonBounds,
  parseStrict,
} from '../bucketstore/log/strict.ts';
import type { DocumentState, StoredAt } from '../bucketstore/snapshot/state.ts';
import { epochOfTable } from './table-directory.ts';
import type { FoundEntry } from './table-entry.ts';
import { readStoredAt, storedAtJson } from './version-record.ts';

/** Metadata has the most commas: one behind a key and a value of four quotes and a colon. */
const BOUNDS: JsonBounds = {
  bytesMax: ENTRY_BYTES_MAX,
  depthMax: 3,
  commasMax: ENTRY_BYTES_MAX / 4,
};

/** Any operation: the rules of write entries want one. */
const SOME_OP = '00000000-0000-4000-8000-000000000000';

/**
 * The JSON of a document's entry, UTF-8; at most `ENTRY_BYTES_MAX`, since the slot's entry that
 * made the state was longer. A pure function.
 * @param epoch of the segment that it is written into: it names no younger blob
 * @throws InvariantError when the state breaks a rule of the format
 */
export function encodeIndexEntry(state: DocumentState, epoch: number): Uint8Array {
  const problem = stateProblem(state, epoch);
  assert(problem === null, () => `the state of ${state.path}: ${problem}`);
  const json = Buffer.from(stateText(state));
  assert(json.length <= ENTRY_BYTES_MAX, () => `${state.path}: JSON of ${json.length} bytes`);
  return json;
}

/**
 * The state of a document that an entry says.
 * @param key of the segment, for errors
 * @param entry as `findEntry` or a cursor found it
 * @throws StoreError INTEGRITY naming the segment
 */
export function decodeIndexEntry(
  key: string,
  entry: Pick<FoundEntry, 'path' | 'json'>,
): DocumentState {
  const path = decodeUtf8(entry.path);
  if (path === null) throw integrityError(key, 'the path of an entry is not UTF-8');
  const { text, value } = parseStrict(key, entry.json, BOUNDS);
  const fields = new Fields(key, path, value);
  const state = readState(key, path, fields);
  const problem = stateProblem(state, epochOfTable(key));
  if (problem !== null) return fields.refuse(problem);
  assertCanonical(key, text, stateText(state));
  return state;
}

function readState(key: string, path: string, fields: Fields): DocumentState {
  const state: DocumentState = {
    path,
    current: {
      version: fields.integer('version'),
      storedHash: fields.string('stored_hash'),
      bodyHash: fields.string('body_hash'),
      modified: fields.integer('modified'),
      at: readStoredAt(key, fields.path('at'), fields.json('at')),
    },
    first: fields.integer('first'),
    archived: fields.boolean('archived'),
    catalog: readCatalog(key, fields.object('catalog')),
  };
  fields.end();
  return state;
}

function readCatalog(key: string, fields: Fields): CatalogRecord {
  const title = fields.string('title');
  const value = fields.json('metadata');
  fields.end();
  if (value === null) return { title, metadata: null };
  const metadata: Metadata = new Fields(key, fields.path('metadata'), value).strings();
  return { title, metadata: Object.freeze(metadata) };
}

/** A state is valid when a write could have made it. */
function stateProblem(
  { path, current, first, catalog }: DocumentState,
  epoch: number,
): string | null {
  const { version, storedHash, bodyHash, modified, at } = current;
  const agent = agentOf(catalog.metadata);
  const problem = entryProblem({
    kind: 'write',
    op: SOME_OP,
    verb: 'publish',
    path,
    version,
    first,
    bodyHash,
    modified,
    catalog,
    // Its place is of another kind here.
    at: 'slot',
    storedHash,
    ...(agent === undefined ? {} : { agent }),
  });
  return problem ?? placeProblem(at, epoch);
}

function placeProblem(at: StoredAt, epoch: number): string | null {
  return 'seq' in at
    ? rangeProblem('at.seq', at.seq, 2, Number.MAX_SAFE_INTEGER)
    : rangeProblem('at.epoch', at.epoch, 0, epoch);
}

/** Members in canonical order: `canonicalText` need not sort them. */
function stateText({ current, first, archived, catalog }: DocumentState): string {
  return canonicalText({
    archived,
    at: storedAtJson(current.at),
    body_hash: current.bodyHash,
    catalog: { metadata: catalog.metadata, title: catalog.title },
    first,
    modified: current.modified,
    stored_hash: current.storedHash,
    version: current.version,
  });
}
