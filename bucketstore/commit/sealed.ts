/** What is told to whoever would write behind a seal. */
import { StoreError } from '../base/errors.ts';
import type { SealEntry } from '../log/records.ts';

/** `SEALED`, with where the world goes on. */
export function sealedError({ reason, successor, location }: SealEntry): StoreError {
  const goesOn = location ?? successor;
  const words = goesOn === undefined ? '' : `; it goes on at ${goesOn}`;
  return new StoreError('SEALED', `not committed: the world is sealed here (${reason})${words}`, {
    details: successor === undefined ? {} : { successor },
  });
}
