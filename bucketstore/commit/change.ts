/**
 * Judged mutations as they stand in a slot: the place of their bytes, their group, their numbers.
 */
import { type Sequence, sequence } from '../base/sequence.ts';
import type { MutationEntry } from '../log/records.ts';
import type { JudgedMutation } from './batch.ts';
import type { Member } from './member.ts';
import type { MutationResult } from './result.ts';

/** A mutation as it will stand in the slot. */
export interface Change {
  readonly entry: MutationEntry;
  readonly stored: Uint8Array | null;
  readonly inlined: boolean;
}

/** Bytes that a change takes of its slot’s inlined ones. */
export function inlinedBytesOf({ stored, inlined }: Change): number {
  return inlined ? (stored?.byteLength ?? 0) : 0;
}

/** An entry with the place of its bytes. @param epoch of the slot, for a staged version */
export function placed(entry: MutationEntry, epoch: number, inlined: boolean): MutationEntry {
  return inlined || entry.kind === 'archive' ? entry : { ...entry, at: { epoch } };
}

/**
 * The first entry of a group says how many commit together, and carries the ID that the whole group
 * is asked for by: the mutation that it was given to may have had nothing to commit.
 */
export function markGroup(changes: readonly Change[], op: string): readonly Change[] {
  const [first] = changes;
  if (first === undefined || (changes.length === 1 && first.entry.op === op)) return changes;
  const group = changes.length === 1 ? {} : { group: changes.length };
  return [{ ...first, entry: { ...first.entry, op, ...group } }, ...changes.slice(1)];
}

/** What a member is answered: with the sequences that its entries have got. */
export function resultsOf(
  { op, mutations: { length } }: Member,
  mutations: readonly JudgedMutation[],
  first: Sequence,
): readonly MutationResult[] {
  let at: number = first;
  return mutations.map(({ entry, result }) => {
    const own = length > 1 ? { ...result, op } : result;
    return entry === null ? own : { ...own, sequence: sequence(at++) };
  });
}
