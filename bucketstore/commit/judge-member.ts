/** Judging a member as a whole, and whether an earlier judgement stands on a newer state. */
import { InvariantError } from '../base/assert.ts';
import { isStoreError, StoreError } from '../base/errors.ts';
import { type Sequence, sequence } from '../base/sequence.ts';
import type { MutationEntry } from '../log/records.ts';
import { applyEntry } from '../snapshot/apply.ts';
import { SnapshotDraft } from '../snapshot/draft.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { JudgedMutation, Verdict } from './batch.ts';
import type { MutationBuilder } from './build-mutation.ts';
import { Inquiry } from './inquiry.ts';
import type { Member } from './member.ts';

/**
 * Judges a member on a state, which it does not change. A group is judged mutation by mutation,
 * each on what the ones before it make.
 * @param at the sequence that its first entry will have
 */
export function judgeMember(
  builder: MutationBuilder,
  state: Snapshot,
  member: Member,
  at: Sequence,
): Promise<Verdict> {
  const judged: JudgedMutation[] = [];
  const judging = judgeEach(builder, state, member, at, judged);
  if (member.mutations.length === 1) return judging;
  return judging.finally(() => {
    // Those of a group were kept for each other only: whoever takes the member keeps them anew.
    for (const one of judged) builder.drop(one);
  });
}

async function judgeEach(
  builder: MutationBuilder,
  state: Snapshot,
  member: Member,
  at: Sequence,
  judged: JudgedMutation[],
): Promise<Verdict> {
  const { mutations } = member;
  const trial = trialOf(state, mutations.length);
  for (const [index, mutation] of mutations.entries()) {
    const inquiry = new Inquiry();
    try {
      const built = await builder.build(trial ?? state, mutation, inquiry, member);
      const { entry, stored, result } = built;
      judged.push({ entry, stored, result, inquiry });
      if (trial !== null) builder.keep(built);
      const problem = applyTrial(trial, entry, at, index);
      if (problem !== null) throw new StoreError('REJECTED', problem);
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      // What is no fault of the request's own, and what a part of a group saw, is asked again.
      const own = !isStoreError(error) || error.kind === 'fix-the-call';
      const lasts = mutations.length === 1 && own;
      return { kind: 'refused', error, inquiry: lasts ? inquiry : null };
    }
  }
  return { kind: 'allowed', mutations: judged };
}

/** Whether judging again would ask the same questions and be told the same. */
export function stands(verdict: Verdict, state: Snapshot, at: Sequence): boolean {
  if (verdict.kind === 'refused') return verdict.inquiry?.holds(state) ?? false;
  const trial = trialOf(state, verdict.mutations.length);
  return verdict.mutations.every(({ inquiry, entry }, index) => {
    return inquiry.holds(trial ?? state) && applyTrial(trial, entry, at, index) === null;
  });
}

/** Where the mutations of a group are tried one after another; a single one needs no trial. */
function trialOf(state: Snapshot, mutations: number): SnapshotDraft | null {
  return mutations > 1 ? new SnapshotDraft(state.freeze()) : null;
}

/** Moves the trial of a group on. @returns why no replay would take the entry, or null */
function applyTrial(
  trial: SnapshotDraft | null,
  entry: MutationEntry | null,
  at: Sequence,
  offset: number,
): string | null {
  if (trial === null || entry === null) return null;
  return applyEntry(trial, entry, sequence(at + offset));
}
