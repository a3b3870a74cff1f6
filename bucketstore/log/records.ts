/**
 * What the objects of the log say, as values. `docs/format.md` has their bytes; the codecs beside
 * this file are the only code that turns one into the other.
 */
import type { Sequence } from '../base/sequence.ts';
import type { Metadata } from '../document/metadata.ts';

/** Where a stored version lies, as an entry says it: in its own slot, or in a blob of an epoch. */
export type EntryPlace = 'slot' | { readonly epoch: number };

/** What listings and lookups need of a document's current version. */
export interface CatalogRecord {
  readonly title: string;
  /** As persisted; null when there is none. Tags and importance follow from it. */
  readonly metadata: Metadata | null;
}

/** A new version of a document. */
export interface WriteEntry {
  readonly kind: 'write';
  /** UUID of the operation; the caller's idempotency key made into one, or random. */
  readonly op: string;
  readonly verb: 'publish' | 'append';
  /** The `agent` metadata of the version, repeated for feeds. */
  readonly agent?: string;
  readonly path: string;
  /** 1 for a new document, else one more than the version before. */
  readonly version: number;
  /** The oldest version retained after this write. */
  readonly first: number;
  /** SHA-256 of the body, 64 hex. */
  readonly bodyHash: string;
  /** Seconds since the epoch, the store's wall clock when it was built. No decision uses it. */
  readonly modified: number;
  readonly catalog: CatalogRecord;
  readonly at: EntryPlace;
  /** SHA-256 of the stored version, 64 hex: the ETag. */
  readonly storedHash: string;
  /** On the first entry of a group: how many entries commit together with it, itself included. */
  readonly group?: number;
}

/** A document archived or brought back. No version, and nothing else of it changes. */
export interface ArchiveEntry {
  readonly kind: 'archive';
  readonly op: string;
  readonly path: string;
  /** The current version, unchanged. */
  readonly version: number;
  /** The oldest retained version, unchanged. */
  readonly first: number;
  /** What it is from now on. */
  readonly archived: boolean;
  readonly agent?: string;
  readonly group?: number;
}

/** The lowest sequence that readers may ask for from now on. */
export interface FloorEntry {
  readonly kind: 'floor';
  readonly op: string;
  readonly at: Sequence;
  /** The last mutation below `at`: a cursor at or after it still resumes. */
  readonly mutation: Sequence;
}

/**
 * The start of a sweep: names the plan and the checkpoints that stay alive. Raises the epoch by
 * one.
 */
export interface BarrierEntry {
  readonly kind: 'barrier';
  readonly op: string;
  /** SHA-256 of the plan object. */
  readonly plan: string;
  /** Kept checkpoints as sequence and epoch, ascending. */
  readonly kept: readonly (readonly [sequence: Sequence, epoch: number])[];
  /** Schema 1 objects are given up; rollback is refused from now on. */
  readonly schema1?: true;
}

/** The end of a sweep: every key of the plan is gone. */
export interface ClearEntry {
  readonly kind: 'clear';
  readonly op: string;
  readonly plan: string;
}

/** Keeps the state at its own sequence alive until the same `id` is unpinned. */
export interface PinEntry {
  readonly kind: 'pin';
  readonly op: string;
  readonly id: string;
  /** For display only. */
  readonly owner: string;
  /** Seconds since the epoch; for display only. */
  readonly expires: number;
}

export interface UnpinEntry {
  readonly kind: 'unpin';
  readonly op: string;
  readonly id: string;
}

/** The end of a world's life at this location. Nothing follows it. */
export interface SealEntry {
  readonly kind: 'seal';
  readonly op: string;
  readonly reason: 'move' | 'rollback' | 'closed';
  /** Incarnation that goes on, and where. */
  readonly successor?: string;
  readonly location?: string;
}

export type MutationEntry = WriteEntry | ArchiveEntry;
/** Alone in its slot; uses one sequence; progress, not change, to a feed. */
export type ControlEntry =
  | FloorEntry
  | BarrierEntry
  | ClearEntry
  | PinEntry
  | UnpinEntry
  | SealEntry;
export type Entry = MutationEntry | ControlEntry;

/** A stored version whose bytes lie in the slot itself. */
export interface Inlined {
  readonly sequence: Sequence;
  readonly hash: string;
  /** From the beginning of the slot object, in bytes. */
  readonly offset: number;
  readonly length: number;
}

/**
 * A decoded slot: everything it says holds by itself; whether it follows its log is
 * `snapshot/apply`'s.
 */
export interface Slot {
  readonly worldId: string;
  readonly incarnationId: string;
  readonly first: Sequence;
  readonly last: Sequence;
  /** The store that created it. */
  readonly store: string;
  /** ms since the epoch, later than the slot before; an input of no decision. */
  readonly time: number;
  /** Documents after it, archived ones included. */
  readonly documents: number;
  /** SHA-256 of the whole slot before it, or of the marker. */
  readonly prev: string;
  readonly epoch: number;
  readonly inlined: readonly Inlined[];
  readonly entries: readonly Entry[];
}

/** A world's marker, `head.json`: its identity, and its first checkpoint. */
export interface Marker {
  readonly worldId: string;
  readonly incarnationId: string;
  readonly start: Start;
}

export interface Start {
  readonly sequence: Sequence;
  readonly documents: number;
  readonly epoch: number;
  /** null at genesis: nothing came before. */
  readonly root: { readonly epoch: number; readonly hash: string } | null;
}

/**
 * A checkpoint: where its contents lie, and the control state that replay goes on from, since the
 * slots that decided it may be gone. All but `root` is a function of the log up to it (I4).
 */
export interface CheckpointRecord {
  readonly worldId: string;
  readonly incarnationId: string;
  /** The last sequence of a slot. */
  readonly sequence: Sequence;
  /** SHA-256 of that slot. */
  readonly slot: string;
  /** That slot's time, ms since the epoch. */
  readonly time: number;
  /** Documents in it, archived ones included. */
  readonly documents: number;
  /** Of the next slot: `start.epoch` plus the barriers up to here. */
  readonly epoch: number;
  readonly floor: { readonly at: Sequence; readonly mutation: Sequence };
  /** The last sequence that was a mutation; the start's when none was. */
  readonly mutation: Sequence;
  /** The open deletion plan. */
  readonly plan: string | null;
  /** What the latest barrier named; empty when there was none. */
  readonly kept: BarrierEntry['kept'];
  /** Schema 1 objects were given up. */
  readonly schema1: boolean;
  /** In the order of their sequences. */
  readonly pins: readonly (readonly [id: string, sequence: Sequence])[];
  readonly swept: Swept;
  /** The seal, when the slot is one. */
  readonly successor: Omit<SealEntry, 'kind'> | null;
  /** Its epoch is the one the checkpoint was written in, as in its name; never an older one. */
  readonly root: { readonly epoch: number; readonly hash: string };
}

/** How much a sweep would free. */
export interface Swept {
  /** The plan cleared last. */
  readonly plan: string | null;
  /** Versions pruned since the latest barrier; since the start when there was none. */
  readonly pruned: number;
  /** Versions retained. */
  readonly retained: number;
}

/** Limits that are part of format 1. */
export const SLOT_ENTRIES_MAX = 256;
export const SLOT_INLINED_BYTES_MAX = 1_048_576;
export const SLOT_HEADER_BYTES_MAX = 1_048_576;
export const SLOT_BYTES_MAX = 4_194_304;
export const ENTRY_BYTES_MAX = 16_384;
export const GROUP_ENTRIES_MAX = 64;
export const INLINE_BYTES_MAX = 65_536;
export const CHECKPOINT_RECORD_BYTES_MAX = 1_048_576;
export const DOCUMENTS_MAX = 16_777_216;
export const VERSION_MAX = 2_147_483_647;
