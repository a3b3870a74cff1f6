/**
 * What a snapshot knows of a document, a directory's child and the log's control entries, as
 * values.
 */
import type { Sequence } from '../base/sequence.ts';
import type { CatalogRecord, Inlined, SealEntry } from '../log/records.ts';

/**
 * Where a stored version lies: in the slot (later the pack) that holds a sequence, or in a blob.
 */
export type StoredAt = { readonly seq: Sequence } | { readonly epoch: number };

/** One version of a document: the same five fields everywhere. */
export interface VersionRecord {
  readonly version: number;
  /** SHA-256 of the stored version, 64 hex: the ETag. */
  readonly storedHash: string;
  /** SHA-256 of the body, 64 hex. */
  readonly bodyHash: string;
  /** Seconds since the epoch. */
  readonly modified: number;
  readonly at: StoredAt;
}

/** What a state knows of each document without a request. */
export interface DocumentHead {
  /** The current version. */
  readonly version: number;
  /** The oldest retained version. */
  readonly first: number;
  readonly archived: boolean;
  /** SHA-256 of the current body, 64 hex. */
  readonly bodyHash: string;
  /** SHA-256 of the current stored version, 64 hex: what the next one links to. */
  readonly storedHash: string;
}

/** What of a document may have to be read from a checkpoint. */
export interface DocumentDetails {
  readonly current: VersionRecord;
  readonly catalog: CatalogRecord;
}

/** A document at one sequence. */
export interface DocumentState extends DocumentDetails {
  readonly path: string;
  /** The oldest retained version. */
  readonly first: number;
  readonly archived: boolean;
}

export interface ListEntry {
  readonly name: string;
  readonly isDir: boolean;
}

/** The last committed sequence, the hash of the slot that holds it, and that slot's time. */
export interface Tip {
  readonly sequence: Sequence;
  /** SHA-256 of the slot; of the marker before the first slot. */
  readonly hash: string;
  /** ms; 0 before the first slot. */
  readonly time: number;
}

/** What control entries have decided so far. */
export interface ControlState {
  /** `start.epoch` plus the barriers so far. */
  readonly epoch: number;
  readonly floor: { readonly at: number; readonly mutation: number };
  /** The last sequence that was a mutation; `start.sequence` when none was. */
  readonly mutation: number;
  /** The open deletion plan. */
  readonly plan: string | null;
  readonly kept: readonly (readonly [sequence: Sequence, epoch: number])[];
  /** Schema 1 objects were given up. */
  readonly schema1: boolean;
  readonly pins: readonly (readonly [id: string, sequence: Sequence])[];
  readonly seal: SealEntry | null;
}

/** Where a slot's inlined versions lie, so that one range read fetches one. */
export interface SlotIndex {
  readonly first: Sequence;
  readonly last: Sequence;
  readonly inlined: readonly Inlined[];
}
