/** Requests that were sent again while their first create is out. */
import type { Member } from './member.ts';
import { type OpenCreate, SLEPT, type WriteOutcome } from './slot-writer.ts';

/** Kept until that create's fate is known, or until they are answered. Bounded by the queue. */
export class Twins {
  readonly #members = new Set<Member>();

  /** Those whose first create is out (I17). */
  get size(): number {
    return this.#members.size;
  }

  /** A request whose operation is in the create that is out cannot be told *not committed*. */
  note(member: Member, open: OpenCreate | null): void {
    if (open === null || !open.ops.has(member.op)) return;
    member.sent(open.after);
    this.#members.add(member);
    member.onAnswered(() => this.#members.delete(member));
  }

  /** Says to the repeats of what was written what they are now. */
  settle(outcome: WriteOutcome['outcome']): void {
    for (const twin of [...this.#members]) {
      if (outcome === 'fenced') twin.giveUp(SLEPT);
      // What was not won is not in the log, so its repeats are requests like any other again. One
      // of what was won is found there, or told *unknown*.
      else if (outcome !== 'won') twin.settled();
    }
    this.#members.clear();
  }
}
