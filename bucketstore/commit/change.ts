/**
 * Judged mutations as they stand in a slot: the place of their bytes, their group, their numbers.
 */
import { type Sequence, sequence } from '../base/sequence.ts';
import type { MutationEntry } from '../log/records.ts';
import type { JudgedMutation } from './batch.ts';
import type { UnplacedEntry } from './build-mutation.ts';
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
export function placed(entry: UnplacedEntry, epoch: number, inlined: boolean): MutationEntry {
  if (entry.kind === 'archive') return entry;
  return { ...entry, at: inlined ? 'slot' : { epoch } };
}

/**
 * The first entry of a group says how many commit together, and carries the ID that the whole group
 * is asked for by: the mutation that it was given to may have had nothing to commit.
 */
export function markGroup(changes: readonly Change[], op: string): readonly Change[] {
  const [first, ...rest] = changes;
  if (first === undefined) return changes;
  const group = rest.length === 0 ? {} : { group: changes.length };
  if (rest.length === 0 && first.entry.op === op) return changes;
  return [{ ...first, entry: { ...first.entry, op, ...group } }, ...rest];
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
