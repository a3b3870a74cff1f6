/** Long work in steps, between which everything else has its turn. */

/** Resolves when everything else that is due has had its turn. */
export type Turn = () => Promise<void>;

/** What steps come to. */
export async function inTurns<T>(steps: Generator<undefined, T>, turn: Turn): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await turn();
  }
}

/** What steps come to, without a break. */
export function atOnce<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
