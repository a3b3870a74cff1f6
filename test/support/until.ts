/** Waiting for what comes without time passing. */
import { drain } from './manual-clock.ts';

/** Lets everything run that can, until something holds. @throws Error when it does not come to */
export async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; !holds(); turns++) {
    if (turns > 10_000) throw new Error('it does not come to hold');
    await drain();
  }
}
