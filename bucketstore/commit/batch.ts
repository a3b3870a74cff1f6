/** A built, uncommitted batch, and what judging its members gave. */
import { StoreError } from '../base/errors.ts';
import {
  ENTRY_BYTES_MAX,
  type Entry,
  SLOT_ENTRIES_MAX,
  SLOT_HEADER_BYTES_MAX,
  SLOT_INLINED_BYTES_MAX,
} from '../log/records.ts';
import type { SlotBody } from '../log/slot.ts';
import type { SnapshotDraft } from '../snapshot/draft.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { BuiltMutation } from './build-mutation.ts';
import type { Inquiry } from './inquiry.ts';
import type { Member, Request } from './member.ts';
import type { MutationResult } from './result.ts';

/** A mutation as it was judged, wherever its entry will lie. */
export interface JudgedMutation extends BuiltMutation {
  readonly inquiry: Inquiry;
}

/** What judging a member gave. It stands for as long as the questions have the same answers. */
export type Verdict =
  | { readonly kind: 'allowed'; readonly mutations: readonly JudgedMutation[] }
  /** `inquiry` is null when the refusal must not be kept. */
  | { readonly kind: 'refused'; readonly error: unknown; readonly inquiry: Inquiry | null };

/** A member that the batch has dealt with. */
export type Judged =
  /** `commits`: entries of it are in the batch; else it has nothing to commit. */
  | {
      readonly member: Member;
      readonly kind: 'taken';
      readonly commits: boolean;
      readonly results: readonly MutationResult[];
      readonly verdict: Verdict;
    }
  | {
      readonly member: Member;
      readonly kind: 'refused';
      readonly error: unknown;
      readonly verdict: Verdict;
    };

/** What a slot is made of. */
export interface Candidate {
  readonly base: Snapshot;
  /** The state after it, but for the tip. */
  readonly draft: SnapshotDraft;
  readonly entries: readonly Entry[];
  /** The canonical text of each. */
  readonly texts: readonly string[];
  readonly bodies: readonly SlotBody[];
  /** Whose entries these are. */
  readonly requests: readonly Request[];
}

export interface Batch extends Candidate {
  readonly judged: readonly Judged[];
  /** It was closed because the next member found no room. */
  readonly full: boolean;
}

/** Room in the header for the fields of the slot itself, and for one inlined item. */
const HEADER_ROOM = 1024;
const INLINED_ITEM_BYTES = 100;

/** What is left of a slot's limits. */
export class SlotRoom {
  readonly #entriesMax: number;
  #entries = 0;
  #headerBytes = HEADER_ROOM;
  #inlinedBytes = 0;

  /** @param entriesMax what a slot may get; a group that is larger has one for itself */
  constructor(entriesMax: number = SLOT_ENTRIES_MAX) {
    this.#entriesMax = entriesMax;
  }

  /** Takes room for entries and bodies; false, and takes none, when there is not enough. */
  take(texts: readonly string[], inlinedBytes: number): boolean {
    const header = this.#headerBytes + headerBytes(texts);
    const entries = this.#entries + texts.length;
    const inlined = this.#inlinedBytes + inlinedBytes;
    const fits =
      (entries <= this.#entriesMax || this.#entries === 0) &&
      header <= SLOT_HEADER_BYTES_MAX &&
      inlined <= SLOT_INLINED_BYTES_MAX;
    if (!fits) return false;
    this.#entries = entries;
    this.#headerBytes = header;
    this.#inlinedBytes = inlined;
    return true;
  }
}

/** @throws StoreError `SIZE_LIMIT` for entries that no slot has room for */
export function assertFits(texts: readonly string[]): void {
  for (const text of texts) {
    const bytes = Buffer.byteLength(text);
    if (bytes <= ENTRY_BYTES_MAX) continue;
    throw new StoreError(
      'SIZE_LIMIT',
      `path and metadata take ${bytes} bytes in the log, and an entry has ${ENTRY_BYTES_MAX}`,
    );
  }
  const header = headerBytes(texts);
  if (header + HEADER_ROOM > SLOT_HEADER_BYTES_MAX) {
    throw new StoreError('SIZE_LIMIT', `a group of ${texts.length} that takes ${header} bytes`);
  }
}

function headerBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1 + INLINED_ITEM_BYTES, 0);
}
