/** The slot that a control entry makes: it alone. Nothing follows the one of a seal. */
import { InvariantError } from '../base/assert.ts';
import { StoreError } from '../base/errors.ts';
import { sequence } from '../base/sequence.ts';
import { entryText } from '../log/entry-codec.ts';
import type { ControlEntry } from '../log/records.ts';
import { applyEntry } from '../snapshot/apply.ts';
import { SnapshotDraft } from '../snapshot/draft.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Candidate } from './batch.ts';
import type { Control } from './member.ts';
import { sealedError } from './sealed.ts';

/**
 * The candidate that a control entry's judge asks for on a state; null when it asks for none or
 * fails: then it has been answered, and whatever its judge threw is its own answer alone.
 */
export function judgeControl(base: Snapshot, control: Control): Candidate | null {
  try {
    const entry = control.judge(base);
    if (entry !== null) return candidateOf(base, entry, control);
    control.answer(null);
  } catch (error) {
    if (error instanceof InvariantError) throw error;
    control.fail(error);
  }
  return null;
}

/** @throws StoreError `REJECTED` when the entry cannot follow the state; `SEALED` behind a seal */
function candidateOf(base: Snapshot, entry: ControlEntry, control: Control): Candidate {
  const { seal } = base.control;
  if (seal !== null) throw sealedError(seal);
  const draft = new SnapshotDraft(base);
  const problem = applyEntry(draft, entry, sequence(base.tip.sequence + 1));
  if (problem !== null) throw new StoreError('REJECTED', `not committed: ${problem}`);
  return {
    base,
    draft,
    entries: [entry],
    texts: [entryText(entry)],
    bodies: [],
    requests: [control],
  };
}
