/**
 * The state that a precondition is lent: what it reads becomes part of the judgement's questions.
 */
import type { CallOptions } from '../../blob/index.ts';
import { parseHash } from '../document/body.ts';
import { canonicalPath } from '../document/path.ts';
import type { BodySource } from '../snapshot/body-reader.ts';
import type { ListQuery } from '../snapshot/listing.ts';
import {
  type Document,
  type DocumentInfo,
  type GetOptions,
  SnapshotReader,
  type StateReader,
  type VersionInfo,
} from '../snapshot/reader.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ListEntry } from '../snapshot/state.ts';
import type { Inquiry } from './inquiry.ts';

export class AskingReader implements StateReader {
  readonly #snapshot: Snapshot;
  readonly #reader: SnapshotReader;
  readonly #inquiry: Inquiry;

  constructor(snapshot: Snapshot, bodies: BodySource, inquiry: Inquiry) {
    this.#snapshot = snapshot;
    this.#reader = new SnapshotReader(snapshot, bodies);
    this.#inquiry = inquiry;
  }

  async get(path: string, options?: GetOptions): Promise<Document> {
    this.#askDocument(path);
    return this.#reader.get(path, options);
  }

  async stat(path: string, options?: CallOptions): Promise<DocumentInfo> {
    this.#askDocument(path);
    return this.#reader.stat(path, options);
  }

  async listEntries(path: string, query: ListQuery = {}): Promise<readonly ListEntry[]> {
    const directory = this.#askDirectory(path);
    const { after, limit, includeArchived } = query;
    if (directory !== null) {
      const asked = { after, limit, includeArchived };
      this.#inquiry.ask(this.#snapshot, { about: 'list', path: directory, query: asked });
    }
    return this.#reader.listEntries(path, query);
  }

  async isDir(path: string): Promise<boolean> {
    this.#askDirectory(path);
    this.#askDocument(path);
    return this.#reader.isDir(path);
  }

  async versions(path: string, options?: CallOptions): Promise<readonly VersionInfo[]> {
    this.#askDocument(path);
    return this.#reader.versions(path, options);
  }

  async lookupHash(bodyHash: string): Promise<string> {
    const hash = parseHash(bodyHash);
    if (hash !== null) this.#inquiry.ask(this.#snapshot, { about: 'hash', bodyHash: hash });
    return this.#reader.lookupHash(bodyHash);
  }

  async verifyChain(path: string, options?: CallOptions): Promise<void> {
    this.#askDocument(path);
    return this.#reader.verifyChain(path, options);
  }

  #askDocument(path: string): void {
    const canonical = canonicalPath(path);
    if (canonical === null) return;
    this.#inquiry.ask(this.#snapshot, { about: 'document', path: canonical });
  }

  #askDirectory(path: string): string | null {
    const canonical = canonicalPath(path);
    if (canonical === null) return null;
    this.#inquiry.ask(this.#snapshot, { about: 'directory', path: canonical });
    return canonical;
  }
}
