/** Everything that can be asked of one state, with the bodies it names. */
import type { CallOptions } from '../../blob/index.ts';
import { StoreError } from '../base/errors.ts';
import { formatHash, parseHash } from '../document/body.ts';
import type { Metadata } from '../document/metadata.ts';
import { canonicalPath } from '../document/path.ts';
import { formatTimestamp } from '../document/timestamp.ts';
import type { BodySource } from './body-reader.ts';
import type { ListQuery } from './listing.ts';
import type { Snapshot } from './snapshot.ts';
import type { DocumentState, ListEntry, VersionRecord } from './state.ts';
import { checkLink, checkStored, openStored } from './stored-version.ts';

/** A document's version without its body. */
export interface DocumentInfo {
  readonly path: string;
  readonly version: number;
  readonly archived: boolean;
  /** Commit time of the version, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly modified: string;
  /** SHA-256 of the stored version, 64 hex. */
  readonly etag: string;
  /** `sha256-` and the SHA-256 of the body. */
  readonly bodyHash: string;
  /** null when there is none. */
  readonly metadata: Metadata | null;
}

export interface Document extends DocumentInfo {
  /** What the author wrote, byte for byte. */
  readonly body: Uint8Array;
}

export interface VersionInfo {
  readonly version: number;
  readonly modified: string;
  readonly etag: string;
  readonly bodyHash: string;
}

/** What a precondition, and a view, can ask. Paths may be uncleaned; a bad one is NOT_FOUND. */
export interface StateReader {
  /**
   * A document; without `version` its current one, flagged when archived.
   * @throws StoreError `NOT_FOUND` also for a version that is not retained
   */
  get(path: string, options?: GetOptions): Promise<Document>;
  /** The current version without its body. Same errors as `get`. */
  stat(path: string, options?: CallOptions): Promise<DocumentInfo>;
  /** Immediate children in name order. @throws StoreError `NOT_FOUND` unless it is a directory */
  listEntries(path: string, query?: ListQuery & CallOptions): Promise<readonly ListEntry[]>;
  /** @throws StoreError `NOT_FOUND` when neither a document nor a directory is there */
  isDir(path: string, options?: CallOptions): Promise<boolean>;
  /** Retained versions, newest first. @throws StoreError `NOT_FOUND` */
  versions(path: string, options?: CallOptions): Promise<readonly VersionInfo[]>;
  /** The smallest live path with this body hash (`sha256-…`). @throws StoreError `NOT_FOUND` */
  lookupHash(bodyHash: string, options?: CallOptions): Promise<string>;
  /**
   * Reads every retained version and checks that each names the hash of the one before.
   * @throws StoreError `INTEGRITY` naming the first version that does not; `NOT_FOUND`
   */
  verifyChain(path: string, options?: CallOptions): Promise<void>;
}

export interface GetOptions extends CallOptions {
  /** Default: the current one. */
  readonly version?: number | undefined;
}

/** Reads one snapshot. */
export class SnapshotReader implements StateReader {
  readonly #snapshot: Snapshot;
  readonly #bodies: BodySource;

  constructor(snapshot: Snapshot, bodies: BodySource) {
    this.#snapshot = snapshot;
    this.#bodies = bodies;
  }

  async get(path: string, { version, ...options }: GetOptions = {}): Promise<Document> {
    const document = await this.#document(path, options);
    const record =
      version === undefined ? document.current : await this.#record(document, version, options);
    const { path: canonical } = document;
    const call = { ...options, path: canonical };
    const stored = await this.#bodies.read(this.#snapshot, record, call);
    const { body, metadata } = openStored(canonical, record, stored);
    const archived = version === undefined && document.archived;
    return documentOf(canonical, record, archived, metadata, body);
  }

  async stat(path: string, options: CallOptions = {}): Promise<DocumentInfo> {
    const document = await this.#document(path, options);
    return describe(document);
  }

  async listEntries(path: string, query: ListQuery = {}): Promise<readonly ListEntry[]> {
    const directory = canonicalPath(path);
    if (directory === null || !this.#snapshot.isDirectory(directory)) throw notFound(path);
    return this.#snapshot.list(directory, query);
  }

  async isDir(path: string): Promise<boolean> {
    const canonical = canonicalPath(path);
    if (canonical === null) throw notFound(path);
    if (this.#snapshot.isDirectory(canonical)) return true;
    if (this.#snapshot.head(canonical) === undefined) throw notFound(path);
    return false;
  }

  async versions(path: string, options: CallOptions = {}): Promise<readonly VersionInfo[]> {
    const records = await this.#snapshot.versions(this.#known(path), options);
    return records.map((record) => ({
      version: record.version,
      modified: formatTimestamp(record.modified),
      etag: record.storedHash,
      bodyHash: formatHash(record.bodyHash),
    }));
  }

  async lookupHash(bodyHash: string): Promise<string> {
    const hash = parseHash(bodyHash);
    const path = hash === null ? undefined : this.#snapshot.lookupHash(hash);
    if (path === undefined) throw notFound(bodyHash);
    return path;
  }

  async verifyChain(path: string, options: CallOptions = {}): Promise<void> {
    const known = this.#known(path);
    const call = { ...options, path: known };
    const oldestFirst = [...(await this.#snapshot.versions(known, options))].reverse();
    let before: { readonly record: VersionRecord; readonly stored: Uint8Array } | null = null;
    for (const record of oldestFirst) {
      const stored = await this.#bodies.readUnverified(this.#snapshot, record, call);
      if (before !== null) {
        // The link is judged before the version it points to, so that tampering with an old version
        // is told as what it is: a chain that no longer holds.
        checkLink(known, record, stored, before.stored);
        checkStored(known, before.record, before.stored);
      }
      before = { record, stored };
    }
    if (before !== null) checkStored(known, before.record, before.stored);
  }

  /** The canonical form of a path at which a document is. */
  #known(path: string): string {
    const canonical = canonicalPath(path);
    if (canonical === null || this.#snapshot.head(canonical) === undefined) throw notFound(path);
    return canonical;
  }

  async #document(path: string, options: CallOptions): Promise<DocumentState> {
    const canonical = canonicalPath(path);
    const document =
      canonical === null ? undefined : await this.#snapshot.document(canonical, options);
    if (document === undefined) throw notFound(path);
    return document;
  }

  async #record(
    document: DocumentState,
    version: number,
    options: CallOptions,
  ): Promise<VersionRecord> {
    const retained = version >= document.first && version <= document.current.version;
    const record = retained
      ? await this.#snapshot.version(document.path, version, options)
      : undefined;
    if (record === undefined) {
      throw new StoreError('NOT_FOUND', `${document.path} has no version ${version}`, {
        details: { path: document.path, currentVersion: document.current.version },
      });
    }
    return record;
  }
}

/** What a document is, without its body. */
export function describe({ path, current, archived, catalog }: DocumentState): DocumentInfo {
  return infoOf(path, current, archived, catalog.metadata);
}

/** A document's description from its record. */
export function infoOf(
  path: string,
  record: Omit<VersionRecord, 'at'>,
  archived: boolean,
  metadata: Metadata | null,
): DocumentInfo {
  return {
    path,
    version: record.version,
    archived,
    modified: formatTimestamp(record.modified),
    etag: record.storedHash,
    bodyHash: formatHash(record.bodyHash),
    metadata,
  };
}

/**
 * A document from its record. Written out, as each write makes one: spreading the description costs
 * several times as much.
 */
export function documentOf(
  path: string,
  record: Omit<VersionRecord, 'at'>,
  archived: boolean,
  metadata: Metadata | null,
  body: Uint8Array,
): Document {
  return {
    path,
    version: record.version,
    archived,
    modified: formatTimestamp(record.modified),
    etag: record.storedHash,
    bodyHash: formatHash(record.bodyHash),
    metadata,
    body,
  };
}

/** What is told when nothing is at a path, or has a body hash. */
export function notFound(what: string): StoreError {
  return new StoreError('NOT_FOUND', `nothing is at ${what}`, { details: { path: what } });
}
