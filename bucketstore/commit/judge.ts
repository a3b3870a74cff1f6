/**
 * Whether a state allows a change, and what the change then is. Pure: the state, the old body of an
 * append and the time are handed in.
 *
 * The order of the checks is part of the contract: quota, expectation, topology or archived,
 * version limit, nothing changed. So a conflict wins over archived, and archived over not modified.
 */

import { sha256Hex } from '../base/digest.ts';
import { StoreError } from '../base/errors.ts';
import { appendBody, BODY_BYTES_MAX, bodyHash } from '../document/body.ts';
import { catalogOf } from '../document/catalog.ts';
import {
  checkMetadata,
  type Metadata,
  mergeForAppend,
  metadataEqual,
  parseRetention,
} from '../document/metadata.ts';
import { pruneRange } from '../document/retention.ts';
import { storeVersion } from '../document/stored.ts';
import { agentOf } from '../log/entry-rules.ts';
import { type ArchiveEntry, VERSION_MAX, type WriteEntry } from '../log/records.ts';
import { topologyProblem } from '../snapshot/apply.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { DocumentHead, DocumentState } from '../snapshot/state.ts';
import { type Expected, type Mutation, metadataError, sizeError } from './mutation.ts';

type WriteMutation = Extract<Mutation, { readonly content: Uint8Array }>;
type ArchiveMutation = Extract<Mutation, { readonly archived: boolean }>;

/** A write that is allowed, with the bytes it stores. */
export interface PreparedEntry {
  /** As if its bytes came to lie in its slot. `placed` says where they do. */
  readonly entry: WriteEntry;
  readonly stored: Uint8Array;
  readonly body: Uint8Array;
  readonly metadata: Metadata | null;
  /** Versions that this write prunes. */
  readonly pruned: readonly [oldest: number, newest: number] | null;
}

/** `null`: the document already is what the write would make it. */
export type WriteVerdict = PreparedEntry | null;

/** Documents a world may hold, archived ones included; undefined for no quota of its own. */
export type Quota = number | undefined;

/** The body that a write makes. */
export interface WrittenBody {
  readonly body: Uint8Array;
  /** Its SHA-256, 64 hex. */
  readonly hash: string;
}

/**
 * The checks of a write that need no body.
 * @param document what the state has at its path
 * @throws StoreError `QUOTA`, `CONFLICT`, `NOT_FOUND`, `PATH_COLLISION`, `ARCHIVED`, `SIZE_LIMIT`
 */
export function admitWrite(
  state: Snapshot,
  document: DocumentHead | undefined,
  mutation: WriteMutation,
  quota: Quota,
): void {
  const { path, expected } = mutation;
  if (document === undefined) {
    if (mutation.kind === 'append') throw missing(path);
    if (quota !== undefined && state.documentCount >= quota) {
      throw new StoreError('QUOTA', `this store may hold ${quota} documents, and does`);
    }
    checkExpected(path, expected, undefined);
    const collision = topologyProblem(state, path);
    if (collision !== null) {
      throw new StoreError('PATH_COLLISION', collision, { details: { path } });
    }
    return;
  }
  checkExpected(path, expected, document);
  if (document.archived) {
    throw new StoreError('ARCHIVED', `${path} is archived; bring it back first`, {
      details: { path, currentVersion: document.version },
    });
  }
  if (document.version >= VERSION_MAX) {
    throw new StoreError('SIZE_LIMIT', `${path} has ${VERSION_MAX} versions, no more fit`);
  }
}

/**
 * The body that an admitted write makes.
 * @param oldBody the body of the current version; of an append only
 * @throws StoreError `SIZE_LIMIT`
 */
export function writtenBody(
  { kind, path, content }: WriteMutation,
  oldBody: Uint8Array,
): WrittenBody {
  const body = kind === 'append' ? appendBody(oldBody, content) : content;
  if (body.byteLength > BODY_BYTES_MAX) throw sizeError(path, body.byteLength);
  return { body, hash: bodyHash(body) };
}

/**
 * Whether a write asks for more of the document than its head: for what an append adds to, and for
 * what may turn out the same.
 */
export function needsDetails(
  { kind }: WriteMutation,
  { bodyHash: before }: DocumentHead,
  { hash }: WrittenBody,
): boolean {
  return kind === 'append' || before === hash;
}

/**
 * The version that an admitted write makes.
 * @param old metadata of the current version; null where `needsDetails` says no
 * @param modified seconds since the epoch
 * @throws StoreError `INVALID_META` for an append whose merged result is not valid
 */
export function prepareWrite(
  document: DocumentHead | undefined,
  old: Metadata | null,
  mutation: WriteMutation,
  { body, hash }: WrittenBody,
  modified: number,
): WriteVerdict {
  const { path, op, kind: verb } = mutation;
  const metadata =
    verb === 'append' ? mergeForAppend(old, mutation.metadata, path) : mutation.metadata;
  const problem = checkMetadata(metadata);
  if (problem !== null) throw metadataError(problem);
  if (document?.bodyHash === hash && metadataEqual(old, metadata)) return null;
  const version = (document?.version ?? 0) + 1;
  const previousHash = document?.storedHash ?? null;
  const stored = storeVersion({ version, previousHash, metadata, body });
  const retention = retentionOf(mutation.metadata);
  const { first, pruned } = pruneRange({ first: document?.first ?? 1, version, retention });
  const agent = agentOf(metadata);
  const entry: WriteEntry = {
    kind: 'write',
    op,
    verb,
    path,
    version,
    first,
    bodyHash: hash,
    modified,
    catalog: catalogOf(metadata, body, path),
    at: 'slot',
    storedHash: sha256Hex(stored),
  };
  const signed = agent === undefined ? entry : { ...entry, agent };
  return { entry: signed, stored, body, metadata, pruned };
}

/**
 * The entry that archives a document or brings it back; null when it already is what is asked for.
 * @param document what the state has at its path
 * @throws StoreError `NOT_FOUND`, `CONFLICT`
 */
export function judgeArchive(
  document: DocumentState | undefined,
  mutation: ArchiveMutation,
): ArchiveEntry | null {
  const { path, op, archived, expected } = mutation;
  if (document === undefined) throw missing(path);
  checkExpected(path, expected, document.current);
  if (document.archived === archived) return null;
  const agent = agentOf(document.catalog.metadata);
  return {
    kind: 'archive',
    op,
    path,
    version: document.current.version,
    first: document.first,
    archived,
    ...(agent === undefined ? {} : { agent }),
  };
}

/** Retention applies to the write that carries the key, and to no other. */
function retentionOf(metadata: Metadata | null): number | null {
  const value = metadata?.['retention'];
  return value === undefined ? null : parseRetention(value);
}

/** What an expectation can be of. */
type Expectable = Pick<DocumentHead, 'version' | 'storedHash'>;

function checkExpected(path: string, expected: Expected, document: Expectable | undefined): void {
  if (meets(expected, document)) return;
  const currentVersion = document?.version ?? 0;
  const now = document === undefined ? 'absent' : `at version ${currentVersion}`;
  throw new StoreError('CONFLICT', `${path} is ${now}, the write expected ${words(expected)}`, {
    details: { path, currentVersion },
  });
}

function meets(expected: Expected, document: Expectable | undefined): boolean {
  if (expected === 'any') return true;
  if (expected === 'absent') return document === undefined;
  if (typeof expected === 'number') return document?.version === expected;
  return document?.storedHash === expected.etag;
}

function words(expected: Expected): string {
  if (typeof expected === 'number') return `version ${expected}`;
  if (typeof expected === 'string') return expected === 'absent' ? 'it absent' : expected;
  return `ETag ${expected.etag}`;
}

function missing(path: string): StoreError {
  return new StoreError('NOT_FOUND', `nothing is at ${path}`, { details: { path } });
}
