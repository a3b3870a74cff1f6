/**
 * Members to a batch: each is judged on the state that the tip and the members before it make (I5).
 * A member that fails gets its own error and fails no other; a group is taken or refused as a
 * whole.
 */
import { InvariantError } from '../base/assert.ts';
import { StoreError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { entryText } from '../log/entry-codec.ts';
import {
  ENTRY_BYTES_MAX,
  type Entry,
  type MutationEntry,
  SLOT_ENTRIES_MAX,
  SLOT_HEADER_BYTES_MAX,
  SLOT_INLINED_BYTES_MAX,
} from '../log/records.ts';
import type { SlotBody } from '../log/slot.ts';
import { applyEntry } from '../snapshot/apply.ts';
import type { BodySource } from '../snapshot/body-reader.ts';
import { SnapshotDraft } from '../snapshot/draft.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  MutationBuilder,
  type MutationSettings,
  type UnplacedEntry,
  warm,
} from './build-mutation.ts';
import type { Member } from './member.ts';
import type { OperationPlace, Operations } from './operations.ts';
import type { PolicyGate } from './policy-gate.ts';
import type { MutationResult } from './result.ts';

/** A member that the batch has judged. */
export type Judged =
  | {
      readonly member: Member;
      readonly kind: 'answer';
      readonly results: readonly MutationResult[];
    }
  | { readonly member: Member; readonly kind: 'refusal'; readonly error: unknown }
  /** Its operation is in the log already. */
  | { readonly member: Member; readonly kind: 'repeat'; readonly place: OperationPlace }
  | {
      readonly member: Member;
      readonly kind: 'entries';
      readonly results: readonly MutationResult[];
    };

/** A stored version that must be in the bucket before the slot. */
export interface Staged {
  readonly member: Member;
  readonly storedHash: string;
  readonly bytes: Uint8Array;
}

/** What a batch would commit, and what it answers besides. */
export interface Batch {
  readonly base: Snapshot;
  /** The state after it, but for the tip. */
  readonly draft: SnapshotDraft;
  readonly judged: readonly Judged[];
  readonly entries: readonly Entry[];
  readonly texts: readonly string[];
  readonly bodies: readonly SlotBody[];
  readonly staged: readonly Staged[];
  /** It was closed because the next member found no room. */
  readonly full: boolean;
}

export interface BuildParts {
  readonly bodies: BodySource;
  readonly operations: Operations;
  readonly policy: PolicyGate;
  readonly settings: MutationSettings & { readonly inlineBytes: number };
  /** Wall clock, ms. */
  readonly now: () => number;
}

/** Room in the header for the fields of the slot itself, and for one inlined item. */
const HEADER_ROOM = 1024;
const INLINED_ITEM_BYTES = 100;

/**
 * Builds the batch that the first of `members` make on `base`; those that find no room are left
 * out.
 */
export async function buildBatch(
  parts: BuildParts,
  base: Snapshot,
  members: readonly Member[],
): Promise<Batch> {
  const builder = new BatchBuilder(parts, base);
  await warm(parts.bodies, base, members);
  let full = false;
  for (const member of members) {
    full = !(await builder.add(member));
    if (full) break;
  }
  return { ...builder.batch(), full };
}

class BatchBuilder {
  readonly #parts: BuildParts;
  readonly #base: Snapshot;
  readonly #mutations: MutationBuilder;
  #draft: SnapshotDraft;
  readonly #judged: Judged[] = [];
  readonly #entries: Entry[] = [];
  readonly #texts: string[] = [];
  readonly #bodies: SlotBody[] = [];
  readonly #staged: Staged[] = [];
  readonly #ops = new Set<string>();
  #headerBytes = HEADER_ROOM;
  #inlinedBytes = 0;

  constructor(parts: BuildParts, base: Snapshot) {
    this.#parts = parts;
    this.#base = base;
    this.#draft = new SnapshotDraft(base);
    this.#mutations = new MutationBuilder(parts.settings, parts.policy, parts.bodies, parts.now);
  }

  batch(): Omit<Batch, 'full'> {
    return {
      base: this.#base,
      draft: this.#draft,
      judged: this.#judged,
      entries: this.#entries,
      texts: this.#texts,
      bodies: this.#bodies,
      staged: this.#staged,
    };
  }

  /** @returns false when the batch is full and the member must wait for the next */
  async add(member: Member): Promise<boolean> {
    if (member.answered.aborted) return true;
    // Its twin is in this very batch: when that is settled, it is a repeat.
    if (this.#ops.has(member.op)) return true;
    const place = this.#parts.operations.find(member.op);
    if (place !== undefined) {
      this.#judged.push({ member, kind: 'repeat', place });
      return true;
    }
    // Keeping a state makes the next change copy its nodes, so it is done only where it can be
    // needed: a single change is applied last of all, when nothing can refuse it any more.
    const before = member.mutations.length > 1 ? this.#draft.freeze() : null;
    try {
      const fits = await this.#build(member);
      if (!fits && before !== null) this.#draft = new SnapshotDraft(before);
      return fits;
    } catch (error) {
      if (before !== null) this.#draft = new SnapshotDraft(before);
      if (error instanceof InvariantError) throw error;
      this.#judged.push({ member, kind: 'refusal', error });
      return true;
    }
  }

  async #build(member: Member): Promise<boolean> {
    const grouped = member.mutations.length > 1;
    const results: MutationResult[] = [];
    const changes: Change[] = [];
    let inlinedBytes = this.#inlinedBytes;
    for (const mutation of member.mutations) {
      const at = sequence(this.#nextSequence() + changes.length);
      const { entry, stored, result } = await this.#mutations.build(
        this.#draft,
        mutation,
        at,
        member.answered,
      );
      results.push(grouped ? { ...result, op: member.op } : result);
      if (entry === null) continue;
      const inlined = this.#inlines(stored, grouped, inlinedBytes);
      if (inlined) inlinedBytes += stored?.byteLength ?? 0;
      const change = { entry: placed(entry, this.#base.control.epoch, inlined), stored, inlined };
      if (grouped) this.#apply(change, at);
      changes.push(change);
    }
    if (changes.length === 0) {
      this.#judged.push({ member, kind: 'answer', results });
      return true;
    }
    const marked = markGroup(changes, member.op);
    const texts = marked.map(({ entry }) => entryText(entry));
    const header = headerBytes(texts);
    if (!this.#areNewOps(marked)) return false;
    if (!this.#hasRoom(marked.length, header, inlinedBytes)) return false;
    if (!grouped) for (const change of marked) this.#apply(change, this.#nextSequence());
    this.#take(member, marked);
    this.#texts.push(...texts);
    this.#headerBytes += header;
    this.#inlinedBytes = inlinedBytes;
    this.#judged.push({ member, kind: 'entries', results });
    return true;
  }

  /**
   * A group's operations are made from its own, so another request may have one of them.
   * @returns false when one is in this batch
   * @throws StoreError `REJECTED` when one is in the log
   */
  #areNewOps(changes: readonly Change[]): boolean {
    for (const { entry } of changes) {
      if (this.#ops.has(entry.op)) return false;
      if (this.#parts.operations.find(entry.op) !== undefined) {
        throw new StoreError('REJECTED', `operation ${entry.op} is in the log already`);
      }
    }
    return true;
  }

  /**
   * @throws StoreError `REJECTED` when no replay would take the entry; the draft is as before then
   */
  #apply({ entry }: Change, at: Sequence): void {
    const problem = applyEntry(this.#draft, entry, at);
    if (problem !== null) throw new StoreError('REJECTED', problem);
  }

  /** Small versions go into the slot; those of a group that find no room there are staged. */
  #inlines(stored: Uint8Array | null, grouped: boolean, inlinedBytes: number): boolean {
    const length = stored?.byteLength ?? 0;
    if (length > this.#parts.settings.inlineBytes) return false;
    return !grouped || inlinedBytes + length <= SLOT_INLINED_BYTES_MAX;
  }

  #hasRoom(entries: number, header: number, inlinedBytes: number): boolean {
    return (
      this.#entries.length + entries <= SLOT_ENTRIES_MAX &&
      this.#headerBytes + header <= SLOT_HEADER_BYTES_MAX &&
      inlinedBytes <= SLOT_INLINED_BYTES_MAX
    );
  }

  /** Puts a built member into the slot. */
  #take(member: Member, changes: readonly Change[]): void {
    for (const { entry, stored, inlined } of changes) {
      const at = this.#nextSequence();
      this.#entries.push(entry);
      this.#ops.add(entry.op);
      if (stored === null || entry.kind !== 'write') continue;
      if (inlined) this.#bodies.push({ sequence: at, bytes: stored });
      else this.#staged.push({ member, storedHash: entry.storedHash, bytes: stored });
    }
  }

  #nextSequence(): Sequence {
    return sequence(this.#base.tip.sequence + 1 + this.#entries.length);
  }
}

/** A mutation as it will stand in the slot. */
interface Change {
  readonly entry: MutationEntry;
  readonly stored: Uint8Array | null;
  readonly inlined: boolean;
}

function placed(entry: UnplacedEntry, epoch: number, inlined: boolean): MutationEntry {
  if (entry.kind === 'archive') return entry;
  return { ...entry, at: inlined ? 'slot' : { epoch } };
}

/**
 * The first entry of a group says how many commit together, and carries the ID that the whole group
 * is asked for by: the mutation that it was given to may have had nothing to commit.
 */
function markGroup(changes: readonly Change[], op: string): readonly Change[] {
  const [first, ...rest] = changes;
  if (first === undefined) return changes;
  const group = rest.length === 0 ? {} : { group: changes.length };
  if (rest.length === 0 && first.entry.op === op) return changes;
  return [{ ...first, entry: { ...first.entry, op, ...group } }, ...rest];
}

/** @throws StoreError `SIZE_LIMIT` for entries that no slot has room for */
function headerBytes(texts: readonly string[]): number {
  let header = 0;
  for (const text of texts) {
    const bytes = Buffer.byteLength(text);
    if (bytes > ENTRY_BYTES_MAX) {
      throw new StoreError(
        'SIZE_LIMIT',
        `path and metadata take ${bytes} bytes in the log, and an entry has ${ENTRY_BYTES_MAX}`,
      );
    }
    header += bytes + 1 + INLINED_ITEM_BYTES;
  }
  if (header + HEADER_ROOM > SLOT_HEADER_BYTES_MAX) {
    throw new StoreError('SIZE_LIMIT', `a group of ${texts.length} that takes ${header} bytes`);
  }
  return header;
}
