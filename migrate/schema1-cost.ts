/**
 * What moving a world of schema 1 to schema 2 takes: what would be read and written, and how long
 * that is at given latencies. Pure, and an estimate: entries and version records come within a
 * fifth in the worlds of the tests, and columns are reckoned at one size.
 *
 * The state becomes one base run and one record run of the new format. An entry of the base run
 * says what the shard says, and one of the record run names the document's history blocks, which
 * stay where they are, as do the blobs. So what is written follows from the documents, their paths,
 * titles and metadata, and from the number of history blocks; what is read, from how many documents
 * and history blocks there are. The probe of the location is left out.
 */
import {
  SEGMENT_BYTES_MAX,
  SEGMENT_BYTES_MIN,
  SEGMENT_CUT_MODULUS,
} from '../checkpoint/constants.ts';
import type { Schema1Entry } from './schema1-records.ts';
import { SCHEMA1_SHARDS } from './schema1-root.ts';

/** How large a world is. */
export interface Schema1Size {
  readonly documents: number;
  /** Retained ones. */
  readonly versions: number;
  readonly blocks: number;
  /** Objects in the bucket, of any kind. */
  readonly objects: number;
  /** Of the entries that a base run would have: `baseEntryBytes` of each document. */
  readonly entryBytes: number;
  /** Of all paths. */
  readonly pathBytes: number;
}

/** Requests by kind. */
export interface Schema1Requests {
  readonly get: number;
  readonly list: number;
  readonly head: number;
  readonly create: number;
  readonly replace: number;
}

export interface Schema1Cost {
  readonly documents: number;
  readonly versions: number;
  /** Referenced as they are. */
  readonly blocks: number;
  readonly segments: number;
  readonly recordTables: number;
  /** Tables, two run manifests and a root; the marker replaces the head. */
  readonly objects: number;
  readonly bytes: number;
  readonly requests: Schema1Requests;
}

/** What a request takes in a location, ms, and how many are under way at once. */
export interface Latencies {
  readonly getMs: number;
  readonly listMs: number;
  readonly headMs: number;
  readonly createMs: number;
  /** Of bodies in either direction, for all requests together. */
  readonly bytesPerMs: number;
  readonly readsAtOnce: number;
  readonly createsAtOnce: number;
  /** Work of this machine on an object that is read, ms: no bucket makes it faster. */
  readonly workMs: number;
}

/** The latency model of a bucket near its readers (`blob/model.ts`). */
export const LATENCIES_NEAR: Latencies = {
  getMs: 20,
  listMs: 25,
  headMs: 12,
  createMs: 40,
  bytesPerMs: 50_000,
  readsAtOnce: 32,
  createsAtOnce: 8,
  workMs: 0.1,
};

/** A directory on this machine. */
export const LATENCIES_LOCAL: Latencies = {
  getMs: 1,
  listMs: 50,
  headMs: 1,
  createMs: 10,
  bytesPerMs: 100_000,
  readsAtOnce: 32,
  createsAtOnce: 8,
  workMs: 0.2,
};

/** `{"archived":…,"version":…}` without path, title and metadata, and the lengths in front. */
const ENTRY_FIXED_BYTES = 290;
/** Columns of a document beside its path and title, in the segment too. */
const COLUMN_BYTES = 120;
/** `{"blocks":[],"first":…,"records":[]}` and the lengths in front. */
const RECORD_FIXED_BYTES = 42;
/** `[first, hash, 0]` */
const BLOCK_BYTES = 76;
/** Of a run manifest, for each table; of a root in all. */
const TABLE_BYTES = 400;
const ROOT_BYTES = 700;
const MARKER_BYTES = 500;
const LIST_OBJECTS = 1000;

/** Bytes that a document's entry has in a base run, its path with it. */
export function baseEntryBytes({ path, catalog }: Pick<Schema1Entry, 'path' | 'catalog'>): number {
  const { title, metadata } = catalog;
  const text = metadata === null ? 4 : JSON.stringify(metadata).length;
  return ENTRY_FIXED_BYTES + Buffer.byteLength(path) + Buffer.byteLength(title) + text;
}

/** What it takes to move a world of this size. */
export function schema1Cost(size: Schema1Size): Schema1Cost {
  const { documents, versions, blocks, objects, entryBytes, pathBytes } = size;
  const recordBytes = RECORD_FIXED_BYTES * documents + BLOCK_BYTES * blocks + pathBytes;
  const segments = tableCount(documents, entryBytes);
  const recordTables = tableCount(documents, recordBytes);
  const tables = segments + recordTables;
  const written = tables + 3;
  return {
    documents,
    versions,
    blocks,
    segments,
    recordTables,
    objects: written,
    bytes:
      entryBytes +
      COLUMN_BYTES * documents +
      pathBytes +
      recordBytes +
      TABLE_BYTES * tables +
      ROOT_BYTES +
      MARKER_BYTES,
    requests: {
      // The head once more before it is replaced.
      get: 2 + 1 + SCHEMA1_SHARDS + documents + blocks,
      list: Math.max(1, Math.ceil(objects / LIST_OBJECTS)),
      // Whether all that was written is there.
      head: written,
      create: written,
      replace: 1,
    },
  };
}

/** How long it takes, ms. */
export function migrationMs({ requests, bytes }: Schema1Cost, latencies: Latencies): number {
  const { getMs, listMs, headMs, createMs, bytesPerMs } = latencies;
  const { readsAtOnce, createsAtOnce, workMs } = latencies;
  const perGet = Math.max(getMs / readsAtOnce, workMs);
  return Math.ceil(
    requests.get * perGet +
      requests.list * listMs +
      (requests.head * headMs) / readsAtOnce +
      (requests.create * createMs) / createsAtOnce +
      requests.replace * createMs +
      bytes / bytesPerMs,
  );
}

/** Tables of a run: one ends behind the first path of the right hash at 2 MiB, or at 8 MiB. */
function tableCount(entries: number, bytes: number): number {
  if (entries === 0) return 0;
  const beyond = (bytes / entries) * SEGMENT_CUT_MODULUS;
  const room = SEGMENT_BYTES_MAX - SEGMENT_BYTES_MIN;
  const mean = SEGMENT_BYTES_MIN + beyond * (1 - Math.exp(-room / beyond));
  return Math.ceil(bytes / mean);
}
