/**
 * Members to a batch: each is judged on the state that the tip and the members before it make (I5).
 * A member that fails gets its own error and fails no other; a group is taken or refused as a
 * whole. What was judged on an older tip is kept when nothing that it asked of the state has
 * changed.
 */
import { InvariantError } from '../base/assert.ts';
import { StoreError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import { entryText } from '../log/entry-codec.ts';
import { type Entry, SLOT_INLINED_BYTES_MAX } from '../log/records.ts';
import type { SlotBody } from '../log/slot.ts';
import { applyEntry } from '../snapshot/apply.ts';
import type { BodySource } from '../snapshot/body-reader.ts';
import { SnapshotDraft } from '../snapshot/draft.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  type Batch,
  type Judged,
  type JudgedMutation,
  SlotRoom,
  type Staged,
  type Verdict,
} from './batch.ts';
import { MutationBuilder, type MutationSettings, warm } from './build-mutation.ts';
import { type Change, inlinedBytesOf, markGroup, placed, resultsOf } from './change.ts';
import { sealedError } from './control-candidate.ts';
import { judgeMember, stands } from './judge-member.ts';
import type { Member } from './member.ts';
import type { Operations } from './operations.ts';
import type { PolicyGate } from './policy-gate.ts';

export interface BuildParts {
  readonly bodies: BodySource;
  readonly operations: Operations;
  readonly policy: PolicyGate;
  readonly settings: MutationSettings & { readonly inlineBytes: number };
  /** Wall clock, ms. */
  readonly now: () => number;
}

/** Verdicts of members on an older tip. */
export type Earlier = ReadonlyMap<Member, Verdict>;

/** How a batch that lost its name was carried over. Groups are members too. */
export interface Carried {
  kept: number;
  rebuilt: number;
  groupsKept: number;
  groupsRebuilt: number;
}

/**
 * Builds the batch that the first of `members` make on `base`; those that find no room are left
 * out.
 */
export async function buildBatch(
  parts: BuildParts,
  base: Snapshot,
  members: readonly Member[],
  earlier: Earlier,
): Promise<Batch & { readonly carried: Carried }> {
  const builder = new BatchBuilder(parts, base, earlier);
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
  readonly #earlier: Earlier;
  readonly #mutations: MutationBuilder;
  readonly #room = new SlotRoom();
  readonly #judged: Judged[] = [];
  readonly #entries: Entry[] = [];
  readonly #texts: string[] = [];
  readonly #bodies: SlotBody[] = [];
  readonly #staged: Staged[] = [];
  readonly #ops = new Set<string>();
  readonly #carried: Carried = { kept: 0, rebuilt: 0, groupsKept: 0, groupsRebuilt: 0 };
  #draft: SnapshotDraft;

  constructor(parts: BuildParts, base: Snapshot, earlier: Earlier) {
    this.#parts = parts;
    this.#base = base;
    this.#earlier = earlier;
    this.#draft = new SnapshotDraft(base);
    this.#mutations = new MutationBuilder(parts.settings, parts.policy, parts.bodies, parts.now);
  }

  batch(): Omit<Batch, 'full'> & { readonly carried: Carried } {
    return {
      base: this.#base,
      draft: this.#draft,
      judged: this.#judged,
      entries: this.#entries,
      texts: this.#texts,
      bodies: this.#bodies,
      staged: this.#staged,
      requests: this.#judged.filter((one) => one.kind === 'taken' && one.commits).map(memberOf),
      carried: this.#carried,
    };
  }

  /** @returns false when the batch is full and the member must wait for the next */
  async add(member: Member): Promise<boolean> {
    if (member.isAnswered) return true;
    // Its twin is in this very batch: when that is settled, it is a repeat.
    if (this.#ops.has(member.op)) return true;
    const place = this.#parts.operations.find(member.op);
    if (place !== undefined) {
      this.#judged.push({ member, kind: 'repeat', place });
      return true;
    }
    const verdict = this.#kept(member) ?? (await this.#judge(member));
    if (verdict.kind === 'refused') return this.#refuse(member, verdict);
    return this.#take(member, verdict);
  }

  /** What was judged of a member on an older tip, when it stands. */
  #kept(member: Member): Verdict | undefined {
    const earlier = this.#earlier.get(member);
    // Behind a seal every request is answered with it, whatever was judged before.
    if (earlier === undefined || this.#draft.control.seal !== null) return undefined;
    const grouped = member.mutations.length > 1;
    const keeps = stands(earlier, this.#draft, this.#nextSequence());
    this.#carried[keeps ? 'kept' : 'rebuilt'] += 1;
    if (grouped) this.#carried[keeps ? 'groupsKept' : 'groupsRebuilt'] += 1;
    if (!keeps) return undefined;
    if (earlier.kind === 'allowed') for (const one of earlier.mutations) this.#mutations.keep(one);
    return earlier;
  }

  async #judge(member: Member): Promise<Verdict> {
    const { seal } = this.#draft.control;
    if (seal !== null) return { kind: 'refused', error: sealedError(seal), inquiry: null };
    return judgeMember(this.#mutations, this.#draft, member, this.#nextSequence());
  }

  #refuse(member: Member, verdict: Verdict & { readonly kind: 'refused' }): true {
    this.#judged.push({ member, kind: 'refused', error: verdict.error, verdict });
    return true;
  }

  #take(member: Member, verdict: Verdict & { readonly kind: 'allowed' }): boolean {
    const first = this.#nextSequence();
    const changes = this.#place(member, verdict.mutations);
    try {
      if (changes.length > 0 && !this.#enter(member, changes)) return false;
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      return this.#refuse(member, { kind: 'refused', error, inquiry: null });
    }
    const results = resultsOf(member, verdict.mutations, first);
    this.#judged.push({ member, kind: 'taken', commits: changes.length > 0, results, verdict });
    return true;
  }

  /** Decides where the bytes of each change will lie. */
  #place(member: Member, mutations: readonly JudgedMutation[]): readonly Change[] {
    const grouped = mutations.length > 1;
    const { epoch } = this.#base.control;
    const changes: Change[] = [];
    let { inlinedBytes } = this.#room;
    for (const { entry, stored } of mutations) {
      if (entry === null) continue;
      const inlined = this.#inlines(stored, grouped, inlinedBytes);
      if (inlined) inlinedBytes += stored?.byteLength ?? 0;
      changes.push({ entry: placed(entry, epoch, inlined), stored, inlined });
    }
    return markGroup(changes, member.op);
  }

  /** Small versions go into the slot; those of a group that find no room there are staged. */
  #inlines(stored: Uint8Array | null, grouped: boolean, inlinedBytes: number): boolean {
    const length = stored?.byteLength ?? 0;
    if (length > this.#parts.settings.inlineBytes) return false;
    return !grouped || inlinedBytes + length <= SLOT_INLINED_BYTES_MAX;
  }

  /**
   * Puts placed changes into the slot.
   * @returns false, and puts none, when the slot has no room for them
   * @throws StoreError `SIZE_LIMIT`, `REJECTED`; the draft is as before then
   */
  #enter(member: Member, changes: readonly Change[]): boolean {
    if (!this.#areNewOps(changes)) return false;
    const texts = changes.map(({ entry }) => entryText(entry));
    const inlined = changes.reduce((sum, change) => sum + inlinedBytesOf(change), 0);
    if (!this.#room.take(texts, inlined)) return false;
    this.#apply(changes);
    this.#texts.push(...texts);
    for (const { entry, stored, inlined: inSlot } of changes) {
      const at = this.#nextSequence();
      this.#entries.push(entry);
      this.#ops.add(entry.op);
      if (stored === null || entry.kind !== 'write') continue;
      if (inSlot) this.#bodies.push({ sequence: at, bytes: stored });
      else this.#staged.push({ member, storedHash: entry.storedHash, bytes: stored });
    }
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

  /** @throws StoreError `REJECTED` when no replay would take an entry; none is applied then */
  #apply(changes: readonly Change[]): void {
    // Keeping a state makes the next change copy its nodes, so it is done only where it can be
    // needed: a refused entry leaves the draft as it was, but a group has others before it.
    const before = changes.length > 1 ? this.#draft.freeze() : null;
    for (const [index, { entry }] of changes.entries()) {
      const at = sequence(this.#nextSequence() + index);
      const problem = applyEntry(this.#draft, entry, at);
      if (problem === null) continue;
      if (before !== null) this.#draft = new SnapshotDraft(before);
      throw new StoreError('REJECTED', problem);
    }
  }

  #nextSequence(): Sequence {
    return sequence(this.#base.tip.sequence + 1 + this.#entries.length);
  }
}

function memberOf({ member }: Judged): Member {
  return member;
}
