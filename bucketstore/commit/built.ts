/** A member that is built: what it will put into whichever slot it comes to stand in. */
import type { Sequence } from '../base/sequence.ts';
import { entryText } from '../log/entry-codec.ts';
import { SLOT_INLINED_BYTES_MAX } from '../log/records.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { Judged, Verdict } from './batch.ts';
import { type Change, inlinedBytesOf, markGroup, placed } from './change.ts';
import type { Member } from './member.ts';
import type { Staging } from './stager.ts';

export interface Built {
  readonly member: Member;
  readonly judged: Judged;
  readonly changes: readonly Change[];
  /** The canonical text of each change's entry. */
  readonly texts: readonly string[];
  readonly inlinedBytes: number;
  /** Of all its stored versions, wherever they will lie. */
  readonly storedBytes: number;
  /** Its first sequence; of one without changes, that of whatever comes next. */
  readonly first: Sequence;
  /** What must be in the bucket before its slot. */
  readonly stagings: readonly Staging[];
  /** The state behind it, where one was kept to begin from. */
  readonly state: Snapshot | null;
}

/** Decides where the bytes of each change of a member will lie, whatever else is in its slot. */
export function placeChanges(
  { op }: Member,
  { mutations }: Verdict & { readonly kind: 'allowed' },
  epoch: number,
  inlineBytes: number,
): readonly Change[] {
  const changes: Change[] = [];
  let bytes = 0;
  for (const { entry, stored } of mutations) {
    if (entry === null) continue;
    const length = stored?.byteLength ?? 0;
    // Small versions go into the slot; those of a group that find no room there are staged.
    const inlined = length <= inlineBytes && bytes + length <= SLOT_INLINED_BYTES_MAX;
    if (inlined) bytes += length;
    changes.push({ entry: placed(entry, epoch, inlined), stored, inlined });
  }
  return markGroup(changes, op);
}

export function textsOf(changes: readonly Change[]): readonly string[] {
  return changes.map(({ entry }) => entryText(entry));
}

export function inlinedOf(changes: readonly Change[]): number {
  return changes.reduce((sum, change) => sum + inlinedBytesOf(change), 0);
}

export function storedOf(changes: readonly Change[]): number {
  return changes.reduce((sum, { stored }) => sum + (stored?.byteLength ?? 0), 0);
}
