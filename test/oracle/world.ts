/**
 * Reads a whole world from nothing but its bucket, and checks on the way what must hold of any log:
 * one chain without a gap from the marker on, versions that follow each other, hashes that match
 * bytes, a `previous-hash` chain that matches both. What it returns is what tests compare answers
 * with.
 *
 * It reads worlds from their start, so not those whose start has a root, and not logs that lost
 * slots to a floor.
 */
import type { BlobStore } from '../../blob/blob.ts';
import {
  decodeMarker,
  decodeSlot,
  decodeStored,
  demand,
  type OracleEntry,
  OracleError,
  type OracleMarker,
  type OracleSlot,
  sameMetadata,
  sha256,
} from './objects.ts';

const PREFIX = '_demarkus/v1/';
const AT_ONCE = 64;

/** One version of a document. */
export interface OracleVersion {
  readonly sequence: number;
  readonly storedHash: string;
  /** null when the version is pruned and its blob is gone. */
  readonly storedBytes: Uint8Array | null;
  readonly body: Uint8Array | null;
  readonly metadata: { readonly [key: string]: string } | null;
  readonly title: string;
  readonly modified: number;
}

export interface OracleDocument {
  readonly path: string;
  readonly version: number;
  /** The oldest retained version. */
  readonly first: number;
  readonly archived: boolean;
  /** Every version ever written, pruned ones included. */
  readonly versions: ReadonlyMap<number, OracleVersion>;
}

export interface OracleWorld {
  readonly marker: OracleMarker;
  readonly slots: readonly OracleSlot[];
  /** Every entry, by sequence. */
  readonly entries: readonly OracleEntry[];
  /** By path, archived ones included. */
  readonly documents: ReadonlyMap<string, OracleDocument>;
  /** Sequences of the entries of an operation: one, unless a key was used again after its time. */
  readonly ops: ReadonlyMap<string, readonly number[]>;
  /** The last committed sequence. */
  readonly tip: number;
  readonly sealed: boolean;
}

/** What the oracle needs of a bucket. */
export type OracleBucket = Pick<BlobStore, 'get' | 'list'>;

interface Building {
  path: string;
  version: number;
  first: number;
  archived: boolean;
  versions: Map<number, OracleVersion>;
}

/**
 * Reads the world at a location. One list page per thousand slots, one get per slot and staged
 * version.
 * @throws OracleError naming the object that is wrong
 */
export async function readWorld(bucket: OracleBucket): Promise<OracleWorld> {
  const markerKey = `${PREFIX}head.json`;
  const bytes = await fetch(bucket, markerKey);
  if (bytes === null) throw new OracleError(markerKey, 'is absent');
  const marker = decodeMarker(markerKey, bytes);
  if (marker.start.root !== null) throw new OracleError(markerKey, 'starts from a root');
  const slots = await readSlots(bucket, marker, sha256(bytes));
  const documents = new Map<string, Building>();
  const ops = new Map<string, number[]>();
  let sealed = false;
  for (const slot of slots) {
    demand(!sealed, slot.key, 'follows a seal');
    const stored = await Promise.all(slot.entries.map((entry) => storedOf(bucket, slot, entry)));
    for (const [index, entry] of slot.entries.entries()) {
      ops.set(entry.op, [...(ops.get(entry.op) ?? []), entry.sequence]);
      if (entry.kind === 'write') applyWrite(slot, entry, stored[index] ?? null, documents);
      else if (entry.kind === 'archive') applyArchive(slot, entry, documents);
      else demand(slot.entries.length === 1, slot.key, 'a control entry has company');
      sealed = sealed || entry.kind === 'seal';
    }
    demand(documents.size === slot.documents, slot.key, `counts ${slot.documents} documents`);
  }
  checkTopology(documents);
  checkRetained(documents);
  const tip = slots.at(-1)?.last ?? marker.start.sequence;
  const entries = slots.flatMap((slot) => slot.entries);
  return { marker, slots, entries, documents, ops, tip, sealed };
}

async function readSlots(
  bucket: OracleBucket,
  marker: OracleMarker,
  markerHash: string,
): Promise<OracleSlot[]> {
  const slots: OracleSlot[] = [];
  let { sequence: last, epoch } = marker.start;
  let prev = markerHash;
  let time = 0;
  for await (const [key, bytes] of fetchInOrder(bucket, await slotKeys(bucket, last))) {
    if (bytes === null) throw new OracleError(key, 'was listed and is absent');
    const slot = decodeSlot(key, bytes);
    demand(key === slotKey(slot.first), key, `begins at ${slot.first}`);
    demand(slot.first === last + 1, key, `does not continue ${last}`);
    demand(slot.prev === prev, key, 'does not name the hash of what comes before');
    demand(slot.world_id === marker.world_id, key, 'is of another world');
    demand(slot.incarnation_id === marker.incarnation_id, key, 'is of another incarnation');
    demand(slot.time > time, key, 'is not later than what comes before');
    demand(slot.epoch === epoch, key, `has epoch ${slot.epoch}, not ${epoch}`);
    if (slot.entries[0]?.kind === 'barrier') epoch++;
    ({ last, time, hash: prev } = slot);
    slots.push(slot);
  }
  return slots;
}

/** Keys of the slots above the start, ascending. */
async function slotKeys(bucket: OracleBucket, start: number): Promise<string[]> {
  const found: { readonly key: string; readonly first: number }[] = [];
  const prefix = `${PREFIX}log/`;
  let after: string | undefined;
  for (;;) {
    const page = await bucket.list({ prefix, after, limit: 1000 });
    for (const { key } of page.objects) {
      const digits = /^([0-9a-f]{16})\.slot$/.exec(key.slice(prefix.length))?.[1];
      demand(digits !== undefined, key, 'is no name of a slot');
      const first = Number.parseInt(digits, 16);
      if (first > start) found.push({ key, first });
    }
    after = page.objects.at(-1)?.key;
    if (!page.more || after === undefined) break;
  }
  return found.sort((a, b) => a.first - b.first).map(({ key }) => key);
}

function applyWrite(
  slot: OracleSlot,
  entry: OracleEntry,
  storedBytes: Uint8Array | null,
  documents: Map<string, Building>,
): void {
  const { sequence, path = '', version = 0, first = 0, stored_hash: storedHash = '' } = entry;
  const object = `${slot.key}, entry ${sequence}`;
  const before = documents.get(path);
  demand(before?.archived !== true, object, `${path} is archived`);
  demand(version === (before?.version ?? 0) + 1, object, `version ${version} does not follow`);
  demand(first >= (before?.first ?? 1) && first <= version, object, `first is ${first}`);
  const stored = storedBytes === null ? null : decodeStored(object, storedBytes);
  if (stored !== null && storedBytes !== null) {
    const previous = before?.versions.get(version - 1)?.storedHash ?? null;
    demand(sha256(storedBytes) === storedHash, object, 'stored bytes have another hash');
    demand(sha256(stored.body) === entry.body_hash, object, 'body has another hash');
    demand(stored.version === version, object, `stored bytes are of version ${stored.version}`);
    demand(stored.previousHash === previous, object, 'previous-hash is not the version before');
    const said = entry.catalog?.metadata ?? null;
    demand(sameMetadata(stored.metadata, said), object, 'metadata are not those of the entry');
  }
  const document = before ?? { path, version, first, archived: false, versions: new Map() };
  document.version = version;
  document.first = first;
  document.versions.set(version, {
    sequence,
    storedHash,
    storedBytes,
    body: stored?.body ?? null,
    metadata: entry.catalog?.metadata ?? null,
    title: entry.catalog?.title ?? '',
    modified: entry.modified ?? 0,
  });
  documents.set(path, document);
}

function applyArchive(
  slot: OracleSlot,
  entry: OracleEntry,
  documents: ReadonlyMap<string, Building>,
): void {
  const object = `${slot.key}, entry ${entry.sequence}`;
  const document = documents.get(entry.path ?? '');
  if (document === undefined) throw new OracleError(object, `${entry.path} does not exist`);
  demand(document.archived !== entry.archived, object, 'archives what is archived');
  demand(document.version === entry.version, object, 'changes the version');
  demand(document.first === entry.first, object, 'changes the oldest version');
  document.archived = entry.archived === true;
}

/** The bytes of a written version, wherever its entry puts them; null for any other entry. */
async function storedOf(
  bucket: OracleBucket,
  slot: OracleSlot,
  entry: OracleEntry,
): Promise<Uint8Array | null> {
  const { at, sequence, kind } = entry;
  if (kind !== 'write') return null;
  if (at === 'slot') {
    const bytes = slot.inlined.get(sequence);
    if (bytes === undefined) throw new OracleError(slot.key, `lacks the version of ${sequence}`);
    return bytes;
  }
  demand(typeof at === 'object' && at.epoch === slot.epoch, slot.key, 'names a foreign blob');
  const epoch = at.epoch.toString(16).padStart(8, '0');
  return fetch(bucket, `${PREFIX}blobs/${epoch}/${entry.stored_hash}`);
}

/** A document is never an ancestor of another, archived or not. */
function checkTopology(documents: ReadonlyMap<string, Building>): void {
  for (const path of documents.keys()) {
    for (let at = path.indexOf('/', 1); at > 0; at = path.indexOf('/', at + 1)) {
      const above = path.slice(0, at);
      demand(!documents.has(above), path, `lies under the document ${above}`);
    }
  }
}

/** Nothing that is retained may be gone (I16). */
function checkRetained(documents: ReadonlyMap<string, Building>): void {
  for (const { path, first, versions } of documents.values()) {
    for (const [version, { storedBytes, storedHash }] of versions) {
      const there = version < first || storedBytes !== null;
      demand(there, path, `version ${version} is retained, its blob ${storedHash} is absent`);
    }
  }
}

/** Objects in the order of their keys, some at once: a log of a real bucket is long. */
async function* fetchInOrder(
  bucket: OracleBucket,
  keys: readonly string[],
): AsyncIterable<readonly [key: string, bytes: Uint8Array | null]> {
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    const some = keys.slice(at, at + AT_ONCE);
    const bytes = await Promise.all(some.map((key) => fetch(bucket, key)));
    for (const [index, key] of some.entries()) yield [key, bytes[index] ?? null];
  }
}

async function fetch(bucket: OracleBucket, key: string): Promise<Uint8Array | null> {
  const found = await bucket.get(key);
  return found.found ? found.bytes : null;
}

function slotKey(first: number): string {
  return `${PREFIX}log/${first.toString(16).padStart(16, '0')}.slot`;
}
