/** Which of the members that are built go into the next slot: decided when its name is free. */
import { InvariantError } from '../base/assert.ts';
import { sequence } from '../base/sequence.ts';
import type { Entry } from '../log/records.ts';
import type { SlotBody } from '../log/slot.ts';
import { applyEntry } from '../snapshot/apply.ts';
import { SnapshotDraft } from '../snapshot/draft.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Ahead } from './ahead.ts';
import { type Batch, SlotRoom } from './batch.ts';
import type { Built } from './built.ts';

export interface ClosedBatch {
  readonly batch: Batch;
  readonly built: readonly Built[];
}

/**
 * `batch`: what goes into the slot behind `base`. `waits`: the first member is still being staged.
 * `stale`: what is built follows another state, or a member of it has left. `empty`: nothing is.
 */
export type Closing =
  | (ClosedBatch & { readonly kind: 'batch' })
  | { readonly kind: 'waits'; readonly until: Promise<unknown> }
  | { readonly kind: 'stale' | 'empty' };

/** How much may go into one slot: members, and entries of all of them. */
export interface BatchBounds {
  readonly members: number;
  readonly entries: number;
}

/**
 * Closes a batch.
 * @param base the tip, which the first of its members was built on
 */
export function closeBatch(ahead: Ahead, base: Snapshot, limit: BatchBounds): Closing {
  const [first] = ahead.built;
  if (first === undefined) return { kind: 'empty' };
  if (first.first !== base.tip.sequence + 1) return { kind: 'stale' };
  const { count, full } = prefixOf(ahead.built, limit);
  if (count === 0) return first.member.isAnswered ? { kind: 'stale' } : waitFor(first);
  const draft = stateBehind(ahead, count, base);
  const built = ahead.cut(count);
  return { kind: 'batch', batch: { ...batchOf(base, draft, built), full }, built };
}

/** The first members that may go: unanswered, staged, and with room. */
function prefixOf(
  built: readonly Built[],
  limit: BatchBounds,
): { readonly count: number; readonly full: boolean } {
  const room = new SlotRoom(limit.entries);
  let count = 0;
  for (const { member, changes, texts, inlinedBytes, stagings } of built) {
    if (count === limit.members) break;
    // Those behind it were judged on what it would have made.
    if (member.isAnswered && changes.length > 0) break;
    if (stagings.some(({ isDone }) => !isDone)) break;
    if (!room.take(texts, inlinedBytes)) return { count, full: true };
    count += 1;
  }
  return { count, full: false };
}

function waitFor({ stagings }: Built): Closing {
  return { kind: 'waits', until: Promise.all(stagings.map(({ settled }) => settled)) };
}

/** The state behind the first `count` members: from the nearest that was kept. */
function stateBehind(ahead: Ahead, count: number, base: Snapshot): SnapshotDraft {
  const { built } = ahead;
  if (count === built.length) return followed(new SnapshotDraft(ahead.end), base);
  let from = count;
  while (from > 0 && built[from - 1]?.state === null) from -= 1;
  const draft = followed(new SnapshotDraft(built[from - 1]?.state ?? base), base);
  for (const { changes, first } of built.slice(from, count)) {
    for (const [index, { entry }] of changes.entries()) {
      const problem = applyEntry(draft, entry, sequence(first + index));
      if (problem !== null) throw new InvariantError(`built, and does not apply: ${problem}`);
    }
  }
  return draft;
}

function followed(draft: SnapshotDraft, base: Snapshot): SnapshotDraft {
  draft.follow(base);
  return draft;
}

function batchOf(
  base: Snapshot,
  draft: SnapshotDraft,
  built: readonly Built[],
): Omit<Batch, 'full'> {
  const entries: Entry[] = [];
  const bodies: SlotBody[] = [];
  for (const { changes, first } of built) {
    for (const [index, { entry, stored, inlined }] of changes.entries()) {
      entries.push(entry);
      if (!inlined || stored === null) continue;
      bodies.push({ sequence: sequence(first + index), bytes: stored });
    }
  }
  return {
    base,
    draft,
    judged: built.map(({ judged }) => judged),
    entries,
    texts: built.flatMap(({ texts }) => texts),
    bodies,
    requests: built.filter(({ changes }) => changes.length > 0).map(({ member }) => member),
  };
}
