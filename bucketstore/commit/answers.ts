/** The end of a batch: its answers, or what is kept of it. */
import type { Judged, Verdict } from './batch.ts';
import type { Member } from './member.ts';

/** Gives a batch's answers, in queue order and at once: what was committed is never held up. */
export function answerAll(judged: readonly Judged[]): void {
  for (const one of judged) {
    switch (one.kind) {
      case 'taken':
        one.member.answer(one.results);
        break;
      case 'refused':
        one.member.fail(one.error);
        break;
      case 'repeat':
        break;
      default:
        one satisfies never;
    }
  }
}

/** What the members of a batch were judged to be, to be carried over when it does not commit. */
export function verdictsOf(judged: readonly Judged[]): Map<Member, Verdict> {
  const verdicts = new Map<Member, Verdict>();
  for (const one of judged) if (one.kind !== 'repeat') verdicts.set(one.member, one.verdict);
  return verdicts;
}
