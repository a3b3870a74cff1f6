/**
 * Slots at or before the checkpoint that a replay goes on from: not part of it, but what no pack
 * has yet lies in them, and readers of the log ask for them. So they are a chain too, which ends at
 * the checkpoint.
 */
import type { CheckpointVerifier } from '../checkpoint/verify.ts';
import type { Sequence } from './base/sequence.ts';
import { slotKey } from './log/names.ts';
import type { Problems } from './log/problems.ts';
import type { CheckpointRecord } from './log/records.ts';
import type { DecodedSlot } from './log/slot.ts';
import { slotVersionProblems } from './verify-rules.ts';

/** Who is told of sequences of which no slot is there, or none that can be read. */
type Packed = Pick<CheckpointVerifier, 'cannotPack'>;

export class RestedSlots {
  /** Sequence of the checkpoint. */
  readonly through: Sequence;
  readonly #hash: string;
  readonly #problems: Problems;
  readonly #verifier: Packed;
  /** Where the last slot ended, or that is not known. */
  #passed: number;
  /** The unbroken row of slots so far: where it begins and ends. */
  #row: { readonly first: number; readonly last: number; readonly hash: string } | null = null;

  /** @param from where the chain was broken */
  constructor(
    { sequence: through, slot }: CheckpointRecord,
    from: Sequence,
    problems: Problems,
    verifier: Packed,
  ) {
    this.through = through;
    this.#hash = slot;
    this.#problems = problems;
    this.#verifier = verifier;
    this.#passed = from - 1;
  }

  /** Slots are there from here on without a gap, up to the checkpoint; behind it when none is. */
  get first(): number {
    return this.#row?.last === this.through ? this.#row.first : this.through + 1;
  }

  /** Takes the next slot. @returns false for one inside the range of another, which nobody reads */
  take({ slot, hash }: DecodedSlot, bytes: Uint8Array): boolean {
    const row = this.#row;
    if (row !== null && slot.first <= row.last) return false;
    this.#passTo(slot.first - 1);
    this.#passed = slot.last;
    const key = slotKey(slot.first);
    const follows = row !== null && slot.first === row.last + 1;
    if (follows && slot.prev !== row.hash) {
      this.#problems.note(key, `prev: ${slot.prev} is not the hash of what comes before`);
    }
    this.#row = { first: follows ? row.first : slot.first, last: slot.last, hash };
    if (slot.last === this.through && hash !== this.#hash) {
      this.#problems.note(key, 'is not the slot that the checkpoint at its end names');
    }
    for (const { object, problem } of slotVersionProblems(null, slot, bytes)) {
      this.#problems.note(object, problem);
    }
    return true;
  }

  /** There are no more slots up to the checkpoint. Idempotent. */
  end(): void {
    this.#passTo(this.through);
  }

  #passTo(last: number): void {
    const first = this.#passed + 1;
    if (first > last) return;
    this.#passed = last;
    this.#verifier.cannotPack({ first, last });
  }
}
