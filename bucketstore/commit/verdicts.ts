/** What waiting members were judged to be on an older tip. */
import type { Verdict } from './batch.ts';
import type { Member } from './member.ts';

/**
 * Kept until its member is answered, and no longer: a store that is never idle would else hold what
 * it has answered. Bounded by the members that may be built at once.
 */
export class Verdicts {
  readonly #byMember = new Map<Member, Verdict>();

  /** Members with a verdict (I17). */
  get size(): number {
    return this.#byMember.size;
  }

  get(member: Member): Verdict | undefined {
    return this.#byMember.get(member);
  }

  /** In the place of the one before. */
  keep(member: Member, verdict: Verdict): void {
    if (member.isAnswered) return;
    const known = this.#byMember.has(member);
    this.#byMember.set(member, verdict);
    if (!known) member.onAnswered(() => this.#byMember.delete(member));
  }
}
