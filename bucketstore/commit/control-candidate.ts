/** The slot that a control entry makes: it alone. */
import { StoreError } from '../base/errors.ts';
import { sequence } from '../base/sequence.ts';
import { entryText } from '../log/entry-codec.ts';
import type { ControlEntry } from '../log/records.ts';
import { applyEntry } from '../snapshot/apply.ts';
import { SnapshotDraft } from '../snapshot/draft.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Candidate } from './batch.ts';
import type { Request } from './member.ts';

/** @throws StoreError `REJECTED` when the entry cannot follow the state */
export function controlCandidate(base: Snapshot, entry: ControlEntry, control: Request): Candidate {
  const draft = new SnapshotDraft(base);
  const problem = applyEntry(draft, entry, sequence(base.tip.sequence + 1));
  if (problem !== null) throw new StoreError('REJECTED', `not committed: ${problem}`);
  return {
    base,
    draft,
    entries: [entry],
    texts: [entryText(entry)],
    bodies: [],
    staged: [],
    requests: [control],
  };
}
