/**
 * What the documents of a world are now, and the body hash of each retained version, for receipts
 * to be held against: 32 bytes for a version and some 200 for a document.
 */
import type { Schema1Entry, Schema1Version } from './schema1-records.ts';

const HASH_BYTES = 32;

/** A document, by its entry and its history blocks. */
export interface PresentDocument {
  readonly version: number;
  readonly archived: boolean;
  /** Null for a version that is not retained, or that could not be read. */
  bodyHashOf(version: number): string | null;
}

export class Schema1Present {
  readonly #documents = new Map<string, Present>();

  /** Takes a document. `versions` ascend; those behind one that is missing are not remembered. */
  take(entry: Schema1Entry, versions: readonly Schema1Version[]): void {
    this.#documents.set(entry.path, new Present(entry, versions));
  }

  /** Undefined when it was not taken. */
  get(path: string): PresentDocument | undefined {
    return this.#documents.get(path);
  }
}

class Present implements PresentDocument {
  readonly version: number;
  readonly archived: boolean;
  /** From the current version down. */
  readonly #hashes: Buffer;

  constructor(entry: Schema1Entry, versions: readonly Schema1Version[]) {
    this.version = entry.version;
    this.archived = entry.archived;
    const hashes = [entry.bodyHash];
    for (const { version, bodyHash } of versions.toReversed()) {
      if (version === entry.version) continue;
      if (version !== entry.version - hashes.length) break;
      hashes.push(bodyHash);
    }
    this.#hashes = Buffer.from(hashes.join(''), 'hex');
  }

  bodyHashOf(version: number): string | null {
    const start = (this.version - version) * HASH_BYTES;
    if (start < 0 || start >= this.#hashes.length) return null;
    return this.#hashes.toString('hex', start, start + HASH_BYTES);
  }
}
