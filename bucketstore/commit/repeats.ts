/**
 * Requests whose operation is in the log already: they get the first answer, read back beside the
 * loop, so that nobody waits for it.
 */
import { isStoreError, StoreError } from '../base/errors.ts';
import { sequence } from '../base/sequence.ts';
import type { Member } from './member.ts';
import type { OperationPlace } from './operations.ts';
import { answersRequest, type MutationResult } from './result.ts';

/** Reads the answer of an operation that is in the log. */
export type Recall = (place: OperationPlace, member: Member) => Promise<readonly MutationResult[]>;

export class Repeats {
  readonly #recall: Recall;
  readonly #running = new Set<Promise<void>>();

  constructor(recall: Recall) {
    this.#recall = recall;
  }

  /** Repeats that are being answered (I17). */
  get size(): number {
    return this.#running.size;
  }

  /** Begins to answer a member whose operation has a place in the log. */
  answer(member: Member, place: OperationPlace): void {
    const answering = this.#answer(member, place);
    this.#running.add(answering);
    void answering.finally(() => this.#running.delete(answering));
  }

  /** Resolves when every repeat that was begun has its answer. */
  async done(): Promise<void> {
    await Promise.all(this.#running);
  }

  async #answer(member: Member, place: OperationPlace): Promise<void> {
    member.recalling = true;
    // It is in the log: a failed read must never say otherwise.
    member.sent(sequence(place.slot - 1));
    try {
      const results = await this.#recall(place, member);
      if (answersRequest(results, member.mutations)) return member.answer(results);
      member.settled();
      member.fail(operationReused(member.op));
    } catch (error) {
      // To ask again is of no use: the log says that it is committed, and the answer is gone.
      if (isStoreError(error) && error.code === 'TOO_OLD') member.settled();
      member.fail(error);
    }
  }
}

/** An operation ID is one request's for ever: another's would be told that it is done. */
export function operationReused(op: string): StoreError {
  return new StoreError(
    'REJECTED',
    `not committed: operation ${op} is another request’s; give each request an op of its own`,
  );
}
