/** The end of a batch: its answers. */
import type { Judged } from './batch.ts';

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
      default:
        one satisfies never;
    }
  }
}
